"""A view finds literals across line breaks, hides what is no evidence, and every place leads to its lines."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuhelp.kb import regexes
from gpuhelp.matching.view import View
from gpuhelp.reading.evidence import Document, Line, Source

MakeView = Callable[..., View]
ADVICE = (
    {"literal": regexes.squash("For debugging consider this"), "anchors": ["fordebuggingconsiderthis"]},
    {"regex": regexes.ready(r"might be caused by [^\n]{0,40}"), "anchors": ["mightbecausedby"]},
)


def places(found: View, literal: str, *, case: bool = False) -> list[tuple[int, int]]:
    """First and last line of each hit."""
    squashed = "".join(literal.split()) if case else regexes.squash(literal)
    return [found.lines_of(span) for span in found.find(squashed, case=case)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("CUDA out of memory", [(0, 0)]),
        ("x\ncuda OUT OF\nMEMORY\ny", [(1, 2)]),
        ("CUDA out of mem\nory", [(0, 1)]),  # broken inside a word
        ("CUDA\tout  of\n        memory, CUDA out of memory", [(0, 1), (1, 1)]),
        ("C U D A o u t o f m e m o r y", [(0, 0)]),
        ("CUDA out\u00a0of\u3000memory", [(0, 0)]),
        ("İstanbul: CUDA out of memory", [(0, 0)]),  # a letter whose lower case is longer
        ("CUDA out" + " " * 300 + "of memory", [(0, 0)]),
        ("CUDA out" + "\n" * 1000 + "of memory", []),  # too far apart to be one sentence
        ("CUDA out. of memory", []),
        ("", []),
    ],
)
def test_a_literal_is_found_wherever_its_white_space_is(
    view: MakeView, text: str, expected: list[tuple[int, int]]
) -> None:
    assert places(view(text), "CUDA out of memory") == expected


def test_case_counts_only_if_asked(view: MakeView) -> None:
    found = view("signal Killed\nkilled")
    assert places(found, "Killed", case=True) == [(0, 0)]
    assert places(found, "Killed") == [(0, 0), (1, 1)]


def test_advice_is_hidden_and_what_stands_beside_it_is_not(view: MakeView) -> None:
    found = view(
        "CUDA error: a\nFor debugging\n  consider this or that\nIt might be caused by a full disk\nend",
        ADVICE,
    )
    assert not found.holds("fordebugging")
    assert not found.holds("fulldisk")
    assert places(found, "or that") == [(2, 2)]
    assert places(found, "CUDA error") == [(0, 0)]
    assert places(found, "end") == [(4, 4)]


def test_echoed_source_code_is_hidden_except_raise_lines(view: MakeView) -> None:
    text = (
        'Traceback (most recent call last):\n  File "a.py", line 3, in f\n    print("CUDA out of memory")\n'
        '  File "a.py", line 4, in g\n    raise X("CUDA out of memory")\nX: no'
    )
    assert places(view(text), "CUDA out of memory") == [(4, 4)]


def test_masked_words_do_not_join_into_a_literal(view: MakeView) -> None:
    assert places(view("CUDA out For debugging consider this of memory", ADVICE), "CUDA out of memory") == []


def test_a_stretch_is_the_text_of_its_lines(view: MakeView) -> None:
    found = view("one\ntwo\n\nfour")
    assert [found.stretch(0, 0), found.stretch(1, 2), found.stretch(3, 3)] == ["one", "two\n", "four"]


WORDS = st.lists(
    st.text(max_size=12) | st.sampled_from(["CUDA", "error", "İ", "ß", "\u2028", " "]), max_size=12
)


@settings(max_examples=200, deadline=None)
@given(WORDS, st.text(alphabet="CUDAerroİß", min_size=1, max_size=4))
def test_every_hit_lies_in_the_text_and_spells_the_literal(lines: list[str], literal: str) -> None:
    texts = [line.replace("\n", " ") for line in lines]
    document = Document(
        Source("x", 0, len(texts)), tuple(Line(number, text, text) for number, text in enumerate(texts, 1))
    )
    found = View(document)
    squashed = regexes.squash(literal)
    for start, end in found.find(squashed):
        assert regexes.squash(found.text[start:end]) == squashed
        first, last = found.lines_of((start, end))
        assert 0 <= first <= last < len(texts)
        assert squashed in regexes.squash(found.stretch(first, last))


def test_many_hits_on_one_long_line_each_have_their_place() -> None:
    text = "watchdog caught  collective operation timeout " * 3000
    found = View(Document(Source("x", 0, 1), (Line(1, text, text),)))
    spans = list(found.find("watchdogcaught"))
    assert [text[start:end] for start, end in spans] == ["watchdog caught"] * 3000
    assert next(found.find("timeoutwatchdog")) == (text.index("timeout"), text.index("watchdog", 9) + 8)
    assert list(found.find("watchdogcaught")) == spans
