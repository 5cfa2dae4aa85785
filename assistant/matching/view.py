"""A document as patterns see it: one text, advice and echoed code masked, and the way back to lines."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate, islice
from typing import Any

from gpuhelp.kb.regexes import lower, regex
from gpuhelp.matching.squashed import Squashed
from gpuhelp.matching.voices import order_of_voices
from gpuhelp.reading.evidence import Document, PythonError

_MASK = "\x01"
"""Stands for every masked character: keeps positions, matches nothing an entry looks for."""
_NOT_SPACE = re.compile(r"\S")
_NOT_BREAK = re.compile(r"[^\n]")
_MOST_STRETCH = 400
"""How many more characters than the literal itself a squashed hit may span (indentation and line breaks)."""

Span = tuple[int, int]
Row = Mapping[str, Any]


def together(views: Iterable[View]) -> Squashed:
    """The squashed text of all documents: most literals stand in none of a thousand."""
    views = tuple(views)
    return (
        views[0].squashed if len(views) == 1 else Squashed(_MASK.join(view.squashed.text for view in views))
    )


def _inverse(order: Sequence[int]) -> Sequence[int]:
    """For each number its place in the order."""
    if isinstance(order, range):
        return order
    places = [0] * len(order)
    for place, index in enumerate(order):
        places[index] = place
    return places


class View:
    """The text of one document for matching, with each process's lines together.

    Positions are offsets into `text`; lines are known by their index in the document.
    """

    def __init__(self, document: Document, advice: Iterable[Row] = ()) -> None:
        self.document = document
        self._last_place = 0, 0
        self._order = order_of_voices(document.lines) or range(len(document.lines))
        self._places = _inverse(self._order)
        lines = [
            _MASK * len(document.lines[index].text)
            if index in document.echoes
            else document.lines[index].text
            for index in self._order
        ]
        self._starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
        self.text = "\n".join(lines)
        self._mask(advice)

    @cached_property
    def squashed(self) -> Squashed:
        """The text without white space, in lower case."""
        return Squashed(lower(self._squashed_with_case))

    @cached_property
    def _squashed_with_case(self) -> str:
        return "".join(self.text.split())

    @cached_property
    def _squashed_starts(self) -> list[int]:
        """For each line, how many characters of squashed text stand before it."""
        lengths = (len("".join(line.split())) for line in self.text.split("\n"))
        return list(accumulate(lengths, initial=0))

    def _place(self, squashed: int) -> int:
        """The place in the text of a character of the squashed text."""
        line = bisect_right(self._squashed_starts, squashed) - 1
        known, start = max((self._squashed_starts[line], self._starts[line]), self._last_place)
        if known > squashed:
            known, start = self._squashed_starts[line], self._starts[line]
        spaceless = _NOT_SPACE.finditer(self.text, start, self._starts[line + 1])
        place = next(islice(spaceless, squashed - known, None)).start()
        self._last_place = squashed, place
        return place

    @cached_property
    def errors_by_name(self) -> Mapping[str, tuple[PythonError, ...]]:
        """The Python errors of each name, in order: a flood has many errors, but few names."""
        named: dict[str, list[PythonError]] = {}
        for error in self.document.errors:
            if error.type:
                named.setdefault(error.name, []).append(error)
        return {name: tuple(errors) for name, errors in named.items()}

    def line_at(self, position: int) -> int:
        """The index of the line that holds this place of the text."""
        place = min(bisect_right(self._starts, position) - 1, len(self._order) - 1)
        return self._order[max(0, place)] if self._order else 0

    def lines_of(self, span: Span) -> Span:
        """First and last line index of a stretch of text."""
        return self.line_at(span[0]), self.line_at(max(span[0], span[1] - 1))

    def stretch(self, first: int, last: int) -> str:
        """The masked text of these lines, whoever wrote them."""
        if isinstance(self._order, range):
            return self.text[self._starts[first] : self._starts[last + 1] - 1]
        return "\n".join(self.said(index, index) for index in range(first, last + 1))

    def said(self, first: int, last: int) -> str:
        """The masked text from one line to another of the same process, without what others wrote between."""
        start, end = self._places[first], self._places[last]
        return self.text[self._starts[start] : self._starts[end + 1] - 1] if start <= end else ""

    def holds(self, literal: str) -> bool:
        """True if the squashed text holds this squashed literal."""
        return self.squashed.holds(literal)

    def may_match(self, anchors: Iterable[str]) -> bool:
        """False if none of these squashed literals stands here; the pattern need not be compiled then."""
        return self.squashed.may_match(anchors)

    def find(self, literal: str, *, case: bool = False) -> Iterator[Span]:
        """Every place where a squashed literal stands, wherever its white space and line breaks are."""
        where = self._squashed_with_case if case else self.squashed.text
        start = where.find(literal)
        while start >= 0:
            end = start + len(literal)
            span = self._place(start), self._place(end - 1) + 1
            if span[1] - span[0] <= len(literal) + _MOST_STRETCH:
                yield span
            start = where.find(literal, end)

    def _mask(self, advice: Iterable[Row]) -> None:
        """Hide what libraries print as advice. It lists what may be wrong, so it shows nothing."""
        spans = sorted(span for row in advice for span in self._spans_of(row))
        if not spans:
            return
        parts: list[str] = []
        done = 0
        for start, end in spans:
            parts += [self.text[done:start], _NOT_BREAK.sub(_MASK, self.text[max(done, start) : end])]
            done = max(done, end)
        self.text = "".join([*parts, self.text[done:]])
        for name in ("squashed", "_squashed_with_case", "_squashed_starts"):
            self.__dict__.pop(name, None)
        self._last_place = 0, 0

    def _spans_of(self, row: Row) -> Iterator[Span]:
        if not self.may_match(row["anchors"]):
            return
        if "literal" in row:
            yield from self.find(row["literal"])
        else:
            yield from (found.span() for found in regex(row["regex"]).finditer(self.text))
