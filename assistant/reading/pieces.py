"""A text as it comes from a source: all of it, or the pieces of it that are worth reading."""

from __future__ import annotations

from typing import NamedTuple


class Piece(NamedTuple):
    """Consecutive lines of a source; `first_line` counts from 1."""

    first_line: int
    text: str


class RawText(NamedTuple):
    """A text as read, with the name people know it by, its size before decoding, and how many lines it has.

    A small text is one piece. Of a large one only those pieces are here in which something stands.
    `skipped_lines` of its lines stand before the part that was asked for.
    """

    name: str
    pieces: tuple[Piece, ...]
    size_bytes: int
    line_count: int
    rank: str = ""
    skipped_lines: int = 0

    @property
    def text(self) -> str:
        """All pieces, one after the other."""
        return "".join(piece.text for piece in self.pieces)


def whole(text: str) -> tuple[Piece, ...]:
    """The one piece that is the whole text."""
    return (Piece(1, text),) if text else ()


def count_lines(text: str) -> int:
    """How many lines a text has; a last line without a line break counts."""
    return text.count("\n") + (bool(text) and not text.endswith("\n"))


def from_text(text: str, name: str) -> RawText:
    """A text that is already in memory; halves of surrogate pairs become U+FFFD."""
    if not text.isascii():
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return RawText(name, whole(text), len(text.encode("utf-8")), count_lines(text))
