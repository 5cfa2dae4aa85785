"""The cache of compiled knowledge: one file of JSON lines with a table of contents. Data only, never code.

The first line says which section stands at which byte, and its checksum; a start reads that line, the
signatures that can match and the small tables, and later only the entries that matched. A cache that is
stale, broken or cannot be written costs the time to compile again, never an answer.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

FORMAT = 13
"""Raised when a record's shape changes, so that older caches are not read."""

_LARGEST_BYTES, _LARGEST_HEAD_BYTES = 256 << 20, 16 << 20
"""The shipped knowledge takes a hundredth of it."""


class BrokenStore(ValueError):
    """A cache file that cannot be used."""


_Body = Callable[[int, int], bytes]
"""So many bytes from a place on, counted from the end of the first line."""


class Store:
    """Sections of plain data by name, read and checked on demand: what nobody asks for costs nothing."""

    def __init__(self, body: _Body, contents: Mapping[str, tuple[int, int, int]]) -> None:
        self._body = body
        self._contents = contents

    def __contains__(self, name: str) -> bool:
        return name in self._contents

    def names(self, prefix: str) -> tuple[str, ...]:
        """Sections whose name begins so, without the prefix, sorted."""
        return tuple(sorted(name[len(prefix) :] for name in self._contents if name.startswith(prefix)))

    def read(self, name: str) -> Any:
        """The data of one section. Raises KeyError if there is none, BrokenStore if it was altered."""
        start, length, check = self._contents[name]
        section = self._body(start, length)
        if zlib.crc32(section) != check:
            raise BrokenStore(f"section {name} was altered")
        return json.loads(section)


def pack(sections: Mapping[str, Any]) -> bytes:
    """The bytes of a store."""
    contents: dict[str, tuple[int, int, int]] = {}
    parts: list[bytes] = []
    position = 0
    for name, data in sections.items():
        line = json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
        contents[name] = (position, len(line), zlib.crc32(line))
        parts.append(line)
        position += len(line) + 1
    body = b"\n".join(parts)
    head = {"format": FORMAT, "digest": _digest(contents, len(body)), "contents": contents}
    return json.dumps(head).encode() + b"\n" + body


def unpack(data: bytes) -> Store:
    """The store of these bytes. Raises BrokenStore if they are not one, or one of another format."""
    head, _, _ = data.partition(b"\n")
    begin = len(head) + 1
    contents = _contents(head, len(data) - begin)
    return Store(lambda start, length: data[begin + start : begin + start + length], contents)


def _contents(head: bytes, body_bytes: int) -> dict[str, tuple[int, int, int]]:
    try:
        table = json.loads(head)
        if table["format"] != FORMAT:
            raise BrokenStore(f"format {table['format']}, this version reads {FORMAT}")
        contents = {name: _place(place) for name, place in table["contents"].items()}
        if table["digest"] != _digest(contents, body_bytes):
            raise BrokenStore("cut short or altered")
    except (ValueError, TypeError, KeyError, AttributeError, ArithmeticError, RecursionError) as error:
        raise BrokenStore(str(error)) from error
    return contents


def _place(place: Any) -> tuple[int, int, int]:
    start, length, check = place
    return int(start), int(length), int(check)


def read_cached(path: Path) -> Store | None:
    """The store in that file, or None if it is absent, unreadable or broken.

    Only its first line is read here, the sections when they are asked for: the file stays open.
    """
    try:
        size_bytes = _regular_bytes(path)
        if size_bytes is None:
            return None
        file = path.open("rb", buffering=0)
        head = _first_line(file)
        begin = len(head) + 1
        contents = _contents(head, size_bytes - begin)
    except (OSError, ValueError):  # a BrokenStore is a ValueError
        return None

    def part(start: int, length: int) -> bytes:
        file.seek(begin + start)
        return file.read(length)

    return Store(part, contents)


_HEAD_BYTES = 1 << 16


def _first_line(file: Any) -> bytes:
    """The first line without its end; what has none within the limits is no store."""
    head = b""
    while b"\n" not in head and len(head) < _LARGEST_HEAD_BYTES:
        more = file.read(_HEAD_BYTES)
        if not more:
            raise BrokenStore("no first line")
        head += more
    return head.partition(b"\n")[0]


def read_regular(path: Path) -> bytes | None:
    """The bytes of a file of ours; None for one that cannot be: a pipe would never end, nor a giant."""
    try:
        return None if _regular_bytes(path) is None else path.read_bytes()
    except (OSError, ValueError):  # ValueError: a name that no file can have, from an altered ledger
        return None


def _regular_bytes(path: Path) -> int | None:
    """The size of a file that can be read whole; None for others. Raises OSError, ValueError."""
    import stat

    state = path.stat()
    return state.st_size if stat.S_ISREG(state.st_mode) and state.st_size <= _LARGEST_BYTES else None


def write_cached(path: Path, data: bytes, keep: int = 8) -> bool:
    """Write the file in one step; False if the place cannot be written. Older files beyond `keep` go."""
    import os
    import tempfile

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".new-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            Path(name).replace(path)
        finally:
            Path(name).unlink(missing_ok=True)
        _forget_old(path, keep)
    except OSError:
        return False
    return True


def _digest(contents: Mapping[str, Any], size_bytes: int) -> str:
    """Guards the table of contents and the length; a wrong place would give half a section."""
    return checksum(f"{size_bytes} {sorted(contents.items())}".encode("utf-8", "surrogatepass"))


def checksum(data: bytes, start: str = "") -> str:
    """Two checksums and the length: against accidents, not attacks. hashlib would cost 3 ms a start."""
    seed = zlib.crc32(start.encode())
    return f"{zlib.crc32(data, seed):08x}{zlib.adler32(data, seed):08x}{len(data):x}"


def _forget_old(path: Path, keep: int) -> None:
    """Remove the oldest files of the same kind; what else lies in the folder is not ours."""
    alike = path.parent.glob(f"{path.stem.partition('-')[0]}-*{path.suffix}")
    files = sorted(alike, key=lambda file: file.stat().st_mtime, reverse=True)
    for old in files[keep:]:
        old.unlink(missing_ok=True)
