"""Whether a text shows a failure at all, and what of it can be told when no entry knows it. Pure."""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate
from typing import Any, NamedTuple

from gpuhelp.kb.regexes import regex
from gpuhelp.matching.surroundings import user_frame
from gpuhelp.matching.view import View
from gpuhelp.reading import kinds
from gpuhelp.reading.chains import bearing, chains, innermost, speaker
from gpuhelp.reading.episodes import swallowed
from gpuhelp.reading.evidence import Document, Episode, PythonError
from gpuhelp.reading.workers import failure_table

Row = Mapping[str, Any]
_MOST_BETWEEN = 60
"""Lines between two errors of one death; where more stand between, the program went on after the first."""
_THROWN = r"instance of '(?P<type>[^']{1,300})'|^\s*thread '.{0,200} panicked at "
"""The first line of an exception of C++, and of a panic of Rust: what it says stands below."""
_BY_ITSELF, _REPORTS, _SIGN, _LAUNCHER, _SURVIVED = range(5)
"""How much a place says about what went wrong, the most first."""


class UnknownFailure(NamedTuple):
    """A failure without an entry: what stands in the text. Empty strings where it says nothing.

    `by_itself` is false for what only reports the failure of another process.
    """

    exception: str
    message: str
    user_frame: str
    source: str
    line: int
    text: str
    by_itself: bool = False


class _Told(NamedTuple):
    """A place that tells of a failure: an error with what it led to, an episode, or a line."""

    bearing: int
    first: int
    last: int
    line: int
    exception: str = ""
    message: str = ""
    frame: str = ""
    is_error: bool = False


def failure_lines(views: Iterable[View], signs: Iterable[Row]) -> tuple[tuple[int, int], ...]:
    """(document, line) of every line that shows a failure, in order."""
    rows = tuple(signs)
    found: list[tuple[int, int]] = []
    for number, view in enumerate(views):
        indexes = set(_error_lines(view))
        indexes.update(
            episode.telling for episode in view.document.episodes if episode.kind in kinds.BY_ITSELF
        )
        for row in rows:
            indexes.update(_lines_of(row, view))
        found += [(number, index) for index in sorted(indexes - _by_the_way(view.document))]
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


def _by_the_way(document: Document) -> frozenset[int]:
    """Lines of errors that were ignored, in a log that says more. Alone they are what a person asks about."""
    ignored = {
        index
        for episode in document.episodes
        if episode.kind == kinds.IGNORED
        for index in range(episode.first, episode.last + 1)
    }
    others = sum(bool(line.text.strip()) for line in document.lines) - len(ignored)
    return frozenset(ignored) if others > len(ignored) else frozenset()


def describe(views: tuple[View, ...], lines: tuple[tuple[int, int], ...]) -> UnknownFailure | None:
    """What can be said of a failure that no entry knows: the root, as far as the text tells.

    Of several sources the first one that says most, the one of the rank that failed first before others.
    """
    found = [
        (told, view)
        for number, view in enumerate(views)
        if (told := _of_document(view.document, [index for place, index in lines if place == number]))
    ]
    if not found:
        return None
    least = min(told.bearing for told, _ in found)
    likely = [(told, view) for told, view in found if told.bearing == least]
    roots = _root_ranks(*(view.document for view in views))
    told, view = next((pair for pair in likely if _rank(*pair) in roots), likely[0])
    return _unknown(view.document, told)


def _rank(told: _Told, view: View) -> str:
    return view.document.lines[told.line].wrapping.rank or view.document.source.rank


def _root_ranks(*documents: Document) -> frozenset[str]:
    """The ranks that a launcher's table says failed first."""
    workers = (
        worker
        for document in documents
        for episode in document.episodes
        if episode.kind == kinds.FAILURE_TABLE
        for worker in failure_table(document, episode)
    )
    return frozenset(worker.rank for worker in workers if worker.is_root and worker.rank)


