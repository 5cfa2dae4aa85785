"""From one line of a log to an expression that finds it in other runs: what differs is open. Pure.

The table variables.yaml says what differs; see there for its columns.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from gpuhelp.kb import regexes

LONGEST_REGEX = 160
"""Characters; what comes later in a message says little more, and is wrapped or cut off by loggers."""
_SHORTEST_CUT = 20
_GENERIC = re.compile(r"^(?:RuntimeError|Exception|Error|ValueError|AssertionError|OSError|SystemError): ")
_WORDS_WITHOUT_TYPE = 4

Row = Mapping[str, Any]


class Proposal(NamedTuple):
    """A pattern for one line. `captured` are the values that its groups hold in that line."""

    line: str
    regex: str
    captured: Mapping[str, str]


class _Piece(NamedTuple):
    """A stretch of the line as it stands (`regex` is empty), or an open one and the name of its value."""

    text: str
    regex: str = ""
    name: str = ""


def generalized(line: str, variables: Iterable[Row]) -> Proposal:
    """The line as an expression of about `LONGEST_REGEX` characters at most; spaces are elastic."""
    pieces = _bounded(_trimmed(list(_pieces(_without_type(line), tuple(variables)))))
    captured = {piece.name: " ".join(piece.text.split()) for piece in pieces if piece.name}
    return Proposal(line, "".join(map(_source, pieces)), captured)


def plain_words(line: str, variables: Iterable[Row]) -> list[str]:
    """The words of a line that are the same in every run, in order."""
    literal = " ".join(piece.text for piece in _pieces(line, tuple(variables)) if not piece.regex)
    return re.findall(r"[A-Za-z가-힣][\w']+", literal)


def _without_type(line: str) -> str:
    """The line without a type that says nothing, where enough is left: others print only the message."""
    rest = _GENERIC.sub("", line)
    return rest if len(re.findall(r"\w{3,}", rest)) >= _WORDS_WITHOUT_TYPE else line


def _source(piece: _Piece) -> str:
    if not piece.regex:
        return regexes.escaped_part(piece.text)
    return f"(?P<{piece.name}>{piece.regex})" if piece.name else piece.regex


def _pieces(line: str, variables: tuple[Row, ...]) -> Iterator[_Piece]:
    """The line cut into what stays and what is open."""
    taken: set[str] = set()
    done = 0
    for start, end, row in _places(line, variables):
        if "becomes" not in row:
            continue
        kept = re.match(row.get("keep", ""), line[start:end])
        begin = start + (kept.end() if kept else 0)
        name = next((one for one in row.get("names", ()) if one not in taken), "")
        taken.add(name)
        if line[done:begin]:
            yield _Piece(line[done:begin])
        yield _Piece(line[begin:end], row["becomes"], name)
        done = end
    if line[done:]:
        yield _Piece(line[done:])


def _places(line: str, variables: tuple[Row, ...]) -> list[tuple[int, int, Row]]:
    """Stretches of the line that a variable covers, in order; the first row that fits a place has it."""
    places: list[tuple[int, int, Row]] = []
    for row in variables:
        for found in re.finditer(row["regex"], line, re.IGNORECASE if row.get("keep") else 0):
            free = all(found.end() <= start or end <= found.start() for start, end, _ in places)
            if free and found.group():
                places.append((found.start(), found.end(), row))
    return sorted(places, key=lambda place: place[0])


def _bounded(pieces: list[_Piece]) -> list[_Piece]:
    """The first pieces up to the limit; a literal is cut after a whole word."""
    kept: list[_Piece] = []
    left = LONGEST_REGEX
    for piece in pieces:
        size = len(_source(piece))
        if size > left:
            head = _first_words(piece.text, left) if not piece.regex and left >= _SHORTEST_CUT else ""
            return _trimmed([*kept, _Piece(head)] if head else kept)
        kept.append(piece)
        left -= size
    return kept


def _first_words(text: str, size: int) -> str:
    """The whole words at the beginning whose expression is no longer than `size`."""
    ends = [found.end() for found in re.finditer(r"\S+", text)]
    fitting = [end for end in ends if len(regexes.escaped_part(text[:end])) <= size]
    return text[: fitting[-1]] if fitting else ""


def _trimmed(pieces: list[_Piece]) -> list[_Piece]:
    """Without what finds nothing by itself at both ends: open stretches, and signs without a word."""
    first, last = 0, len(pieces)
    while first < last and _is_idle(pieces[first]):
        first += 1
    while first < last and _is_idle(pieces[last - 1]):
        last -= 1
    kept = pieces[first:last]
    if kept and first and not kept[0].regex:
        kept[0] = _Piece(re.sub(r"^[^\w(\[]+", "", kept[0].text))
    if kept and not kept[-1].regex:
        kept[-1] = _Piece(re.sub(r"[\s=(\[]+$", "", kept[-1].text))
    return kept


def _is_idle(piece: _Piece) -> bool:
    """Named values are worth having even at an end."""
    return not piece.name and (bool(piece.regex) or not re.search(r"[^\W\d_]{3}", piece.text))
