"""The second look finds phrases with typos, leaves unrelated lines alone, and has a budget."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from gpuhelp.kb.entry import Pattern, Signature
from gpuhelp.matching.fuzzy import FLOOR, find_fuzzy
from gpuhelp.matching.symptoms import Match
from gpuhelp.matching.view import View

MakeView = Callable[..., View]
MakePattern = Callable[..., Pattern]
MakeEntry = Callable[..., Signature]
Look = Callable[..., tuple[Match, ...]]
PHRASE = "CUDA error no kernel image is available for execution on the device"


@pytest.fixture
def look(view: MakeView, pattern: MakePattern, entry: MakeEntry) -> Look:
    """`look(text, unless=..., entry_unless=...)`: fuzzy matches of the phrase on every line."""

    def found(text: str, entry_unless: tuple[str, ...] = (), **more: object) -> tuple[Match, ...]:
        seen = view(text)
        places = [(0, index) for index in range(len(seen.document.lines))]
        return find_fuzzy([seen], [entry("e", pattern("fuzzy", PHRASE, **more), unless=entry_unless)], places)

    return found


@pytest.mark.parametrize(
    "text",
    [
        "CUDA error: no kernel image is available for execution on the device",
        "CUDA eror: no kernal image is avaliable for execution on the device",
        "RuntimeErr0r: CUDA error: n0 kernel irnage is available for executi0n on the device",  # OCR
        "cuda error no kernel image available for execution on device",
        "rank 3 said: CUDA error: no kernel image is available for execution on the devi",
    ],
)
def test_typos_and_cut_words_are_forgiven(look: Look, text: str) -> None:
    (match,) = look(f"fine\n{text}")
    assert (match.kind, match.first, match.label) == ("fuzzy", 1, PHRASE)
    assert FLOOR / 100 <= match.strength <= 1


@pytest.mark.parametrize(
    "text",
    [
        "CUDA error: out of memory",
        "CUDA error: an illegal memory access was encountered",
        "no kernel image",
        "device",
        "the kernel of the image filter is available in the documentation of the library",
        "",
    ],
)
def test_other_failures_are_not_mistaken_for_it(look: Look, text: str) -> None:
    assert look(text) == ()


def test_guards_are_respected(look: Look) -> None:
    text = "CUDA eror: no kernal image is available for execution on the device\nhip runtime"
    assert look(text, unless=["no kernal"]) == ()
    assert look(text, entry_unless=("hip runtime",)) == ()
    assert len(look(text, unless=["hip runtime"])) == 1  # a pattern's guard looks at its own line


def test_the_best_line_of_an_entry_is_told_once(look: Look) -> None:
    near = "CUDA eror: no kernal image is avaliable for execution on the device"
    (match,) = look(f"{near}\nCUDA error: no kernel image is available for execution on the device\n{near}")
    assert match.first == 1


def test_only_the_named_places_are_compared(view: MakeView, pattern: MakePattern, entry: MakeEntry) -> None:
    seen = view(f"{PHRASE}\nother")
    assert find_fuzzy([seen], [entry("e", pattern("fuzzy", PHRASE))], [(0, 1)]) == ()


def test_a_flood_of_failing_lines_stays_within_the_budget(
    view: MakeView, pattern: MakePattern, entry: MakeEntry
) -> None:
    seen = view("\n".join(["Error: " + "x y z " * 2000] * 3000))
    entries = [entry(f"e{n}", pattern("fuzzy", f"{PHRASE} number {n}")) for n in range(100)]
    started = time.perf_counter()
    assert find_fuzzy([seen], entries, [(0, index) for index in range(3000)]) == ()
    assert time.perf_counter() - started < 5
