"""Whether a run survived what stands on some lines: it was caught, or its process went on working. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

from gpuhelp.kb.regexes import regex
from gpuhelp.matching.symptoms import Match
from gpuhelp.matching.view import View
from gpuhelp.reading.episodes import swallowed
from gpuhelp.reading.evidence import BREAK

_BESIDE_LINES = 3
_ENOUGH_PROGRESS = 10
"""Lines of work by one process. Ranks that wait for a dead one print fewer before they stop too."""
_ENOUGH_SILENCE = 2_000
"""Lines left out because nothing of note stands on them; only an answer to the same question in long logs."""
_MOST_SIGNS = 20_000
Row = Mapping[str, Any]


class Survival:
    """Signs of survival in all documents. `rows` are kb/tables/survivals.yaml."""

    def __init__(self, views: tuple[View, ...], rows: Iterable[Row] = ()) -> None:
        self._views = views
        self._rows = tuple(rows)

    def survived(self, match: Match) -> bool:
        """True if the run went on after this failure."""
        first, last = match.first, match.last
        number = self._error_of(match)
        if number is not None:
            if number in self._swallowed_errors[match.document]:
                return True
            error = self._views[match.document].document.errors[number]
            first, last = min(error.first, first), max(error.last, last)
        return self._was_swallowed(match.document, first, last) or self._went_on(match.document, last)

    def _error_of(self, match: Match) -> int | None:
        """The number of the Python error that the match belongs to."""
        for number, error in enumerate(self._views[match.document].document.errors):
            if error.first <= match.last and match.first <= error.last:
                return number
        return None

    @cached_property
    def _swallowed_errors(self) -> tuple[frozenset[int], ...]:
        return tuple(swallowed(view.document) for view in self._views)

    def _was_swallowed(self, document: int, first: int, last: int) -> bool:
        lines = self._views[document].document.lines
        near = range(max(0, first - 1), min(len(lines), last + 1 + _BESIDE_LINES))
        own = lines[first].wrapping
        return any(
            index in self._swallowed[document]
            and (lines[index].wrapping.rank, lines[index].wrapping.pid) == (own.rank, own.pid)
            for index in near
        )

    def _went_on(self, document: int, last: int) -> bool:
        lines = self._views[document].document.lines
        own = lines[last].wrapping
        if not own.rank and self._is_labelled[document]:
            return False
        progress = self._progress[document]
        after = progress[bisect_right(progress, last) :]
        same = sum(
            1
            for index in after
            if (lines[index].wrapping.rank, lines[index].wrapping.pid) == (own.rank, own.pid)
        )
        if same >= _ENOUGH_PROGRESS:
            return True
        is_long = self._left_out(document, last) >= _ENOUGH_SILENCE
        return is_long and (not own.rank or self._speaks_after_break(document, last))

    def _left_out(self, document: int, last: int) -> int:
        """How many lines of the source are not among those read, from this one on."""
        source, lines = self._views[document].document.source, self._views[document].document.lines
        later = len(self._breaks[document]) - bisect_right(self._breaks[document], last)
        return source.line_count - lines[last].number - (len(lines) - 1 - last - later) if later else 0

    def _speaks_after_break(self, document: int, last: int) -> bool:
        """True if the process of this line says more beyond the lines that were left out after it."""
        breaks, own = self._breaks[document], self._views[document].document.lines[last].wrapping
        following = breaks[bisect_right(breaks, last) :][:1]
        return bool(following) and self._last_lines[document][own.rank, own.pid] > following[0]

    @cached_property
    def _breaks(self) -> tuple[list[int], ...]:
        """The places where lines were left out."""
        return tuple(
            [index for index, line in enumerate(view.document.lines) if line is BREAK] for view in self._views
        )

    @cached_property
    def _last_lines(self) -> tuple[dict[tuple[str, str], int], ...]:
        """The last line of each process."""
        return tuple(
            {(line.wrapping.rank, line.wrapping.pid): index for index, line in enumerate(view.document.lines)}
            for view in self._views
        )

    @cached_property
    def _is_labelled(self) -> tuple[bool, ...]:
        return tuple(any(line.wrapping.rank for line in view.document.lines) for view in self._views)

    @cached_property
    def _swallowed(self) -> tuple[frozenset[int], ...]:
        return tuple(frozenset(self._lines_of("swallowed", view)) for view in self._views)

    @cached_property
    def _progress(self) -> tuple[list[int], ...]:
        return tuple(sorted(set(self._lines_of("progress", view))) for view in self._views)

    def _lines_of(self, kind: str, view: View) -> Iterable[int]:
        for row in self._rows:
            if row["kind"] != kind or not view.may_match(row["anchors"]):
                continue
            for count, found in enumerate(regex(row["regex"]).finditer(view.text)):
                if count == _MOST_SIGNS:
                    break
                yield view.line_at(found.start())
