"""Compressed streams, told by how they begin, become streams of what they hold: gzip, bzip2, xz, Zstandard.

Several members or frames after one another are one stream; a damaged one gives what stands before the damage.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from io import RawIOBase
from typing import Protocol

from gpuhelp.reading.sources.streams import BLOCK_BYTES, blocks

_FED_BYTES = 1 << 16
_FED_ZSTANDARD_BYTES = 1 << 8
"""The package zstandard unpacks its whole input at once, to at most 128 KiB for each 4 bytes of it."""

OTHERS = (b"7z\xbc\xaf\x27\x1c", b"Rar!\x1a\x07", b"\x04\x22\x4d\x18", b"\x1f\x9d", b"\x89LZO\0")
"""How other packings begin (7-Zip, RAR, LZ4, compress, lzop): known, and not read."""


class _Decompressor(Protocol):
    """What the decompressors of bz2, lzma and compression.zstd have in common."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int = -1, /) -> bytes: ...


def packing_of(head: bytes) -> str:
    """The name of the packing of a stream that begins so; empty for a stream that is not packed."""
    if head.startswith(b"\x1f\x8b"):
        return "gzip"
    # The bytes after the level are pi, or the root of pi in an empty file: text may begin with BZh.
    if head.startswith(b"BZh") and head[4:10] in (b"1AY&SY", b"\x17rE8P\x90"):
        return "bzip2"
    if head.startswith(b"\xfd7zXZ\0"):
        return "xz"
    # A skippable frame, as pzstd writes it, has a magic number whose last digit is free.
    if head.startswith(b"\x28\xb5\x2f\xfd") or (head[1:4] == b"\x2a\x4d\x18" and 0x50 <= head[0] <= 0x5F):
        return "zstd"
    return ""


def unpacked(reader: RawIOBase, packing: str, on_fault: Callable[[str], None]) -> Iterator[bytes]:
    """The bytes of a packed stream; `on_fault` is told why where they end before the stream does."""
    try:
        new, broken, fed_bytes = _ENGINES[packing]()
    except ImportError as error:
        on_fault(str(error))
        return
    try:
        yield from _members(_feed(reader, fed_bytes), new)
    except (OSError, EOFError, ValueError, MemoryError, broken) as error:
        on_fault(str(error) or type(error).__name__)


def _feed(reader: RawIOBase, size: int) -> Iterator[bytes]:
    for block in blocks(reader, _FED_BYTES):
        yield from (block[at : at + size] for at in range(0, len(block), size))


def _members(feed: Iterator[bytes], new: Callable[[], _Decompressor]) -> Iterator[bytes]:
    decompressor: _Decompressor | None = None
    for block in feed:
        data = block
        while data:
            if decompressor is None:
                data = data.lstrip(b"\0")  # tapes and xz pad members
                if not data:
                    break
                decompressor = new()
            yield decompressor.decompress(data, BLOCK_BYTES)
            while not (decompressor.eof or decompressor.needs_input):
                yield decompressor.decompress(b"", BLOCK_BYTES)
            data = b""
            if decompressor.eof:
                data, decompressor = decompressor.unused_data, None
    if decompressor is not None:
        raise EOFError("it ends too early")


_Engine = tuple[Callable[[], _Decompressor], type[Exception], int]


def _gzip() -> _Engine:
    import zlib

    class Gzip:
        """zlib's object with the manners of the others."""

        def __init__(self) -> None:
            self._object = zlib.decompressobj(wbits=31)
            self.needs_input = True

        @property
        def eof(self) -> bool:
            return self._object.eof

        @property
        def unused_data(self) -> bytes:
            return self._object.unused_data

        def decompress(self, data: bytes, max_length: int = -1, /) -> bytes:
            out = self._object.decompress(self._object.unconsumed_tail + data, max_length)
            self.needs_input = len(out) < max_length  # a full answer may not be all
            return out

    return Gzip, zlib.error, _FED_BYTES


def _bzip2() -> _Engine:
    import bz2

    return bz2.BZ2Decompressor, ValueError, _FED_BYTES


def _xz() -> _Engine:
    import lzma

    return lzma.LZMADecompressor, lzma.LZMAError, _FED_BYTES


def _zstd() -> _Engine:
    if sys.version_info >= (3, 14):
        try:
            from compression import zstd
        except ImportError:  # a Python that was built without it
            pass
        else:
            return zstd.ZstdDecompressor, zstd.ZstdError, _FED_BYTES
    return _zstandard()


def _zstandard() -> _Engine:
    import zstandard

    class Zstandard:
        """zstandard's object with the manners of the others."""

        needs_input = True

        def __init__(self) -> None:
            self._object = zstandard.ZstdDecompressor().decompressobj()

        @property
        def eof(self) -> bool:
            return self._object.eof

        @property
        def unused_data(self) -> bytes:
            return self._object.unused_data

        def decompress(self, data: bytes, max_length: int = -1, /) -> bytes:
            return self._object.decompress(data)

    return Zstandard, zstandard.ZstdError, _FED_ZSTANDARD_BYTES


_ENGINES: dict[str, Callable[[], _Engine]] = {"gzip": _gzip, "bzip2": _bzip2, "xz": _xz, "zstd": _zstd}
