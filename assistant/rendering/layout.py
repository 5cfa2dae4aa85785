"""Rows of styled text laid out in columns. Pure: whether they are painted in colour is decided elsewhere.

Log text reaches a terminal only through here, so control and direction characters end here.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import NamedTuple

_UNPRINTABLE = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    r"\U000e0000-\U000e007f]"
)
_ANSI = re.compile(r"\x1b(?:\[[0-?]{0,40}[ -/]{0,4}[@-~]|\][^\x07\x1b]{0,400}(?:\x07|\x1b\\)?)")
"""Colours, titles and links of terminals: without the escape character alone their rest would be read."""
_PIECES = re.compile(r"\s+|\S+")
_NARROWEST_TEXT = 20


class Span(NamedTuple):
    """A stretch of text in one style; the names of styles are those of gpuhelp.rendering.paint.

    An `unbroken` stretch moves to the next line rather than being wrapped inside, if a line can hold it.
    """

    text: str
    style: str = ""
    unbroken: bool = False


class Row(NamedTuple):
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
    return Row(tuple(span._replace(text=printable(span.text)) for span in spans), indent, hang, whole)


BLANK = Row()


def printable(text: str) -> str:
    """The text without characters that could steer a terminal or turn its direction."""
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    return _UNPRINTABLE.sub("", text.replace("\t", "    "))


def one_line(text: str) -> str:
    """The text as a part of one line: printable, and each stretch of white space one space."""
    return " ".join(printable(text).split())


def escape_unprintable(text: str) -> str:
    """The text with such characters spelled as JSON spells them; for a text that is JSON already."""
    return _UNPRINTABLE.sub(_json_escape, text)


def _json_escape(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[start : start + 4]}" for start in range(0, len(units), 4))


def width_of(text: str) -> int:
    """Columns the text takes on a terminal; Korean syllables take two."""
    if text.isascii():
        return len(text)
    return sum(_char_width(char) for char in text)


def _char_width(char: str) -> int:
    if unicodedata.combining(char) or "\u1160" <= char <= "\u11ff":  # vowels and finals of decomposed Korean
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
    """The lines of the rows, wrapped between words at that many columns, at 20 if there are fewer."""
    return tuple(line for one in rows for line in _lines(one, max(width, _NARROWEST_TEXT)))


def _lines(one: Row, width: int) -> Iterator[Line]:
    """Where a narrow terminal leaves no room for text, indents give way."""
    if one.whole:
        for number, line in enumerate(_split(one.spans)):
            yield (Span(" " * (one.indent + (one.hang if number else 0))), *line)
        return
    indent = min(one.indent, width - _NARROWEST_TEXT)
    hang = min(one.hang, width - _NARROWEST_TEXT - indent)
    for number, line in enumerate(_wrap(one.spans, width - indent, width - indent - hang)):
        yield (Span(" " * (indent + (hang if number else 0))), *line)


def _split(spans: tuple[Span, ...]) -> Iterator[Line]:
    """The lines of a row that is never wrapped: only its own line ends count."""
    line: list[Span] = []
    for span in spans:
        first, *others = span.text.split("\n")
        line.append(Span(first, span.style))
        for other in others:
            yield tuple(line)
            line = [Span(other, span.style)]
    yield tuple(line)


def _wrap(spans: tuple[Span, ...], first: int, others: int) -> Iterator[Line]:
    """Words of all spans filled into lines of `first` and then `others` columns; a longer word is broken."""
    line: list[Span] = []
    used, room = 0, first
    for piece, style, is_space in _words(spans, min(first, others)):
        if "\n" in piece:
            yield _trimmed(line)
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
    """Words, the spaces between them, and line ends, none wider than `longest`, each with its style."""
    for span in spans:
        for piece in _pieces(span, longest):
            if piece.isspace():
                yield ("\n" if "\n" in piece else piece), span.style, True
            else:
                yield from ((part, span.style, False) for part in _broken(piece, longest))


def _pieces(span: Span, longest: int) -> Iterable[str]:
    text = span.text.strip()
    if span.unbroken and text and "\n" not in text and width_of(text) <= longest:
        before, _, after = span.text.partition(text)
        return tuple(filter(None, (before, text, after)))
    return _PIECES.findall(span.text)


def _broken(word: str, longest: int) -> Iterator[str]:
    """The word in stretches of at most so many columns."""
    start, used = 0, 0
    for index, char in enumerate(word):
        width = _char_width(char)
        if used + width > longest:
            yield word[start:index]
            start, used = index, 0
        used += width
    yield word[start:]


def _trimmed(line: list[Span]) -> Line:
    while line and line[-1].text.isspace():
        line.pop()
    return tuple(line)
