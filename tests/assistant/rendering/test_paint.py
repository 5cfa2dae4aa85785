"""Colour adds nothing but colour, and whoever asks for none gets none."""

from __future__ import annotations

import re
from io import BytesIO, StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuhelp.rendering.layout import Span, lay_out, row
from gpuhelp.rendering.paint import STYLES, paint
from gpuhelp.terminal import Terminal

ANSI = re.compile(r"\x1b\[[0-9;]*m")


def terminal(tty: bool, **environ: str) -> Terminal:
    return Terminal(BytesIO(), StringIO(), StringIO(), environ, tty, tty)


@given(st.lists(st.tuples(st.text(max_size=60), st.sampled_from(["", *STYLES])), max_size=5), st.booleans())
def test_coloured_text_without_its_colours_is_the_plain_text(
    parts: list[tuple[str, str]], whole: bool
) -> None:
    lines = lay_out([row(*(Span(*part) for part in parts), whole=whole), row("end")], 40)
    assert ANSI.sub("", paint(lines, color=True)) == paint(lines, color=False)


def test_markup_and_emoji_names_in_a_text_stay_text() -> None:
    text = "[bold red]not markup[/] :warning: [link=https://example.com]x[/link] {{ 7 * 7 }}"
    lines = lay_out([row(Span(text, "quote"))], 120)
    assert ANSI.sub("", paint(lines, color=True)) == text + "\n"


@pytest.mark.parametrize("style", sorted(style for style, spelled in STYLES.items() if spelled))
def test_every_style_is_one_that_rich_knows(style: str) -> None:
    assert "\x1b[" in paint(lay_out([row(Span("text", style))], 40), color=True)


def test_colour_that_was_asked_for_comes_whatever_the_environment_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in (("NO_COLOR", "1"), ("TERM", "dumb"), ("COLUMNS", "10")):
        monkeypatch.setenv(name, value)
    painted = paint(lay_out([row(Span("red " * 20, "bad"), whole=True)], 40), color=True)
    assert "\x1b[31m" in painted
    assert painted.count("\n") == 1


def test_lines_have_no_trailing_spaces() -> None:
    lines = lay_out([row(Span("text   ", "bad"), whole=True), row("", indent=4)], 40)
    assert paint(lines, color=False) == "text\n\n"


@pytest.mark.parametrize(
    ("choice", "tty", "environ", "colored"),
    [
        ("auto", True, {}, True),
        ("auto", False, {}, False),
        ("auto", True, {"NO_COLOR": "1"}, False),
        ("auto", True, {"NO_COLOR": ""}, True),
        ("auto", True, {"TERM": "dumb"}, False),
        ("auto", True, {"TERM": "xterm-256color"}, True),
        ("always", False, {"NO_COLOR": "1", "TERM": "dumb"}, True),
        ("never", True, {}, False),
    ],
)
def test_who_decides_on_colour(choice: str, tty: bool, environ: dict[str, str], colored: bool) -> None:
    assert terminal(tty, **environ).wants_color(choice) is colored
