"""Every place where a pattern fits, with what spoke against it there: for people who write entries. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from typing import NamedTuple

from gpuhelp.kb.entry import Guard, Pattern, Signature
from gpuhelp.matching.symptoms import Hit, hits, judged, ruled_out, speaks_against
from gpuhelp.matching.view import View

_MOST_PLACES = 20
"""Of one pattern in one document; a flood of equal lines says no more."""


class Refusal(Enum):
    """Why a pattern that fits does not count."""

    GUARD = "guard"
    CONDITION = "condition"
    GUARD_ANYWHERE = "guard_anywhere"


class Trial(NamedTuple):
    """One place where a pattern fits; `by` is the guard that spoke against it."""

    entry: str
    pattern: Pattern
    document: int
    first: int
    last: int
    refusal: Refusal | None = None
    by: str = ""


def trials(views: Iterable[View], signatures: Iterable[Signature]) -> Iterator[Trial]:
    """In the order of signatures, patterns, documents and places."""
    views = tuple(views)
    for signature in signatures:
        is_ruled_out = ruled_out(signature, views)
        for pattern in signature.patterns:
            for number, view in enumerate(views):
                for count, hit in enumerate(hits(pattern, view)):
                    if count == _MOST_PLACES:
                        break
                    yield _tried(signature, pattern, number, hit, view, is_ruled_out)


def _tried(
    signature: Signature, pattern: Pattern, number: int, hit: Hit, view: View, is_ruled_out: bool
) -> Trial:
    trial = Trial(signature.id, pattern, number, hit.first, hit.last)
    around = hit.said or view.said(hit.first, hit.last)
    guard = next((guard for guard in pattern.unless if speaks_against(guard, around)), None)
    if guard is not None:
        return trial._replace(refusal=Refusal.GUARD, by=_spelled(guard))
    if judged(signature, pattern, number, hit, view) is None:
        return trial._replace(refusal=Refusal.CONDITION)
    if is_ruled_out:
        return trial._replace(refusal=Refusal.GUARD_ANYWHERE)
    return trial


def _spelled(guard: Guard) -> str:
    return guard.literal or guard.regex
