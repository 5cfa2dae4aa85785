"""Episodes: lines that belong together and tell of one event. The last stage of reading."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from gpuhelp.reading import kinds
from gpuhelp.reading.builds import build_episodes
from gpuhelp.reading.evidence import Document, Episode, Line, PythonError
from gpuhelp.reading.native import native_episodes
from gpuhelp.reading.script import Script, says
from gpuhelp.reading.workers import failure_tables

_SURVIVED_WORDS = (
    "Exception ignored ",
    "Logging error",
    "_run_exitfuncs",
    "Error in sys.",
    "> ignored",
    "in <",
)
_SURVIVED = (
    r"^Exception ignored (?:in|on|while)\b|^--- Logging error ---"
    r"|^Error in (?:atexit\._run_exitfuncs|sys\.\w{1,30}):"
    r"|^Exception \w{1,80}: .{0,600} in <.{1,300}> ignored\s*$"
)
"""Heads under which the interpreter and logging print errors that do not end the program."""
_NEAR = 4
"""Lines between such a head and its error: the head may be broken into several."""
_FAR = 300
"""Lines of others between a head and its error, where ranks write into one log."""
_LOW_LEVELS = frozenset({"WARNING", "WARN", "W", "INFO", "I", "DEBUG", "D", "TRACE", "NOTICE"})
_TRACKERS = ("multiprocessing/resource_tracker.py", "multiprocessing\\resource_tracker.py")
_SWALLOWING = (
    r"(?i)\b(?:caught (?:an? )?exception|exception caught|retry(?:ing)?|falling back|falls? back"
    r"|ignor(?:ed|ing)|skipp(?:ed|ing)|recover(?:ed|ing)|suppress(?:ed|ing)|non-?fatal|continuing)\b"
)
"""Words of a log record that say that the program went on after the error below it."""


def find_episodes(lines: tuple[Line, ...], errors: tuple[PythonError, ...]) -> tuple[Episode, ...]:
    """The episodes of a document in order; those that lie within another of their kind are left out."""
    script = Script(lines, errors)
    found = [*native_episodes(script), *build_episodes(script), *failure_tables(script), *_survived(script)]
    found.sort(key=lambda episode: (episode.first, -episode.last, episode.kind))
    return tuple(_outermost(found))


def _outermost(episodes: list[Episode]) -> Iterator[Episode]:
    reached: dict[str, int] = {}
    for episode in episodes:
        if episode.last > reached.get(episode.kind, -1):
            reached[episode.kind] = episode.last
            yield episode


def _survived(script: Script) -> Iterator[Episode]:
    if not script.holds(_SURVIVED_WORDS):
        return
    for index in script.lines_with(_SURVIVED_WORDS):
        if says(_SURVIVED, script.head(index)):
            yield _with_error(script, index)


def _with_error(script: Script, index: int) -> Episode:
    """The head, the error under it, and what hangs together with that."""
    last = telling = index
    who = script.speaker(index)
    for error in script.errors_after(index):
        if error.first - last > _FAR:
            break
        if script.speaker(error.said[0]) != who:
            continue
        if error.first - last > _NEAR or _begins_anew(script, last + 1, error.first):
            break
        last, telling = error.last, error.said[0]
        if not error.chained:
            break
    return Episode(kinds.IGNORED, index, last, telling)


def _begins_anew(script: Script, first: int, last: int) -> bool:
    """True if another head, or the error that a broken hook was called for, stands between."""
    return any(
        says(_SURVIVED, script.head(line)) or script.head(line).startswith("Original exception was")
        for line in range(first, last)
    )


def swallowed(document: Document) -> frozenset[int]:
    """The numbers of the Python errors after which, as the text says, the program went on."""
    script = Script(document.lines, document.errors)
    ignored = [episode for episode in document.episodes if episode.kind == kinds.IGNORED]
    starts = [episode.first for episode in ignored]
    found: set[int] = set()
    for number, error in enumerate(document.errors):
        place = bisect_right(starts, error.first) - 1
        is_ignored = place >= 0 and error.first <= ignored[place].last
        level = document.lines[error.first].wrapping.level
        is_aside = is_ignored or level.upper() in _LOW_LEVELS or _is_of_the_tracker(error)
        if is_aside or _is_told_off(script, error):
            found.add(number)
    return frozenset(found)


def _is_of_the_tracker(error: PythonError) -> bool:
    """True for an error of multiprocessing's resource tracker: a process of its own, that goes on."""
    return len(error.frames) == 1 and error.frames[0].file.endswith(_TRACKERS)


def _is_told_off(script: Script, error: PythonError) -> bool:
    """True if the record above a traceback says that it is only told."""
    head = next(script.before(error.first), None) if error.frames else None
    return head is not None and error.first - head <= _NEAR and says(_SWALLOWING, script.head(head))


def repeats(document: Document, episode: Episode) -> int:
    """How many lines of the episode say what its telling line says, numbers aside."""
    told = _without_numbers(document.lines[episode.telling].text)
    lines = document.lines[episode.first : episode.last + 1]
    return sum(_without_numbers(line.text) == told for line in lines)


def _without_numbers(text: str) -> str:
    return re.sub(r"\d+", "0", text.strip())
