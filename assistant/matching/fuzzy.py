"""The second look: phrases that survive typos, OCR and cut words. Only when nothing matched exactly.

Only lines that look like a failure are compared, and only so many: the stage has a budget.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gpuhelp.kb.entry import Signature
from gpuhelp.matching.symptoms import Match
from gpuhelp.matching.view import View

FLOOR = 87.0
"""Below this share of agreement (0..100) a phrase is a coincidence. Chosen on the healthy logs and one-typo texts."""
_MOST_LINES = 200
_LONGEST_LINE = 600


def find_fuzzy(views: Iterable[View], signatures: Iterable[Signature], lines: Iterable[tuple[int, int]]) -> tuple[Match, ...]:
    """The best fuzzy match of each entry over these (document, line) places."""
    from rapidfuzz import fuzz

    views = tuple(views)
    places = list(lines)[:_MOST_LINES]
    best: dict[str, Match] = {}
    for entry_id, phrase in _phrases(signatures):
        wanted = phrase.lower()
        for number, index in places:
            text = views[number].stretch(index, index)[:_LONGEST_LINE].lower()
            if len(text) < len(wanted) * 0.7:
                continue
            score = fuzz.partial_ratio(wanted, text, score_cutoff=FLOOR)
            if score and (entry_id not in best or best[entry_id].strength < score / 100):
                best[entry_id] = Match(entry_id, number, index, index, "fuzzy", phrase, strength=score / 100)
    return tuple(best.values())


def _phrases(signatures: Iterable[Signature]) -> Iterator[tuple[str, str]]:
    for signature in signatures:
        for pattern in signature.patterns:
            if pattern.kind == "fuzzy":
                yield signature.id, pattern.needle
