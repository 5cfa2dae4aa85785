"""A stream in blocks, each scanned while the next are read: in threads, since the scan holds no lock.

Only a few blocks are held at a time, so that memory stays the same whatever the size of the stream.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Container, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import BinaryIO, NamedTuple

from gpuhelp.scanning.line_breaks import line_break_counter
from gpuhelp.scanning.scanner import OVERLAP_BYTES, Hit, Scanner

BLOCK_BYTES = 1 << 20
_MOST_WORKERS = 4


class Block(NamedTuple):
    """A part of a stream that begins at `offset`: how many line breaks it holds, and where patterns match.

    A hit may begin in the block before.
    """

    data: bytes
    offset: int
    line_breaks: int
    hits: list[Hit]

    @property
    def end(self) -> int:
        """Where the next block begins."""
        return self.offset + len(self.data)


def scanned(
    reader: BinaryIO, scanner: Scanner, first: bytes = b"", muted: Container[int] = ()
) -> Iterator[Block]:
    """The blocks of a stream in order. `first` was read of it before; `muted` patterns are not looked for."""
    workers = min(_MOST_WORKERS, os.cpu_count() or 1)
    count = line_break_counter(BLOCK_BYTES)

    def scan(data: bytes, before: bytes, offset: int) -> Block:
        return Block(data, offset, count(data), scanner.hits(data, before, offset, muted))

    waiting: deque[Future[Block]] = deque()
    pool = ThreadPoolExecutor(workers)
    try:
        for data, before, offset in _read(reader, first):
            waiting.append(pool.submit(scan, data, before, offset))
            if len(waiting) > workers:
                yield waiting.popleft().result()
        yield from (future.result() for future in waiting)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _read(reader: BinaryIO, first: bytes) -> Iterator[tuple[bytes, bytes, int]]:
    """Each block with the end of the one before it, and its offset."""
    offset, before, ended = 0, b"", False
    while not ended:
        head, first = first[:BLOCK_BYTES], first[BLOCK_BYTES:]
        data, ended = (head, False) if first else _filled(reader, head)
        if data:
            yield data, before, offset
            before = data[-OVERLAP_BYTES:]
            offset += len(data)


def _filled(reader: BinaryIO, head: bytes) -> tuple[bytes, bool]:
    """A full block that begins with `head`, and whether the stream ended before it was full."""
    parts, room = [head] if head else [], BLOCK_BYTES - len(head)
    while room > 0:
        part = reader.read(room)
        if not part:
            return b"".join(parts), True
        parts.append(part)
        room -= len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts), False
