"""Wrapping by columns: nothing of a text is lost, nothing is wider than the terminal, nothing steers it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuhelp.rendering.labels import place_label
from gpuhelp.rendering.layout import BLANK, Line, Row, Span, clip, lay_out, printable, row, width_of
from gpuhelp.words import Words

HOSTILE = st.text(st.characters(codec="utf-8"), max_size=300) | st.text(
    "a 가\n\t\x1b\u202e\u0301e", max_size=300
)


def texts(lines: tuple[Line, ...]) -> list[str]:
    """What stands in each line."""
    return ["".join(span.text for span in line) for line in lines]


def laid_out(one: Row, width: int) -> list[str]:
    return texts(lay_out([one], width))


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("", 0),
        ("abc", 3),
        ("한국어", 6),
        ("a한", 3),
        ("e\u0301", 1),
        ("ｆｕｌｌ", 8),
        ("\u1112\u1161\u11ab", 2),
    ],
)
def test_width_is_counted_in_columns(text: str, columns: int) -> None:
    assert width_of(text) == columns


def test_words_fill_a_line_and_the_rest_follows() -> None:
    assert laid_out(row("one two three four five six"), 20) == ["one two three four", "five six"]


def test_korean_wraps_at_half_as_many_characters() -> None:
    lines = laid_out(row("메모리가 부족합니다 다시 실행하십시오"), 20)
    assert lines == ["메모리가 부족합니다", "다시 실행하십시오"]
    assert [width_of(line) for line in lines] == [19, 17]


def test_following_lines_hang() -> None:
    assert laid_out(row("- ", "alpha beta gamma delta epsilon", indent=2, hang=2), 26) == [
        "  - alpha beta gamma delta",
        "    epsilon",
    ]


def test_a_word_longer_than_a_line_is_broken_and_whole() -> None:
    lines = laid_out(row("x" * 50), 20)
    assert lines == ["x" * 20, "x" * 20, "x" * 10]


def test_a_wide_character_is_never_cut_in_half() -> None:
    lines = laid_out(row("a" + "한" * 30), 20)
    assert "".join(lines) == "a" + "한" * 30
    assert max(map(width_of, lines)) <= 20


def test_whole_rows_are_not_wrapped_and_keep_their_styles() -> None:
    command = "pip install " + "torch " * 30
    (line,) = lay_out([row(Span("check:  ", "dim"), Span(command, "command"), indent=6, whole=True)], 40)
    assert texts((line,)) == ["      check:  " + command]
    assert [span.style for span in line] == ["", "dim", "command"]


def test_the_line_ends_of_a_whole_row_hang() -> None:
    assert laid_out(row("if x:\n    y", indent=2, hang=1, whole=True), 40) == ["  if x:", "       y"]


def test_an_unbroken_stretch_moves_to_the_next_line_in_one_piece() -> None:
    risk = Span("  [changes the environment]", unbroken=True)
    assert laid_out(row("Install the package again", risk), 40) == [
        "Install the package again",
        "[changes the environment]",
    ]
    assert laid_out(row("Install it", risk), 40) == ["Install it  [changes the environment]"]


def test_an_unbroken_stretch_that_no_line_holds_is_wrapped() -> None:
    lines = laid_out(row(Span("many words that are too long for one line", unbroken=True)), 20)
    assert max(map(width_of, lines)) <= 20
    assert " ".join(lines) == "many words that are too long for one line"


def test_a_blank_row_is_one_empty_line() -> None:
    assert laid_out(BLANK, 80) == [""]


def test_indents_give_way_where_a_terminal_is_narrow() -> None:
    lines = laid_out(row("alpha beta gamma delta", indent=30, hang=30), 40)
    assert max(map(width_of, lines)) <= 40
    assert "".join(lines).split() == ["alpha", "beta", "gamma", "delta"]


@pytest.mark.parametrize(
    "hostile",
    [
        "\x1b[31mred\x1b[0m",
        "\x1b]0;title\x07",
        "a\rb",
        "a\x08b",
        "\x9b31m",
        "\u202eabc",
        "\u2066abc\u2069",
        "\u061cabc",
        "\u200fabc",
        "a\u200bb",
        "a\ufeffb",
        "a\u2028b",
        "a\x00b",
        "\U000e0041",
    ],
)
def test_characters_that_steer_a_terminal_or_turn_its_direction_are_taken_out(hostile: str) -> None:
    plain = printable(hostile)
    assert plain.isprintable()
    assert len(plain) < len(hostile)
    assert "".join(laid_out(row(hostile), 80)).isprintable()


def test_a_tab_becomes_spaces() -> None:
    assert printable("a\tb") == "a    b"


def test_clip_marks_what_is_missing_and_counts_columns() -> None:
    assert clip("short", 10) == "short"
    assert clip("한국어로 쓴 긴 문장", 9) == "한국어로…"
    assert width_of(clip("가" * 50, 10)) <= 10


@given(st.lists(HOSTILE, max_size=4), st.integers(20, 120), st.integers(0, 40), st.integers(0, 40))
def test_no_line_is_wider_than_the_terminal(parts: list[str], width: int, indent: int, hang: int) -> None:
    for line in laid_out(row(*parts, indent=indent, hang=hang), width):
        assert width_of(line) <= width


@given(st.lists(HOSTILE, max_size=4), st.integers(1, 120), st.integers(0, 20), st.booleans(), st.booleans())
def test_nothing_but_white_space_is_lost(
    parts: list[str], width: int, indent: int, whole: bool, unbroken: bool
) -> None:
    spans = [Span(part, unbroken=unbroken) for part in parts]
    lines = laid_out(row(*spans, indent=indent, hang=2, whole=whole), width)
    assert "".join("".join(lines).split()) == "".join("".join(map(printable, parts)).split())


@given(HOSTILE, st.integers(2, 80))
def test_clipped_text_fits(text: str, width: int) -> None:
    assert width_of(clip(text, width)) <= max(width, 1)


def test_a_very_long_word_costs_time_in_proportion_to_its_length() -> None:
    lines = laid_out(row("x" * 400_000), 80)
    assert len(lines) == 5000


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[0;31mOutOfMemoryError\x1b[0m: full", "OutOfMemoryError: full"),
        ("\x1b[38;2;255;0;0mred\x1b[39m", "red"),
        ("\x1b]8;;http://x\x07link\x1b]8;;\x07", "link"),
        ("tensor[0]", "tensor[0]"),
        ("\x1b", ""),
    ],
)
def test_colours_of_a_log_leave_nothing_behind(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_the_name_of_a_source_stays_on_its_line() -> None:
    assert place_label("job.tar:a\n\x1b[31mb\t.log", 4, Words("en")) == "job.tar:a b .log:4"
