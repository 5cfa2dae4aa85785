"""Files and streams become text. The only module of reading that touches the disk."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from gpuhelp.errors import InputError

STANDARD_INPUT = "-"
_SNIFFED_BYTES = 8192
_BYTE_ORDER_MARKS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))


@dataclass(frozen=True, slots=True)
class RawText:
    """A text as read, with the name people know it by and its size before decoding."""

    name: str
    text: str
    size_bytes: int


def read_paths(paths: Iterable[str], stdin: BinaryIO) -> tuple[RawText, ...]:
    """The texts of files, `-` being standard input. Raises InputError that names every unreadable file."""
    texts: list[RawText] = []
    faults: list[str] = []
    for path in paths:
        try:
            texts.append(_read_stdin(stdin) if path == STANDARD_INPUT else _read_file(path))
        except InputError as error:
            faults += error.lines
    if faults:
        raise InputError(*faults)
    return tuple(texts)


def from_text(text: str, name: str) -> RawText:
    """A text that is already in memory; halves of surrogate pairs become U+FFFD."""
    if not text.isascii():
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return RawText(name, text, len(text.encode("utf-8")))


def _read_stdin(stdin: BinaryIO) -> RawText:
    data = stdin.read()
    return RawText("standard input", _decode(data, "standard input"), len(data))


def _read_file(path: str) -> RawText:
    try:
        data = Path(path).read_bytes()
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; check the name, or paste the text into `gpuhelp`") from None
    except IsADirectoryError:
        raise InputError(f"{path}: is a folder; name the log files in it, for example {path}/*.log") from None
    except PermissionError:
        raise InputError(f"{path}: not readable by this user; copy it or ask its owner") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{path}: cannot be read: {reason}") from None
    return RawText(path, _decode(data, path), len(data))


def _decode(data: bytes, name: str) -> str:
    """Text of the bytes; stray bytes become U+FFFD. Raises InputError for data that is not text."""
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    if b"\0" in data[:_SNIFFED_BYTES]:
        raise InputError(f"{name}: is not text; name a log file, or a file that your program wrote as text")
    return data.decode("utf-8", "replace")
