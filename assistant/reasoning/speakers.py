"""Which rank speaks on a line, and how many there are: by wrappers, file names and earlier lines. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, NamedTuple

from gpuhelp.kb.regexes import regex
from gpuhelp.matching.symptoms import Match
from gpuhelp.matching.view import View
from gpuhelp.reading.evidence import Line, Wrapping

_MOST_STATEMENTS = 5_000
"""Of one kind in one document."""
_MOST_DIGITS = 6
"""A longer number is no rank."""
_OPENS = "Traceback (most recent call last)"
_MOST_LINES = 1 << 62
"""Above any line number."""
Row = Mapping[str, Any]


class Speaker(NamedTuple):
    """Who printed a line; empty where nothing tells. `rank` has no leading zeros."""

    rank: str = ""
    host: str = ""
    pid: str = ""


class _Statement(NamedTuple):
    """A process says which rank it is. `line` is its place in the document."""

    line: int
    rank: str
    world_size: int
    host: str
    pid: str


class Speakers:
    """Who speaks where in all documents. `rows` are kb/tables/speakers.yaml."""

    def __init__(self, views: tuple[View, ...], rows: Iterable[Row] = ()) -> None:
        self._views = views
        self._rows = tuple(rows)

    def of(self, match: Match) -> Speaker:
        """The speaker of a match: by what its pattern captured, else the speaker of its first line."""
        wrapping = self._views[match.document].document.lines[match.first].wrapping
        spoken = self.at(match.document, match.first)
        return Speaker(number(match.captured.get("rank", "")) or spoken.rank, wrapping.host, wrapping.pid)

    def at(self, document: int, line: int) -> Speaker:
        """The speaker of a line: by its wrapper, what its process said before, or its file's name."""
        source = self._views[document].document.source
        wrapping = self._views[document].document.lines[line].wrapping
        rank = number(wrapping.rank) or self._rank_of_process(document, wrapping)
        if not rank and not wrapping.pid:
            rank = self._rank_of_error(document, line)
        return Speaker(rank or number(source.rank), wrapping.host, wrapping.pid)

    def _rank_of_process(self, document: int, wrapping: Wrapping) -> str:
        if wrapping.pid:
            known = self._ranks_by_process
            return known.get((wrapping.host, wrapping.pid)) or known.get(("", wrapping.pid), "")
        return self._only_rank[document]

    def _rank_of_error(self, document: int, line: int) -> str:
        """The rank on the head of the traceback around the line: loggers label only its first line."""
        heads = self._error_heads[document]
        place = bisect_right(heads, (line, _MOST_LINES, "")) - 1
        return heads[place][2] if place >= 0 and line <= heads[place][1] else ""

    @cached_property
    def _error_heads(self) -> tuple[list[tuple[int, int, str]], ...]:
        """For each document first line, last line and rank of its errors, in order of their first lines."""
        return tuple(sorted(_heads(view)) for view in self._views)

    @cached_property
    def ranks(self) -> frozenset[str]:
        """Every rank that any line, file name or statement names."""
        told = {number(line.wrapping.rank) for view in self._views for line in view.document.lines}
        told |= {number(view.document.source.rank) for view in self._views}
        told |= {statement.rank for statements in self._statements for statement in statements}
        return frozenset(told - {""})

    @cached_property
    def world_size(self) -> int:
        """The largest number of ranks that the text tells; 0 where it tells none."""
        sizes = (statement.world_size for statements in self._statements for statement in statements)
        return max(sizes, default=0)

    @cached_property
    def _statements(self) -> tuple[tuple[_Statement, ...], ...]:
        return tuple(tuple(self._told(view)) for view in self._views)

    def _told(self, view: View) -> Iterable[_Statement]:
        for row in self._rows:
            if not view.may_match(row["anchors"]):
                continue
            for count, found in enumerate(regex(row["regex"]).finditer(view.text)):
                if count == _MOST_STATEMENTS:
                    break
                yield _statement(found.groupdict(), view.line_at(found.start()), view)

    @cached_property
    def _ranks_by_process(self) -> Mapping[tuple[str, str], str]:
        """The rank of each (host, PID), and of each PID that only one host has; largest group first."""
        known: dict[tuple[str, str], _Statement] = {}
        for statement in (
            one for statements in self._statements for one in statements if one.rank and one.pid
        ):
            for host in {statement.host, ""}:
                before = known.get((host, statement.pid))
                if before is None or statement.world_size > before.world_size:
                    known[host, statement.pid] = statement
        ranks = {process: statement.rank for process, statement in known.items()}
        return {**self._wrapped_ranks, **ranks}

    @cached_property
    def _wrapped_ranks(self) -> dict[tuple[str, str], str]:
        """Ranks of processes whose wrapper told both on some line."""
        told: dict[tuple[str, str], str] = {}
        for wrapping in (line.wrapping for view in self._views for line in view.document.lines):
            if wrapping.rank and wrapping.pid:
                told.setdefault((wrapping.host, wrapping.pid), number(wrapping.rank))
                told.setdefault(("", wrapping.pid), number(wrapping.rank))
        return told

    @cached_property
    def _only_rank(self) -> tuple[str, ...]:
        """For each document the one rank that it speaks for, if no line of it is labelled."""
        return tuple(_only_rank(view, told) for view, told in zip(self._views, self._statements, strict=True))


def _heads(view: View) -> Iterable[tuple[int, int, str]]:
    for error in view.document.errors:
        rank = number(_head(view, error.first).wrapping.rank)
        yield error.first, max(error.last, error.said[1]), rank


def _head(view: View, first: int) -> Line:
    """The line that opens a traceback; it is the one before where only that one carries a label."""
    lines = view.document.lines
    is_cut = first > 0 and _OPENS not in lines[first].text and _OPENS in lines[first - 1].text
    return lines[first - is_cut]


def _statement(told: Mapping[str, str | None], line: int, view: View) -> _Statement:
    wrapping = view.document.lines[line].wrapping
    own = told.get("pid") is None
    return _Statement(
        line,
        number(told.get("rank") or ""),
        int(number(told.get("world_size") or "") or 0),
        (told.get("host") or wrapping.host) if own else (told.get("host") or ""),
        wrapping.pid if own else (told["pid"] or ""),
    )


def _only_rank(view: View, told: tuple[_Statement, ...]) -> str:
    largest = max((statement.world_size for statement in told if statement.rank), default=0)
    ranks = {one.rank for one in told if one.rank and not one.pid and one.world_size >= largest}
    if len(ranks) != 1 or any(line.wrapping.rank for line in view.document.lines):
        return ""
    return next(iter(ranks))


def number(rank: str) -> str:
    """The rank without leading zeros; empty for what is no rank."""
    is_number = rank.isascii() and rank.isdecimal() and len(rank) <= _MOST_DIGITS
    return str(int(rank)) if is_number else ""
