"""Conditions have three truth values; texts are filled in; what is odd is unknown."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pytest

from gpuhelp.kb.evaluation import Unknown, evaluate, render, render_whole, truth
from gpuhelp.kb.expressions import ExpressionError, parse_expression, parse_template

GPUS = [
    {"index": 0, "sm": "sm_86", "memory": {"free": 3}, "mig": None},
    {"index": 1, "sm": "sm_90", "memory": {"free": 5}},
]
FACTS: dict[str, Any] = {
    "yes": True,
    "no": False,
    "nothing": None,
    "one": 1,
    "three": 3,
    "half": 0.5,
    "text": "CUDA",
    "empty": [],
    "sizes": [3, 1, 2],
    "pair": ("sm_80", "sm_90"),
    "gpus": GPUS,
    "gpu": GPUS[0],
    "driver.version": "550.54.15",
    "nan": math.nan,
}


def value(source: str, facts: Mapping[str, Any] | None = None) -> object:
    """The value of an expression over these facts; a name that is not among them is unknown."""
    known = FACTS if facts is None else facts
    return evaluate(parse_expression(source), lambda name: known.get(name, Unknown([name])))


def shown(source: str) -> str:
    return render(parse_template(source), lambda name: FACTS.get(name, Unknown([name])))


# three truth values

U = "u"
KLEENE = [
    # left, right, and, or
    ("yes", "yes", True, True),
    ("yes", "no", False, True),
    ("yes", U, U, True),
    ("no", "yes", False, True),
    ("no", "no", False, False),
    ("no", U, False, U),
    (U, "yes", U, True),
    (U, "no", False, U),
    (U, U, U, U),
]


@pytest.mark.parametrize(("left", "right", "both", "either"), KLEENE)
def test_and_and_or_follow_kleene(left: str, right: str, both: object, either: object) -> None:
    expected = [Unknown([U]) if answer == U else answer for answer in (both, either)]
    assert [value(f"{left} and {right}"), value(f"{left} or {right}")] == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("not yes", False),
        ("not no", True),
        ("not u", Unknown(["u"])),
        ("u == 1", Unknown(["u"])),
        ("1 < u < 3", Unknown(["u"])),
        ("3 < 1 < u", False),
        ("u < 3 < 1", False),
        ("u + 1", Unknown(["u"])),
        ("u in sizes", Unknown(["u"])),
        ("1 in u", Unknown(["u"])),
        ("u | length", Unknown(["u"])),
        ("u[0]", Unknown(["u"])),
        ("sizes[u]", Unknown(["u"])),
        ("[1, u]", Unknown(["u"])),
        ("1 ~ u", Unknown(["u"])),
        ("max(1, u)", Unknown(["u"])),
        ("sizes | join(u)", Unknown(["u"])),
        ("gpus | join(attribute=u)", Unknown(["u"])),
        ("1 if u else 2", Unknown(["u"])),
        ("1 if yes else u", 1),
        ("-u", Unknown(["u"])),
    ],
)
def test_what_touches_an_unknown_is_unknown_unless_it_cannot_matter(source: str, expected: object) -> None:
    assert value(source) == expected


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("a and b", {"a", "b"}),
        ("a == b or no", {"a", "b"}),
        ("torch.version == x.y.z", {"torch.version", "x.y.z"}),
        ("gpu.name == 'A100'", {"gpu.name"}),
        ("version(driver.error) < version(u)", {"driver.error", "u"}),
        ("no_such(1)", None),
        ("gpus[0].name", {"item.name"}),
        ("max(gpus | map(attribute='name'))", {"name"}),
    ],
)
def test_an_unknown_names_what_would_decide_it(source: str, names: set[str] | None) -> None:
    if names is None:
        with pytest.raises(ExpressionError):
            parse_expression(source)
        return
    found = value(source)
    assert isinstance(found, Unknown)
    assert found.names == names


def test_a_table_function_without_tables_is_unknown_by_its_name() -> None:
    assert value("wheel_archs('2.6.0')") == Unknown(["wheel_archs"])


def test_a_table_that_does_not_say_is_unknown() -> None:
    tree = parse_expression("wheel_archs('2.6.0') == []")
    assert isinstance(truth(tree, lambda name: None, {"wheel_archs": lambda version: None}), Unknown)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("u is known", False),
        ("u is not known", True),
        ("nothing is known", True),
        ("nothing is none", True),
        ("one is none", False),
        ("u is none", Unknown(["u"])),
        ("u | default(3)", 3),
        ("nothing | default(3)", 3),
        ("one | default(3)", 1),
    ],
)
def test_none_means_looked_and_unknown_means_not_looked(source: str, expected: object) -> None:
    assert value(source) == expected


# plain values


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("1 + 2 * 3", 7),
        ("7 % 4 - 1", 2),
        ("3 / 2", 1.5),
        ("-three", -3),
        ("'a' + 'b'", "ab"),
        ("'a' ~ 1 ~ half", "a10.5"),
        ("[1] + [2]", [1, 2]),
        ("sizes[0]", 3),
        ("sizes[-1]", 2),
        ("gpus[1].sm", "sm_90"),
        ("gpu.memory.free", 3),
        ("gpu['sm']", "sm_86"),
        ("gpu.mig is none", True),
        ("1 < 2 < 3", True),
        ("1 < 2 > 3", False),
        ("'UD' in text", True),
        ("'x' not in text", True),
        ("'sm_90' in pair", True),
        ("pair == ['sm_80', 'sm_90']", True),
        ("empty == []", True),
        ("'yes' if no", None),
        ("words('a  b\nc')", ["a", "b", "c"]),
        ("words(nothing)", []),
        ("number('1,024')", 1024),
        ("number('0.5')", 0.5),
        ("basename('/a/b.py')", "b.py"),
        ("basename('C:\\\\a\\\\b.py')", "b.py"),
        ("min(sizes)", 1),
        ("max(1, 4, 2)", 4),
        ("any([no, yes])", True),
        ("all([no, yes])", False),
        ("sizes | sum", 6),
        ("gpus | sum(attribute='memory.free')", 8),
        ("sizes | length", 3),
        ("sizes | first", 3),
        ("sizes | last", 2),
        ("sizes | join(' ')", "3 1 2"),
        ("gpus | join('+', attribute='sm')", "sm_86+sm_90"),
        ("text | lower", "cuda"),
        ("'é' | upper", "É"),
        ("2.567 | round(1)", 2.6),
        ("2.567 | round", 3),
        ("gpus | map(attribute='index')", [0, 1]),
    ],
)
def test_expressions_compute(source: str, expected: object) -> None:
    assert value(source) == expected


@pytest.mark.parametrize(
    ("source", "indices"),
    [
        ("gpus | selectattr('index') ", [1]),
        ("gpus | rejectattr('index')", [0]),
        ("gpus | selectattr('sm', 'equalto', 'sm_90')", [1]),
        ("gpus | rejectattr('sm', 'equalto', 'sm_90')", [0]),
        ("gpus | selectattr('memory.free', 'equalto', 3)", [0]),
        ("gpus | selectattr('absent')", []),
        ("gpus | rejectattr('absent')", [0, 1]),
    ],
)
def test_rejecting_keeps_what_selecting_does_not_take(source: str, indices: list[int]) -> None:
    assert value(f"{source} | map(attribute='index')") == indices


def test_rejecting_leaves_equal_items_alone() -> None:
    twins = [{"busy": True}, {"busy": False}, {"busy": False}]
    assert value("gpus | rejectattr('busy') | length", {"gpus": twins}) == 2


# could not look is never no


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("48 in (gpus | map(attribute='xid'))", Unknown(["xid"])),
        ("79 in (gpus | map(attribute='xid'))", True),
        ("48 not in (gpus | map(attribute='xid'))", Unknown(["xid"])),
        ("79 not in (gpus | map(attribute='xid'))", False),
        ("any(gpus | map(attribute='quiet'))", Unknown(["quiet"])),
        ("any(gpus | map(attribute='busy'))", True),
        ("all(gpus | map(attribute='busy'))", Unknown(["busy"])),
        ("all(gpus | map(attribute='quiet'))", False),
        ("max(gpus | map(attribute='xid')) > 50", Unknown(["xid"])),
        ("gpus | sum(attribute='xid')", Unknown(["xid"])),
        ("(gpus | map(attribute='xid')) == [79, 1]", Unknown(["xid"])),
        ("(gpus | map(attribute='xid')) != [79, 1]", Unknown(["xid"])),
    ],
)
def test_an_item_that_does_not_tell_leaves_the_answer_open(source: str, expected: object) -> None:
    told = [{"xid": 79, "busy": True, "quiet": False}, {}]
    assert value(source, {"gpus": told}) == expected


@pytest.mark.parametrize(
    "source",
    [
        "nan > 1",
        "nan == nan",
        "number('nan')",
        "number('inf') > 1",
        "bytes('soon')",
        "bytes(nothing)",
        "version('recent') < version('1.0')",
        "version(nothing) >= version('1.0')",
        "version('1.0') < '2.0'",
        "all(one)",
        "text | selectattr('x') | length == 0",
        "one | join",
        "text | first",
        "empty | last",
        "one | length",
        "nothing | size",
        "text | size",
        "'a' < 1",
        "1 in one",
        "1 in text",
        "one / 0",
        "one % 0",
        "sizes[9]",
        "gpu['absent']",
        "gpu[empty]",
        "sizes.count",
        "text.upper",
        "-text",
        "basename(one)",
        "min([])",
        "[1, 'a'] | sum",
    ],
)
def test_an_odd_value_is_unknown_never_a_verdict_and_never_an_error(source: str) -> None:
    assert isinstance(value(source), Unknown)


# texts


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("{{ one }} and {{ half }}", "1 and 0.5"),
        ("{{ 2.0 }}", "2"),
        ("{{ yes }} {{ nothing }}", "True none"),
        ("{{ sizes }}", "3, 1, 2"),
        ("{{ u.v }}", "<u.v>"),
        ("{{ u and v }}", "<u, v>"),
        ("{{ one / 0 }}", "<?>"),
        ("{{ gpus | map(attribute='name') | join(' ') }}", "<name> <name>"),
        ("{{ 3221225472 | size }}", "3.0 GiB"),
        ("{% if yes %}a{% else %}b{% endif %}", "a"),
        ("{% if u %}a{% else %}b{% endif %}", "b"),
        ("{% if no %}a{% elif u %}b{% elif yes %}c{% else %}d{% endif %}", "c"),
        ("{% if no %}a{% endif %}.", "."),
        ("{{ driver.version }}", "550.54.15"),
    ],
)
def test_texts_are_filled_in(source: str, text: str) -> None:
    assert shown(source) == text


def test_a_text_with_an_unknown_value_is_not_whole() -> None:
    def whole(source: str) -> str | None:
        return render_whole(parse_template(source), lambda name: FACTS.get(name, Unknown([name])))

    assert whole("{{ one }}") == "1"
    assert whole("{{ one }} {{ u }}") is None
    assert whole("{% if u %}{{ u }}{% endif %}fine") == "fine"


def test_a_value_is_never_read_as_a_template() -> None:
    hostile = "{{ secret }}{% if yes %}[bold]"
    assert render(parse_template("say {{ x }}"), lambda name: hostile) == f"say {hostile}"
