"""Streams of bytes that the layers of sources are laid on: files, iterators, and looks ahead."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from io import FileIO, RawIOBase
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

SNIFFED_BYTES = 1 << 16
"""Of the beginning and the end of a file, to tell what it is."""
BLOCK_BYTES = 1 << 20
"""Read at once: larger blocks come no faster from the page cache, smaller ones cost calls."""


class LogFile(FileIO):
    """A file, unbuffered, that ends where it cannot be read further: no error reaches the reader.

    `on_fault` is told why: a network file system went away, or another host deleted the file.
    """

    def __init__(self, path: str, on_fault: Callable[[OSError], None]) -> None:
        super().__init__(path, "rb")
        self._on_fault = on_fault

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        """The number of bytes read, 0 at the end."""
        try:
            return super().readinto(buffer) or 0
        except OSError as error:
            self._on_fault(error)
            return 0

    def read(self, size: int | None = -1, /) -> bytes:
        """At most `size` bytes, all that are left without it."""
        try:
            return super().read(-1 if size is None else size) or b""
        except OSError as error:
            self._on_fault(error)
            return b""

    def readall(self) -> bytes:
        """All bytes that are left."""
        return self.read()


class Chunks(RawIOBase):
    """A stream of the bytes that an iterator yields; `tell` counts those that were read."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        super().__init__()
        self._chunks = chunks
        self._rest = memoryview(b"")
        self._count_bytes = 0

    def readable(self) -> bool:
        """True."""
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        """The number of bytes read: at most what one item of the iterator holds, 0 at the end."""
        target = memoryview(buffer).cast("B")
        part = self._part(len(target))
        target[: len(part)] = part
        return len(part)

    def read(self, size: int | None = -1, /) -> bytes:
        """The next bytes, not copied where an item of the iterator is no longer than `size`."""
        if size is None or size < 0:
            return self.readall()
        return bytes(self._part(size))

    def _part(self, size: int) -> bytes | memoryview:
        while not self._rest:
            chunk = next(self._chunks, None)
            if chunk is None:
                return b""
            if len(chunk) <= size and chunk:
                self._count_bytes += len(chunk)
                return chunk
            self._rest = memoryview(chunk)
        part, self._rest = self._rest[:size], self._rest[size:]
        self._count_bytes += len(part)
        return part

    def tell(self) -> int:
        """How many bytes were read."""
        return self._count_bytes

    def close(self) -> None:
        """Ends the iterator too, where that is a generator."""
        self._rest = memoryview(b"")
        if isinstance(self._chunks, Generator):
            self._chunks.close()
        super().close()


def blocks(reader: RawIOBase, size: int = BLOCK_BYTES) -> Iterator[bytes]:
    """The bytes of a stream, at most `size` at once."""
    while block := reader.read(size):
        yield block


def beginning(reader: RawIOBase | BinaryIO, size: int) -> bytes:
    """The next bytes of a stream, fewer than `size` only where it ends."""
    parts: list[bytes] = []
    while size > 0 and (part := reader.read(size)):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def again(head: bytes, reader: RawIOBase) -> RawIOBase:
    """A stream of `head` and then of what `reader` still has."""

    def chunks() -> Iterator[bytes]:
        yield head
        yield from blocks(reader)

    return Chunks(chunks())
