"""The rank stage: matches become candidates, the root first, what it dragged behind it after. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum

from gpuhelp.kb.entry import Signature
from gpuhelp.matching.symptoms import Match


class Role(Enum):
    """How a finding stands to the others of the same incident."""

    ROOT = "root"
    CONSEQUENCE = "consequence"
    RELATED = "related"


@dataclass(frozen=True, slots=True)
class Candidate:
    """One entry that the evidence speaks for, with all the places where it shows, first to last."""

    signature: Signature
    matches: tuple[Match, ...]
    role: Role

    @property
    def strength(self) -> float:
        return max(match.strength for match in self.matches)

    @property
    def warning(self) -> bool:
        """True if the text only warned of it."""
        return all(match.warning for match in self.matches)


def rank(matches: Iterable[Match], signatures: Iterable[Signature]) -> tuple[Candidate, ...]:
    """Candidates in the order of telling: specific over generic, root over consequence, first in time."""
    by_id = {signature.id: signature for signature in signatures}
    grouped = _grouped(matches)
    refined = _without_generic(grouped, by_id)
    reach = _reach(refined, by_id)
    ordered = sorted(refined, key=lambda entry: _key(entry, refined, by_id, reach))
    return tuple(
        Candidate(by_id[entry], refined[entry], _role(position, entry, by_id, reach, ordered))
        for position, entry in enumerate(ordered)
    )


def _place(match: Match) -> tuple[int, int, int]:
    return match.document, match.first, match.last


def _grouped(matches: Iterable[Match]) -> dict[str, tuple[Match, ...]]:
    """Matches by entry, in the order of places; patterns that hit the same lines count once, joined."""
    grouped: dict[str, dict[tuple[int, int], Match]] = {}
    for match in sorted(matches, key=_richness):
        places = grouped.setdefault(match.entry, {})
        place = match.document, match.first
        places[place] = _joined(places[place], match) if place in places else match
    return {entry: tuple(places.values()) for entry, places in grouped.items()}


def _richness(match: Match) -> tuple[object, ...]:
    """By place, then the richer first; what follows only makes the order the same for any input order."""
    values = sorted(match.captured.items())
    return (
        match.document,
        match.first,
        -len(values),
        match.warning,
        match.label,
        match.last,
        match.kind,
        values,
    )


def _joined(richer: Match, other: Match) -> Match:
    """Two patterns that hit the same line: one place, with what both captured."""
    return richer._replace(
        captured={**other.captured, **richer.captured},
        derived={**other.derived, **richer.derived},
        tells={**other.tells, **richer.tells},
        warning=richer.warning and other.warning,
    )


def _without_generic(
    grouped: Mapping[str, tuple[Match, ...]], by_id: Mapping[str, Signature]
) -> dict[str, tuple[Match, ...]]:
    """Where a more specific entry stands on the same lines, the generic one says nothing more."""
    left = dict(grouped)
    for entry, matches in grouped.items():
        for generic in _generic_beside(entry, grouped, by_id):
            kept = tuple(m for m in left.get(generic, ()) if not any(_overlap(m, other) for other in matches))
            if generic in left and kept:
                left[generic] = kept
            else:
                left.pop(generic, None)
    return left


def _generic_beside(entry: str, entries: Iterable[str], by_id: Mapping[str, Signature]) -> tuple[str, ...]:
    """Other present entries that are more generic: fallbacks, else those it refines, also through others.

    Two entries that refine each other are as specific as one another.
    """
    refined, fallback = _refined(entry, by_id), by_id[entry].fallback
    return tuple(
        other
        for other in entries
        if (by_id[other].fallback and not fallback)
        or (by_id[other].fallback is fallback and other in refined and entry not in _refined(other, by_id))
    )


def _refined(entry: str, by_id: Mapping[str, Signature]) -> frozenset[str]:
    """Every entry that this one refines, directly or through others."""
    seen: set[str] = set()
    waiting = [entry]
    while waiting:
        for generic in by_id[waiting.pop()].refines:
            if generic in by_id and generic not in seen:
                seen.add(generic)
                waiting.append(generic)
    return frozenset(seen - {entry})


def _overlap(one: Match, other: Match) -> bool:
    return one.document == other.document and one.first <= other.last and other.first <= one.last


def _reach(
    entries: Mapping[str, tuple[Match, ...]], by_id: Mapping[str, Signature]
) -> dict[str, frozenset[str]]:
    """For each entry, the other present ones that it drags behind it or answers for, also through others."""
    reach: dict[str, frozenset[str]] = {}
    for entry in entries:
        seen: set[str] = set()
        waiting = [entry]
        while waiting:
            signature = by_id[waiting.pop()]
            for following in (*signature.leads_to, *signature.refines):
                if following in entries and following not in seen:
                    seen.add(following)
                    waiting.append(following)
        reach[entry] = frozenset(seen - {entry})
    return reach


def _is_consequence(entry: str, reach: Mapping[str, frozenset[str]]) -> bool:
    """True if another entry leads to this one, and not the other way round as well."""
    return any(entry in after and other not in reach[entry] for other, after in reach.items())


def _key(
    entry: str,
    entries: Mapping[str, tuple[Match, ...]],
    by_id: Mapping[str, Signature],
    reach: Mapping[str, frozenset[str]],
) -> tuple[object, ...]:
    matches = entries[entry]
    signature = by_id[entry]
    return (
        all(match.warning for match in matches) and not reach[entry],
        _is_consequence(entry, reach),
        signature.fallback,
        signature.layer != "hardware",
        -max(match.strength for match in matches),
        _place(matches[0]),
        entry,
    )


def _role(
    position: int,
    entry: str,
    by_id: Mapping[str, Signature],
    reach: Mapping[str, frozenset[str]],
    ordered: list[str],
) -> Role:
    if position == 0:
        return Role.ROOT
    if _is_consequence(entry, reach) or entry in reach[ordered[0]]:
        return Role.CONSEQUENCE
    return Role.RELATED if by_id[entry].fallback else Role.ROOT
