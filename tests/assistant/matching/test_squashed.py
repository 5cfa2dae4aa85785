"""Literals are found in squashed text as a plain search finds them, however long the text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuhelp.matching.squashed import Squashed

ALPHABET = "ab가é🚀"


@settings(max_examples=100, deadline=None, derandomize=True)
@given(
    st.text(ALPHABET, max_size=60),
    st.text(ALPHABET, min_size=1, max_size=8),
    st.sampled_from([0, 400, 20_000]),
)
def test_a_literal_is_found_if_it_stands_there(text: str, literal: str, copies: int) -> None:
    whole = text + "ba" * copies + text
    assert Squashed(whole).holds(literal) is (literal in whole)


@pytest.mark.parametrize("length", [10, 30_000, 1_200_000])
def test_the_last_and_the_first_characters_count(length: int) -> None:
    squashed = Squashed("first" + "x" * length + "last")
    assert squashed.holds("firstx")
    assert squashed.holds("xlast")
    assert not squashed.holds("lastx")


def test_any_of_several_anchors_is_enough_and_none_asks_for_none() -> None:
    squashed = Squashed("abcdef")
    assert squashed.may_match(("xyz", "cde"))
    assert squashed.may_match(())
    assert not squashed.may_match(("xyz",))
