"""What to look for in a text too large to read whole: patterns, each with literals that stand in every match.

Compiled into the store once. The scan looks for all literals at once, and for a pattern only where one of
its literals stands; see gpuhelp.scanning.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from gpuhelp.kb import regexes
from gpuhelp.kb.entry import Record
from gpuhelp.kb.literals import Choice, literal_choices

_COMMON_WORD, _NEXT_WORD, _TOO_COMMON = 1, 2, 4
"""What a word that ordinary logs are full of counts, where others count their characters, and what it counts
that one word stands beside another; up to how much it stands everywhere. Numbers are common."""


_EVERYDAY = 3
_SHORTEST_LITERAL = 5
"""Shorter ones make the whole scan slower by a tenth each."""
_WANTED_PARTS, _WANTED_FRAMES = 60, 500
_FRAMES = (r'File "[^"\n]{1,500}", line \d', r"frame #\d{1,4}: ")
"""Lines of tracebacks, which may be longer than what is kept around their first or last line."""


def scan_plan(
    records: Iterable[Record],
    signs: Iterable[Mapping[str, Any]],
    parts: Iterable[Mapping[str, Any]],
    common: Iterable[str],
) -> Record:
    """{"patterns": [[expression, literals, wanted], ...]}: each expression once, in a fixed order.

    `wanted` is how many of its matches matter, 0 for as many as there are.

    `records` hold their rows under "scan": see rows_of_entry.
    `signs` and `parts` are rows of tables of patterns as written; parts only matter beside something else.
    `common` are the words of tables/common_words.yaml.
    """
    known = frozenset(common)
    rows: dict[str, list[Any]] = {}
    for source, case in _of_rows(signs):
        _add(rows, source, case, rarest(literal_choices(source), known))
    for expression, literals, wanted in (row for record in records for row in record["scan"]):
        rows.setdefault(expression, [expression, literals, wanted])
    for source, case in _of_rows(parts):
        _add(rows, source, case, rarest(literal_choices(source), known), _WANTED_PARTS)
    for source in _FRAMES:
        _add(rows, source, False, rarest(literal_choices(source), known), _WANTED_FRAMES)
    return {"patterns": list(rows.values())}


def rows_of_entry(sources: Iterable[tuple[str, bool]], common: Iterable[str]) -> list[list[Any]]:
    """The rows of one entry's patterns, given as (expression, whether case counts).

    A pattern of which only everyday words are certain is not looked for; it counts near others.
    """
    known = frozenset(common)
    rows: dict[str, list[Any]] = {}
    for source, case in sources:
        literals = rarest(literal_choices(source), known)
        if min((_rarity(text, known) for text in literals), default=0) > _TOO_COMMON:
            _add(rows, source, case, literals)
    return list(rows.values())


def rarest_first(pattern: Record, common: Iterable[str]) -> Record:
    """The pattern with the rarest of its anchor sets first: by that one its entry is found.

    Anchors have lost their white space, so only what is one everyday word as a whole counts as common; where
    even the rarest set holds one, or a very short one, the pattern is marked `everyday`.
    """
    known = frozenset(common)
    groups = [pattern["anchors"], *pattern.get("further", [])] if pattern.get("anchors") else []
    if len(groups) < 2:
        return pattern
    rarity = {index: min(_anchor_rarity(text, known) for text in group) for index, group in enumerate(groups)}
    first, *others = sorted(rarity, key=lambda index: (-rarity[index], index))
    marked = {"everyday": True} if rarity[first] <= _EVERYDAY else {}
    return {**pattern, **marked, "anchors": groups[first], "further": [groups[index] for index in others]}


def _anchor_rarity(anchor: str, common: frozenset[str]) -> int:
    return _COMMON_WORD if anchor.strip(":.,=\"'()[]/_-") in common else len(anchor)


def _add(rows: dict[str, list[Any]], source: str, case: bool, literals: Choice, wanted: int = 0) -> None:
    expression = loosened(source, case=case)
    if min(map(len, literals), default=0) >= _SHORTEST_LITERAL:
        rows.setdefault(expression, [expression, sorted(literals), wanted])


_ANCHORS = {
    "^": r"(?:^|[\]):>|│\"\-]\s*|\x1b\[[\d;]{0,12}m|\b(?:DEBUG|INFO|WARN|WARNING|ERROR|CRITICAL|FATAL)\s+)",
    "$": r"(?:\s*$|\s*[\\\"'\x1b│])",
}
"""Where a line begins and ends for a person: loggers, launchers and terminals put something around it."""


def loosened(source: str, *, case: bool = False) -> str:
    """The expression for lines that still have what was put around them."""
    return regexes.ready("".join(_ANCHORS.get(part, part) for part in regexes.parts(source)), case=case)


def rarest(choices: Iterable[Choice], common: frozenset[str]) -> Choice:
    """The choice whose most frequent literal is the rarest; empty where there is none."""
    return max(choices, key=lambda choice: min(_rarity(text, common) for text in choice), default=frozenset())


def _rarity(literal: str, common: frozenset[str]) -> int:
    """More is rarer: the letters of its words, where a common word or a number counts as one."""
    words = re.findall(r"[^\W\d_]+|\d+", literal)
    return sum(_weight(word, common) for word in words) + _NEXT_WORD * len(re.findall(r"\w \w", literal))


def _weight(word: str, common: frozenset[str]) -> int:
    if word in common or word.isdecimal():
        return _COMMON_WORD
    return (
        len(word) if word.isascii() else len(word.encode())
    )  # a sign of another script says as much as three


def _of_rows(rows: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, bool]]:
    for row in rows:
        yield regexes.escaped(row["text"]) if "text" in row else row["regex"], bool(row.get("case", False))
