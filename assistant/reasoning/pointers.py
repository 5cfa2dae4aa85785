"""Lines that name no cause but point to the process that has it, as launchers print them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple

from gpuhelp.kb.regexes import regex
from gpuhelp.matching.view import View
from gpuhelp.reasoning.clocks import parse_time

_MOST_OF_A_KIND = 2_000
"""Of one row in one document: each of many ranks may print a line, or several."""
_SAYS_NOTHING = ("<N/A>", "<NONE>", "")
_ENDED_BY_OTHERS = ("-15", "143", "-6", "134")
"""Exit statuses of processes that were asked to stop, or gave up waiting: seldom of the first to fail."""
Row = Mapping[str, Any]


class Pointer(NamedTuple):
    """One such line; `first` and `last` are line indexes of document number `document`.

    Values are strings as they stand there, empty where it does not say. `waits` is true where the rank that
    speaks waited for another, `kills` where the speaker then ends its own processes with SIGKILL. `look`
    says by language where the failed process's output is. `order` is the place of its row among the rows: the
    smaller, the more it tells.
    """

    document: int
    first: int
    last: int
    program: str
    look: Mapping[str, str]
    order: int
    waits: bool = False
    weak: bool = False
    kills: bool = False
    rank: str = ""
    local_rank: str = ""
    host: str = ""
    pid: str = ""
    exit_code: str = ""
    signal: str = ""
    log: str = ""
    time: str = ""


def find_pointers(views: tuple[View, ...], rows: Iterable[Row]) -> tuple[Pointer, ...]:
    """Every pointer, row by row, in the order of documents and lines."""
    found: list[Pointer] = []
    for order, row in enumerate(rows):
        for document, view in enumerate(views):
            if view.may_match(row["anchors"]):
                found += islice(_of_row(row, order, document, view), _MOST_OF_A_KIND)
    return tuple(found)


def _of_row(row: Row, order: int, document: int, view: View) -> Iterator[Pointer]:
    for found in regex(row["regex"]).finditer(view.text):
        first, last = view.lines_of(found.span())
        told = {
            name: value for name, value in found.groupdict().items() if value not in (*_SAYS_NOTHING, None)
        }
        yield Pointer(
            document,
            first,
            last,
            row["program"],
            row["look"],
            order,
            row.get("waits", False),
            row.get("weak", False),
            row.get("kind") == "kills",
            **told,
        )


def most_telling(pointers: Iterable[Pointer]) -> Pointer | None:
    """The pointer of the failure that came first; what others of the same launcher say of it is added."""
    ranked = sorted(pointers, key=_key)
    if not ranked:
        return None
    best = ranked[0]
    for other in ranked[1:]:
        if other.program == best.program and _same_process(best, other):
            told = {name: getattr(other, name) for name in _FIELDS if not getattr(best, name)}
            best = best._replace(**told)
    return best


_FIELDS = ("rank", "local_rank", "host", "pid", "exit_code", "signal", "log")


def _key(pointer: Pointer) -> tuple[object, ...]:
    """Strong ones, those of a process that failed by itself, those of rows that tell more, then by time."""
    stamp = parse_time(pointer.time) if pointer.time else None
    seconds = stamp.placed(0.0) if stamp is not None and stamp.is_whole else 0.0
    ended_by_others = pointer.exit_code in _ENDED_BY_OTHERS
    place = pointer.document, pointer.first
    return pointer.waits, pointer.weak, ended_by_others, pointer.order, seconds, place


def _same_process(one: Pointer, other: Pointer) -> bool:
    """True if both speak of one process: by PID, else by rank."""
    if one.pid and other.pid:
        return one.pid == other.pid
    return bool(one.rank) and one.rank == other.rank
