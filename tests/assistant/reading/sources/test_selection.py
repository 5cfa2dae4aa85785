"""--last and --since: what they may say, and which part of a log they leave, with true line numbers."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuhelp.errors import InputError
from gpuhelp.reading.sources import ALL, Notes, Selection, open_sources, selecting, selection_from
from gpuhelp.reading.sources.selecting import selected
from gpuhelp.reading.sources.selection import since_of
from gpuhelp.reading.sources.streams import Chunks
from gpuhelp.reading.sources.times import Clock

Told = Callable[[Notes], "dict[str, str]"]
LAST = datetime(2026, 3, 5, 9, 30)


@pytest.mark.parametrize(
    ("last", "expected"),
    [
        ("10MB", Selection(last_bytes=10**7)),
        ("500KB", Selection(last_bytes=500_000)),
        ("2GB", Selection(last_bytes=2 * 10**9)),
        ("10M", Selection(last_bytes=10 << 20)),
        ("3 KiB", Selection(last_bytes=3 << 10)),
        ("5000", Selection(last_lines=5000)),
        ("5000lines", Selection(last_lines=5000)),
        ("1 line", Selection(last_lines=1)),
        ("1.5GB", Selection(last_bytes=1_500_000_000)),
        (None, ALL),
        ("", ALL),
    ],
)
def test_amounts_are_bytes_or_lines(last: str | None, expected: Selection) -> None:
    assert selection_from(last, None) == expected


@pytest.mark.parametrize(
    "last", ["0", "-5", "ten", "10 TB", "1.5", "1.5lines", "0.0MB", "MB", "10MBx", "1" * 40, "٣", " "]
)
def test_other_amounts_are_refused_in_one_line(last: str) -> None:
    with pytest.raises(InputError, match="--last") as caught:
        selection_from(last, None)
    assert len(caught.value.sayings) == 1


@pytest.mark.parametrize(
    ("since", "start"),
    [
        ("2026-03-01", datetime(2026, 3, 1)),
        ("2026-03-01T10:00", datetime(2026, 3, 1, 10)),
        ("2026-03-01 10:00:30", datetime(2026, 3, 1, 10, 0, 30)),
        ("09:00", datetime(2026, 3, 5, 9)),
        ("9:00:01", datetime(2026, 3, 5, 9, 0, 1)),
        ("10:00", datetime(2026, 3, 4, 10)),
        ("2h", datetime(2026, 3, 5, 7, 30)),
        ("30m", datetime(2026, 3, 5, 9)),
        ("90s", datetime(2026, 3, 5, 9, 28, 30)),
        ("1d", datetime(2026, 3, 4, 9, 30)),
        ("1w", datetime(2026, 2, 26, 9, 30)),
        ("90min", datetime(2026, 3, 5, 8)),
        ("2026-03-01T10:00Z", datetime(2026, 3, 1, 10)),
        ("999999d", datetime.min),
    ],
)
def test_times_are_moments_or_count_from_the_end(since: str, start: datetime) -> None:
    assert selection_from(None, since) == Selection(since=since)
    assert since_of(since)(LAST) == start


@pytest.mark.parametrize(
    "since", ["yesterday", "2026-02-30", "25:00", "10:61", "2026-3-1", "1y", "h", "2026-03-01T1", "10"]
)
def test_other_times_are_refused_in_one_line(since: str) -> None:
    with pytest.raises(InputError, match="--since") as caught:
        selection_from(None, since)
    assert len(caught.value.sayings) == 1


@pytest.mark.parametrize(
    ("line", "time"),
    [
        ("2026-03-04 10:00:05,123 - train - INFO - x", (2026, 3, 4, 10, 0, 5)),
        ("[2026-03-04 10:00:05] x", (2026, 3, 4, 10, 0, 5)),
        ("2026-03-04T10:00:05.123456789Z stderr F x", (2026, 3, 4, 10, 0, 5)),
        ("2026/03/04 10:00:05 x", (2026, 3, 4, 10, 0, 5)),
        ("03/04/2026 10:00:05 - INFO - __main__ - x", (2026, 3, 4, 10, 0, 5)),
        ("[rank3]: [2026-03-04 10:00:05,123] [INFO] x", (2026, 3, 4, 10, 0, 5)),
        ("INFO 03-04 10:00:05 [core.py:718] x", (2026, 3, 4, 10, 0, 5)),
        ("I0304 10:00:05.123456 140 api.py:833] x", (2026, 3, 4, 10, 0, 5)),
        ("Mar  4 10:00:05 gpu01 kernel: x", (2026, 3, 4, 10, 0, 5)),
        ("[Wed Mar  4 10:00:05 2026] NVRM: x", (2026, 3, 4, 10, 0, 5)),
        ('{"log":"x\\n","stream":"stderr","time":"2026-03-04T10:00:05.1Z"}', (2026, 3, 4, 10, 0, 5)),
        ("12%|█ | 3/25 [00:01<00:11] 2026-03-04 10:00:05 x", (2026, 3, 4, 10, 0, 5)),
        ("[10:00:05] x", (2026, 3, 5, 10, 0, 5)),
        ("23:59:59 x", (2026, 3, 4, 23, 59, 59)),
        ("12%|█ | 3/25 [10:00:01<00:11:22, 2it/s]", None),
        ("12%|█ | 3/25 [00:01<00:11, 2it/s]", None),
        ("0000:3b:00.0 GPU", None),
        ("#SBATCH --time=24:00:00", None),
        ("2026-13-45 10:00:05 x", None),
        ("took 10:00 minutes", None),
        ("x" * 50 + " 10:00:05", None),
        ("x" * 500 + " 2026-03-04 10:00:05", None),
        ("10.0.0.1:10:00:05", None),
        ("Traceback (most recent call last):", None),
        ("", None),
    ],
)
def test_the_time_of_a_line_is_found(line: str, time: tuple[int, ...] | None) -> None:
    found = Clock(LAST).time_of(line.encode())
    assert found == (datetime(*time) if time else None)  # type: ignore[arg-type]


def test_what_a_time_leaves_out_follows_the_time_before() -> None:
    clock = Clock(None)
    told = [b"Dec 31 23:59:00 x", b"Jan  1 00:01:00 x", b"Jan  1 00:02:00 x"]
    times = [clock.time_of(line) for line in told]
    assert [b and a and b - a for a, b in pairwise(times)] == [
        timedelta(minutes=2),
        timedelta(minutes=1),
    ]
    bare = Clock(None)
    first, second = bare.time_of(b"23:59:00 x"), bare.time_of(b"00:01:00 x")
    assert first
    assert second
    assert second - first == timedelta(minutes=2)


def test_a_time_of_day_in_a_log_with_dates_is_something_else() -> None:
    clock = Clock(None)
    assert clock.time_of(b"2026-03-04 10:00:05 x")
    assert clock.time_of(b"elapsed 00:12:33") is None


def log(lines: int = 4000) -> str:
    """A day's log: one line a minute, and one below it without a time."""
    start = datetime(2026, 3, 4)
    return "".join(
        f"{start + timedelta(minutes=number)} step {number}\n  more {number}\n" for number in range(lines)
    )


