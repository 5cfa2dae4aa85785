"""A stream in blocks, in order, each with what the scan found in it; memory stays the same whatever the size.

A large file is scanned by several processes, anything else by threads: the scan holds no lock of Python, but
what goes on around it does.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import BinaryIO

from gpuhelp.reading.sources.streams import beginning
from gpuhelp.scanning.line_breaks import line_break_counter
from gpuhelp.scanning.scanner import OVERLAP_BYTES, Hit, Muted, Scanner

BLOCK_BYTES = 2 << 20
_MOST_WORKERS = 4


@dataclass(frozen=True)
class Block:
    """A part of a stream, from `offset` to `end`: how many line breaks it holds, and where patterns match.

    A hit may begin in the block before. `load` gives the bytes; most blocks are never asked for them.
    """

    offset: int
    end: int
    line_breaks: int
    ends_in_line: bool
    hits: list[Hit]
    load: Callable[[], bytes]

    @cached_property
    def _data(self) -> bytes:
        return self.load()

    def part(self, low: int, high: int) -> bytes:
        """The bytes of the stream between two places, as far as they are in this block."""
        low, high = max(low, self.offset), min(high, self.end)
        return self._data[low - self.offset : high - self.offset] if low < high else b""

    def breaks(self, low: int, high: int) -> int:
        """The line breaks between two places of the block."""
        return self._data.count(b"\n", low - self.offset, high - self.offset)


def scanned(reader: BinaryIO, scanner: Scanner, first: bytes = b"") -> Iterator[Block]:
    """The blocks of a stream in order. `first` was read of it before."""
    from gpuhelp.scanning.processes import can_share, scanned_by_processes

    if can_share(reader):
        return scanned_by_processes(reader, scanner, len(first), worker_count())
    return scanned_by_threads(reader, scanner, first, worker_count())


def worker_count() -> int:
    """How many blocks are scanned at the same time."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(_MOST_WORKERS, usable)


def scanned_by_threads(
    reader: BinaryIO, scanner: Scanner, first: bytes = b"", workers: int = 1
) -> Iterator[Block]:
    """The blocks of a stream, each scanned while the next are read."""
    scan = block_scanner(scanner)
    parts = _read(reader, first)
    opening = next(parts, None)
    if (
        opening is None or len(opening[0]) < BLOCK_BYTES
    ):  # all there is: one of a thousand small files, perhaps
        yield from (scan(*part) for part in (opening, *parts) if part is not None)
        return
    from concurrent.futures import Future, ThreadPoolExecutor  # it loads logging, which nothing else needs

    waiting: deque[Future[Block]] = deque()
    pool = ThreadPoolExecutor(workers)
    try:
        for part in chain((opening,), parts):
            waiting.append(pool.submit(scan, *part))
            if len(waiting) > workers:
                yield waiting.popleft().result()
        yield from (future.result() for future in waiting)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def block_scanner(scanner: Scanner) -> Callable[[bytes, bytes, int], Block]:
    """Makes a Block of some bytes of one stream, the end of what stands before them, and their offset."""
    muted = Muted()
    counter: list[Callable[[bytes], int]] = []

    def count(data: bytes) -> int:
        if not counter:  # made by the process that counts, not by the one that starts it
            counter.append(line_break_counter(BLOCK_BYTES))
        return counter[0](data)

    def scan(data: bytes, before: bytes, offset: int) -> Block:
        hits = scanner.hits(data, before, offset, muted)
        muted.note(hits)
        ends_in_line = not data.endswith(b"\n")
        return Block(offset, offset + len(data), count(data), ends_in_line, hits, lambda: data)

    return scan


def _read(reader: BinaryIO, first: bytes) -> Iterator[tuple[bytes, bytes, int]]:
    """Each block with the end of the one before it, and its offset."""
    offset, before, ended = 0, b"", False
    while not ended:
        head, first = first[:BLOCK_BYTES], first[BLOCK_BYTES:]
        data = head if first else head + beginning(reader, BLOCK_BYTES - len(head))
        ended = len(data) < BLOCK_BYTES
        if data:
            yield data, before, offset
            before = data[-OVERLAP_BYTES:]
            offset += len(data)