def _of_document(document: Document, signs: list[int]) -> _Told | None:
    """The place that tells most: of one death the first error, of one process the last death."""
    told = [*_errors_told(document), *_episodes_told(document)]
    told += [_Told(_SIGN, index, index, index) for index in _uncovered(signs, told)]
    if len(told) > 1:  # the head of a traceback that was cut off says nothing by itself
        told = [one for one in told if one.bearing != _SIGN or not _is_head(document, one.line)] or told
    if not told:
        return None
    least = min(one.bearing for one in told)
    likely = sorted((one for one in told if one.bearing == least), key=lambda one: (one.first, one.last))
    reported = any(one.bearing in (_REPORTS, _LAUNCHER) and one.last > likely[-1].last for one in told)
    return _chosen(document, likely, reported=reported)


def _uncovered(signs: Iterable[int], told: Iterable[_Told]) -> Iterator[int]:
    """The signs that stand in none of the stretches that tell more; a flood has thousands of both."""
    stretches = sorted((one.first, one.last) for one in told)
    furthest = list(accumulate((last for _, last in stretches), max))
    for index in signs:
        before = bisect_right(stretches, (index, sys.maxsize))
        if not before or furthest[before - 1] < index:
            yield index


def _is_head(document: Document, index: int) -> bool:
    return "Traceback (most recent call" in document.lines[index].text


def _chosen(document: Document, likely: list[_Told], *, reported: bool) -> _Told:
    """Of the places that say as much as one another; `reported` is true if a launcher speaks after them."""
    if likely[0].bearing == _SIGN:
        return likely[0]
    death = likely[-1:]
    for one in reversed(likely[:-1]):
        if death[0].first - one.last > _MOST_BETWEEN:
            break
        death.insert(0, one)
    roots = _root_ranks(document)
    ranks = [one for one in death if document.lines[one.line].wrapping.rank in roots]
    if ranks:
        return ranks[0]
    several = len({speaker(document.lines[one.line]) for one in death}) > 1
    if several or reported or not all(one.is_error for one in death):
        return death[0]
    return death[-1]


def _errors_told(document: Document) -> Iterator[_Told]:
    off = swallowed(document)
    survived = {document.errors[number] for number in off}
    for chain in chains(document):
        root = chain.root
        if not root.type or root.name.endswith("Warning"):
            continue
        exception, message = innermost(root)
        said = (_BY_ITSELF, _REPORTS, _LAUNCHER)[bearing(root)]
        first, last = min(error.first for error in chain.errors), max(error.last for error in chain.errors)
        frame = _frame_of(root, chain.errors)
        yield _Told(
            _SURVIVED if root in survived else said,
            first,
            last,
            root.said[0],
            exception,
            message,
            frame,
            True,
        )


def _frame_of(root: PythonError, errors: Iterable[PythonError]) -> str:
    """The person's own place in the root, else in what it led to."""
    frames = (error.user_frame for error in (root, *errors))
    return next((frame.place for frame in frames if frame is not None), "")


def _episodes_told(document: Document) -> Iterator[_Told]:
    for episode in document.episodes:
        if episode.kind in kinds.BY_ITSELF:
            yield _episode_told(document, _BY_ITSELF, episode)
        elif episode.kind in kinds.REPORTS:
            yield _episode_told(document, _REPORTS, episode)


def _episode_told(document: Document, said: int, episode: Episode) -> _Told:
    """The telling line; where another language's exception is told in two lines, both."""
    told = _Told(said, episode.first, episode.last, episode.telling)
    head, telling = (document.lines[index].text for index in (episode.first, episode.telling))
    thrown = re.search(_THROWN, head) if episode.first < episode.telling else None
    if thrown is None:
        return told
    message = re.sub(r"^what\(\): +", "", telling.strip())
    return told._replace(line=episode.first, exception=thrown["type"] or "panic", message=message)


def _unknown(document: Document, told: _Told) -> UnknownFailure:
    line = document.lines[told.line]
    frame = told.frame
    if not frame and (nearest := user_frame(document, told.line, told.line)):
        frame = nearest.place
    own = told.bearing == _BY_ITSELF
    return UnknownFailure(
        told.exception, told.message, frame, document.source.name, line.number, line.raw, own
    )
