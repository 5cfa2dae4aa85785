"""Patterns match wherever lines wrap, and every match holds one of the pattern's anchors."""

from __future__ import annotations

import re
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import re2
import yaml
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from gpuhelp.kb.regexes import RegexError, anchors, further_anchors, group_names, lower, ready, squash

KB = Path(__file__).parents[2] / "kb"


def matches(source: str, text: str, *, case: bool = False) -> bool:
    return re2.search(ready(source, case=case), text) is not None


# spaces


@pytest.mark.parametrize(
    ("source", "text", "expected"),
    [
        ("out of memory", "CUDA out of memory.", True),
        ("out of memory", "CUDA out\n    of   memory.", True),
        ("out of memory", "out\tof\r\nmemory", True),
        ("out of memory", "outof memory", False),
        ("out  of memory", "out of memory", True),
        ("out *of *memory", "outofmemory", True),
        ("out *of", "out \n of", True),
        ("out ?of", "out  of", False),
        ("out {2}of", "out  of", True),
        ("out {2}of", "out of", False),
        ("out {1,}of", "out\n\nof", True),
        ("out  *of", "outof", False),
        ("out +of", "out   of", True),
        ("out +of", "outof", False),
        ("set {size}", "set   {size}", True),
        ("set {,3}x", "set  {,3}x", True),
        (r"a\ b", "a b", True),
        (r"a\ b", "a  b", False),
        ("[a b]c", "xyz  c", True),
        ("x[a b]c", "x\nc", False),
        ("x[^ ]c", "x c", False),
        ("[a^] bold move", "^\nbold move", True),
        ("[[] bold move", "[\nbold move", True),
        ("[]] bold move", "]\nbold move", True),
        ("[^]] bold move", "a\nbold move", True),
        (r"[\]] bold move", "]\nbold move", True),
        (r"\[ bold move", "[\nbold move", True),
        (r"back\\ slash", "back\\\nslash", True),
        ("(?:out of|no) memory", "out\nof\nmemory", True),
        ("a.b", "a\nb", False),
    ],
)
def test_a_space_stands_for_white_space_of_any_length(source: str, text: str, expected: bool) -> None:
    assert matches(source, text) is expected


def test_case_counts_only_when_asked() -> None:
    assert matches("CUDA error", "cuda ERROR")
    assert matches("CUDA error", "CUDA  error", case=True)
    assert not matches("CUDA error", "cuda error", case=True)


def test_a_line_anchor_holds_at_every_line() -> None:
    assert matches("^Killed$", "a\nKilled\nb")
    assert not matches("^Killed$", "a Killed b")


def test_groups_are_named_in_order() -> None:
    assert group_names(r"(?P<free>\d+) of (?P<capacity>\d+) \(?P<no>") == ("free", "capacity")


# what is refused


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("(unclosed", "missing )"),
        ("[unclosed", "missing ]"),
        ("foo(?=bar)", "invalid perl operator"),
        ("(?<!a)foo bar", "(?<"),
        (r"(foo)\1", "invalid escape"),
        ("foo**", "bad repetition"),
        ("x{1001}", "repetition size"),
        ("((a{100}){100}){100}", "repetition size"),
        ("tail\\", "trailing \\"),
        (r"\Qfoo\E", "bad escape"),
        ("[[:alpha:]]text", "[:alpha:]"),
        ("[^[:^space:]]text", "[:alpha:]"),
        ("(?P<free>a)(?P<free>b)", "redefinition"),
        ("(" * 2000 + "abcd" + ")" * 2000, ""),
    ],
    ids=lambda text: text[:20],
)
def test_what_cannot_be_used_is_refused_with_the_reason(source: str, reason: str) -> None:
    with pytest.raises(RegexError) as caught:
        anchors(ready(source))
    assert reason in str(caught.value)


