"""Whatever an entry says and a machine tells, evaluating ends, raises nothing, and gives a bounded text."""

from __future__ import annotations

import math
import sys
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpuhelp.kb.evaluation import FILTERS, FUNCTIONS, Unknown, evaluate, render, truth
from gpuhelp.kb.expressions import ExpressionError, parse_expression, parse_template

LIMIT = 100_000
QUICK = settings(max_examples=300, deadline=1000, database=None, suppress_health_check=[HealthCheck.too_slow])


def nested(depth: int) -> list[Any]:
    inner: list[Any] = []
    for _ in range(depth):
        inner = [inner, inner]
    return inner


def value(source: str, facts: dict[str, Any]) -> object:
    return evaluate(parse_expression(source), lambda name: facts.get(name, Unknown([name])))


@pytest.mark.parametrize(
    "source",
    [
        "a * 999999999",
        "999999999 * a",
        "(a + a) * 999999999",
        "'x' * 999999999",
        "five | round(-999999999)",
        "five % a",
        "big * big",
        "big - big * big",
    ],
)
def test_no_arithmetic_fills_the_memory(source: str) -> None:
    facts = {"a": ["x"] * 1000, "five": 5, "big": 10**300}
    assert isinstance(value(source, facts), (Unknown, int))


@pytest.mark.parametrize(
    "source",
    [
        "{{ a + a + a }}",
        "{{ a ~ a ~ a }}",
        "{{ many | join(a) }}",
        "{{ many | join(', ') | upper }}",
        "{{ many }}",
        "{{ wide }}",
        "{{ a }}{{ a }}{{ a }}",
        "{% if a %}{{ a }}{{ a }}{% endif %}{{ a }}",
        "{{ rows | join(', ', attribute='name') }}",
    ],
)
def test_a_text_has_an_end(source: str) -> None:
    facts = {
        "a": "x" * 90_000,
        "many": ["y" * 100] * 50_000,
        "wide": nested(100),
        "rows": [{"name": "z" * 1000}] * 1000,
    }
    assert len(render(parse_template(source), facts.__getitem__)) <= LIMIT


@pytest.mark.parametrize(
    "fact",
    [10**5000, -(10**5000), {"a": 10**5000}, [10**5000], math.inf, math.nan],
    ids=["large", "negative", "in a mapping", "in a list", "infinite", "nan"],
)
def test_a_number_without_end_is_shown_somehow(fact: object) -> None:
    assert 0 < len(render(parse_template("{{ x }}"), lambda name: fact)) <= LIMIT


def test_a_fact_nested_beyond_reason_is_no_error() -> None:
    deep: list[Any] = []
    deeper: dict[str, Any] = {}
    for _ in range(sys.getrecursionlimit() * 3):
        deep, deeper = [deep], {"a": deeper}
    facts = {"deep": deep, "deeper": deeper, "twin": [*deep]}
    for source in ("deep == twin", "deep in twin", "deep | lower", "deeper | upper", "words(deeper)"):
        value(source, facts)
    assert render(parse_template("{{ deep }} {{ deeper }}"), facts.__getitem__)


# any expression over any facts

NAMES = ("a", "b", "u", "torch.version", "gpu", "gpus")
atoms = st.one_of(
    st.sampled_from([*NAMES, "gpu.sm", "gpus[0]", "gpus[0].sm", "true", "none", "[]", "''"]),
    st.integers(-(10**6), 10**6).map(str),
    st.floats(allow_nan=False, allow_infinity=False, min_value=0).map(lambda number: f"{number:.6f}"),
    st.sampled_from(["'2.00 GiB'", "'12.4'", "'sm_86'", "'x'", "'equalto'", "['a', 1]", "[u]"]),
)


def grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    signs = ["and", "or", "==", "!=", "<", "<=", ">", ">=", "in", "not in", "+", "-", "*", "/", "%", "~"]
    return st.one_of(
        st.builds("({} {} {})".format, inner, st.sampled_from(signs), inner),
        st.builds("({} < {} != {})".format, inner, inner, inner),
        st.builds("(not {})".format, inner),
        st.builds("(-{})".format, inner),
        st.builds("({} is {})".format, inner, st.sampled_from(["known", "none", "not known", "not none"])),
        st.builds("({} if {} else {})".format, inner, inner, inner),
        st.builds("({})[{}]".format, inner, inner),
        st.builds("({}).name".format, inner),
        st.builds("[{}, {}]".format, inner, inner),
        st.builds("{}({})".format, st.sampled_from(sorted(FUNCTIONS)), inner),
        st.builds("{}({}, {})".format, st.sampled_from(["min", "max", "driver_runs"]), inner, inner),
        st.builds("({} | {})".format, inner, st.sampled_from(sorted(FILTERS))),
        st.builds("({} | {}({}))".format, inner, st.sampled_from(sorted(FILTERS)), inner),
        st.builds("({} | map(attribute={}))".format, inner, inner),
        st.builds("({} | selectattr({}, 'equalto', {}))".format, inner, inner, inner),
        st.builds("({} | rejectattr('sm', 'equalto', {}))".format, inner, inner),
    )


expressions = st.recursive(atoms, grown, max_leaves=12)
plain = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(10**400, 10**401),
    st.floats(),
    st.text(max_size=20),
    st.sampled_from(["2.00 GiB", "12.4", "sm_86", "550.54.15", "nan", "1,024"]),
)
json_like = st.recursive(
    plain,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(st.sampled_from(["sm", "name", "index", "x"]), inner, max_size=4),
    ),
    max_leaves=12,
)
facts = st.dictionaries(st.sampled_from(NAMES), json_like)


@QUICK
@given(expressions, facts)
def test_any_expression_over_any_facts_has_a_value(source: str, known: dict[str, Any]) -> None:
    try:
        tree = parse_expression(source)
    except ExpressionError:
        return

    def lookup(name: str) -> object:
        return known.get(name, Unknown([name]))

    evaluate(tree, lookup)
    assert truth(tree, lookup) in (True, False) or isinstance(truth(tree, lookup), Unknown)
    assert len(render([["out", tree]], lookup)) <= LIMIT


@QUICK
@given(expressions, facts)
def test_facts_that_become_known_never_turn_an_answer_round(source: str, known: dict[str, Any]) -> None:
    """Only logic and comparisons: `is known`, `default` and rejecting ask what is known, so they may turn."""
    if any(word in source for word in ("known", "default", "attr", "none", "[", ".name", "map", "bytes")):
        return
    try:
        tree = parse_expression(source)
    except ExpressionError:
        return
    before = truth(tree, lambda name: Unknown([name]))
    after = truth(tree, lambda name: known.get(name, Unknown([name])))
    assert isinstance(before, Unknown) or before == after
