"""Of all that a text shows, the root is told first; the order depends on the evidence alone."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuhelp.kb.entry import Signature
from gpuhelp.matching.symptoms import Match
from gpuhelp.reasoning.incidents import Candidate, Role, rank

MakeEntry = Callable[..., Signature]


def match(entry: str, line: int, last: int | None = None, **more: Any) -> Match:
    place = more.pop("document", 0), line, line if last is None else last
    return Match(entry, *place, more.pop("kind", "text"), more.pop("label", "words"), **more)


def told(candidates: tuple[Candidate, ...]) -> list[tuple[str, str]]:
    return [(candidate.signature.id, candidate.role.value) for candidate in candidates]


@pytest.mark.parametrize(
    ("entries", "matches", "expected"),
    [
        pytest.param({}, [], [], id="nothing"),
        pytest.param({"a": {}}, [("a", 3)], [("a", "root")], id="one"),
        pytest.param(
            {"a": {}, "b": {}}, [("a", 9), ("b", 3)], [("b", "root"), ("a", "root")], id="first in time"
        ),
        pytest.param(
            {"a": {}, "b": {}}, [("b", 3), ("a", 3)], [("a", "root"), ("b", "root")], id="ties by id"
        ),
        pytest.param(
            {"oom": {}, "fragments": {"refines": ("oom",)}},
            [("oom", 3), ("fragments", 3)],
            [("fragments", "root")],
        ),
        pytest.param(
            {"oom": {}, "fragments": {"refines": ("oom",)}},
            [("oom", 3, 6), ("fragments", 6, 7)],
            [("fragments", "root")],
            id="specific on overlapping lines",
        ),
        pytest.param(
            {"oom": {}, "fragments": {"refines": ("oom",)}},
            [("oom", 3), ("fragments", 9)],
            [("fragments", "root"), ("oom", "consequence")],
            id="specific on other lines answers first",
        ),
        pytest.param(
            {"a": {}, "b": {"refines": ("a",)}, "c": {"refines": ("b",)}},
            [("a", 3), ("c", 3)],
            [("c", "root")],
            id="specific through another that does not show",
        ),
        pytest.param(
            {"a": {}, "b": {"refines": ("a",)}, "c": {"refines": ("b",)}},
            [("a", 3), ("b", 3), ("c", 3)],
            [("c", "root")],
            id="specific through another that shows",
        ),
        pytest.param(
            {"a": {"refines": ("b",)}, "b": {"refines": ("a",)}},
            [("a", 3), ("b", 3)],
            [("a", "root"), ("b", "consequence")],
            id="two that refine each other",
        ),
        pytest.param(
            {"a": {"refines": ("absent",)}}, [("a", 3)], [("a", "root")], id="refines what is not there"
        ),
        pytest.param(
            {"assert": {"leads_to": ("timeout",)}, "timeout": {}},
            [("timeout", 1), ("assert", 9)],
            [("assert", "root"), ("timeout", "consequence")],
            id="root over consequence",
        ),
        pytest.param(
            {"a": {"leads_to": ("b",)}, "b": {"leads_to": ("c",)}, "c": {}},
            [("c", 1), ("b", 2), ("a", 3)],
            [("a", "root"), ("c", "consequence"), ("b", "consequence")],
            id="a chain",
        ),
        pytest.param(
            {"a": {"leads_to": ("b",)}, "b": {"leads_to": ("a",)}},
            [("b", 1), ("a", 2)],
            [("b", "root"), ("a", "consequence")],
            id="a circle begins with what came first",
        ),
        pytest.param(
            {"a": {"leads_to": ("b",)}, "b": {"leads_to": ("a", "c")}, "c": {}},
            [("c", 1), ("b", 2), ("a", 3)],
            [("b", "root"), ("a", "consequence"), ("c", "consequence")],
            id="a circle and what follows from it",
        ),
        pytest.param({"a": {"leads_to": ("a",)}}, [("a", 1)], [("a", "root")], id="leads to itself"),
        pytest.param(
            {"soft": {}, "hard": {"layer": "hardware"}},
            [("soft", 1), ("hard", 9)],
            [("hard", "root"), ("soft", "root")],
        ),
        pytest.param(
            {"other": {}, "any": {"fallback": True}},
            [("any", 1), ("other", 9)],
            [("other", "root"), ("any", "related")],
        ),
        pytest.param(
            {"other": {}, "any": {"fallback": True}}, [("any", 1), ("other", 1)], [("other", "root")]
        ),
        pytest.param({"any": {"fallback": True}}, [("any", 1)], [("any", "root")], id="a fallback alone"),
        pytest.param(
            {"any": {"fallback": True, "refines": ("a",)}, "a": {}},
            [("any", 1), ("a", 1)],
            [("a", "root")],
            id="a fallback refines nothing but fallbacks",
        ),
        pytest.param(
            {"any": {"fallback": True}, "all": {"fallback": True}},
            [("any", 1), ("all", 1)],
            [("all", "root"), ("any", "related")],
            id="two fallbacks",
        ),
    ],
)
def test_the_order_of_telling(
    entry: MakeEntry,
    entries: dict[str, dict[str, Any]],
    matches: list[tuple[Any, ...]],
    expected: list[tuple[str, str]],
) -> None:
    signatures = [entry(name, **more) for name, more in entries.items()]
    assert told(rank([match(*given) for given in matches], signatures)) == expected


def test_a_real_error_outranks_a_warning_of_another(entry: MakeEntry) -> None:
    signatures = [entry("warned"), entry("failed")]
    found = rank([match("warned", 1, warning=True), match("failed", 9)], signatures)
    assert told(found) == [("failed", "root"), ("warned", "root")]
    assert [candidate.warning for candidate in found] == [False, True]


def test_a_warning_of_what_follows_comes_first(entry: MakeEntry) -> None:
    signatures = [entry("old-driver", leads_to=("no-gpu",)), entry("no-gpu")]
    found = rank([match("no-gpu", 9), match("old-driver", 1, warning=True)], signatures)
    assert told(found) == [("old-driver", "root"), ("no-gpu", "consequence")]


def test_an_entry_that_also_failed_is_no_mere_warning(entry: MakeEntry) -> None:
    (found,) = rank([match("a", 1, warning=True), match("a", 2)], [entry("a")])
    assert not found.warning


def test_exact_words_come_before_near_ones(entry: MakeEntry) -> None:
    near = match("near", 1, kind="fuzzy", strength=0.9)
    assert told(rank([near, match("exact", 9)], [entry("near"), entry("exact")])) == [
        ("exact", "root"),
        ("near", "root"),
    ]


def test_patterns_that_hit_the_same_line_are_one_place_with_all_they_captured(entry: MakeEntry) -> None:
    rich = match(
        "a", 3, label="b", captured={"gpu_index": "1", "free": "2 GiB", "pid": "5"}, derived={"x": 1}
    )
    other = match("a", 3, 5, label="a", captured={"gpu_index": "9", "rank": "4"}, tells={"gpu.sm": "sm_80"})
    (found,) = rank([other, rich, match("a", 7)], [entry("a")])
    first, second = found.matches
    assert first.captured == {"gpu_index": "1", "free": "2 GiB", "pid": "5", "rank": "4"}
    assert (first.derived, first.tells, second.first) == ({"x": 1}, {"gpu.sm": "sm_80"}, 7)


def test_places_are_told_from_the_first_to_the_last(entry: MakeEntry) -> None:
    (found,) = rank([match("a", 9), match("a", 1, document=1), match("a", 2)], [entry("a")])
    assert [(m.document, m.first) for m in found.matches] == [(0, 2), (0, 9), (1, 1)]


NAMES = tuple("abcdef")
NAME_SETS = st.lists(st.sampled_from(NAMES), max_size=3, unique=True).map(tuple)
SIGNATURES = st.fixed_dictionaries(
    {
        name: st.builds(
            lambda refines, leads_to, fallback, layer, name=name: Signature(
                name, layer, (), (), refines, leads_to, fallback
            ),
            NAME_SETS,
            NAME_SETS,
            st.booleans(),
            st.sampled_from(["code", "hardware"]),
        )
        for name in NAMES
    }
)
MATCHES = st.lists(
    st.builds(
        lambda entry, document, line, length, warning, label: match(
            entry, line, line + length, document=document, warning=warning, label=label
        ),
        st.sampled_from(NAMES),
        st.integers(0, 1),
        st.integers(0, 4),
        st.integers(0, 2),
        st.booleans(),
        st.sampled_from(["x", "y"]),
    ),
    max_size=12,
)


@settings(max_examples=200, deadline=None)
@given(SIGNATURES, MATCHES, st.randoms(use_true_random=False))
def test_the_same_evidence_in_any_order_gives_the_same_answer(
    signatures: dict[str, Signature], matches: list[Match], shuffle: random.Random
) -> None:
    found = rank(matches, signatures.values())
    others, entries = list(matches), list(signatures.values())
    shuffle.shuffle(others)
    shuffle.shuffle(entries)
    assert rank(others, entries) == found
    assert bool(found) == bool(matches)
    assert {candidate.signature.id for candidate in found} <= {match.entry for match in matches}
    assert all(candidate.matches for candidate in found)
    assert not found or found[0].role is Role.ROOT
