"""Takes the prefixes of the table off one line, and keeps what they tell.

All rows that can begin with the same two characters are one expression, compiled when a line first begins so.
Most lines begin like none of them, and cost one look into a dictionary.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import groupby
from operator import itemgetter

from gpuhelp.reading.evidence import PLAIN, Wrapping
from gpuhelp.reading.wrappers.rows import ROWS, Row, expanded

_MOST_LAYERS = 12
_MOST_BEGINNINGS = 4096
_FIELDS = {name: place for place, name in enumerate(Wrapping._fields)}
_RANK = _FIELDS["rank"]
_RANK_NAMES = {"rank": 3, "label": 2, "local": 1}
"""How much a number is worth as a rank: what names the global one wins over a number within a machine."""

Told = list[str]
"""The fields of a Wrapping in their order, then one character that says how much the rank is worth."""
Teller = tuple[tuple[int, int, str], ...]
"""Of one row: for each group its number, its field, and what it is worth as a rank (or nothing)."""


def nothing_told() -> Told:
    """The start: no wrapper has said anything."""
    return ["", "", "", "", "", "", ""]


def wrapping_of(told: Told) -> Wrapping:
    """What was told, as it is kept with the line."""
    return Wrapping._make(told[:-1]) if any(told) else PLAIN


def told_by(wrapping: Wrapping) -> Told:
    """What a wrapping says, to go on from; a label that stands further inside is the better rank."""
    return [*wrapping, str(_RANK_NAMES["label"]) if wrapping.rank else ""]


def tell(told: Told, name: str, value: str) -> None:
    """Keep a value. What stands outermost counts; of ranks the best one, and the innermost of equal ones."""
    worth = _RANK_NAMES.get(name)
    if worth is not None:
        if str(worth) >= told[-1]:
            told[_RANK], told[-1] = value, str(worth)
    elif not told[_FIELDS[name]]:
        told[_FIELDS[name]] = value


class Prefix:
    """Rows joined into one expression. `tellers` are found by the empty group that ends each row."""

    __slots__ = ("match", "tellers")

    def __init__(self, expression: re.Pattern[str], tellers: dict[int | None, Teller]) -> None:
        self.match = expression.match
        self.tellers = tellers

    def take_off(self, text: str, start: int, told: Told) -> int:
        """Where the text goes on after one prefix that begins at `start`; `start` itself if there is none."""
        found = self.match(text, start)
        if found is None:
            return start
        for group, field, worth in self.tellers[found.lastindex]:
            value = found[group]
            if value and not worth and not told[field]:
                told[field] = value
            elif value and worth and worth >= told[-1]:
                told[field], told[-1] = value, worth
        return found.end()


def joined(rows: Iterable[tuple[str, str]]) -> Prefix:
    """One expression that tries these (head, expression) in order, with what their named groups tell."""
    parts: list[str] = []
    tellers: dict[int | None, Teller] = {}
    groups = 0
    for head, tails in groupby((tuple(map(expanded, row)) for row in rows), key=itemgetter(0)):
        shared = _teller(head, groups)
        groups += len(shared)
        alternatives: list[str] = []
        for _, tail in tails:
            own = _teller(tail, groups)
            groups += len(own) + 1
            tellers[groups] = shared + own
            alternatives.append(f"(?:{_without_names(tail)})()")
        parts.append(f"{_without_names(head)}(?:{'|'.join(alternatives)})")
    return Prefix(re.compile("|".join(parts)), tellers)


def _teller(expression: str, groups: int) -> Teller:
    names = re.findall(r"\(\?P<(\w+)>", expression)
    return tuple(
        (groups + 1 + place, _FIELDS.get(name, _RANK), str(_RANK_NAMES.get(name, "")))
        for place, name in enumerate(names)
    )


def _without_names(expression: str) -> str:
    return re.sub(r"\?P<\w+>", "", expression)


class _Beginnings(dict[str, "Prefix | None"]):
    """The prefixes by the first two characters of a line; None for most."""

    def __init__(self) -> None:
        super().__init__()
        self._by_rows: dict[tuple[tuple[str, str], ...], Prefix] = {}

    def __missing__(self, begin: str) -> Prefix | None:
        if len(self) >= _MOST_BEGINNINGS:
            self.clear()
        fitting = tuple((row.head, row.expression) for row in ROWS if _can_begin(row, begin))
        if fitting and fitting not in self._by_rows:
            self._by_rows[fitting] = joined(fitting)
        self[begin] = found = self._by_rows[fitting] if fitting else None
        return found


def _can_begin(row: Row, begin: str) -> bool:
    first, second = begin[:1], begin[1:]
    return bool(first) and first in row.first and (not row.second or _class_of(second) in row.second)


def _class_of(character: str) -> str:
    """The class of a second character, as rows name it; a line of one character has none."""
    if not character.isascii():
        return "*"
    if character.isdigit():
        return "0"
    return "A" if character.isupper() else "a" if character.islower() else character or "\n"


BEGINNINGS = _Beginnings()


def take_off(text: str, told: Told) -> str:
    """The text without the prefixes it begins with."""
    start = 0
    for _ in range(_MOST_LAYERS):
        prefix = BEGINNINGS[text[start : start + 2]]
        if prefix is None:
            break
        end = prefix.take_off(text, start, told)
        if end == start:
            break
        start = end
    return text[start:] if start else text
