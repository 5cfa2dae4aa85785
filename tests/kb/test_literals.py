"""The literals that every match of an expression holds: right, long, and few."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuhelp.kb.literals import literal_choices
from gpuhelp.kb.load import KnowledgeBase, load
from gpuhelp.kb.regexes import RegexError


def choices(source: str) -> list[set[str]]:
    return [set(choice) for choice in literal_choices(source)]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (r"CUDA out of memory", [{"cuda out of memory"}]),
        (r"\bXid (?P<xid>79)\b", [{"xid 79"}]),
        (r"(?:fell|fallen) off the bus", [{"fell off the bus", "fallen off the bus"}]),
        (r"CUDNN[_ ]STATUS", [{"cudnn_status", "cudnn status"}]),
        (r"time[- ]?out", [{"time-out", "time out", "timeout"}]),
        (r"exit +code", [{"exit code"}]),
        (r"exit *code", [{"exit code", "exitcode"}]),
        (r"killed(?:: 9)?", [{"killed"}]),  # the longer form holds the shorter one
        (r"GPU \d+ is lost", [{"gpu"}, {"is lost"}]),
        (r"foo[^\n]{0,30}bar", [{"foo"}, {"bar"}]),
        (r"(?:abc)+def", [{"abc"}, {"def"}]),
        (r"(?:abc)*def", [{"def"}]),
        (r"(?:one|t\w+o)xx", []),  # shorter than any literal of use
        (r"\d+", []),
        (r"", []),
    ],
)
def test_what_every_match_holds(source: str, expected: list[set[str]]) -> None:
    assert choices(source) == expected


def test_choices_that_multiply_too_far_are_parted() -> None:
    found = choices("(?:aaa|bbb|ccc|ddd|eee|fff) (?:ggg|hhh|iii|jjj|kkk|lll)")
    assert found == [{"aaa", "bbb", "ccc", "ddd", "eee", "fff"}, {"ggg", "hhh", "iii", "jjj", "kkk", "lll"}]


def test_a_fault_is_told() -> None:
    with pytest.raises(RegexError, match="not a regular expression"):
        literal_choices("(unclosed")


@pytest.fixture(scope="module")
def knowledge() -> KnowledgeBase:
    return load()


def test_every_shipped_example_that_an_expression_matches_holds_one_literal_of_each_choice(
    knowledge: KnowledgeBase,
) -> None:
    texts = [example.text for entry_id in knowledge.ids for example in knowledge.entry(entry_id).examples]
    checked = 0
    for signature in knowledge.signatures:
        for pattern in (pattern for pattern in signature.patterns if pattern.kind == "regex"):
            source = pattern.needle.replace("(?im)", "").replace("(?m)", "").replace(r"\s+", " ")
            for text in texts:
                found = re.search(pattern.needle, text)
                for choice in literal_choices(source) if found else ():
                    said = " ".join(found[0].lower().split()) if found else ""
                    assert any(literal in said for literal in choice), (source, said, choice)
                    checked += 1
    assert checked > 500


WORDS = st.lists(
    st.sampled_from(["nccl", "cuda", "a", "b c", "", "x_y"]), min_size=1, max_size=4, unique=True
)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.lists(WORDS, min_size=1, max_size=4), st.data())
def test_whatever_is_chosen_of_each_group_a_literal_stands_in_it(
    groups: list[list[str]], data: st.DataObject
) -> None:
    source = "".join(f"(?:{'|'.join(group)})" for group in groups)
    text = "".join(data.draw(st.sampled_from(group)) for group in groups)
    for choice in literal_choices(source):
        assert any(literal in text for literal in choice)
