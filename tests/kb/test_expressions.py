"""Entries bring conditions and texts; only a short list of forms gets in, and Jinja2 never runs any of it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gpuhelp.kb.evaluation import Unknown, render
from gpuhelp.kb.expressions import ExpressionError, names_in, parse_expression, parse_template

# what an expression may be


@pytest.mark.parametrize(
    ("source", "tree"),
    [
        ("torch.arch_list", ["name", "torch.arch_list"]),
        ("env.CUDA_VISIBLE_DEVICES", ["name", "env.CUDA_VISIBLE_DEVICES"]),
        ("env._CONDA_EXE", ["name", "env._CONDA_EXE"]),
        ("requested", ["name", "requested"]),
        ("gpu.sm", ["attr", ["name", "gpu"], "sm"]),
        ("gpus[0].name", ["attr", ["item", ["name", "gpus"], ["const", 0]], "name"]),
        ("a is not none", ["not", ["test", "none", ["name", "a"]]]),
        ("1 < a <= 3", ["cmp", ["const", 1], [["<", ["name", "a"]], ["<=", ["const", 3]]]]),
        ("a not in [1]", ["cmp", ["name", "a"], [["not in", ["list", [["const", 1]]]]]]),
        ("(1, 'x')", ["list", [["const", 1], ["const", "x"]]]),
        ("a if b", ["choice", ["name", "b"], ["name", "a"], ["const", None]]),
        ("a | join(' ')", ["filter", "join", ["name", "a"], [["const", " "]], {}]),
        ("a | map(attribute='x')", ["filter", "map", ["name", "a"], [], {"attribute": ["const", "x"]}]),
        ("bytes(a)", ["call", "bytes", [["name", "a"]]]),
        (" a\n  and b ", ["and", ["name", "a"], ["name", "b"]]),
    ],
)
def test_an_expression_becomes_plain_data(source: str, tree: object) -> None:
    assert parse_expression(source) == tree
    assert json.loads(json.dumps(parse_expression(source))) == tree


REFUSED = [
    # attributes and names that reach into Python
    ("gpu.__class__", "__class__"),
    ("gpu._hidden", "_hidden"),
    ("torch.__class__.__mro__", "__class__"),
    ("torch._version", "_version"),
    ("__import__", "__import__"),
    ("__builtins__.open", "__builtins__"),
    ("env.__class__", "__class__"),
    ("(1).__class__", "__class__"),
    ("gpus[0].__init__.__globals__", "__"),
    ("[].__class__.__base__.__subclasses__()", "function"),
    # calls
    ("open('/etc/passwd')", "function open"),
    ("__import__('os')", "function __import__"),
    ("gpu.get('sm')", "function"),
    ("''.join([])", "function"),
    ("bytes('1')('2')", "function"),
    ("range(10)", "function range"),
    ("lipsum()", "function lipsum"),
    ("cycler('a')", "function cycler"),
    ("self.x()", "function"),
    ("bytes(a, b)", "function bytes"),
    ("bytes(text=a)", "plain arguments"),
    ("bytes(*a)", "plain arguments"),
    ("bytes(**a)", "plain arguments"),
    ("version()", "function version"),
    # filters and tests
    ("a | attr('__class__')", "filter attr"),
    ("a | safe", "filter safe"),
    ("a | format(1)", "filter format"),
    ("a | default", "filter default"),
    ("a | map('upper')", "filter map"),
    ("a | map(attribute=b, default=c)", "filter map"),
    ("a | join(*b)", "plain arguments"),
    ("a | selectattr('x', 'gt', 3)", "equalto"),
    ("a | rejectattr('x', b, 3)", "equalto"),
    ("a | selectattr('x', 'equalto')", "equalto"),
    ("a is defined", "is defined"),
    ("a is sameas(b)", "is sameas"),
    ("a is divisibleby 3", "is divisibleby"),
    # operators and literals
    ("2 ** 9", "Pow"),
    ("9 // 2", "FloorDiv"),
    ("+a", "Pos"),
    ("{'a': 1}", "Dict"),
    ("a[1:2]", "Slice"),
    # more or less than one expression
    ("", "not an expression"),
    ("a b", "one expression"),
    ("a, b", "one expression"),
    ("a }} {{ b", "one expression"),
    ("a = 1", "one expression"),
    ("a; b", "one expression"),
    ("a and", "not an expression"),
    ("(a", "not an expression"),
    ("a)", "not an expression"),
    ("'a", "not an expression"),
    ("a ? b : c", "not an expression"),
    ("a && b", "not an expression"),
    ("{% if a %}", "not an expression"),
]


@pytest.mark.parametrize(("source", "reason"), REFUSED, ids=[source for source, _ in REFUSED])
def test_whatever_else_is_refused(source: str, reason: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        parse_expression(source)
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    ("source", "reason"), [(s, r) for s, r in REFUSED if "not an" not in r and "one " not in r]
)
def test_a_text_takes_no_expression_that_a_condition_refuses(source: str, reason: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        parse_template(f"say {{{{ {source} }}}} and {{% if {source} %}}x{{% endif %}}")
    assert reason in str(caught.value)


def test_a_refusal_says_what_there_is() -> None:
    with pytest.raises(ExpressionError, match="filter frob is not known; there are default, first, join"):
        parse_expression("a | frob")
    with pytest.raises(ExpressionError, match=r"function frob is not known; there are all.*torch_index"):
        parse_expression("frob(1)")


# bounds


@pytest.mark.parametrize(
    "source",
    [
        "(" * 400 + "a" + ")" * 400,
        "[" * 400 + "]" * 400,
        "not " * 400 + "a",
        "-" * 1500 + "1",
        "a" + "[0]" * 400,
        "a" + " | lower" * 240,
        " and ".join(["a"] * 280),
        "+".join(["a"] * 900),
        "any(" * 350 + "a" + ")" * 350,
    ],
    ids=lambda source: source[:12],
)
def test_deep_nesting_is_refused_in_so_many_words(source: str) -> None:
    with pytest.raises(ExpressionError, match="nested too deeply"):
        parse_expression(source)
    with pytest.raises(ExpressionError, match="nested too deeply"):
        parse_template("{{ " + source + " }}")


def test_texts_of_many_branches_are_refused() -> None:
    branches = "{% if a %}" + "{% elif b %}" * 150 + "{% endif %}"
    with pytest.raises(ExpressionError, match="nested too deeply"):
        parse_template(branches)


def test_a_condition_of_many_alternatives_is_no_deep_nesting() -> None:
    assert names_in(parse_expression(" or ".join(f"a{number}" for number in range(60)))) >= {"a0", "a59"}


@pytest.mark.parametrize("parse", [parse_expression, parse_template])
def test_a_source_of_more_than_two_thousand_characters_is_refused(parse: object) -> None:
    assert callable(parse)
    with pytest.raises(ExpressionError, match="2000"):
        parse("a" * 2001)
    assert parse("a" * 2000)


# texts

LAST = [["if", ["name", "c"], [["text", "3"]], [["text", "4"]]]]


@pytest.mark.parametrize(
    ("source", "segments"),
    [
        ("plain", [["text", "plain"]]),
        ("", [["text", ""]]),
        ("a {{ x }} b", [["text", "a "], ["out", ["name", "x"]], ["text", " b"]]),
        ("awk '{print $1}'\n", [["text", "awk '{print $1}'\n"]]),
        ("{% if a %}1{% endif %}", [["if", ["name", "a"], [["text", "1"]], []]]),
        ("{% if a %}1{% else %}2{% endif %}", [["if", ["name", "a"], [["text", "1"]], [["text", "2"]]]]),
        (
            "{% if a %}1{% elif b %}2{% elif c %}3{% else %}4{% endif %}",
            [["if", ["name", "a"], [["text", "1"]], [["if", ["name", "b"], [["text", "2"]], LAST]]]],
        ),
        ("{% raw %}{{ x }}{% endraw %}", [["text", "{{ x }}"]]),
        ("{{ '{{' }}", [["out", ["const", "{{"]]]),
    ],
)
def test_a_text_becomes_segments(source: str, segments: object) -> None:
    assert parse_template(source) == segments


@pytest.mark.parametrize(
    "source",
    [
        "{% for x in gpus %}{{ x }}{% endfor %}",
        "{% macro m() %}{% endmacro %}",
        "{% import 'a' as b %}",
        "{% from 'a' import b %}",
        "{% include 'a' %}",
        "{% extends 'a' %}",
        "{% block a %}{% endblock %}",
        "{% set a = 1 %}",
        "{% with a = 1 %}{% endwith %}",
        "{% call f() %}{% endcall %}",
        "{% filter upper %}a{% endfilter %}",
        "{% do a %}",
        "{% trans %}a{% endtrans %}",
        "{% autoescape true %}a{% endautoescape %}",
        "{% if a %}{% for x in b %}{% endfor %}{% endif %}",
        "{% if a %}",
        "{{ a",
        "{{ }}",
        "{% a %}",
        "{# open",
        "{{ a }} {% endif %}",
    ],
)
def test_no_other_statement_gets_into_a_text(source: str) -> None:
    with pytest.raises(ExpressionError):
        parse_template(source)


def test_the_names_a_text_asks_for_are_known_beforehand() -> None:
    condition = "c and gpu.sm in d | map(attribute=e)"
    branches = "{{ bytes(f) }}{% else %}{{ gpus[g].x }}{% endif %}"
    segments = parse_template("{{ a.b }}{% if " + condition + " %}" + branches)
    assert names_in(segments) == {"a.b", "c", "gpu.sm", "d", "e", "f", "gpus", "g"}
    assert names_in({"en": segments, "ko": parse_template("{{ k }}")}) >= {"a.b", "k"}
    assert names_in(parse_template("name {{ 'name' }}")) == frozenset()


# Jinja2 only parses


def test_values_are_found_without_jinja2() -> None:
    tree = parse_template("{% if gpu.sm in ['sm_86'] %}{{ '2 GiB' | lower }} {{ max(1, n) }}{% endif %}")
    program = (
        "import json, sys\n"
        "sys.modules['jinja2'] = None\n"
        "from gpuhelp.kb.evaluation import render\n"
        "facts = {'gpu': {'sm': 'sm_86'}, 'n': 3}\n"
        "print(render(json.loads(sys.argv[1]), facts.__getitem__))\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program, json.dumps(tree)], capture_output=True, text=True, timeout=60
    )
    assert (ran.stdout, ran.stderr) == ("2 gib 3\n", "")


def test_parsing_compiles_and_folds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    import jinja2
    from jinja2 import compiler, nodes, optimizer

    ran: list[str] = []
    monkeypatch.setattr(jinja2.Environment, "compile", lambda *args, **kwargs: ran.append("compile"))
    monkeypatch.setattr(compiler, "generate", lambda *args, **kwargs: ran.append("generate"))
    monkeypatch.setattr(optimizer, "optimize", lambda *args, **kwargs: ran.append("optimize"))
    monkeypatch.setattr(nodes.Filter, "as_const", lambda *args, **kwargs: ran.append("filter"))
    monkeypatch.setattr(nodes.BinExpr, "as_const", lambda *args, **kwargs: ran.append("operator"))
    assert parse_expression("'a' | upper == 'A'") == [
        "cmp",
        ["filter", "upper", ["const", "a"], [], {}],
        [["==", ["const", "A"]]],
    ]
    assert parse_template("{{ 1 + 1 }}") == [["out", ["math", "+", ["const", 1], ["const", 1]]]]
    assert ran == []


@settings(max_examples=400, deadline=None, database=None)
@given(
    st.text(alphabet=st.sampled_from("ab.0_'\"\\()[]{}%#|+-*/~,:=<> \nxNu") | st.characters(), max_size=40)
)
@example("'\\x'")
@example("'\\N{BELL}'")
@example("'\ud800'")
@example("0x")
@example("1e999999")
@example("1__0")
def test_any_text_parses_or_is_refused(source: str) -> None:
    for parse in (parse_expression, parse_template):
        try:
            tree = parse(source)
        except ExpressionError:
            continue
        assert json.loads(json.dumps(tree)) == tree
    try:
        segments = parse_template("{{ " + source + " }}")
    except ExpressionError:
        return
    assert isinstance(render(segments, lambda name: Unknown([name])), str)
