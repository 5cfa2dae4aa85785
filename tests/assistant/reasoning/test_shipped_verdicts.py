"""With every entry's own examples: knowing less never makes gpuhelp surer."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import pytest

from gpuhelp.diagnosis import diagnose
from gpuhelp.kb.entry import Entry
from gpuhelp.kb.load import KnowledgeBase
from gpuhelp.probes.facts import Facts
from gpuhelp.reasoning.findings import Finding
from gpuhelp.reasoning.fixes import tools_of
from gpuhelp.reasoning.judge import Judgement, Verdict, judge
from gpuhelp.reasoning.scope import scope_of
from gpuhelp.reasoning.table_functions import TableFunctions

ENTRIES = Path(__file__).parents[3] / "kb" / "entries"
IDS = sorted(path.stem for path in ENTRIES.rglob("*.yaml") if not path.stem.endswith(".ko"))


def findings(entry: Entry, knowledge: KnowledgeBase) -> Iterator[Finding]:
    """The entry's finding in each of its examples."""
    for example in entry.examples:
        found = diagnose(example.text, facts=dict(example.facts or {}), knowledge=knowledge).findings
        yield from (finding for finding in found if finding.entry.id == entry.id)


def judged(finding: Finding, facts: Facts, knowledge: KnowledgeBase) -> dict[str, Judgement]:
    """The finding's causes, judged again with other facts."""
    values = {name: value for name, value in finding.scope.values.items() if name != "gpus"}
    scope = scope_of(facts, finding.captured, {**values, **tools_of(facts)}, TableFunctions(knowledge))
    return {judgement.cause.id: judgement for judgement in judge(finding.entry.causes, scope)}


@pytest.mark.parametrize("entry", IDS)
def test_a_fact_taken_away_decides_nothing(entry: str, knowledge: KnowledgeBase) -> None:
    surer = []
    for finding in findings(knowledge.entry(entry), knowledge):
        facts = finding.scope.facts
        before = {judgement.cause.id: judgement.verdict for judgement in finding.judgements}
        for name in facts:
            less = Facts({other: fact for other, fact in facts.items() if other != name})
            for cause, judgement in judged(finding, less, knowledge).items():
                was, now = before[cause], judgement.verdict
                if now in (Verdict.CONFIRMED, Verdict.RULED_OUT) and now is not was:
                    surer.append(f"without {name}, {cause} turns from {was.value} to {now.value}")
    assert surer == []


@pytest.mark.parametrize("entry", IDS)
def test_no_cause_is_confirmed_because_facts_are_missing(entry: str, knowledge: KnowledgeBase) -> None:
    wrong = []
    for finding in findings(knowledge.entry(entry), knowledge):
        facts = finding.scope.facts
        confirmed = {item.cause.id for item in finding.judgements if item.verdict is Verdict.CONFIRMED}
        for kept in (*combinations(facts, max(len(facts) - 2, 0)), *combinations(facts, 1), ()):
            less = Facts({name: facts[name] for name in kept})
            now = judged(finding, less, knowledge).items()
            wrong += [
                f"{cause}, with {kept} only"
                for cause, judgement in now
                if judgement.verdict is Verdict.CONFIRMED and cause not in confirmed
            ]
    assert wrong == []


@pytest.mark.parametrize("entry", IDS)
def test_without_facts_an_undecided_cause_names_what_would_decide_it(
    entry: str, knowledge: KnowledgeBase
) -> None:
    unnamed = [
        judgement.cause.id
        for finding in findings(knowledge.entry(entry), knowledge)
        for judgement in judged(finding, Facts(), knowledge).values()
        if judgement.verdict is Verdict.UNKNOWN and not judgement.missing
    ]
    assert unnamed == []


@pytest.mark.parametrize("entry", IDS)
def test_the_same_facts_give_the_same_verdicts_again(entry: str, knowledge: KnowledgeBase) -> None:
    seen = tuple(findings(knowledge.entry(entry), knowledge))
    assert seen
    for finding in seen:
        again = judged(finding, finding.scope.facts, knowledge)
        assert {key: value.verdict for key, value in again.items()} == {
            judgement.cause.id: judgement.verdict for judgement in finding.judgements
        }
