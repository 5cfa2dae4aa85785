"""A large file scanned by processes of ours: each takes every n-th block, and tells what it found in a pipe.

Threads would wait for each other around every hit. Linux only: elsewhere a process is slow to start, or not
safe to fork.
"""

from __future__ import annotations

import marshal
import os
import signal
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from io import FileIO
from typing import BinaryIO, NamedTuple

from gpuhelp.scanning.blocks import BLOCK_BYTES, Block, block_scanner
from gpuhelp.scanning.scanner import OVERLAP_BYTES, Hit, Scanner

_SMALLEST_BYTES = 16 << 20
"""Below that, starting processes costs more than they save."""
_LENGTH_BYTES = 8


class _Worker(NamedTuple):
    """A process, and the end of the pipe from which its results come."""

    pid: int
    results: int


def can_share(reader: BinaryIO) -> bool:
    """Whether the stream is a file of which processes may read different parts, and large enough."""
    if sys.platform != "linux" or not isinstance(reader, FileIO):
        return False
    status = os.fstat(reader.fileno())
    return stat.S_ISREG(status.st_mode) and status.st_size - reader.tell() >= _SMALLEST_BYTES


def scanned_by_processes(
    reader: BinaryIO, scanner: Scanner, read_bytes: int, workers: int
) -> Iterator[Block]:
    """The blocks of a file from `read_bytes` before where it stands, as long as it is now.

    A process that dies costs time: its blocks are scanned here. Where the reader stands says how far it is.
    """
    descriptor, start = reader.fileno(), reader.tell() - read_bytes
    count = -(-(os.fstat(descriptor).st_size - start) // BLOCK_BYTES)
    scan = _block_of_file(descriptor, start, scanner)
    started: list[_Worker] = []
    try:
        for number in range(workers):
            started.append(
                _start(scan, range(number, count, workers), [worker.results for worker in started])
            )
        for number in range(count):
            block = _received(started[number % workers], descriptor, start) or scan(number)
            if block.end == block.offset:  # the file is shorter by now
                break
            reader.seek(start + block.end)
            yield block
    finally:
        for worker in started:
            _end(worker)


def _block_of_file(descriptor: int, start: int, scanner: Scanner) -> Callable[[int], Block]:
    scan = block_scanner(scanner)

    def scanned(number: int) -> Block:
        offset = number * BLOCK_BYTES
        before = _bytes_of(descriptor, start + max(0, offset - OVERLAP_BYTES), min(offset, OVERLAP_BYTES))
        return scan(_bytes_of(descriptor, start + offset, BLOCK_BYTES), before, offset)

    return scanned


def _bytes_of(descriptor: int, at: int, size: int) -> bytes:
    """Bytes of a file; fewer where it ends, or cannot be read any more."""
    data = b""
    with suppress(OSError):
        data = os.pread(descriptor, size, at) if size else b""
        while 0 < len(data) < size and (more := os.pread(descriptor, size - len(data), at + len(data))):
            data += more
    return data


def _start(scan: Callable[[int], Block], numbers: range, inherited: list[int]) -> _Worker:
    results, told = os.pipe()
    pid = os.fork()
    if pid:
        os.close(told)
        return _Worker(pid, results)
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a Ctrl-C is for the process that talks to the person
        for descriptor in (results, *inherited):
            os.close(descriptor)
        for number in numbers:
            _send(told, scan(number))
    finally:
        os._exit(0)  # nothing of the parent's may be written or ended twice


def _send(descriptor: int, block: Block) -> None:
    row = (block.offset, block.end, block.line_breaks, block.ends_in_line, [tuple(hit) for hit in block.hits])
    data = marshal.dumps(row)
    message = memoryview(len(data).to_bytes(_LENGTH_BYTES, "big") + data)
    while message:
        message = message[os.write(descriptor, message) :]


def _received(worker: _Worker, descriptor: int, start: int) -> Block | None:
    """The next block of a worker; None if it died."""
    length = _read_exactly(worker.results, _LENGTH_BYTES)
    data = _read_exactly(worker.results, int.from_bytes(length, "big")) if length else b""
    if not data:
        return None
    offset, end, line_breaks, ends_in_line, hits = marshal.loads(data)  # written by ourselves, a moment ago
    load = lambda: _bytes_of(descriptor, start + offset, end - offset)  # noqa: E731
    return Block(offset, end, line_breaks, ends_in_line, [Hit(*hit) for hit in hits], load)


def _read_exactly(descriptor: int, size: int) -> bytes:
    """So many bytes; nothing if the pipe ends before."""
    parts: list[bytes] = []
    while size > 0:
        part = os.read(descriptor, size)
        if not part:
            return b""
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _end(worker: _Worker) -> None:
    with suppress(OSError):
        os.close(worker.results)
    with suppress(OSError):
        os.kill(worker.pid, signal.SIGKILL)
    with suppress(OSError):
        os.waitpid(worker.pid, 0)
