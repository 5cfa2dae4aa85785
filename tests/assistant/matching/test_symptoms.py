"""Patterns speak where their words stand, capture what stands there, and hold still where a guard does."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from gpuhelp.kb.entry import Pattern, Signature
from gpuhelp.matching.symptoms import Match, find_symptoms
from gpuhelp.matching.view import View

MakeView = Callable[..., View]
MakePattern = Callable[..., Pattern]
MakeEntry = Callable[..., Signature]
OOM = r"Tried to allocate (?P<requested>[\d.]+ [GM]iB) \(GPU (?P<gpu_index>\d+); (?P<free>[\d.]+ [GM]iB) free"
OOM_TEXT = "RuntimeError: CUDA out of memory. Tried to allocate 2.00\n GiB (GPU 3; 1.06\tGiB free"


@pytest.fixture
def matches(view: MakeView, pattern: MakePattern, entry: MakeEntry) -> Callable[..., tuple[Match, ...]]:
    """`matches(text, kind, source, entry_unless=[...], **pattern)`: where the one pattern shows."""

    def found(
        text: str, kind: str, source: str, entry_unless: tuple[str, ...] = (), **more: Any
    ) -> tuple[Match, ...]:
        return find_symptoms([view(text)], [entry("e", pattern(kind, source, **more), unless=entry_unless)])

    return found


Matches = Callable[..., tuple[Match, ...]]


@pytest.mark.parametrize(
    ("text", "kind", "source", "lines"),
    [
        ("a\nno kernel image is\navailable\nb", "text", "no kernel image is available", [(1, 2)]),
        ("NO KERNEL IMAGE IS AVAILABLE", "text", "no kernel image is available", [(0, 0)]),
        ("no kernel", "text", "no kernel image is available", []),
        (OOM_TEXT, "regex", OOM, [(0, 1)]),
        ("Xid 79\nXid 13\nXid x", "regex", r"Xid (?P<xid>\d+)", [(0, 0), (1, 1)]),
        ("a.b\nacb", "regex", r"a\.b", [(0, 0)]),
        ("anything", "regex", r"(?:zzzz)?", []),  # an empty hit shows nothing
        ("torch.cuda.OutOfMemoryError: CUDA", "exception", "OutOfMemoryError", [(0, 0)]),
        ("torch.cuda.OutOfMemoryError: CUDA", "exception", "*Error", [(0, 0)]),
        ("torch.cuda.OutOfMemoryError: CUDA", "exception", "MemoryError", []),
        ("ok\nValueError: a\nb\n\nTypeError: c", "exception", "ValueError", [(1, 2)]),
        ("fuzzy words alone", "fuzzy", "fuzzy words alone", []),
    ],
)
def test_each_kind_of_pattern_finds_its_lines(
    matches: Matches, text: str, kind: str, source: str, lines: list[tuple[int, int]]
) -> None:
    assert [(match.first, match.last) for match in matches(text, kind, source)] == lines


def test_case_counts_for_a_literal_that_asks_for_it(matches: Matches) -> None:
    assert [match.first for match in matches("killed\nKilled", "text", "Killed", case=True)] == [1]


def test_captured_values_are_as_in_the_text_with_plain_spaces(matches: Matches) -> None:
    (match,) = matches(OOM_TEXT, "regex", OOM)
    assert match.captured == {"requested": "2.00 GiB", "gpu_index": "3", "free": "1.06 GiB"}


@pytest.mark.parametrize(
    ("where", "count"),
    [
        ("bytes(free) < bytes(requested)", 1),
        ("bytes(free) > bytes(requested)", 0),
        ("bytes(capacity) > 0", 0),
    ],
)
def test_a_pattern_matches_only_where_its_condition_is_true(matches: Matches, where: str, count: int) -> None:
    assert len(matches(OOM_TEXT, "regex", OOM, where=where)) == count


def test_derived_values_build_on_each_other_and_feed_conditions(matches: Matches) -> None:
    let = {
        "free_bytes": "bytes(free)",
        "missing_bytes": "bytes(requested) - free_bytes",
        "never": "bytes(capacity)",
    }
    (match,) = matches(OOM_TEXT, "regex", OOM, let=let, where="missing_bytes > 0")
    assert match.derived == {"free_bytes": 1138166333, "missing_bytes": 2147483648 - 1138166333}
    assert "free_bytes" not in match.captured


def test_facts_that_the_text_states_are_told(matches: Matches) -> None:
    tells = {"driver.version": "driver_version", "gpu.sm": "compute_capability"}
    (match,) = matches(
        "Driver 550.54 loaded", "regex", r"Driver (?P<driver_version>[\d.]+) loaded", tells=tells
    )
    assert match.tells == {"driver.version": "550.54"}


def test_groups_that_only_feed_let_are_not_captured(matches: Matches) -> None:
    source = r"Process list: (?P<listed_text>\d+)"
    (match,) = matches("Process list: 3", "regex", source, let={"listed": "number(listed_text)"})
    assert (match.captured, match.derived["listed"]) == ({}, 3)


@pytest.mark.parametrize("unless", ["on the CPU", r"/device=\w+/"])
def test_a_guard_of_a_pattern_looks_at_the_matched_lines_only(matches: Matches, unless: str) -> None:
    text = "allocation failed here\nallocation failed on the cpu device=x\nON THE CPU device=y"
    assert [m.first for m in matches(text, "text", "allocation failed", unless=[unless])] == [0]


@pytest.mark.parametrize("unless", ["on the CPU", r"/device=\w+/"])
def test_a_guard_of_an_entry_looks_at_every_document(
    view: MakeView, pattern: MakePattern, entry: MakeEntry, unless: str
) -> None:
    guarded = entry("e", pattern("text", "allocation failed"), unless=[unless])
    failing, other = view("allocation failed"), view("on the cpu device=y")
    assert find_symptoms([failing, other], [guarded]) == ()
    assert len(find_symptoms([failing, view("on another")], [guarded])) == 1


def test_a_guard_sees_no_advice(view: MakeView, pattern: MakePattern, entry: MakeEntry) -> None:
    advice = [{"literal": "tryonthecpu", "anchors": ["tryonthecpu"]}]
    guarded = entry("e", pattern("text", "allocation failed"), unless=["on the CPU"])
    assert len(find_symptoms([view("allocation failed. try on the CPU", advice)], [guarded])) == 1


@pytest.mark.parametrize(
    ("says", "captured"),
    [
        (r"No module named '(?P<library>[\w.]+)'", [{"library": "flash_attn"}]),
        (r"No module named", [{}]),
        (r"cannot import", []),
    ],
)
def test_an_exception_pattern_looks_at_the_message(
    matches: Matches, says: str, captured: list[dict[str, str]]
) -> None:
    text = "ModuleNotFoundError: No module named 'flash_attn'"
    found = matches(text, "exception", "ModuleNotFoundError", says=says)
    assert [match.captured for match in found] == captured


def test_a_guard_of_an_exception_pattern_looks_at_type_and_message(matches: Matches) -> None:
    text = "RuntimeError: one\nmore of it\n\nRuntimeError: two"
    assert [m.first for m in matches(text, "exception", "RuntimeError", unless=["more of it"])] == [3]


def test_an_exception_of_a_debugger_is_shown_by_its_message(matches: Matches) -> None:
    text = 'Exception has occurred: RuntimeError\nboom\n  File "/home/user/a.py", line 3, in f\n    x()\n'
    assert [(m.first, m.last) for m in matches(text, "exception", "RuntimeError")] == [(0, 1)]


def test_a_traceback_that_was_cut_off_is_no_exception(matches: Matches) -> None:
    text = 'Traceback (most recent call last):\n  File "/home/user/a.py", line 3, in f\n'
    assert matches(text, "exception", "*") == ()


def test_a_flood_of_equal_lines_is_counted_up_to_a_limit(matches: Matches) -> None:
    assert 100 <= len(matches("Xid 79\n" * 5000, "text", "Xid 79")) <= 2000


def test_matches_come_in_the_order_of_entries_documents_and_places(
    view: MakeView, pattern: MakePattern, entry: MakeEntry
) -> None:
    views = [view("beta fail\nalpha fail"), view("alpha fail")]
    entries = [
        entry("b", pattern("text", "alpha fail")),
        entry("a", pattern("text", "beta fail"), pattern("regex", "beta")),
    ]
    found = find_symptoms(views, entries)
    assert [(m.entry, m.document, m.first, m.kind) for m in found] == [
        ("b", 0, 1, "text"),
        ("b", 1, 0, "text"),
        ("a", 0, 0, "text"),
        ("a", 0, 0, "regex"),
    ]


def test_a_pattern_whose_anchor_is_absent_is_never_compiled(view: MakeView, entry: MakeEntry) -> None:
    broken = Pattern("regex", "(", "broken", anchors=("absent",))
    assert find_symptoms([view("present")], [entry("e", broken)]) == ()


def test_hostile_text_costs_linear_time(matches: Matches) -> None:
    text = "Tried to allocate " + "1" * 200_000 + "Tried to allocate 2.00 GiB (GPU " * 2000
    assert matches(text, "regex", OOM) == ()


def test_errors_of_several_names_are_found_in_the_order_of_the_text(
    view: MakeView, pattern: MakePattern, entry: MakeEntry
) -> None:
    text = view("FirstError: a\nOtherThing: b\nSecondError: a\nFirstError: c\nSecondError: a")
    found = find_symptoms([text], [entry("e", pattern("exception", "*Error", says="a"))])
    assert [match.first for match in found] == [0, 2, 4]


def test_a_flood_of_one_error_costs_little(view: MakeView, pattern: MakePattern, entry: MakeEntry) -> None:
    text = view("TypeError: no such thing\n" * 20_000)
    patterns = [pattern("exception", "TypeError", says=f"thing {number}") for number in range(100)]
    started = time.perf_counter()
    assert find_symptoms([text], [entry("e", *patterns)]) == ()
    assert time.perf_counter() - started < 10  # 2,000,000 errors looked at one by one take half a minute
