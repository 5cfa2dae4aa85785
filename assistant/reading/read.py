"""The first stage: a raw text becomes a Document. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from gpuhelp.reading.episodes import find_episodes
from gpuhelp.reading.evidence import Document, Evidence, Source
from gpuhelp.reading.pieces import RawText
from gpuhelp.reading.traceback import find_errors
from gpuhelp.reading.wrappers import unwrap


def read(texts: Iterable[RawText]) -> Evidence:
    """The evidence of one incident: every text without its wrappers, with the Python errors in it."""
    return tuple(_document(raw) for raw in texts)


def _document(raw: RawText) -> Document:
    lines = unwrap(raw.pieces)
    errors, echoes = find_errors(lines)
    source = Source(raw.name, raw.size_bytes, raw.line_count, raw.rank, raw.skipped_lines)
    return Document(source, lines, errors, echoes, find_episodes(lines, errors))
