"""Takes off what loggers, launchers, containers and terminals put around a line, and keeps what it said.

Every wrapper is one row: the characters it can begin with, and a regular expression anchored at the start.
The expressions have no nested repetition, so a hostile line costs no more than its length. Rows are compiled
when a line first begins like one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from gpuhelp.reading.evidence import BREAK, PLAIN, Line, Wrapping
from gpuhelp.reading.pieces import Piece

_MOST_LAYERS = 12
_ANSI = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # colours and cursor moves
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?"  # titles and links
    r"|\x1b[@-Z\\-_]"
    r"|(?:#033|\\x1b|\\u001b|\\033|\^\[)\[[0-9;]*[A-Za-z]"  # as syslog, JSON or repr spell the escape
    r"|\[(?:\d{1,3}(?:;\d{1,3}){1,5}|[0-9]{1,2})m"  # what is left when the escape character was lost
)
_MAY_HOLD_ANSI = re.compile(r"[\x1b\[]")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\x80-\x9f]")

_DATE = r"\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?"
_US_DATE = r"\d\d/\d\d/\d{4} \d\d:\d\d:\d\d"
_LEVEL = r"(?:DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|CRITICAL|FATAL|TRACE|SUCCESS)"


class _Wrapper(NamedTuple):
    begins: str
    expression: str


_DIGITS = "0123456789"
_WRAPPERS = (
    _Wrapper(">", r"(?:> ?){1,3}"),
    _Wrapper("[", r"\[(?:rank|default)(?P<rank>\d{1,5})\]:? ?"),
    _Wrapper("[", r"\[rank: (?P<rank>\d{1,5})\] ?"),
    _Wrapper("dr", r"(?:rank|default)(?P<rank>\d{1,5}): ?"),
    _Wrapper("[", r"\[(?:[\w.-]{1,80}@)?\d{1,3},(?P<rank>\d{1,5})\]<std(?:out|err)>: ?"),
    _Wrapper("[", r"\[(?P<level>[EWIF])\d{3,4} (?P<time>\d\d:\d\d:\d\d\.\d+) [\w./-]+:\d+\] ?"),
    _Wrapper("[", r"\[(?P<level>[EWIF]) [\w./-]+\.(?:cpp|cc|hpp|h|cu):\d+\] ?"),
    _Wrapper("[", r"\[NeMo (?P<level>[EWIDC]) (?P<time>" + _DATE + r") [\w./-]+:\d+\] ?"),
    _Wrapper("[", r"\[(?P<time>" + _DATE + r")\] ?"),
    _Wrapper("[", r"\[(?P<level>" + _LEVEL + r")\|[\w.]+:\d+\] (?P<time>" + _DATE + r") >> ?"),
    _Wrapper("[", r"\[(?P<level>" + _LEVEL + r") ?\](?: - | ?:? ?)"),
    _Wrapper("[", r"\[[\w./-]+\.py:\d+(?::[\w<>]+)?\] ?"),
    _Wrapper("[", r"\[[Rr]ank (?P<rank>\d{1,5})\] ?"),
    _Wrapper("[", r"\[ {0,7}\d{1,10}\.\d{6}\] ?"),
    _Wrapper("[", r"\[(?P<time>[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4})\] ?"),
    _Wrapper("[", r"\[(?P<pid>\d{2,8})\] "),
    _Wrapper("[", r"\[(?:__main__|[a-z_]+(?:\.[a-z_]+)+)\]"),
    _Wrapper(
        "(",
        r"\([A-Za-z][\w.]*(?: rank=(?P<rank>\d{1,5}))? pid=(?P<pid>\d+)(?:, ip=(?P<host>[\d.a-f:]+))?\) ?",
    ),
    _Wrapper("(", r"\(raylet(?:, ip=(?P<host>[\d.a-f:]+))?\) ?"),
    _Wrapper(
        "DIWECTFNS", r"(?P<level>" + _LEVEL + r") \d\d-\d\d (?P<time>\d\d:\d\d:\d\d) \[?[\w./-]+:\d+\] ?"
    ),
    _Wrapper("DIWECTFNS", r"(?P<level>" + _LEVEL + r"):[A-Za-z_][\w.]{0,80}:"),
    _Wrapper(
        "EWIF", r"(?P<level>[EWIF])\d{4} (?P<time>\d\d:\d\d:\d{2,12}\.\d+) +(?P<pid>\d+) [\w./-]+:\d+\] ?"
    ),
    _Wrapper("EWIF", r"(?P<level>[EWIF]) [\w./-]+\.(?:cc|h|cpp):\d+\] ?"),
    _Wrapper(
        "JFMASOND",
        r"(?P<time>(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ \d]\d \d\d:\d\d:\d\d(?:\.\d+)?)"
        r" (?P<host>[\w.-]+) [\w./@-]+(?:\[(?P<pid>\d+)\])?: ",
    ),
    _Wrapper("t", r"torch\.[\w.]{1,80}: \[(?P<level>" + _LEVEL + r")\] ?"),
    _Wrapper(_DIGITS, r"(?P<time>" + _DATE + r") - (?:[\w.-]{1,80} - )?(?P<level>" + _LEVEL + r") - ?"),
    _Wrapper(_DIGITS, r"(?P<time>" + _US_DATE + r") - (?P<level>" + _LEVEL + r") - +(?:[\w.]{1,80} - +)?"),
    _Wrapper(
        _DIGITS,
        r"(?P<time>" + _DATE + r") (?P<host>[\w.-]{1,64}) (?:kernel|[\w./@-]{1,80}\[(?P<pid>\d+)\]): ",
    ),
    _Wrapper(_DIGITS, r"(?P<time>" + _DATE + r")(?: std(?:out|err) [FP])?[:\]]? ?(?:- |\| )?"),
    _Wrapper(_DIGITS, r"(?P<time>\d\d:\d\d:\d\d(?:[.,]\d+)?) (?=\[|" + _LEVEL + r"|-)"),
    _Wrapper("DIWECTFNS", r"(?P<level>" + _LEVEL + r") {0,4}\| [\w.:<>-]{1,120} - "),
)
_BEGINNINGS = frozenset("".join(wrapper.begins for wrapper in _WRAPPERS))
_COMPOSE = re.compile(r"(?P<host>[A-Za-z][\w.-]{0,62}) +\| ?")
_NUMBERED = re.compile(r" {0,4}(?P<rank>\d{1,4}): ")
_QUOTED = re.compile(r" {0,3}(?:(?:> ?){1,3}|# ?)")


def unwrap(pieces: Iterable[Piece]) -> tuple[Line, ...]:
    """The lines without wrappers. Where carriage returns draw over a line, each layer is a Line.

    Between pieces that do not touch stands a Line of its own, BREAK, so that nothing is read across it.
    """
    numbered = [(piece.first_line, _physical(piece.text)) for piece in pieces]
    strip_first = _common_prefix([line for _, lines in numbered for line in lines])
    lines: list[Line] = []
    for first, physical in numbered:
        if lines and first > lines[-1].number + 1:
            lines.append(BREAK)
        for number, raw in enumerate(physical, first):
            lines += _layers(number, raw, strip_first)
    return tuple(_join_hard_wraps(lines))


def _physical(text: str) -> list[str]:
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return lines


def _layers(number: int, raw: str, first: re.Pattern[str] | None) -> Iterator[Line]:
    raw = raw.rstrip("\r")
    for layer in raw.split("\r") if "\r" in raw else (raw,):
        if layer or "\r" not in raw:
            text, wrapping = _strip(_plain(layer), first)
            yield Line(number, text, layer, wrapping)


def _plain(text: str) -> str:
    """Without terminal sequences and other control characters; tabs stay."""
    if _MAY_HOLD_ANSI.search(text):
        text = _ANSI.sub("", text)
    return _CONTROLS.sub("", text) if not text.isprintable() else text


def _strip(text: str, first: re.Pattern[str] | None) -> tuple[str, Wrapping]:
    wrapping = PLAIN
    found = first.match(text) if first else None
    if found:
        text, wrapping = text[found.end() :], _told(found, wrapping)
    for _ in range(_MOST_LAYERS):
        found = _wrapper_of(text)
        if found is None:
            break
        text, wrapping = text[found.end() :], _told(found, wrapping)
    return text, wrapping


def _wrapper_of(text: str) -> re.Match[str] | None:
    begin = text[:1]
    if begin not in _BEGINNINGS or not begin:
        return None
    for expression in _candidates(begin):
        found = expression.match(text)
        if found and found.end():
            return found
    return None


@lru_cache(maxsize=64)
def _candidates(begin: str) -> tuple[re.Pattern[str], ...]:
    return tuple(_compiled(wrapper.expression) for wrapper in _WRAPPERS if begin in wrapper.begins)


@lru_cache(maxsize=64)
def _compiled(expression: str) -> re.Pattern[str]:
    return re.compile(expression)


def _told(found: re.Match[str], known: Wrapping) -> Wrapping:
    new = {name: value for name, value in found.groupdict().items() if value and not getattr(known, name)}
    return known._replace(**new) if new else known


def _common_prefix(lines: list[str]) -> re.Pattern[str] | None:
    """Prefixes that could be anything on one line count where most carry them: `ollama | `, `3: `, ` > `."""
    sample = [line for line in lines[:400] if line.strip()]
    for expression in (_COMPOSE, _NUMBERED, _QUOTED):
        hits = sum(1 for line in sample if expression.match(line))
        if hits >= 2 and hits * 10 >= len(sample) * 8:
            return expression
    return None


_NARROWEST_WRAP = 60
_WIDEST_WRAP = 400
_BEGINS_ANEW = r'\s*File "|Traceback \(most|[\w.]{1,80}(?:Error|Exception|Warning): |\s*\d{1,3}%\|'
_EDGES = ("|", "+", "│", "┃", "╮", "╯", "===", "---", "***", "###", "───")
_SAME_BEGINNING = 8
"""Characters; a line that begins as the full one before it is the next record, not its rest."""


def _join_hard_wraps(lines: list[Line]) -> list[Line]:
    """Lines that a terminal broke at a fixed width are one line again (it breaks inside words)."""
    width = max((len(line.raw) for line in lines), default=0)
    if not _NARROWEST_WRAP <= width <= _WIDEST_WRAP:
        return lines
    pairs = pairwise(lines)
    if not any(len(second.raw) == width and _is_rest(first, second, width) for first, second in pairs):
        return lines
    joined: list[Line] = []
    for before, line in zip([None, *lines], lines, strict=False):
        if before is not None and _is_rest(before, line, width):
            joined[-1] = joined[-1]._replace(text=joined[-1].text + line.text)
        else:
            joined.append(line)
    return joined


def _is_rest(full: Line, line: Line, width: int) -> bool:
    """True if the line can be what did not fit into the full line before it.

    Tables, rulers, progress bars and the records of a regular log are as wide as one another too.
    """
    return (
        len(full.raw) == width
        and bool(line.text)
        and line.number != full.number
        and line.wrapping == PLAIN
        and line.raw[:_SAME_BEGINNING] != full.raw[:_SAME_BEGINNING]
        and not full.raw.endswith(_EDGES)
        and not re.match(_BEGINS_ANEW, line.text)
    )
