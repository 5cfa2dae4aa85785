"""The engines agree with each other and with a plain search, wherever blocks are cut."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuhelp.kb.load import KnowledgeBase, load
from gpuhelp.scanning.engine import Gate, HyperscanGate, Re2Gate, gate_for, spellings
from gpuhelp.scanning.scanner import OVERLAP_BYTES, Hit, Scanner, literals_of

HEALTHY = sorted((Path(__file__).parents[3] / "kb" / "healthy").glob("*.log"))
hyperscan = pytest.importorskip("hyperscan", reason="this platform has no wheel of hyperscan")


def hyperscan_gate(literals: list[str]) -> Gate:
    from gpuhelp.scanning.compiled import database_of_literals

    return HyperscanGate(database_of_literals(hyperscan, spellings(literals), None), hyperscan)


MAKERS: tuple[Callable[[list[str]], Gate], ...] = (hyperscan_gate, Re2Gate)


@pytest.fixture(scope="module")
def knowledge() -> KnowledgeBase:
    return load()


@pytest.fixture(scope="module")
def scanners(knowledge: KnowledgeBase) -> tuple[Scanner, ...]:
    literals = literals_of(knowledge.scan_plan)
    return tuple(Scanner(knowledge.scan_plan, make(literals)) for make in MAKERS)


def told(gate: Gate, block: bytes | memoryview) -> set[int]:
    """Which literals stand in the block."""
    return {number for number, _ in gate.places(block)}


def plan_of(*rows: tuple[str, list[str]]) -> dict[str, object]:
    return {"patterns": [[expression, literals, 0] for expression, literals in rows]}


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("nothing here", set()),
        ("CUDA OUT OF MEMORY", {0}),
        ("cuda out of memory, killed", {0, 1}),
        ("현재 버스 오류", {2}),
        ("УБИТО", {3}),
        ("Убито", {3}),
        ("a.b", {4}),
        ("axb", set()),  # a literal is no expression
    ],
)
def test_a_gate_tells_which_literals_stand_in_a_block(
    make: Callable[[list[str]], Gate], text: str, numbers: set[int]
) -> None:
    gate = make(["cuda out of memory", "killed", "버스 오류", "убито", "a.b"])
    assert told(gate, text.encode()) == numbers
    assert told(gate, memoryview(b"xx" + text.encode())[2:]) == numbers


def test_the_fastest_gate_that_is_there_is_taken() -> None:
    assert isinstance(gate_for(["abc"]), HyperscanGate)


def test_without_hyperscan_the_scan_runs_on_re2(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "hyperscan", None)
    gate = gate_for(["abc"])
    assert isinstance(gate, Re2Gate)
    assert gate.places(b"xABCx") == [(0, 4)]


@pytest.mark.parametrize("make", MAKERS)
def test_a_gate_tells_every_place(make: Callable[[list[str]], Gate]) -> None:
    assert sorted(make(["aba", "b"]).places(b"xABABAb")) == [(0, 4), (0, 6), (1, 3), (1, 5), (1, 7)]


def test_more_literals_than_one_set_holds_are_all_found() -> None:
    literals = [f"literal number {number:05}" for number in range(3000)]
    text = "\n".join(literals[::7]).encode()
    by_re2, by_hyperscan = (sorted(make(literals).places(text)) for make in (Re2Gate, hyperscan_gate))
    assert by_re2 == by_hyperscan
    assert [number for number, _ in by_re2] == list(range(0, 3000, 7))


def test_both_engines_find_the_same_in_every_example(
    scanners: tuple[Scanner, ...], knowledge: KnowledgeBase
) -> None:
    texts = [example.text for entry_id in knowledge.ids for example in knowledge.entry(entry_id).examples]
    text = "\n".join(texts).encode()
    by_hyperscan, by_re2 = (scanner.hits(text) for scanner in scanners)
    assert by_hyperscan == by_re2
    assert len(by_hyperscan) > 500


@pytest.mark.parametrize("path", HEALTHY, ids=lambda path: path.stem)
def test_both_engines_find_the_same_in_healthy_logs(scanners: tuple[Scanner, ...], path: Path) -> None:
    text = path.read_bytes()
    by_hyperscan, by_re2 = (scanner.hits(text) for scanner in scanners)
    assert by_hyperscan == by_re2


def test_hits_are_where_the_expression_matches() -> None:
    scanner = Scanner(plan_of((r"(?im)GPU\s+\d\s+is\s+lost", ["is lost"])))
    text = b"gpu 3 is lost, GPU x is lost, GPU 4\n is lost"
    assert [text[hit.start : hit.end] for hit in scanner.hits(text)] == [b"gpu 3 is lost", b"GPU 4\n is lost"]


@pytest.mark.parametrize("cut", range(1, 8))
def test_a_match_across_two_blocks_is_found_in_the_second(cut: int) -> None:
    scanner = Scanner(plan_of((r"(?im)needle42", ["needle"])))
    text = b"." * 500 + b"needle42" + b"." * 500
    first, second = text[: 500 + cut], text[500 + cut :]
    assert scanner.hits(first) == []
    assert scanner.hits(second, first[-OVERLAP_BYTES:], len(first)) == [Hit(0, 500, 508)]


def test_a_match_that_ends_with_a_block_is_not_told_again() -> None:
    scanner = Scanner(plan_of((r"(?im)needle42", ["needle"])))
    first = b"." * 500 + b"needle42"
    assert scanner.hits(first) == [Hit(0, 500, 508)]
    assert scanner.hits(b"more", first[-OVERLAP_BYTES:], len(first)) == []


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.lists(
        st.sampled_from([b"needle 7 ", b"NEEDLE 1\n", b"need", b"le 9", b"\xff\n", b"x" * 50]), max_size=40
    ),
    st.integers(1, 400),
)
def test_cutting_a_text_anywhere_changes_nothing(parts: list[bytes], cut: int) -> None:
    scanner = Scanner(plan_of((r"(?im)needle\s+\d", ["needle"])))
    text = b"".join(parts)
    found = [
        hit
        for at in range(0, len(text), cut)
        for hit in scanner.hits(text[at : at + cut], text[max(0, at - OVERLAP_BYTES) : at], at)
    ]
    expected = [match.span() for match in re.finditer(rb"(?i)needle\s+\d", text)]
    assert [(hit.start, hit.end) for hit in found] == expected


def test_compiled_literals_are_kept_and_a_broken_cache_is_made_anew(tmp_path: Path) -> None:
    gate_for(["watchdog"], tmp_path)
    (path,) = tmp_path.glob("scan-*.hsdb")
    before = path.read_bytes()
    assert told(gate_for(["watchdog"], tmp_path), b"the WATCHDOG barks") == {0}
    assert path.read_bytes() == before
    path.write_bytes(before[:60] + b"\0" * (len(before) - 60))
    assert told(gate_for(["watchdog"], tmp_path), b"the WATCHDOG barks") == {0}
    assert path.read_bytes() == before


def test_other_literals_have_another_cache(tmp_path: Path) -> None:
    gate_for(["watchdog"], tmp_path)
    assert told(gate_for(["heartbeat"], tmp_path), b"watchdog heartbeat") == {0}
    assert len(list(tmp_path.glob("scan-*.hsdb"))) == 2


def test_a_cache_folder_that_cannot_be_written_costs_no_answer(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert told(gate_for(["watchdog"], tmp_path / "file" / "sub"), b"watchdog") == {0}
