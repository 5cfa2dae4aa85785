"""The rank stage: matches become candidates, the root first, what it dragged behind it after. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import NamedTuple

from gpuhelp.kb.entry import Signature
from gpuhelp.matching.symptoms import Match
from gpuhelp.reasoning.links import Grouped, Reach, is_consequence, reach_of, without_generic
from gpuhelp.reasoning.scene import Scene

GUESS = "guess"
"""A value that patterns set (`let`) where they show a symptom that has other causes just as well."""
_FAR_S = 2 * 3600.0
"""Failures so far apart are two incidents."""


class Role(Enum):
    """How a finding stands to the others of the same incident."""

    ROOT = "root"
    CONSEQUENCE = "consequence"
    RELATED = "related"


class RankCount(NamedTuple):
    """On how many of all ranks it shows; `first` is the rank that failed first, `place` its match's index."""

    on: int
    of: int
    first: str
    place: int


class Candidate(NamedTuple):
    """One entry that the evidence speaks for, with all the places where it shows, first to last.

    `follows` is the entry that a consequence follows from. `ranks` is None where one process speaks; `spoken`
    is the rank that printed each match.
    """

    signature: Signature
    matches: tuple[Match, ...]
    role: Role
    follows: str = ""
    ranks: RankCount | None = None
    spoken: tuple[str, ...] = ()

    @property
    def strength(self) -> float:
        return max(match.strength for match in self.matches)

    @property
    def warning(self) -> bool:
        """True if the text only warned of it."""
        return all(match.warning for match in self.matches)


def rank(
    matches: Iterable[Match], signatures: Iterable[Signature], scene: Scene | None = None
) -> tuple[Candidate, ...]:
    """Candidates in the order of telling: specific over generic, root over consequence, first in time."""
    scene = scene or Scene()
    by_id = {signature.id: signature for signature in signatures}
    fallbacks = {entry for entry, signature in by_id.items() if signature.fallback}
    refined = without_generic(_grouped(scene.of_note(matches, fallbacks), scene), by_id)
    survived = _survived(refined, scene)
    reach = reach_of(refined, by_id, scene, survived)
    weak = survived | {e for e, found in refined.items() if not reach[e] and all(m.warning for m in found)}
    incidents = _incidents(refined, scene)
    ordered = sorted(refined, key=lambda entry: _key(entry, refined, by_id, reach, weak, incidents, scene))
    minor = survived | _guessed_after(ordered[:1], refined, incidents)
    ranks = _Ranks(refined, scene)
    return tuple(
        Candidate(
            by_id[entry],
            refined[entry],
            *_role(entry, by_id, reach, ordered, minor),
            ranks.count(entry),
            ranks.spoken(entry),
        )
        for entry in ordered
    )


def _grouped(matches: Iterable[Match], scene: Scene) -> dict[str, tuple[Match, ...]]:
    """Matches by entry, in the order of time; patterns that hit the same lines count once, joined."""
    grouped: dict[str, dict[tuple[int, int], Match]] = {}
    for match in sorted(matches, key=_richness):
        places = grouped.setdefault(match.entry, {})
        place = match.document, match.first
        places[place] = _joined(places[place], match) if place in places else match
    return {
        entry: tuple(sorted((_with_rank(match, scene) for match in places.values()), key=scene.key))
        for entry, places in grouped.items()
    }


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
    """Two patterns that hit the same line: one place, with what both captured; a guess if both guess."""
    derived = {**other.derived, **richer.derived}
    if not (GUESS in richer.derived and GUESS in other.derived):
        derived.pop(GUESS, None)
    return richer._replace(
        captured={**other.captured, **richer.captured},
        derived=derived,
        tells={**other.tells, **richer.tells},
        warning=richer.warning and other.warning,
    )


def _with_rank(match: Match, scene: Scene) -> Match:
    """The match with the rank that printed it, where its own pattern captured none."""
    spoken = scene.speaker(match).rank
    if not spoken or "rank" in match.captured:
        return match
    return match._replace(captured={**match.captured, "rank": spoken})