Read = Callable[[str, Selection], "tuple[str, int]"]


def of_file(tmp_path: Path) -> Read:
    def read(text: str, selection: Selection) -> tuple[str, int]:
        (tmp_path / "train.log").write_bytes(text.encode())
        return of_sources([str(tmp_path / "train.log")], b"", selection)

    return read


def of_sources(paths: list[str], stdin: bytes, selection: Selection) -> tuple[str, int]:
    ((text, skipped),) = (
        (b"".join(iter(partial(one.reader.read, 1 << 16), b"")).decode(), one.skipped_lines)
        for one in open_sources(paths, io.BytesIO(stdin), selection)
    )
    return text, skipped


@pytest.fixture(params=["file", "pipe", "packed"])
def read(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Read:
    """`read(text, selection)`: the selected text and the number of lines before it; blocks are small here."""
    monkeypatch.setattr(selecting, "blocks", lambda reader: iter(lambda: reader.read(3000), b""))
    monkeypatch.setattr(selecting, "_MOST_IN_MEMORY_BYTES", 9000)
    if request.param == "file":
        return of_file(tmp_path)
    pack = gzip.compress if request.param == "packed" else bytes
    return lambda text, selection: of_sources(["-"], pack(text.encode()), selection)


@pytest.mark.parametrize("count", [1, 2, 7, 100, 3000, 7999, 8000, 9000])
@pytest.mark.parametrize("end", ["", "open end"])
def test_the_last_lines_are_kept(read: Read, count: int, end: str) -> None:
    lines = (log() + end).splitlines(keepends=True)
    wanted = lines[-count:]
    assert read("".join(lines), Selection(last_lines=count)) == ("".join(wanted), len(lines) - len(wanted))


@pytest.mark.parametrize("count", [1, 30, 50, 2999, 3001, 100_000, 10**9])
def test_the_last_bytes_are_kept_from_a_line_on(read: Read, count: int) -> None:
    text = log()
    found, skipped = read(text, Selection(last_bytes=count))
    assert text.endswith(found)
    assert skipped == text[: len(text) - len(found)].count("\n")
    assert len(found) <= count
    assert len(found) > count - 50 or found == text


def test_the_end_of_one_endless_line_is_kept(read: Read) -> None:
    assert read("x" * 200_000 + "end", Selection(last_bytes=1000)) == ("x" * 997 + "end", 0)


@pytest.mark.parametrize(
    ("since", "first"),
    [
        ("2026-03-04T00:00", 0),
        ("2025-01-01", 0),
        ("2026-03-04T00:01", 1),
        ("2026-03-05", 1440),
        ("2026-03-06 18:38", 3998),
        ("18:00", 2 * 1440 + 1080),
        ("19:00", 1440 + 1140),
        ("1h", 3939),
        ("2d", 3999 - 2880),
        ("9d", 0),
    ],
)
def test_lines_since_a_time_are_kept(read: Read, since: str, first: int) -> None:
    found, skipped = read(log(), Selection(since=since))
    assert found.startswith(f"{datetime(2026, 3, 4) + timedelta(minutes=first)} step {first}\n")
    assert found.endswith("  more 3999\n")
    assert skipped == 2 * first


def test_what_stands_before_the_first_time_belongs_to_it(read: Read) -> None:
    text = "starting\n" + log(10)
    assert read(text, Selection(since="2026-03-04")) == (text, 0)
    assert read(text, Selection(since="2026-03-04T00:05"))[1] == 11


def test_the_stricter_of_two_wishes_counts(read: Read) -> None:
    assert read(log(), Selection(last_lines=10, since="1h"))[1] == 7990
    assert read(log(), Selection(last_lines=4000, since="1h"))[1] == 2 * 3939


def test_a_log_without_times_is_kept_with_a_note(told: Told, tmp_path: Path) -> None:
    path, notes = tmp_path / "a.log", Notes()
    path.write_text("x\n" * 5000)
    ((text),) = (
        one.reader.read(20_000)
        for one in open_sources([str(path)], io.BytesIO(), Selection(since="2h"), notes)
    )
    assert text == b"x\n" * 5000
    assert told(notes) == {"note.no_times": str(path)}


def test_a_log_that_ended_before_gives_nothing_with_a_note(told: Told, tmp_path: Path) -> None:
    path, notes = tmp_path / "a.log", Notes()
    path.write_text(log())
    selection = Selection(since="2027-01-01")
    found = [
        (one.reader.read(9), one.skipped_lines)
        for one in open_sources([str(path)], io.BytesIO(), selection, notes)
    ]
    assert found == [(b"", 8000)]
    assert told(notes) == {"note.nothing_since": str(path)}


def test_a_date_is_found_without_reading_a_pipe_to_its_end() -> None:
    def endless() -> object:
        yield from (log().encode() for _ in range(3))
        raise AssertionError("read too far")

    reader, skipped = selected(Chunks(endless()), Selection(since="2026-03-04T12:00"), lambda kind: None)  # type: ignore[arg-type]
    assert (reader.read(30), skipped) == (b"2026-03-04 12:00:00 step 720\n ", 1440)


def test_a_log_with_a_mark_is_cut_where_its_text_says(read: Read) -> None:
    assert read("\ufeffa\nb\n", Selection(last_lines=1)) == ("b\n", 1)
    assert read("\ufeffa\nb\n", Selection(last_lines=5)) == ("a\nb\n", 0)


def test_an_empty_log_stays_empty(read: Read) -> None:
    for selection in (Selection(last_lines=3), Selection(last_bytes=3), Selection(since="2h")):
        assert read("", selection) == ("", 0)


LINES = ["a\n", "\n", "2026-03-04 10:00:00 x\n", "2026-03-04 11:00:00 y\n", "z", "\r", "10:30:00\n"]


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.sampled_from(LINES), max_size=60).map("".join),
    st.builds(
        Selection,
        st.none() | st.integers(1, 200),
        st.none() | st.integers(1, 30),
        st.sampled_from(["", "2h", "10:30", "2026-03-04T11:00"]),
    ),
    st.integers(1, 40),
)
def test_any_selection_is_the_end_of_the_text_with_its_line_numbers(
    text: str, selection: Selection, size: int
) -> None:
    data = text.encode()
    blocks = iter([data[at : at + size] for at in range(0, len(data), size)])
    reader, skipped = selected(Chunks(blocks), selection, lambda kind: None)
    found = b"".join(iter(lambda: reader.read(50), b""))
    assert data.endswith(found)
    assert skipped == data[: len(data) - len(found)].count(b"\n")
    if selection.last_bytes:
        assert len(found) <= selection.last_bytes
    if selection.last_lines:
        assert len(found.decode().split("\n")) - found.endswith(b"\n") <= selection.last_lines


def test_what_was_kept_of_a_pipe_is_given_back(
    opened: Callable[..., dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    closed: list[object] = []
    close = selecting._Store.close

    def noted(store: selecting._Store) -> None:
        closed.append(store)
        close(store)

    monkeypatch.setattr(selecting._Store, "close", noted)
    last = Selection(last_lines=2)
    assert opened("-", stdin=b"a\nb\nc\n", selection=last) == {"standard input": "b\nc\n"}
    assert len(closed) == 1
