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
from gpuhelp.reasoning.incidents import Candidate, Role
from gpuhelp.reasoning.judge import Judgement, judge
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


@dataclass(frozen=True, slots=True)
class Finding:
    """One class of failure that the evidence shows, judged.

    `reasons` say why it matched ("text", what the pattern looks for). `occurrences` counts the places, of
    which `evidence` holds the first. `scope` fills in the entry's texts.
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


def finding_of(
    candidate: Candidate, evidence: Evidence, entry: Entry, facts: Facts, functions: Functions
) -> Finding:
    """The finding of one candidate."""
    captured = _first_of(match.captured for match in sorted(candidate.matches, key=_only_warns))
    derived = _first_of(match.derived for match in candidate.matches)
    known = facts.merged(_told(candidate.matches, evidence))
    scope = scope_of(known, captured, {**tools_of(known), **derived}, functions)
    return Finding(
        entry=entry,
        role=candidate.role,
        confidence=_confidence(candidate),
        occurrences=len(candidate.matches),
        evidence=tuple(_line(match, evidence) for match in candidate.matches[:_MOST_EVIDENCE]),
        reasons=tuple(dict.fromkeys((match.kind, match.label) for match in candidate.matches)),
        captured=captured,
        judgements=judge(entry.causes, scope),
        scope=scope,
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


def _line(match: Match, evidence: Evidence) -> EvidenceLine:
    document = evidence[match.document]
    line = document.lines[match.first]
    return EvidenceLine(document.source.name, line.number, line.raw, line.wrapping.rank, line.wrapping.time)


_TRUST = {"fuzzy": 0.8, "question": 0.9}
_EXACT = 0.95


def _confidence(candidate: Candidate) -> float:
    """How sure it is that this entry is meant: an estimate from the kind of match alone."""
    if candidate.signature.fallback:
        return 0.6
    if candidate.warning:
        return 0.75
    first = max(candidate.matches, key=lambda match: match.strength)
    return round(_TRUST.get(first.kind, _EXACT) * first.strength, 2)
