"""How entries that show together stand to one another: which is more specific, which dragged which. Pure.

Only what entries say of themselves (`refines`, `leads_to`, layer, fallback) and where they show is used.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gpuhelp.kb.entry import Signature
from gpuhelp.matching.symptoms import Match
from gpuhelp.reasoning.scene import Scene

Grouped = Mapping[str, tuple[Match, ...]]
Reach = Mapping[str, frozenset[str]]
_FAR_S = 2 * 3600.0
"""What a failure drags behind it comes within the time limits of collectives: minutes to an hour."""
_VERY_FAR_S = 12 * 3600.0
_CLEARLY_BEFORE_S = 90.0
"""Buffers and clocks of several machines differ by less."""


def without_generic(grouped: Grouped, by_id: Mapping[str, Signature]) -> dict[str, tuple[Match, ...]]:
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


def reach_of(
    entries: Grouped, by_id: Mapping[str, Signature], scene: Scene, weak: frozenset[str] = frozenset()
) -> dict[str, frozenset[str]]:
    """For each entry, the other present ones that it dragged behind it or answers for, also through others.

    A `weak` entry, one that the run survived, dragged nothing, and answers only for others that it survived.
    """
    links = {
        entry: tuple(other for other in _answered(entry, entries, by_id) if other in weak)
        if entry in weak
        else _followed(entry, entries, by_id, scene)
        for entry in entries
    }
    reach: dict[str, frozenset[str]] = {}
    for entry in entries:
        seen: set[str] = set()
        waiting = [entry]
        while waiting:
            for following in links[waiting.pop()]:
                if following not in seen:
                    seen.add(following)
                    waiting.append(following)
        reach[entry] = frozenset(seen - {entry})
    return reach


def is_consequence(entry: str, reach: Reach) -> bool:
    """True if another entry leads to this one, and not the other way round as well."""
    return any(entry in after and other not in reach[entry] for other, after in reach.items())


def _followed(entry: str, entries: Grouped, by_id: Mapping[str, Signature], scene: Scene) -> tuple[str, ...]:
    """The present entries that this one dragged behind it directly, or answers for."""
    signature = by_id[entry]
    dragged = [
        other
        for other in entries
        if (other in signature.leads_to and not _is_apart(entries[entry], entries[other], scene))
        or (
            signature.fallback
            and by_id[other].layer == "distributed"
            and _left_waiting(entry, other, entries, scene)
        )
    ]
    return tuple(dict.fromkeys((*dragged, *_answered(entry, entries, by_id))))


def _answered(entry: str, entries: Grouped, by_id: Mapping[str, Signature]) -> tuple[str, ...]:
    """The present entries of which this one is the finer form."""
    return tuple(other for other in by_id[entry].refines if other in entries)


def _is_apart(causes: tuple[Match, ...], effects: tuple[Match, ...], scene: Scene) -> bool:
    """True if time says that these are two incidents, whatever entries may lead to."""
    gap = scene.gap_s(causes[-1], effects[0])
    if gap is not None and gap > _FAR_S:
        return gap > _VERY_FAR_S or _other_process(causes[-1], effects[0], scene)
    back = scene.gap_s(effects[0], causes[0])
    return back is not None and back > _CLEARLY_BEFORE_S


def _other_process(one: Match, other: Match, scene: Scene) -> bool:
    first, second = scene.speaker(one), scene.speaker(other)
    return any(a and b and a != b for a, b in ((first.host, second.host), (first.pid, second.pid)))


def _left_waiting(failed: str, waited: str, entries: Grouped, scene: Scene) -> bool:
    """True if one rank failed first, in whatever way, and a collective then failed on others only."""
    first, second = _errors(entries[failed]), _errors(entries[waited])
    if not first or not second or scene.key(first[0]) > scene.key(second[0]):
        return False
    failing = {scene.speaker(match).rank for match in first}
    waiting = {scene.speaker(match).rank for match in second}
    return "" not in failing and "" not in waiting and failing.isdisjoint(waiting)


def _errors(matches: tuple[Match, ...]) -> tuple[Match, ...]:
    return tuple(match for match in matches if not match.warning)
