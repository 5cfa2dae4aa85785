"""Large files scanned by processes give what one thread gives, whatever happens to file or process."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

import pytest

from gpuhelp.reading.sources.streams import LogFile
from gpuhelp.scanning import blocks, processes
from gpuhelp.scanning.blocks import Block, scanned, scanned_by_threads
from gpuhelp.scanning.engine import Re2Gate
from gpuhelp.scanning.processes import can_share, scanned_by_processes
from gpuhelp.scanning.scanner import OVERLAP_BYTES, Scanner

if sys.platform != "linux":
    pytest.skip("only Linux scans with processes", allow_module_level=True)
PLAN = {"patterns": [[r"(?im)needle\s+\d+", ["needle"], 0]]}
BLOCK = 2 * OVERLAP_BYTES
Told = list[tuple[int, int, int, bool, list[tuple[int, ...]]]]


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small files are treated like large ones."""
    monkeypatch.setattr(processes, "_SMALLEST_BYTES", 1)
    monkeypatch.setattr(processes, "BLOCK_BYTES", BLOCK)
    monkeypatch.setattr(blocks, "BLOCK_BYTES", BLOCK)


@pytest.fixture(scope="module")
def scanner() -> Scanner:
    return Scanner(PLAN, Re2Gate(["needle"]))


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Twenty blocks; matches stand in blocks, at their ends, and across them."""
    text = b"".join(b"line %05d of the log\n" % number for number in range(20 * BLOCK // 22))
    data = bytearray(text)
    for at in (0, BLOCK - 4, 3 * BLOCK - 9, 5 * BLOCK, 7 * BLOCK + 100, len(data) - 10):
        data[at : at + 10] = b"needle 42\n"
    path = tmp_path / "train.log"
    path.write_bytes(data)
    return path


def opened(path: Path) -> BinaryIO:
    return cast(BinaryIO, LogFile(str(path), lambda error: None))


def told(found: Iterator[Block]) -> Told:
    return [
        (one.offset, one.end, one.line_breaks, one.ends_in_line, [tuple(hit) for hit in one.hits])
        for one in found
    ]


def children() -> set[int]:
    path = Path(f"/proc/self/task/{os.getpid()}/children")
    if not path.exists():
        pytest.skip("this kernel does not list children")
    return {int(pid) for pid in path.read_text().split()}


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_processes_tell_what_a_thread_tells(scanner: Scanner, log: Path, workers: int) -> None:
    expected = told(scanned_by_threads(opened(log), scanner))
    assert told(scanned_by_processes(opened(log), scanner, 0, workers)) == expected
    assert sum(len(hits) for *_, hits in expected) == 6


def test_the_bytes_of_a_block_are_there_when_asked_for(scanner: Scanner, log: Path) -> None:
    data = log.read_bytes()
    for block in scanned_by_processes(opened(log), scanner, 0, 2):
        assert block.part(0, len(data)) == data[block.offset : block.end]


def test_what_was_read_before_is_scanned_too(scanner: Scanner, log: Path) -> None:
    reader = opened(log)
    first = reader.read(1000)
    assert told(scanned(reader, scanner, first)) == told(scanned_by_threads(opened(log), scanner))


def test_a_file_from_the_middle_on_begins_there(scanner: Scanner, log: Path) -> None:
    reader = opened(log)
    reader.seek(5 * BLOCK)
    (first, *_) = told(scanned_by_processes(reader, scanner, 0, 2))
    assert first[0] == 0
    assert first[4][0][1] == 0


def test_the_reader_says_how_far_it_is(scanner: Scanner, log: Path) -> None:
    reader = opened(log)
    places = [reader.tell() for _ in scanned_by_processes(reader, scanner, 0, 2)]
    assert places == sorted(places)
    assert places[-1] == log.stat().st_size


def test_blocks_of_a_process_that_died_are_scanned_all_the_same(scanner: Scanner, log: Path) -> None:
    expected = told(scanned_by_threads(opened(log), scanner))
    before = children()
    found = scanned_by_processes(opened(log), scanner, 0, 2)
    first = next(found)
    for pid in children() - before:
        os.kill(pid, signal.SIGKILL)
    assert told(iter([first, *found])) == expected


def test_a_file_that_shrinks_ends_earlier(scanner: Scanner, log: Path) -> None:
    found = scanned_by_processes(opened(log), scanner, 0, 2)
    next(found)
    os.truncate(log, 3 * BLOCK + 5)
    ends = [block.end for block in found]
    assert ends == sorted(ends)


@pytest.mark.parametrize("leave", [True, False], ids=["left early", "read whole"])
def test_no_process_stays(scanner: Scanner, log: Path, leave: bool) -> None:
    before = children()
    found = scanned_by_processes(opened(log), scanner, 0, 2)
    next(found)
    assert len(children() - before) == 2
    if leave:
        found.close()  # type: ignore[attr-defined]
    else:
        list(found)
    assert children() == before


def test_pipes_and_small_files_are_not_shared(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert can_share(opened(log))
    with log.open("rb") as buffered:
        assert not can_share(buffered)
    read, write = os.pipe()
    with os.fdopen(read, "rb", buffering=0) as pipe, os.fdopen(write, "wb"):
        assert not can_share(cast(BinaryIO, pipe))
    monkeypatch.setattr(processes, "_SMALLEST_BYTES", log.stat().st_size + 1)
    assert not can_share(opened(log))
