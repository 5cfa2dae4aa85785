"""Of a large stream, the lines that matter are kept with their numbers; of a small one, all."""

from __future__ import annotations

import re
from collections.abc import Callable
from io import BytesIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuhelp.reading.pieces import RawText
from gpuhelp.scanning import blocks, excerpts
from gpuhelp.scanning.engine import Re2Gate
from gpuhelp.scanning.scanner import Scanner
from gpuhelp.scanning.sift import WHOLE_BYTES, Sifting

PLAN = {"patterns": [[r"(?im)needle\s+\d", ["needle"], 0], [r'(?im)File\s+"x"', ['file "x"'], 500]]}
FILLER = "nothing to see on this line, which is like all others: step={}\n"


@pytest.fixture(scope="module")
def scanner() -> Scanner:
    return Scanner(PLAN, Re2Gate(['file "x"', "needle"]))


@pytest.fixture(scope="module")
def sift(scanner: Scanner) -> Callable[..., RawText]:
    def sift(text: str | bytes) -> RawText:
        sifting = Sifting(lambda: scanner)
        sifting.take("x", BytesIO(text if isinstance(text, bytes) else text.encode()))
        (raw,) = sifting.texts()
        return raw

    return sift


def filler(lines: int) -> str:
    return "".join(map(FILLER.format, range(lines)))


def numbered(raw: RawText) -> dict[int, str]:
    """The kept lines by their number."""
    return {
        number: line
        for piece in raw.pieces
        for number, line in enumerate(piece.text.split("\n"), piece.first_line)
        if line
    }


LARGE = 60_000


def test_a_small_text_is_kept_whole(sift: Callable[..., RawText]) -> None:
    raw = sift(filler(100))
    assert (raw.text, raw.line_count, raw.size_bytes) == (filler(100), 100, len(filler(100)))


def test_nothing_is_nothing(sift: Callable[..., RawText]) -> None:
    assert sift("") == RawText("x", (), 0, 0)


def test_of_a_large_text_the_lines_around_a_hit_are_kept_with_their_numbers(
    sift: Callable[..., RawText],
) -> None:
    lines = filler(LARGE).splitlines(keepends=True)
    lines[41_000] = "the needle 7 is here\n"
    text = "".join(lines)
    raw = sift(text)
    kept = numbered(raw)
    assert raw.line_count == LARGE
    assert raw.size_bytes == len(text)
    assert kept[41_001] == "the needle 7 is here"
    assert {41_001 - 10, 41_001 + 20, 1, LARGE} <= kept.keys()
    assert len(kept) < 400
    assert all(line + "\n" == lines[number - 1] for number, line in kept.items())


def test_the_beginning_and_the_end_are_always_kept(sift: Callable[..., RawText]) -> None:
    kept = numbered(sift(filler(LARGE)))
    assert {1, 20, LARGE - 50, LARGE} <= kept.keys()
    assert len(kept) < 200


def test_of_a_flood_the_first_lines_are_kept_with_more_around_them(sift: Callable[..., RawText]) -> None:
    text = "".join(f"needle {n % 10}\n{filler(30)}" for n in range(2000))
    raw = sift(text)
    kept = numbered(raw)
    hits = [number for number, line in kept.items() if line.startswith("needle")]
    assert len(hits) >= 2000
    assert len(raw.text) < len(text) / 5
    assert kept.keys() >= set(range(1, 60))


def test_parts_of_a_traceback_take_little_with_them(sift: Callable[..., RawText]) -> None:
    kept = numbered(sift(filler(20_000) + '  File "x", line 3\n' + filler(20_000)))
    assert 20_001 in kept
    assert sum(1 for number in kept if 19_000 < number < 21_000) == 3


@pytest.mark.parametrize("ending", ["", "\n", "\r\n"])
def test_lines_are_counted_like_those_of_an_editor(sift: Callable[..., RawText], ending: str) -> None:
    assert sift(filler(LARGE) + "last" + ending).line_count == LARGE + 1


def test_one_line_without_an_end_keeps_memory_bounded(sift: Callable[..., RawText]) -> None:
    text = b"x" * 3_000_000 + b"needle 5" + b"y" * 3_000_000
    raw = sift(text)
    assert raw.line_count == 1
    assert "needle 5" in raw.text
    assert len(raw.text) < 100_000


def test_bytes_that_are_no_text_do_not_matter(sift: Callable[..., RawText]) -> None:
    raw = sift(b"\xff\xfe\x00\n" * 100_000 + b"needle 1\n")
    assert "needle 1" in raw.text
    assert raw.line_count == 100_001


def test_streams_that_are_small_alone_are_scanned_when_they_are_large_together(scanner: Scanner) -> None:
    sifting = Sifting(lambda: scanner)
    part = filler(WHOLE_BYTES // len(FILLER) // 3)
    for number in range(6):
        sifting.take(f"rank{number}.log", BytesIO((part + f"needle {number}\n").encode()), rank=str(number))
    texts = sifting.texts()
    assert [(raw.name, raw.rank) for raw in texts] == [(f"rank{n}.log", str(n)) for n in range(6)]
    assert all(f"needle {number}" in raw.text for number, raw in enumerate(texts))
    assert all(raw.line_count == part.count("\n") + 1 for raw in texts)
    assert all(len(raw.text) < len(part) / 2 for raw in texts)


def test_lines_that_were_skipped_before_are_counted(scanner: Scanner) -> None:
    sifting = Sifting(lambda: scanner)
    sifting.take("small", BytesIO(b"a\nb\n"), skipped_lines=100)
    (raw,) = sifting.texts()
    assert (raw.pieces[0].first_line, raw.line_count) == (101, 102)
    sifting.take("large", BytesIO(filler(LARGE).encode()), skipped_lines=50)
    small, large = sifting.texts()
    assert (small.pieces[0].first_line, small.line_count) == (101, 102)
    assert (large.pieces[0].first_line, large.line_count) == (51, LARGE + 50)


def test_each_block_is_told(scanner: Scanner) -> None:
    told: list[int] = []
    reader = BytesIO(filler(LARGE).encode())
    Sifting(lambda: scanner).take("x", reader, after_block=lambda: told.append(reader.tell()))
    assert len(told) >= 2
    assert told == sorted(told)
    assert told[-1] == len(reader.getvalue())


LINES = st.lists(
    st.sampled_from(["needle 1", "needle", "2 needle", "", "plain " * 9, 'File "x"']), max_size=300
)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(LINES, st.integers(64, 5000), st.booleans())
def test_what_is_kept_is_what_stands_there(lines: list[str], block_bytes: int, ends: bool) -> None:
    """Whatever the size of blocks: numbers are right, pieces do not overlap, and every hit is kept."""
    text = "\n".join(lines) + ("\n" if ends else "")
    made = Scanner(PLAN, Re2Gate(['file "x"', "needle"]))
    kept = excerpts.Excerpts(excerpts.Budget())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "BLOCK_BYTES", block_bytes)
        for block in blocks.scanned(BytesIO(text.encode()), made):
            kept.take(block)
    kept.finish()
    assert kept.line_count == text.count("\n") + bool(text and not text.endswith("\n"))
    ends_before = 0
    for piece in kept.pieces:
        assert piece.start >= ends_before
        assert bytes(piece.data) == text.encode()[piece.start : piece.end]
        assert piece.first_line == 1 + text.encode()[: piece.start].count(b"\n")
        ends_before = piece.end
    for found in re.finditer(rb'needle\s+\d|File\s+"x"', text.encode()):
        assert any(piece.start <= found.start() and found.end() <= piece.end for piece in kept.pieces)
