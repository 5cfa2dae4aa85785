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

_COMMON_WORD, _NEXT_WORD = 1, 2
"""What a word that ordinary logs are full of counts, where others count their characters, and what it counts
that one word stands beside another. Numbers and signs are common."""


_PARTS = (r'File "[^"\n]{1,500}", line \d', r"frame #\d{1,4}: ")
"""Lines of tracebacks, which may be longer than what is kept around their first or last line."""


def scan_plan(records: Iterable[Record], signs: Iterable[Mapping[str, Any]], common: Iterable[str]) -> Record:
    """{"patterns": [[expression, literals, is_part], ...]}: each expression once, in a fixed order.

    `signs` are rows of tables/failure_signs.yaml as written, `common` the words of tables/common_words.yaml.
    A pattern of which only everyday words are certain is not looked for: it still counts near the others.
    """
    known = frozenset(common)
    rows: dict[str, list[Any]] = {}
    for source, case in (*_of_signs(signs), *_of_entries(records)):
        expression = loosened(source, case=case)
        literals = rarest(literal_choices(source), known)
        if literals and min(_rarity(text, known) for text in literals) > _COMMON_WORD:
            rows.setdefault(expression, [expression, sorted(literals), False])
    for source in _PARTS:
        rows[source] = [regexes.ready(source), sorted(rarest(literal_choices(source), known)), True]
    return {"patterns": list(rows.values())}


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


def _rarity(literal: str, common: frozenset[str]) -> float:
    """More is rarer: letters, where a common word counts as one."""
    words = re.findall(r"[^\W\d_]+|[\d\W_]+", literal)
    counted = sum(len(word) if word[0].isalpha() and word not in common else _COMMON_WORD for word in words)
    return counted + _NEXT_WORD * literal.count(" ")


def _of_entries(records: Iterable[Record]) -> Iterator[tuple[str, bool]]:
    for record in records:
        yield from ((source, case) for source, case in record["scan"])


def _of_signs(signs: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, bool]]:
    for row in signs:
        yield regexes.escaped(row["text"]) if "text" in row else row["regex"], bool(row.get("case", False))
