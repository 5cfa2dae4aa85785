"""Rows of styled text laid out in columns. Pure: what is painted, and whether in colour, is decided elsewhere.

Log text reaches a terminal only through here, so control and direction characters end here.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb]")
_PIECES = re.compile(r"\s+|\S+")
_NARROWEST_TEXT = 20


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of text in one style; the names of styles are those of gpuhelp.rendering.paint."""

    text: str
    style: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One paragraph. `indent` columns before the first line, `hang` more before the following ones.

    `whole` rows are never wrapped: commands and code are copied from the screen.
    """

    spans: tuple[Span, ...] = ()
    indent: int = 0
    hang: int = 0
    whole: bool = False


Line = tuple[Span, ...]


def row(*parts: Span | str, indent: int = 0, hang: int = 0, whole: bool = False) -> Row:
    """A row of spans; a bare str is unstyled."""
    spans = tuple(part if isinstance(part, Span) else Span(part) for part in parts)
    return Row(tuple(Span(printable(span.text), span.style) for span in spans), indent, hang, whole)


BLANK = Row()


def printable(text: str) -> str:
    """The text without characters that could steer a terminal or turn its direction."""
    return _UNPRINTABLE.sub("", text.replace("\t", "    "))


def width_of(text: str) -> int:
    """Columns the text takes on a terminal; Korean syllables take two."""
    if text.isascii():
        return len(text)
    return sum(_char_width(char) for char in text)


def _char_width(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def clip(text: str, width: int) -> str:
    """The text cut to that many columns, with an ellipsis where something is missing."""
    if width_of(text) <= width:
        return text
    kept, used = [], 0
    for char in text:
        used += _char_width(char)
        if used > width - 1:
            break
        kept.append(char)
    return "".join(kept) + "…"


def lay_out(rows: Iterable[Row], width: int) -> tuple[Line, ...]:
    """The lines of the rows, wrapped between words at that many columns."""
    return tuple(line for one in rows for line in _lines(one, width))


def _lines(one: Row, width: int) -> Iterator[Line]:
    if one.whole:
        for number, part in enumerate("".join(span.text for span in one.spans).split("\n")):
            style = one.spans[0].style if one.spans else ""
            yield (Span(" " * (one.indent + (one.hang if number else 0))), Span(part, style))
        return
    room = max(_NARROWEST_TEXT, width - one.indent)
    for number, line in enumerate(_wrap(one.spans, room, max(0, room - one.hang))):
        yield (Span(" " * (one.indent + (one.hang if number else 0))), *line)


def _wrap(spans: tuple[Span, ...], first: int, others: int) -> Iterator[Line]:
    """Words of all spans filled into lines; a word longer than a line is broken."""
    line: list[Span] = []
    used, room = 0, first
    for piece, style, is_space in _words(spans, max(_NARROWEST_TEXT, others)):
        if "\n" in piece:
            yield tuple(line)
            line, used, room = [], 0, others
            continue
        size = width_of(piece)
        if used + size > room and line:
            yield _trimmed(line)
            line, used, room = [], 0, others
        if not (is_space and used == 0):
            line.append(Span(piece, style))
            used += size
    yield _trimmed(line)


def _words(spans: tuple[Span, ...], longest: int) -> Iterator[tuple[str, str, bool]]:
    for span in spans:
        for found in _PIECES.finditer(span.text):
            piece = found.group()
            if piece.isspace():
                yield ("\n" if "\n" in piece else piece), span.style, True
                continue
            while width_of(piece) > longest:
                head = _head(piece, longest)
                yield head, span.style, False
                piece = piece[len(head) :]
            yield piece, span.style, False


def _head(text: str, width: int) -> str:
    used = 0
    for index, char in enumerate(text):
        used += _char_width(char)
        if used > width:
            return text[:index]
    return text


def _trimmed(line: list[Span]) -> Line:
    while line and line[-1].text.isspace():
        line.pop()
    return tuple(line)
