"""Findings: what is told of one candidate. Built from matches, facts and the entry. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from gpuhelp.kb.entry import Entry
from gpuhelp.kb.evaluation import Functions
from gpuhelp.matching.symptoms import Match
from gpuhelp.probes.facts import Fact, Facts
from gpuhelp.reading.evidence import Evidence
from gpuhelp.reasoning.fixes import tools_of
from gpuhelp.reasoning.incidents import GUESS, Candidate, Role
from gpuhelp.reasoning.judge import Judgement, Verdict, judge
from gpuhelp.reasoning.scope import Scope, scope_of

_MOST_EVIDENCE = 20
Value = TypeVar("Value")


class EvidenceLine(NamedTuple):
    """One line that shows the finding, as it stands in its source; `line` counts from 1."""

    source: str
    line: int
    text: str
    rank: str = ""
    time: str = ""


class Ranks(NamedTuple):
    """On how many of all ranks a finding shows; `first` is the first, `place` the index of its evidence."""

    on: int
    of: int
    first: str
    place: int


@dataclass(frozen=True, slots=True)
class Finding:
    """One class of failure that the evidence shows, judged.

    `reasons` say why it matched ("text", what the pattern looks for). `occurrences` counts the places, of
    which `evidence` holds the first. `scope` fills in the entry's texts. `ranks` is None where one process
    speaks. `follows` is the entry that a consequence follows from. `guess` names what makes the finding a
    guess, if it is one: the text shows a symptom that other causes have as well.
    """

    entry: Entry
    role: Role
    confidence: float
    occurrences: int
    evidence: tuple[EvidenceLine, ...]
    reasons: tuple[tuple[str, str], ...]
    captured: Mapping[str, str]
    judgements: tuple[Judgement, ...]
    scope: Scope
    ranks: Ranks | None = None
    follows: str = ""
    guess: str = ""


def finding_of(
    candidate: Candidate, evidence: Evidence, entry: Entry, facts: Facts, functions: Functions
) -> Finding:
    """The finding of one candidate."""
    captured = _first_of(match.captured for match in sorted(candidate.matches, key=_only_warns))
    derived = _first_of(match.derived for match in candidate.matches)
    known = facts.merged(_told(candidate.matches, evidence))
    scope = scope_of(known, captured, {**tools_of(known), **derived}, functions)
    judgements = judge(entry.causes, scope)
    guess = _guess(candidate, judgements)
    shown = _shown(candidate)
    return Finding(
        entry=entry,
        role=candidate.role,
        confidence=min(_confidence(candidate), _GUESSED) if guess else _confidence(candidate),
        occurrences=len(candidate.matches),
        evidence=tuple(_line(candidate, place, evidence) for place in shown),
        reasons=tuple(dict.fromkeys((match.kind, match.label) for match in candidate.matches)),
        captured=captured,
        judgements=judgements,
        scope=scope,
        ranks=_ranks(candidate, shown),
        follows=candidate.follows,
        guess=guess,
    )


def told_facts(findings: Iterable[Finding]) -> Facts:
    """Every fact that the text itself stated, by finding; the first finding wins."""
    merged = Facts()
    for finding in findings:
        told = {name: fact for name, fact in finding.scope.facts.items() if fact.source.startswith("text")}
        merged = Facts(told).merged(merged)
    return merged


def _told(matches: Iterable[Match], evidence: Evidence) -> Facts:
    facts: dict[str, Fact] = {}
    for match in matches:
        line = evidence[match.document].lines[match.first].number
        for name, value in match.tells.items():
            facts.setdefault(name, Fact(value, f"text line {line}"))  # type: ignore[arg-type]
    return Facts(facts)


def _only_warns(match: Match) -> bool:
    """Sorts what the error itself says before what an earlier warning said."""
    return match.warning


def _first_of(mappings: Iterable[Mapping[str, Value]]) -> dict[str, Value]:
    """All names, each with the value of the first mapping that has it."""
    merged: dict[str, Value] = {}
    for mapping in mappings:
        merged = {**mapping, **merged}
    return merged


def _line(candidate: Candidate, place: int, evidence: Evidence) -> EvidenceLine:
    match = candidate.matches[place]
    document = evidence[match.document]
    line = document.lines[match.first]
    rank = line.wrapping.rank or (candidate.spoken[place] if candidate.spoken else "")
    return EvidenceLine(document.source.name, line.number, line.raw, rank, line.wrapping.time)


def _shown(candidate: Candidate) -> tuple[int, ...]:
    """The first places, and the one of the first failing rank among them."""
    count = len(candidate.matches)
    first = candidate.ranks.place if candidate.ranks else 0
    if first < _MOST_EVIDENCE:
        return tuple(range(min(count, _MOST_EVIDENCE)))
    return (*range(_MOST_EVIDENCE - 1), first)


def _ranks(candidate: Candidate, shown: tuple[int, ...]) -> Ranks | None:
    counted = candidate.ranks
    if counted is None:
        return None
    return Ranks(counted.on, counted.of, counted.first, shown.index(counted.place))


def _guess(candidate: Candidate, judgements: tuple[Judgement, ...]) -> str:
    """What makes it a guess: named by every place where it shows, as long as no fact confirms a cause."""
    named = [match.derived.get(GUESS) for match in candidate.matches]
    if not all(named) or any(judgement.verdict is Verdict.CONFIRMED for judgement in judgements):
        return ""
    return str(named[0])


_TRUST = {"fuzzy": 0.8, "question": 0.9}
_EXACT = 0.95
_GUESSED = 0.6


def _confidence(candidate: Candidate) -> float:
    """How sure it is that this entry is meant: an estimate from the kind of match alone."""
    if candidate.signature.fallback:
        return 0.6
    if candidate.warning:
        return 0.75
    first = max(candidate.matches, key=lambda match: match.strength)
    return round(_TRUST.get(first.kind, _EXACT) * first.strength, 2)
