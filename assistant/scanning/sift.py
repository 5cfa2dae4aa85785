"""Streams become texts: small ones whole, large ones as the pieces around what the scan finds."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from gpuhelp.reading.pieces import Piece, RawText, count_lines, whole
from gpuhelp.reading.sources.streams import beginning

if TYPE_CHECKING:
    from gpuhelp.scanning.excerpts import Budget, Excerpts
    from gpuhelp.scanning.scanner import Scanner

WHOLE_BYTES = 256 << 10
"""All streams of one incident together, up to which all of their lines are read."""
AfterBlock = Callable[[], None]
"""Called after each block of a stream."""


class _Small(NamedTuple):
    name: str
    rank: str
    skipped_lines: int
    data: bytes


class Sifting:
    """Takes the streams of one incident one after the other; `texts` is what is known so far.

    `scanner` is asked for when a stream turns out to be large: it takes time to make. `meanwhile` is then
    done once, while the scan goes on beside it.
    """

    def __init__(self, scanner: Callable[[], Scanner], meanwhile: Callable[[], None] | None = None) -> None:
        self._make_scanner = scanner
        self._meanwhile = meanwhile
        self._scanner: Scanner | None = None
        self._small: list[_Small] = []
        self._small_bytes = 0
        self._texts: list[RawText] = []
        self._under_way: tuple[str, str, int, Excerpts] | None = None
        self._budget: Budget | None = None

    def take(
        self,
        name: str,
        reader: BinaryIO,
        rank: str = "",
        skipped_lines: int = 0,
        after_block: AfterBlock | None = None,
    ) -> None:
        """Read one stream to its end."""
        first = b""
        if self._scanner is None:
            room = WHOLE_BYTES - self._small_bytes
            first = beginning(reader, room + 1)
            if len(first) <= room:
                self._small.append(_Small(name, rank, skipped_lines, first))
                self._small_bytes += len(first)
                return
            self._turn_large()
        self._scan(_Small(name, rank, skipped_lines, first), reader, after_block)

    def texts(self) -> tuple[RawText, ...]:
        """What was taken: also in the middle of a stream, if it was left in the middle."""
        self._close()
        return (*self._texts, *map(_whole_text, self._small))

    def _close(self) -> None:
        """The stream under way has ended, or was left."""
        if self._under_way is not None:
            name, rank, skipped, excerpts = self._under_way
            self._under_way = None
            excerpts.finish()
            self._texts.append(_text_of(name, rank, skipped, excerpts))

    def _turn_large(self) -> None:
        """There is too much to read whole: from now on all is scanned, what was taken before as well."""
        self._scanner = self._make_scanner()
        taken, self._small = self._small, []
        for small in taken:
            self._scan(small, BytesIO())

    def _scan(self, begun: _Small, reader: BinaryIO, after_block: AfterBlock | None = None) -> None:
        # A small log needs none of this, and starts without it.
        from gpuhelp.scanning.blocks import scanned
        from gpuhelp.scanning.excerpts import Budget, Excerpts

        assert self._scanner is not None
        self._budget = self._budget or Budget()
        excerpts = Excerpts(self._budget)
        self._under_way = begun.name, begun.rank, begun.skipped_lines, excerpts
        for block in scanned(reader, self._scanner, begun.data):
            excerpts.take(block)
            if after_block is not None:
                after_block()
            if self._meanwhile is not None:
                self._meanwhile()
                self._meanwhile = None
        self._close()


def _whole_text(small: _Small) -> RawText:
    text = small.data.decode("utf-8", "replace")
    pieces = tuple(piece._replace(first_line=1 + small.skipped_lines) for piece in whole(text))
    lines = small.skipped_lines + count_lines(text)
    return RawText(small.name, pieces, len(small.data), lines, small.rank, small.skipped_lines)


def _text_of(name: str, rank: str, skipped_lines: int, excerpts: Excerpts) -> RawText:
    pieces = tuple(
        Piece(kept.first_line + skipped_lines, kept.data.decode("utf-8", "replace"))
        for kept in excerpts.pieces
    )
    lines = excerpts.line_count + skipped_lines
    return RawText(name, pieces, excerpts.size_bytes, lines, rank, skipped_lines)
