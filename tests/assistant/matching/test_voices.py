"""Where several processes write at once, each one's lines are read together."""

from __future__ import annotations

import pytest

from gpuhelp.matching.view import View
from gpuhelp.matching.voices import order_of_voices
from gpuhelp.reading.evidence import BREAK, PLAIN, Document, Line, Source, Wrapping


def lines(*voices: str) -> tuple[Line, ...]:
    """One line for each word: `3` is of rank 3, `` of nobody, `|` stands where lines were left out."""
    return tuple(
        BREAK
        if voice == "|"
        else Line(n, f"line{n} of {voice}", "", Wrapping(rank=voice) if voice else PLAIN)
        for n, voice in enumerate(voices)
    )


@pytest.mark.parametrize(
    ("voices", "order"),
    [
        ("", ()),
        ("0", ()),
        ("0 0 0", ()),
        ("0 0 1 1", ()),  # they stand together as they are
        ("0 1 0 1", (0, 2, 1, 3)),
        ("0 1 0 2 1", (0, 2, 1, 4, 3)),
        ("0 1 0 1 | 1 0 1", (0, 2, 1, 3, 4, 5, 7, 6)),
    ],
)
def test_each_voice_is_heard_out_before_the_next(voices: str, order: tuple[int, ...]) -> None:
    assert order_of_voices(lines(*voices.split())) == order


def test_a_line_without_a_name_goes_with_the_one_before_it() -> None:
    assert order_of_voices(lines("0", "", "1", "", "0")) == (0, 1, 4, 2, 3)


@pytest.fixture
def view() -> View:
    text = (("0", "GPU has"), ("1", "step 1"), ("0", "fallen off the bus"), ("1", "step 2"))
    told = tuple(Line(n, said, said, Wrapping(rank=rank)) for n, (rank, said) in enumerate(text))
    return View(Document(Source("x", 0, 4), told))


def test_a_message_is_found_although_another_process_speaks_in_between(view: View) -> None:
    (span,) = view.find("gpuhasfallen")
    assert view.lines_of(span) == (0, 2)
    assert view.said(0, 2) == "GPU has\nfallen off the bus"
    assert view.stretch(0, 2) == "GPU has\nstep 1\nfallen off the bus"


def test_every_place_leads_back_to_its_line(view: View) -> None:
    assert [view.line_at(view.text.index(word)) for word in ("GPU", "fallen", "step 1", "step 2")] == [
        0,
        2,
        1,
        3,
    ]
