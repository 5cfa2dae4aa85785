"""Anything a person can name becomes readers of bytes. The only rooms of reading that touch the disk."""

from __future__ import annotations

from collections.abc import Iterable
from typing import BinaryIO

from gpuhelp.reading.pieces import RawText, count_lines, whole
from gpuhelp.reading.sources.contents import Opened
from gpuhelp.reading.sources.names import STANDARD_INPUT, refusal
from gpuhelp.reading.sources.notes import Notes
from gpuhelp.reading.sources.opening import check, open_sources
from gpuhelp.reading.sources.selection import ALL, Selection, selection_from
from gpuhelp.reading.sources.streams import beginning

__all__ = [
    "ALL",
    "STANDARD_INPUT",
    "Notes",
    "Opened",
    "Selection",
    "check",
    "open_sources",
    "read_paths",
    "selection_from",
]
_MOST_BYTES = 1 << 30
"""A text that is read as a whole may be so large."""


def read_paths(paths: Iterable[str], stdin: BinaryIO) -> tuple[RawText, ...]:
    """The texts of files, `-` being standard input. Raises InputError that names every unreadable file."""
    paths = list(paths)
    check(paths)
    return tuple(_read(opened) for opened in open_sources(paths, stdin))


def _read(opened: Opened) -> RawText:
    data = beginning(opened.reader, _MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise refusal("too_large", opened.name, most=_MOST_BYTES >> 20)
    text = data.decode("utf-8", "replace")
    size = opened.done_bytes() if opened.size_bytes is None else opened.size_bytes
    return RawText(opened.name, whole(text), size, count_lines(text))
