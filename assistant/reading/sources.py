"""Files and streams become text. The only module of reading that touches the disk."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from gpuhelp.errors import InputError, Saying
from gpuhelp.reading.pieces import RawText, count_lines, whole

STANDARD_INPUT = "-"
_SNIFFED_BYTES = 8192
_COMPRESSED = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\xfd7zXZ\x00": "lzma"}
_MOST_BYTES = 1 << 30
"""A compressed file may unpack to this much; a small file can hide far more."""
_BYTE_ORDER_MARKS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))


def read_paths(paths: Iterable[str], stdin: BinaryIO) -> tuple[RawText, ...]:
    """The texts of files, `-` being standard input. Raises InputError that names every unreadable file."""
    texts: list[RawText] = []
    faults: list[str | Saying] = []
    for path in paths:
        try:
            texts.append(_read_stdin(stdin) if path == STANDARD_INPUT else _read_file(path))
        except InputError as error:
            faults += error.sayings
    if faults:
        raise InputError(*faults)
    return tuple(texts)


def _read_stdin(stdin: BinaryIO) -> RawText:
    data = stdin.read()
    return _raw("standard input", _decode(data, "standard input"), len(data))


def _read_file(path: str) -> RawText:
    try:
        data = Path(path).read_bytes()
    except FileNotFoundError:
        raise _refusal("no_file", path) from None
    except IsADirectoryError:
        raise _refusal("folder", path) from None
    except PermissionError:
        raise _refusal("no_rights", path) from None
    except (OSError, ValueError) as error:
        raise _refusal("unreadable", path, reason=getattr(error, "strerror", None) or str(error)) from None
    return _raw(path, _decode(_unpacked(data, path), path), len(data))


def _raw(name: str, text: str, size_bytes: int) -> RawText:
    return RawText(name, whole(text), size_bytes, count_lines(text))


def _unpacked(data: bytes, path: str) -> bytes:
    """The bytes of a compressed file, told by how it begins; others as they are."""
    module = next((name for begin, name in _COMPRESSED.items() if data.startswith(begin)), None)
    if module is None:
        return data
    from importlib import import_module
    from io import BytesIO

    try:
        with import_module(module).open(BytesIO(data)) as stream:
            unpacked: bytes = stream.read(_MOST_BYTES + 1)
    except (OSError, EOFError, ValueError, _broken_stream(module)) as error:
        raise _refusal("broken_archive", path, reason=str(error) or type(error).__name__) from None
    if len(unpacked) > _MOST_BYTES:
        raise _refusal("too_large", path, most=_MOST_BYTES >> 20)
    return unpacked


def _broken_stream(module: str) -> type[Exception]:
    """What a decompressor raises, beside OSError, for data that is damaged inside."""
    if module == "lzma":
        from lzma import LZMAError

        return LZMAError
    from zlib import error

    return error


def _refusal(key: str, path: str, **values: object) -> InputError:
    return InputError(Saying(f"error.{key}", {"path": path, **values}))


def _decode(data: bytes, name: str) -> str:
    """Text of the bytes; stray bytes become U+FFFD. Raises InputError for data that is not text."""
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    if b"\0" in data[:_SNIFFED_BYTES]:
        raise _refusal("not_text", name)
    return data.decode("utf-8", "replace")
