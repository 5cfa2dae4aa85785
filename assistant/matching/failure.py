"""Whether a text shows a failure at all, and what of it can be told when no entry knows it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from gpuhelp.matching.view import View, regex

Row = Mapping[str, Any]


class UnknownFailure(NamedTuple):
    """A failure without an entry: what stands in the text. Empty strings where it says nothing."""

    exception: str
    message: str
    user_frame: str
    source: str
    line: int
    text: str


def failure_lines(views: Iterable[View], signs: Iterable[Row]) -> tuple[tuple[int, int], ...]:
    """(document, line) of every line that shows a failure, in order."""
    rows = tuple(signs)
    found: list[tuple[int, int]] = []
    for number, view in enumerate(views):
        indexes = set(_error_lines(view))
        for row in rows:
            indexes.update(_lines_of(row, view))
        found += [(number, index) for index in sorted(indexes)]
    return tuple(found)


def _error_lines(view: View) -> Iterator[int]:
    for error in view.document.errors:
        if error.type and not error.name.endswith("Warning"):
            yield error.said[0]
        elif not error.type and len(error.frames) > 1:
            yield error.first


def _lines_of(row: Row, view: View) -> Iterator[int]:
    if not view.may_match(row["anchors"]):
        return
    for found in regex(row["regex"]).finditer(view.text):
        yield view.line_at(found.start())


def describe(views: tuple[View, ...], lines: tuple[tuple[int, int], ...]) -> UnknownFailure | None:
    """What can be said of a failure that no entry knows: the last exception, else the first such line."""
    for view in reversed(views):
        for error in reversed(view.document.errors):
            if error.type and not error.name.endswith("Warning"):
                return _unknown(view, error.said[0], error.type, error.message)
    if not lines:
        return None
    number, index = lines[0]
    return _unknown(views[number], index)


def _unknown(view: View, index: int, exception: str = "", message: str = "") -> UnknownFailure:
    document = view.document
    frame = next((error.user_frame for error in reversed(document.errors) if error.user_frame), None)
    line = document.lines[index]
    place = frame.place if frame else ""
    return UnknownFailure(exception, message, place, document.source.name, line.number, line.raw)