def test_a_bad_pattern_writes_nothing_on_standard_error() -> None:
    program = (
        "from gpuhelp.kb.regexes import RegexError, ready\n"
        "try:\n    ready('(unclosed')\nexcept RegexError:\n    print('refused')\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (ran.stdout, ran.stderr) == ("refused\n", "")


# squashed text and anchors


@pytest.mark.parametrize(
    ("text", "squashed"),
    [("A b\n\tC", "abc"), ("", ""), (" \u00a0\u3000x", "x"), ("İSTANBUL", "İstanbul"), ("ß ẞ", "ßß")],
)
def test_squashed_text_has_no_white_space_and_no_capitals(text: str, squashed: str) -> None:
    assert squash(text) == squashed


@given(st.text(max_size=30))
def test_lower_case_never_moves_a_position(text: str) -> None:
    assert len(lower(text)) == len(text)
    assert len(squash(text)) == len("".join(text.split()))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("out of memory", {"outofmemory"}),
        ("CUDA Error", {"cudaerror"}),
        (r"Tried to allocate (?P<requested>[\d.]+ \w+)", {"triedtoallocate"}),
        (r"short \d+ much longer literal", {"muchlongerliteral"}),
        ("(?:alpha|bravo) xyz", {"alpha", "bravo"}),
        ("alpha one|bravo two", {"alphaone", "bravotwo"}),
        ("alpha|b", set()),
        ("(?:alphabet)?tail", {"tail"}),
        ("(?:alphabet)*x", set()),
        ("(?:alphabet)+x", {"alphabet"}),
        ("(?:alphabet){2,3}", {"alphabet"}),
        ("(?:alphabet){0,3}", set()),
        ("(abc)(def)", {"abcdef"}),
        ("(?P<library>abcd)", {"abcd"}),
        (r"a\.b\.c\.d", {"a.b.c.d"}),
        (r"\[rank0\]", {"[rank0]"}),
        (r"ab\ cd", {"abcd"}),
        ("abcd.efghi", {"efghi"}),
        ("abcd[ef]ghijk", {"ghijk"}),
        ("abcd[e]fgh", {"abcdefgh"}),
        ("^abcd$", {"abcd"}),
        ("abc", set()),
        (r"\d+\s\w*", set()),
        ("[^x]abcde", {"abcde"}),
        ("(?i)ABCDE", {"abcde"}),
        ("abcdx?efg", {"abcd"}),
        ("abcdé ÉFG", {"abcdééfg"}),
    ],
)
def test_anchors_are_what_every_match_must_hold(source: str, expected: set[str]) -> None:
    assert set(anchors(source)) == expected


def _regexes_in(value: Any) -> Iterator[tuple[str, bool]]:
    if isinstance(value, dict):
        if isinstance(value.get("regex"), str):
            yield value["regex"], bool(value.get("case"))
        if isinstance(value.get("says"), str):
            yield value["says"], False
        for inner in value.values():
            yield from _regexes_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _regexes_in(inner)


def _shipped() -> list[tuple[str, bool]]:
    paths = sorted((KB / "entries").rglob("*.yaml")) + [
        KB / "tables" / f"{stem}.yaml" for stem in ("messages", "advice", "captures", "failure_signs")
    ]
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    documents = [yaml.load(path.read_text("utf-8"), Loader=loader) for path in paths]
    return sorted({item for document in documents for item in _regexes_in(document)})


SHIPPED = [item for item in _shipped() if anchors(item[0])]
NOISE = st.text(st.sampled_from("aZ0 \n\t._:[]("), max_size=8)


def test_shipped_patterns_are_found() -> None:
    assert len(SHIPPED) > 100


@settings(
    max_examples=100,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
@given(st.data())
def test_what_a_shipped_pattern_matches_holds_one_of_its_anchors(data: st.DataObject) -> None:
    source, case = data.draw(st.sampled_from(SHIPPED))
    expression = ready(source, case=case)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        found = data.draw(st.from_regex(re.compile(expression, re.ASCII)))
    text = data.draw(NOISE) + found + data.draw(NOISE)
    assume(re2.search(expression, text) is not None)
    for group in (anchors(source), *further_anchors(source)):
        assert any(anchor in squash(text) for anchor in group)


PIECES = st.recursive(
    st.sampled_from(["abcd", "ab cd", "x", " ", r"\d", "[a ]", "[^b]", r"\.", "é", "^", "."]),
    lambda inner: st.one_of(
        st.builds("{}{}".format, inner, inner),
        st.builds("(?:{}|{})".format, inner, inner),
        st.builds("(?:{}){}".format, inner, st.sampled_from(["?", "*", "+", "{0,2}", "{2}", "??", "+?"])),
        st.builds("({})".format, inner),
    ),
    max_leaves=8,
)


@settings(max_examples=200, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])
@given(PIECES, st.data())
def test_what_any_pattern_matches_holds_one_of_its_anchors(source: str, data: st.DataObject) -> None:
    expression = ready(source)
    text = data.draw(st.from_regex(re.compile(expression, re.ASCII)))
    assume(re2.search(expression, text) is not None)
    for group in filter(None, (anchors(source), *further_anchors(source))):
        assert any(anchor in squash(text) for anchor in group)
