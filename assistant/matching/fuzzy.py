"""The second look: phrases that survive typos, OCR and cut words. Only when nothing matched exactly.

Only lines that look like a failure are compared, and only so many: the stage has a budget.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gpuhelp.kb.entry import Pattern, Signature
from gpuhelp.matching.symptoms import Match, ruled_out, speaks_against
from gpuhelp.matching.view import View

FLOOR = 87.0
"""Below this agreement (0..100) a phrase is a coincidence. Chosen on healthy logs and one-typo texts."""
_MOST_LINES = 200
_LONGEST_LINE = 600
_SHORTEST_SHARE = 0.7
"""A line much shorter than the phrase cannot say the same."""


def find_fuzzy(
    views: Iterable[View], signatures: Iterable[Signature], lines: Iterable[tuple[int, int]]
) -> tuple[Match, ...]:
    """The best fuzzy match of each entry over these (document, line) places."""
    from rapidfuzz import fuzz

    views = tuple(views)
    places = list(lines)[:_MOST_LINES]
    best: dict[str, Match] = {}
    for signature, pattern in _phrases(signatures, views):
        wanted = pattern.needle.lower()
        for number, index in places:
            text = views[number].stretch(index, index)[:_LONGEST_LINE]
            if len(text) < len(wanted) * _SHORTEST_SHARE or any(
                speaks_against(guard, text) for guard in pattern.unless
            ):
                continue
            score = fuzz.partial_ratio(wanted, text.lower(), score_cutoff=FLOOR) / 100
            known = best.get(signature.id)
            if score and (known is None or known.strength < score):
                best[signature.id] = Match(
                    signature.id,
                    number,
                    index,
                    index,
                    "fuzzy",
                    pattern.needle,
                    strength=score,
                    warning=pattern.warning,
                )
    return tuple(best.values())


def _phrases(signatures: Iterable[Signature], views: tuple[View, ...]) -> Iterator[tuple[Signature, Pattern]]:
    for signature in signatures:
        fuzzy = [pattern for pattern in signature.patterns if pattern.kind == "fuzzy"]
        if fuzzy and not ruled_out(signature, views):
            yield from ((signature, pattern) for pattern in fuzzy)
