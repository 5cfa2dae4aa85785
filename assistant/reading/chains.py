"""Which Python errors hang together, in order of cause, and which of them only report what another did."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from gpuhelp.reading.evidence import Document, Line, PythonError
from gpuhelp.reading.forms import CAUSE

Speaker = tuple[str, str, str]

_CARRIERS = (
    "RayTaskError",
    "BackendCompilerFailed",
    "ProcessRaisedException",
    "RemoteTraceback",
    "RemoteError",
)
"""Exceptions whose message is the traceback of another process or of an inner stage."""
_CARRYING_WORDS = (
    "-- Process ", "Caught ", "raised in its creation task", "with the following error", " raised:",
    "with following exception", "and exception:", "Original Traceback", "Original traceback",
)  # fmt: skip
_NEXT_TO = 3
"""Lines between an error and the traceback that its message holds."""
_LOOKED_UP = frozenset(
    {
        "AttributeError",
        "Empty",
        "IndexError",
        "KeyError",
        "LookupError",
        "NotImplementedError",
        "StopIteration",
    }
)
"""What code raises and handles in its usual course: the error while handling it is what went wrong."""
_LAUNCHERS = frozenset(
    {"ActorDiedError", "ActorUnavailableError", "BrokenProcessPool", "CalledProcessError",
     "ChildFailedError", "GeneratorExit", "KeyboardInterrupt", "ProcessExitedException",
     "ProcessRaisedException", "RayActorError", "RemoteTraceback", "SignalException", "SystemExit",
     "TerminatedWorkerError", "TimeoutExpired", "WorkerCrashedError", "_RemoteTraceback"}
)  # fmt: skip
_CUT_OFF = frozenset({"BrokenPipeError", "ConnectionResetError"})
"""What a process gets to see when another one went away; so is an end of file without a word."""
_REPORTS = (
    r"Error in call to target '|Error building extension|Error compiling objects"
    r"|See (?:root cause|stack ?trace|logs?) \(?above"
    r"|(?:Engine (?:core|process)|Worker(?:Proc)?) (?:initialization failed|failed to start)"
    r"|exited unexpectedly|died (?:unexpectedly|with|because)|[Pp]rocess \S{1,60} terminated with"
    r"|non-zero exit (?:status|code)|exit(?:ed with)? (?:status|code)|Trials did not complete"
    r"|is killed by signal|worker (?:process )?(?:has )?(?:died|failed)|Command .{1,200} failed"
)
_COMPILER = r"^Command '\[?'?[\w./\\-]{0,200}(?:gcc|g\+\+|cc|c\+\+|clang|nvcc|hipcc|cl\.exe|ptxas|ld)'"
"""A program that was called to build something: its failure is more than a launcher's last word."""
_INNER = r"(?P<type>(?:[A-Za-z_]\w{0,60}\.){0,8}[A-Z]\w{0,80}(?:Error|Exception))(?:: (?P<message>.*))?$"


class Chain(NamedTuple):
    """Errors of one process that hang together, a cause before what it led to; `root` is what to look at."""

    errors: tuple[PythonError, ...]
    root: PythonError


def speaker(line: Line) -> Speaker:
    """The process that the wrappers of a line name: rank, pid and host, empty where they do not."""
    wrapping = line.wrapping
    return wrapping.rank, wrapping.pid, wrapping.host


def chains(document: Document) -> tuple[Chain, ...]:
    """The errors of a document by what hangs together, in the order in which they end in the text."""
    spoken: dict[Speaker, list[PythonError]] = {}
    for error in document.errors:
        spoken.setdefault(speaker(document.lines[error.said[0]]), []).append(error)
    found = [chain for errors in spoken.values() for chain in _linked(document.lines, errors)]
    return tuple(sorted(found, key=lambda chain: max(error.last for error in chain.errors)))


def _linked(lines: tuple[Line, ...], errors: list[PythonError]) -> Iterator[Chain]:
    together: list[PythonError] = []
    grouped = False
    for error in errors:
        if together and not (
            together[-1].chained or _carries(together[-1], error) or (grouped and _in_group(lines, error))
        ):
            yield _chain(lines, together)
            together, grouped = [], False
        together.append(error)
        grouped = grouped or _is_group(error)
    if together:
        yield _chain(lines, together)


def _is_group(error: PythonError) -> bool:
    return error.name.endswith("ExceptionGroup")


def _in_group(lines: tuple[Line, ...], error: PythonError) -> bool:
    """True if the bars of an exception group, or the box of one, stand before the error."""
    return lines[error.said[0]].text.lstrip().startswith(("| ", "│ "))


def _carries(outer: PythonError, inner: PythonError) -> bool:
    """True if the inner error is what the outer one's message holds."""
    if not 0 < inner.first - outer.last <= _NEXT_TO:
        return False
    return any(outer.name.startswith(name) for name in _CARRIERS) or any(
        words in outer.message for words in _CARRYING_WORDS
    )


def _chain(lines: tuple[Line, ...], errors: list[PythonError]) -> Chain:
    """The errors in order of cause: what a message holds comes before it, a group after its members."""
    ordered: list[PythonError] = []
    holders: list[PythonError] = []
    groups: list[PythonError] = []
    for error, following in zip(errors, [*errors[1:], None], strict=True):
        if following is not None and _carries(error, following):
            holders.append(error)
            continue
        (groups if _is_group(error) and following is not None else ordered).append(error)
        while holders:
            ordered.append(holders.pop())
    ordered += groups
    return Chain(tuple(ordered), _root(lines, ordered))


def _root(lines: tuple[Line, ...], errors: list[PythonError]) -> PythonError:
    """The first error that went wrong by itself, else the last that reports one."""
    least = min(map(bearing, errors))
    for error, following in pairwise(errors):
        by_the_way = error.name in _LOOKED_UP and error.chained and not _by_cause(lines, error, following)
        if bearing(error) == least and not by_the_way:
            return error
    return next(error for error in reversed(errors) if bearing(error) == least)


def _by_cause(lines: tuple[Line, ...], error: PythonError, following: PythonError) -> bool:
    """True if the text says that the error was the direct cause of the next."""
    return any(line.text.strip().endswith(CAUSE) for line in lines[error.last + 1 : following.first])


_LAUNCHER_CODE = (
    r"[\\/]torch[\\/]distributed[\\/](?:elastic|launcher|run\.py)|[\\/]deepspeed[\\/]launcher[\\/]"
)
"""What fails in there fails because a process that was launched did."""


def bearing(error: PythonError) -> int:
    """0 for an error that went wrong by itself, 1 for one that reports another, 2 for a launcher's."""
    if error.frames and re.search(_LAUNCHER_CODE, error.frames[-1].file):
        return 2
    if error.name.partition("(")[0] in _LAUNCHERS:
        return 1 if re.match(_COMPILER, error.message[:400]) else 2
    gone = error.name in _CUT_OFF or (error.name == "EOFError" and not error.message)
    return int(gone or _is_group(error) or bool(re.search(_REPORTS, error.message[:600])))


def innermost(error: PythonError) -> tuple[str, str]:
    """Type and message; of an error whose message begins with another's type, the inner ones."""
    first, _, rest = error.message.partition("\n")
    found = re.match(_INNER, first)
    if found is None:
        return error.type, error.message
    return found["type"], "\n".join(filter(None, (found["message"], rest)))
