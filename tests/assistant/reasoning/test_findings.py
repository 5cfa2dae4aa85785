"""A finding holds its evidence as it stood, what was captured, and how sure it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from gpuhelp.kb.entry import Entry, Signature
from gpuhelp.kb.load import KnowledgeBase
from gpuhelp.matching.symptoms import Match
from gpuhelp.probes.facts import Facts
from gpuhelp.reading.pieces import from_text
from gpuhelp.reading.read import read
from gpuhelp.reasoning.findings import Finding, Ranks, finding_of, told_facts
from gpuhelp.reasoning.incidents import GUESS, Candidate, RankCount, Role

EVIDENCE = read(
    [from_text("ok\n> [rank3]: boom\n[rank4]: boom", "a.log"), from_text("\x1b[31mboom", "b.log")]
)
MakeEntry = Callable[..., Signature]


@pytest.fixture
def find(entry: MakeEntry, knowledge: KnowledgeBase) -> Callable[..., Finding]:
    """`find(match, ..., facts={...}, fallback=True)`: the finding of one made-up entry."""

    def found(*matches: Match, facts: dict[str, Any] | None = None, **more: Any) -> Finding:
        told: Entry = replace(knowledge.entry("cuda-oom"), causes=more.pop("causes", ()))
        counted = {key: more.pop(key) for key in ("ranks", "spoken") if key in more}
        candidate = Candidate(entry("e", **more), matches, Role.ROOT, **counted)
        return finding_of(candidate, EVIDENCE, told, Facts.of(facts or {}, "given"), {})

    return found


def at(line: int, document: int = 0, **more: Any) -> Match:
    return Match("e", document, line, line, more.pop("kind", "text"), more.pop("label", "boom"), **more)


def test_evidence_is_the_line_as_it_stood(find: Callable[..., Finding]) -> None:
    found = find(at(1), at(2), at(0, 1))
    assert [(e.source, e.line, e.text, e.rank) for e in found.evidence] == [
        ("a.log", 2, "> [rank3]: boom", "3"),
        ("a.log", 3, "[rank4]: boom", "4"),
        ("b.log", 1, "\x1b[31mboom", ""),
    ]


def test_of_many_places_the_first_are_shown_and_all_are_counted(find: Callable[..., Finding]) -> None:
    found = find(*[at(1)] * 500)
    assert (found.occurrences, len(found.evidence)) == (500, 20)


def test_a_value_is_that_of_the_first_place_that_has_it(find: Callable[..., Finding]) -> None:
    found = find(at(1, captured={"rank": "3"}), at(2, captured={"rank": "4", "free": "1 GiB"}))
    assert found.captured == {"rank": "3", "free": "1 GiB"}


def test_each_reason_is_told_once(find: Callable[..., Finding]) -> None:
    found = find(at(1), at(2), at(2, kind="regex", label="b.*m"))
    assert found.reasons == (("text", "boom"), ("regex", "b.*m"))


def test_what_the_text_states_is_a_fact_with_its_line(find: Callable[..., Finding]) -> None:
    found = find(at(2, tells={"driver.version": "550"}), facts={"driver.version": "535", "os.wsl": True})
    assert (found.scope.facts["driver.version"].value, found.scope.facts["driver.version"].source) == (
        "550",
        "text line 3",
    )
    assert dict(told_facts([found]).values_by_name()) == {"driver.version": "550"}


def test_of_two_findings_the_first_states_the_fact(find: Callable[..., Finding]) -> None:
    one, two = find(at(1, tells={"gpu.sm": "sm_80"})), find(at(2, tells={"gpu.sm": "sm_90", "os.wsl": True}))
    assert told_facts([one, two]).values_by_name() == {"gpu.sm": "sm_80", "os.wsl": True}


@pytest.mark.parametrize(
    ("more", "signature", "confidence"),
    [
        ({}, {}, 0.95),
        ({"kind": "regex"}, {}, 0.95),
        ({"kind": "fuzzy", "strength": 0.9}, {}, 0.72),
        ({"kind": "question", "strength": 0.5}, {}, 0.45),
        ({"warning": True}, {}, 0.75),
        ({}, {"fallback": True}, 0.6),
    ],
)
def test_confidence_follows_the_kind_of_match(
    find: Callable[..., Finding], more: dict[str, Any], signature: dict[str, Any], confidence: float
) -> None:
    assert find(at(1, **more), **signature).confidence == confidence


def test_the_rank_that_spoke_is_told_where_its_line_does_not(find: Callable[..., Finding]) -> None:
    found = find(at(0), at(1), spoken=("7", "7"))
    assert [line.rank for line in found.evidence] == ["7", "3"]


def test_the_first_failing_rank_is_always_among_the_evidence(find: Callable[..., Finding]) -> None:
    found = find(*[at(1)] * 40, at(2), ranks=RankCount(2, 8, "4", 40))
    assert found.ranks == Ranks(2, 8, "4", 19)
    assert (len(found.evidence), found.evidence[19].line) == (20, 3)


def test_a_symptom_with_other_causes_is_a_guess(find: Callable[..., Finding]) -> None:
    guessed = find(at(1, derived={GUESS: "kill"}))
    assert (guessed.guess, guessed.confidence) == ("kill", 0.6)
    certain = find(at(1, derived={GUESS: "kill"}), at(2))
    assert (certain.guess, certain.confidence) == ("", 0.95)


def test_a_confirmed_cause_is_no_guess(find: Callable[..., Finding], cause: Callable[..., Any]) -> None:
    match = at(1, derived={GUESS: "kill"})
    assert find(match, facts={"a.b": True}, causes=(cause("c", when="a.b"),)).guess == ""
    assert find(match, facts={"a.b": False}, causes=(cause("c", when="a.b"),)).guess == "kill"
