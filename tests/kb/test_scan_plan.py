"""What is looked for in large texts: every pattern of every entry, found by its rarest literals."""

from __future__ import annotations

import pytest

from gpuhelp.kb.load import KnowledgeBase, load
from gpuhelp.kb.regexes import regex
from gpuhelp.kb.scan_plan import loosened, rarest, rows_of_entry, scan_plan

COMMON = ("cuda", "error", "the", "match")
NO_SIGNS: list[dict[str, object]] = []


def record(*sources: str) -> dict[str, object]:
    return {"scan": rows_of_entry([(source, False) for source in sources], COMMON)}


@pytest.fixture(scope="module")
def knowledge() -> KnowledgeBase:
    return load()


def test_the_rarest_choice_wins_not_the_longest() -> None:
    choices = (frozenset({"the error the error"}), frozenset({"watchdog"}))
    assert rarest((*choices, frozenset({"cuda error"})), frozenset(COMMON)) == choices[0]
    assert rarest(choices[1:], frozenset(COMMON)) == {"watchdog"}
    assert rarest((), frozenset(COMMON)) == frozenset()


def test_a_pattern_of_everyday_words_alone_is_not_looked_for_everywhere() -> None:
    plan = scan_plan([record(r"cuda\b.*\bmatch", "watchdog got stuck")], NO_SIGNS, NO_SIGNS, COMMON)
    listed = [literals for _, literals, wanted in plan["patterns"] if not wanted]
    assert listed == [["watchdog got stuck"]]


def test_equal_patterns_of_several_entries_are_looked_for_once() -> None:
    plan = scan_plan([record("watchdog"), record("watchdog")], [{"regex": "watchdog"}], NO_SIGNS, COMMON)
    assert [literals for _, literals, wanted in plan["patterns"] if not wanted] == [["watchdog"]]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Killed", True),
        ("[rank3]: Killed", True),
        ("node1 | Killed\r", True),
        ("step 9\nERROR   Killed\n", True),
        ("\x1b[31mKilled\x1b[0m", True),
        ('{"log": "Killed\\n"}', True),
        ("│ Killed │", True),
        ("2 workers Killed", False),
        ("Killed process 12", False),
    ],
)
def test_lines_may_still_have_what_was_put_around_them(text: str, found: bool) -> None:
    assert bool(regex(loosened(r"^Killed$")).search(text)) is found


def test_signs_in_classes_are_no_anchors() -> None:
    assert loosened(r"Killed[$^]?") == r"(?im)Killed[$^]?"
    assert loosened("a b", case=True) == r"(?m)a\s+b"


def test_parts_are_marked() -> None:
    plan = scan_plan([record("watchdog")], NO_SIGNS, [{"regex": r"nranks (?P<world_size>\d+)"}], COMMON)
    marked = {literals[0] for _, literals, wanted in plan["patterns"] if wanted}
    assert marked == {"nranks", 'file "', "frame #"}


def test_nearly_every_shipped_pattern_is_looked_for(knowledge: KnowledgeBase) -> None:
    exact = {
        pattern.label
        for signature in knowledge.signatures
        for pattern in signature.patterns
        if pattern.kind in ("text", "regex")
    }
    assert len(knowledge.scan_plan["patterns"]) > 0.9 * len(exact)


def test_no_literal_is_shorter_than_three_characters(knowledge: KnowledgeBase) -> None:
    literals = [literal for _, own, _ in knowledge.scan_plan["patterns"] for literal in own]
    assert len(literals) > 1000
    assert min(map(len, literals)) >= 3
