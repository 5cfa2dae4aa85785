"""Every fault of an entry's form is told with its place, its key, what is wrong and what would be right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gpuhelp.kb.problems import Problem

Faults = Callable[[Any], "tuple[Problem, ...]"]
FILE = "entries/code/sample-failure.yaml"
KO = "entries/code/sample-failure.ko.yaml"
MISSING = object()
FIX_TEXTS = {"title": "xyz", "undo": "xyz", "expect": "xyz"}


def changed(data: dict[str, Any], path: tuple[str | int, ...], value: object) -> dict[str, Any]:
    """The data with the value at that path set, or removed."""
    owner: Any = data
    for part in path[:-1]:
        owner = owner[part]
    if value is MISSING:
        del owner[path[-1]]
    else:
        owner[path[-1]] = value
    return data


def test_the_sample_has_no_fault(entry: dict[str, Any], korean: dict[str, Any], faults: Faults) -> None:
    assert faults({FILE: entry, KO: korean}) == ()
    assert faults({FILE: entry}) == ()


FIX = ("causes", 0, "fixes", 0)
CASES: list[tuple[tuple[str | int, ...], object, str, str, str]] = [
    # path, value, key told, part of the message, part of the hint
    (("titel",), "x y z", "titel", "unknown key 'titel'", "did you mean 'title'?"),
    (("zzz",), 1, "zzz", "unknown key 'zzz'", "known keys: causes, checked, examples"),
    ((*FIX, "comands"), ["x"], "causes[0].fixes[0].comands", "unknown key", "did you mean 'commands'?"),
    (("title",), MISSING, "", "key 'title' is missing", "add `title:`"),
    (("layer",), MISSING, "", "key 'layer' is missing", "Where the fault lives"),
    ((*FIX, "proof"), MISSING, "causes[0].fixes[0]", "key 'proof' is missing", "read-only command"),
    (("title",), None, "title", "must be text, is empty", "write its value"),
    (("title",), 12.4, "title", "must be text, is 12.4", "quote it"),
    (("title",), True, "title", "must be text, is True", "quote it"),
    (("title",), "two\nlines", "title", "has the wrong form", "one line"),
    (("title",), "ab", "title", "has 2 characters", "needs at least 3"),
    (("title",), "x" * 300, "title", "has 300 characters", "needs at most 240"),
    (("summary",), ["a"], "summary", "must be text, is ['a']", "quote it"),
    (
        ("causes", 1, "id"),
        "Old_Flux",
        "causes[1].id",
        "has the wrong form",
        "lower-case words joined by hyphens",
    ),
    (("layer",), "software", "layer", "'software' is not allowed", "one of: code, framework, library"),
    (("fallback",), "yes", "fallback", "must be true or false, is 'yes'", "without quotes"),
    (("match",), "text", "match", "must be a list", "each after `- `"),
    (("match",), [], "match", "has 0 items", "needs at least 1"),
    (("match", 0), "some text", "match[0]", "must be a mapping", "key: value"),
    (("match", 0), {"case": True}, "match[0]", "has none of them", "exactly one of text, regex, fuzzy"),
    (("match", 0, "regex"), "some regex", "match[0]", "has text and regex", "exactly one of text, regex"),
    (("match", 0, "says"), "x", "match[0].says", "without exception", "add `exception:`"),
    (("match", 0), {"text": "short"}, "match[0].text", "has 5 characters", "needs at least 6"),
    (("match", 0), {"fuzzy": "too short a phrase"}, "match[0].fuzzy", "has 18 characters", "at least 20"),
    (("match", 0, "tells"), {"sm": "x"}, "match[0].tells", "'sm' has the wrong form", "like driver.version"),
    (("match", 0, "let"), {"A-b": "1"}, "match[0].let", "'A-b' has the wrong form", "like gpu_index"),
    (("match", 0, "where"), 1, "match[0].where", "must be text, is 1", "quote it"),
    (("unless",), [{"case": True}], "unless[0]", "has none of them", "exactly one of text, regex"),
    (("leads_to",), ["a-b", "a-b"], "leads_to", "a-b is given twice", "keep one"),
    (("leads_to",), ["A B"], "leads_to[0]", "has the wrong form", "joined by hyphens"),
    (("questions",), [], "questions", "has 0 items", "needs at least 1"),
    (("questions",), [False], "questions[0]", "must be text, is False", "quote it"),
    (("causes", 0, "weight"), "much", "causes[0].weight", "must be a number, is 'much'", "without quotes"),
    (("causes", 0, "weight"), 0, "causes[0].weight", "is 0", "must be greater than 0"),
    (("causes", 0, "weight"), 1.5, "causes[0].weight", "is 1.5", "must be at most 1"),
    (("causes", 0, "fixes"), [], "causes[0].fixes", "has 0 items", "needs at least 1"),
    (("causes", 0, "ask", "kind"), "maybe", "causes[0].ask.kind", "'maybe' is not allowed", "yes_no, choice"),
    (("causes", 0, "ask", "fact"), "flux", "causes[0].ask.fact", "has the wrong form", "the name of a fact"),
    (("causes", 0, "ask", "choices"), ["one"], "causes[0].ask.choices", "has 1 item", "needs at least 2"),
    ((*FIX, "risk"), "none", "causes[0].fixes[0].risk", "'none' is not allowed", "safe, restarts-job"),
    ((*FIX, "commands"), "ls", "causes[0].fixes[0].commands", "must be a list", "each after `- `"),
    (("references", 0, "url"), "example.org", "references[0].url", "has the wrong form", "https://"),
    (("examples",), [{"text": "x"}], "examples", "has 1 item", "needs at least 3"),
    (("examples", 1, "captured"), {"free": 3}, "examples[1].captured.free", "must be text, is 3", "quote it"),
    (("examples", 2, "cause"), "no-flux", "examples[2].cause", "stands without facts", "add `facts:`"),
    (("not_examples", 0, "because"), MISSING, "not_examples[0]", "key 'because' is", "add `because:`"),
]


@pytest.mark.parametrize(
    ("path", "value", "key", "message", "hint"), CASES, ids=[f"{case[2]} {case[3]}"[:60] for case in CASES]
)
def test_a_fault_of_form_is_told_once_and_well(
    entry: dict[str, Any],
    faults: Faults,
    path: tuple[str | int, ...],
    value: object,
    key: str,
    message: str,
    hint: str,
) -> None:
    (problem,) = faults({FILE: changed(entry, path, value)})
    assert (problem.path, problem.key) == (FILE, key)
    assert message in problem.message
    assert hint in problem.hint
    assert problem.line > 0
    assert problem.column > 0


@pytest.mark.parametrize(
    ("path", "value", "key", "message"),
    [
        (("title",), MISSING, "", "key 'title' is missing"),
        (("layer",), "code", "layer", "unknown key 'layer'"),
        (("causes", "no-flux", "fixes", "add-flux", "undo"), MISSING, "causes.no-flux.fixes.add", "'undo'"),
        (("causes", "no-flux", "title"), 1, "causes.no-flux.title", "must be text"),
        (("causes",), ["a"], "causes", "must be a mapping"),
        (("causes", "no-flux", "fixes", "Bad Id"), FIX_TEXTS, "", "'Bad Id'"),
    ],
)
def test_a_translation_has_its_own_form(
    entry: dict[str, Any],
    korean: dict[str, Any],
    faults: Faults,
    path: tuple[str | int, ...],
    value: object,
    key: str,
    message: str,
) -> None:
    (problem,) = faults({FILE: entry, KO: changed(korean, path, value)})
    assert problem.path == KO
    assert problem.key.startswith(key)
    assert message in problem.message
    assert problem.hint


def test_two_missing_keys_are_two_faults(entry: dict[str, Any], faults: Faults) -> None:
    del entry["title"], entry["summary"]
    found = faults({FILE: entry})
    assert [problem.message for problem in found] == ["key 'summary' is missing", "key 'title' is missing"]


def test_the_place_is_where_the_author_has_to_type(
    entry: dict[str, Any], dump: Callable[[Any], str], faults: Faults
) -> None:
    text = dump(entry).replace("    risk: safe", "    risk: none", 1)
    line = text.splitlines().index("    risk: none") + 1
    (problem,) = faults({FILE: text})
    assert str(problem) == (
        f"{FILE}:{line}:5: causes[0].fixes[0].risk: 'none' is not allowed"
        " (one of: safe, restarts-job, changes-environment, needs-admin, reboots)"
    )


@pytest.mark.parametrize("text", ["- a\n- b\n", "just words\n", "5\n", "[]\n"])
def test_a_file_that_is_no_mapping_is_told(faults: Faults, text: str) -> None:
    (problem,) = faults({FILE: text})
    assert "must be a mapping" in problem.message
    assert problem.line == 1


def test_a_long_value_is_not_repeated_in_full(entry: dict[str, Any], faults: Faults) -> None:
    entry["layer"] = "x" * 10_000
    (problem,) = faults({FILE: entry})
    assert len(str(problem)) < 500
