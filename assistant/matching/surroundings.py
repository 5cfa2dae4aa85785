"""What the lines around a match tell: general captures, wrappers, and the person's own frame. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any

from gpuhelp.kb.regexes import regex
from gpuhelp.matching.symptoms import Match
from gpuhelp.matching.view import View
from gpuhelp.reading.evidence import Document, Frame, PythonError

_WINDOW_LINES = 60
Row = Mapping[str, Any]


def enriched(match: Match, view: View, captures: Iterable[Row]) -> Match:
    """The match with values that stand near it, where its own pattern did not capture that name."""
    captured = dict(match.captured)
    rank = view.document.lines[match.first].wrapping.rank
    if rank:
        captured.setdefault("rank", rank)
    places = _places(match, view)
    for row in captures:
        if row["name"] not in captured and view.may_match(row["anchors"]):
            value = _nearest(row, places)
            if value:
                captured[row["name"]] = value
    frame = user_frame(view.document, match.first, match.last)
    if frame is not None:
        captured.setdefault("user_frame", frame.place)
    return match._replace(captured=captured)


def _places(match: Match, view: View) -> dict[str, str]:
    """The matched lines, then the stretch around them; what comes after is nearer to the end of the run."""
    last = len(view.document.lines) - 1
    return {
        "line": view.said(match.first, match.last),
        "after": view.stretch(match.last, min(last, match.last + _WINDOW_LINES)),
        "before": view.stretch(max(0, match.first - _WINDOW_LINES), match.first),
    }


def _nearest(row: Row, places: Mapping[str, str]) -> str:
    names = ("line",) if row.get("near") == "line" else tuple(places)
    for name in names:
        groups = (found.group(row["name"]) for found in regex(row["regex"]).finditer(places[name]))
        values = (value for value in groups if value)
        value = next(values, "") if name != "before" else "".join(deque(values, maxlen=1))
        if value:
            return " ".join(value.split())
    return ""


def user_frame(document: Document, first: int, last: int) -> Frame | None:
    """The deepest frame of the person's own code in the error of these lines, or in the nearest one."""
    with_frame = [error for error in document.errors if error.user_frame]
    if not with_frame:
        return None
    nearest = min(with_frame, key=lambda error: _distance(error, first, last))
    return nearest.user_frame


def _distance(error: PythonError, first: int, last: int) -> tuple[int, int]:
    """Lines between an error and a match; an error that follows is as near as one that ends there.

    Tracebacks of several ranks may overlap: the one whose message stands on the lines is the right one.
    """
    if error.said[0] <= last and first <= error.said[1]:
        return -1, 0
    if error.first <= last and first <= error.last:
        return 0, 0
    return (error.first - last, 0) if error.first > last else (first - error.last, 1)