def _survived(entries: Grouped, scene: Scene) -> frozenset[str]:
    """Entries whose every error the run survived; not asked where there is nothing else."""
    if len(entries) < 2:
        return frozenset()
    return frozenset(
        entry
        for entry, matches in entries.items()
        if not all(match.warning for match in matches)
        and not any(scene.ended_the_run(match) for match in matches if not match.warning)
    )


def _guessed_after(root: list[str], entries: Grouped, incidents: Mapping[str, int]) -> frozenset[str]:
    """Entries that every place only suggests, in the incident of a root that is certain."""
    if not root or any(GUESS in match.derived for match in entries[root[0]]):
        return frozenset()
    return frozenset(
        entry
        for entry, matches in entries.items()
        if incidents[entry] == incidents[root[0]] and all(GUESS in match.derived for match in matches)
    )


def _incidents(entries: Grouped, scene: Scene) -> Mapping[str, int]:
    """For each entry the number of the incident it begins in: a new one after hours without a failure."""
    if len(entries) < 2:
        return dict.fromkeys(entries, 0)
    numbers: dict[str, int] = {}
    current, before = 0, None
    for entry in sorted(entries, key=lambda name: (scene.key(entries[name][0]), name)):
        gap = scene.gap_s(before, entries[entry][0]) if before is not None else None
        current += gap is not None and gap > _FAR_S
        numbers[entry], before = current, entries[entry][-1]
    return numbers


def _key(
    entry: str,
    entries: Grouped,
    by_id: Mapping[str, Signature],
    reach: Reach,
    weak: frozenset[str],
    incidents: Mapping[str, int],
    scene: Scene,
) -> tuple[object, ...]:
    matches = entries[entry]
    signature = by_id[entry]
    pointed = scene.pointed_rank
    return (
        entry in weak,
        is_consequence(entry, reach),
        signature.fallback,
        bool(pointed) and not any(scene.speaker(match).rank == pointed for match in matches),
        signature.layer != "hardware",
        incidents[entry],
        -max(match.strength for match in matches),
        scene.key(matches[0]),
        entry,
    )


def _role(
    entry: str, by_id: Mapping[str, Signature], reach: Reach, ordered: list[str], minor: frozenset[str]
) -> tuple[Role, str]:
    """The role of an entry, and the one it follows from; `minor` ones are no second root."""
    if entry == ordered[0]:
        return Role.ROOT, ""
    if is_consequence(entry, reach) or entry in reach[ordered[0]]:
        return Role.CONSEQUENCE, next((other for other in ordered if entry in reach[other]), "")
    return (Role.RELATED if by_id[entry].fallback or entry in minor else Role.ROOT), ""


class _Ranks:
    """Counts ranks: those on which an entry shows, of all that any line names or the text says there are."""

    def __init__(self, entries: Grouped, scene: Scene) -> None:
        self._entries = entries
        self._spoken = {
            entry: tuple(scene.speaker(match).rank for match in matches) for entry, matches in entries.items()
        }
        shown = {spoken for ranks in self._spoken.values() for spoken in ranks if spoken}
        self._all = max(len(scene.ranks | shown), scene.world_size) if shown else 0

    def spoken(self, entry: str) -> tuple[str, ...]:
        """The rank of each match."""
        return self._spoken[entry]

    def count(self, entry: str) -> RankCount | None:
        """On how many it shows; None where no rank is known or there is but one."""
        pairs = zip(self._spoken[entry], self._entries[entry], strict=True)
        told = [(spoken, place, match) for place, (spoken, match) in enumerate(pairs) if spoken]
        if not told or self._all < 2:
            return None
        first, place, _ = next((one for one in told if not one[2].warning), told[0])
        return RankCount(len({spoken for spoken, *_ in told}), self._all, first, place)
