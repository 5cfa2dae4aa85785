"""Archives of logs, member after member: tar as a stream, zip by its directory; nothing is unpacked to disk.

The headers of tar are read here and not by tarfile: it keeps what a header of any size says in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from io import RawIOBase
from typing import IO, TYPE_CHECKING, NamedTuple

from gpuhelp.reading.sources.streams import BLOCK_BYTES, Chunks, beginning

if TYPE_CHECKING:
    import zipfile

RECORD_BYTES = 512
_LONGEST_NAME_BYTES = 1 << 20
_FOREIGN = ("/data.pkl", "[Content_Types].xml", "META-INF/MANIFEST.MF", ".dist-info/RECORD")
"""Members by which a zip file is PyTorch's, an office document, a Java or a Python package."""


class Member(NamedTuple):
    """One file of an archive. `reader` ends with it, and is of no use once the next one was asked for."""

    name: str
    size_bytes: int
    reader: RawIOBase


class BrokenArchiveError(Exception):
    """The archive ends or is damaged here; members before it are good."""


def is_tar(head: bytes) -> bool:
    """Whether data begins as tar files do: a header with its right check sum."""
    return len(head) >= RECORD_BYTES and head[:1] != b"\0" and _header(head[:RECORD_BYTES]) is not None


def is_zip(head: bytes) -> bool:
    """Whether data begins as zip files do."""
    return head.startswith((b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08"))


class _Header(NamedTuple):
    kind: bytes
    name: str
    size_bytes: int


def _header(record: bytes) -> _Header | None:
    from tarfile import TarError, TarInfo

    try:
        info = TarInfo.frombuf(record, "utf-8", "replace")
    except (TarError, ValueError):
        return None
    return _Header(info.type, info.name, info.size) if info.size >= 0 else None


def tar_members(reader: RawIOBase) -> Iterator[Member]:
    """The files of a tar stream in their order. Raises BrokenArchiveError where it is cut off or damaged."""
    name, size = "", -1
    while (record := beginning(reader, RECORD_BYTES)).strip(b"\0"):
        header = _header(record) if len(record) == RECORD_BYTES else None
        if header is None:
            raise BrokenArchiveError("it ends too early")
        if header.kind == b"L":
            name = _small(reader, header.size_bytes).rstrip(b"\0").decode("utf-8", "replace")
        elif header.kind in (b"x", b"X"):
            told = _told_by_pax(_small(reader, header.size_bytes))
            name, size = (
                told.get("GNU.sparse.name") or told.get("path") or name,
                _number(told.get("size", "")),
            )
        else:
            if header.kind == b"S" and record[482]:
                _skip_sparse_map(reader)
            size = header.size_bytes if size < 0 else size
            yield from _member(reader, _Header(header.kind, name or header.name, size))
            name, size = ("", -1) if header.kind not in (b"g", b"K") else (name, -1)


def _member(reader: RawIOBase, header: _Header) -> Iterator[Member]:
    """The member where it is a file; afterwards the stream stands behind it."""
    kind, name, size = header
    if kind in (b"1", b"2", b"3", b"4", b"5", b"6"):  # links, devices, folders, pipes
        return
    rest = [_padded(size)]
    if kind in (b"0", b"\0", b"7", b"S") and not name.endswith("/"):
        yield Member(name, size, Chunks(_limited(reader, size, rest)))
    while rest[0] > 0:
        part = reader.read(min(BLOCK_BYTES, rest[0]))
        if not part:
            raise BrokenArchiveError("it ends too early")
        rest[0] -= len(part)


def _limited(reader: RawIOBase, size: int, rest: list[int]) -> Iterator[bytes]:
    """The next `size` bytes; what was taken is taken off `rest`."""
    while size > 0 and (part := reader.read(min(BLOCK_BYTES, size))):
        size -= len(part)
        rest[0] -= len(part)
        yield part


def _padded(size: int) -> int:
    return -(-size // RECORD_BYTES) * RECORD_BYTES


def _small(reader: RawIOBase, size: int) -> bytes:
    """What a header that tells about the next one holds."""
    if size > _LONGEST_NAME_BYTES:
        raise BrokenArchiveError("a header is too long")
    data = beginning(reader, _padded(size))
    if len(data) < size:
        raise BrokenArchiveError("it ends too early")
    return data[:size]


def _told_by_pax(data: bytes) -> dict[str, str]:
    """The records `LENGTH KEY=VALUE` of a pax header."""
    told: dict[str, str] = {}
    start = 0
    while (space := data.find(b" ", start, start + 9)) > start:
        length = _number(data[start:space].decode("ascii", "replace"))
        if length <= 0:
            break
        key, _, value = data[space + 1 : start + length - 1].decode("utf-8", "replace").partition("=")
        told[key] = value
        start += length
    return told


def _number(digits: str) -> int:
    """The number that digits stand for, -1 for anything else."""
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 16 else -1


def _skip_sparse_map(reader: RawIOBase) -> None:
    while len(record := beginning(reader, RECORD_BYTES)) == RECORD_BYTES and record[504]:
        pass


def zip_members(file: IO[bytes], on_fault: Callable[[str], None]) -> Iterator[Member]:
    """The files of a zip file, sorted naturally. Raises BrokenArchiveError for one without a directory.

    `on_fault` is told why where a member ends before it should, or cannot be read at all (a password).
    """
    import zipfile

    from gpuhelp.reading.sources.names import natural_key

    try:
        archive = zipfile.ZipFile(file)
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise BrokenArchiveError(str(error)) from None
    with archive:
        infos = [info for info in archive.infolist() if not info.is_dir()]
        if any(info.filename.endswith(_FOREIGN) for info in infos):
            return
        for info in sorted(infos, key=lambda info: natural_key(info.filename)):
            yield Member(info.filename, info.file_size, Chunks(_zipped(archive, info, on_fault)))


def _zipped(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo, on_fault: Callable[[str], None]
) -> Iterator[bytes]:
    import zipfile
    import zlib

    faults = (
        zipfile.BadZipFile,
        zlib.error,
        OSError,
        EOFError,
        ValueError,
        RuntimeError,
        NotImplementedError,
    )
    try:
        with archive.open(info) as stream:
            while part := stream.read(BLOCK_BYTES):
                yield part
    except faults as error:
        on_fault(str(error) or type(error).__name__)
