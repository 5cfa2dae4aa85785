"""Conditions and texts of entries, parsed with Jinja2's grammar into plain data. Used when entries load.

Jinja2 only parses: nothing of it ever runs. What it parsed is checked against a short list of allowed
forms and kept as nested lists, so that it can be cached as JSON and evaluated by
`gpuhelp.kb.evaluation`, which knows a third truth value and has no loops, calls or attributes of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from gpuhelp.kb.evaluation import FILTERS, FUNCTIONS, TABLE_FUNCTIONS, TESTS, Node

if TYPE_CHECKING:
    from jinja2 import nodes

ROOTS = frozenset({"gpu", "gpus"})
"""Names whose attributes are looked up in their value; every other dotted name is one fact."""

_COMPARISONS = {
    "eq": "==", "ne": "!=", "lt": "<", "lteq": "<=", "gt": ">", "gteq": ">=", "in": "in", "notin": "not in",
}  # fmt: skip
_ARITHMETIC = {"Add": "+", "Sub": "-", "Mul": "*", "Div": "/", "Mod": "%"}
_LONGEST = 2000
_DEEPEST = 200
"""Lists within lists. Conditions that people write have a tenth of that; far more survives no walk."""
_TOO_DEEP = "nested too deeply; split it, or use `in` with a list for a long chain of `or`"


class ExpressionError(ValueError):
    """An expression or text that is not allowed; the message says what would be."""


def parse_expression(source: str) -> Node:
    """The expression as nested lists. Raises ExpressionError."""
    from jinja2 import TemplateSyntaxError
    from jinja2.parser import Parser

    _refuse_long(source)
    try:
        parser = Parser(_environment(), source, state="variable")
        tree = parser.parse_expression()
        at_end = parser.stream.eos
    except TemplateSyntaxError as error:
        raise ExpressionError(f"not an expression: {error.message}") from error
    except RecursionError as error:
        raise ExpressionError(_TOO_DEEP) from error
    if not at_end:
        raise ExpressionError(f"one expression expected, found more after it: {source!r}")
    return _bounded(_convert, tree)


def parse_template(source: str) -> list[Node]:
    """The text as a list of segments: ["text", s], ["out", node], ["if", node, then, otherwise]."""
    from jinja2 import TemplateSyntaxError

    _refuse_long(source)
    if "{" not in source:
        return [["text", source]]
    try:
        tree = _environment().parse(source)
    except TemplateSyntaxError as error:
        raise ExpressionError(f"not a text template: {error.message}") from error
    except RecursionError as error:
        raise ExpressionError(_TOO_DEEP) from error
    segments: list[Node] = _bounded(_segments, tree.body)
    return segments


def names_in(tree: object) -> frozenset[str]:
    """Every name a parsed expression or template asks for: facts with a dot, captured values without."""
    found: set[str] = set()
    _collect(tree, found)
    return frozenset(found)


def _environment() -> Any:
    from jinja2 import Environment

    return Environment(autoescape=False, keep_trailing_newline=True)


def _refuse_long(source: str) -> None:
    if len(source) > _LONGEST:
        raise ExpressionError(f"longer than {_LONGEST} characters")


def _bounded(convert: Callable[[Any], Node], tree: Any) -> Node:
    """The converted tree, if it is no deeper than allowed."""
    try:
        converted = convert(tree)
    except RecursionError as error:
        raise ExpressionError(_TOO_DEEP) from error
    level = [converted]
    for _ in range(_DEEPEST):
        level = [part for node in level for part in _parts(node)]
        if not level:
            return converted
    raise ExpressionError(_TOO_DEEP)


def _parts(node: object) -> Iterable[object]:
    if isinstance(node, dict):
        return node.values()
    return node if isinstance(node, list) else ()


def _collect(tree: object, found: set[str]) -> None:
    if isinstance(tree, Mapping):
        tree = list(tree.values())
    if not isinstance(tree, (list, tuple)) or not tree:
        return
    if tree[0] == "name":
        found.add(str(tree[1]))
    elif tree[0] == "attr" and isinstance(tree[1], (list, tuple)) and tree[1][:1] == ["name"]:
        found.add(f"{tree[1][1]}.{tree[2]}")
    else:
        for part in tree:
            _collect(part, found)


def _segments(body: list[nodes.Node]) -> list[Node]:
    segments: list[Node] = []
    for node in body:
        kind = type(node).__name__
        if kind == "Output":
            segments += [_output(part) for part in node.nodes]  # type: ignore[attr-defined]
        elif kind == "If":
            segments.append(_branch(node))
        else:
            raise ExpressionError(f"{kind} is not allowed in a text; use {{{{ }}}} and {{% if %}}")
    return segments


def _output(part: Any) -> Node:
    if type(part).__name__ == "TemplateData":
        return ["text", part.data]
    return ["out", _convert(part)]


def _branch(node: Any) -> Node:
    otherwise = _segments(node.else_)
    for other in reversed(node.elif_):
        otherwise = [["if", _convert(other.test), _segments(other.body), otherwise]]
    return ["if", _convert(node.test), _segments(node.body), otherwise]


def _convert(node: Any) -> Node:
    handler = _HANDLERS.get(type(node).__name__)
    if handler is None:
        raise ExpressionError(f"{type(node).__name__} is not allowed in an expression")
    return handler(node)


def _dotted(node: Any) -> str | None:
    """The fact's name if the node is a chain of names such as torch.arch_list."""
    parts: list[str] = []
    while type(node).__name__ == "Getattr":
        parts.append(node.attr)
        node = node.node
    if type(node).__name__ != "Name" or node.name in ROOTS:
        return None
    return _public([node.name, *reversed(parts)])


def _public(parts: list[str]) -> str:
    """The dotted name. No fact begins with an underscore; an environment variable may."""
    hidden = [part for part in parts if part.startswith("_") and (parts[0] != "env" or part.startswith("__"))]
    if hidden:
        raise ExpressionError(f"name {hidden[0]} is not allowed; no fact begins with an underscore")
    return ".".join(parts)


def _name(node: Any) -> Node:
    return ["name", _public([node.name])]


def _attribute(node: Any) -> Node:
    fact = _dotted(node)
    if fact is not None:
        return ["name", fact]
    return ["attr", _convert(node.node), _public([node.attr])]


def _constant(node: Any) -> Node:
    if not isinstance(node.value, (str, int, float, bool, type(None))):
        raise ExpressionError(f"constant {node.value!r} is not allowed")
    return ["const", node.value]


def _comparison(node: Any) -> Node:
    pairs = [[_COMPARISONS[operand.op], _convert(operand.expr)] for operand in node.ops]
    return ["cmp", _convert(node.expr), pairs]


def _call(node: Any) -> Node:
    name = getattr(node.node, "name", None)
    if name not in FUNCTIONS and name not in TABLE_FUNCTIONS:
        allowed = ", ".join(sorted([*FUNCTIONS, *TABLE_FUNCTIONS]))
        raise ExpressionError(f"function {name or '?'} is not known; there are {allowed}")
    if node.kwargs or node.dyn_args or node.dyn_kwargs:
        raise ExpressionError(f"{name}() takes plain arguments only")
    if name in FUNCTIONS:
        _refuse_arguments(f"function {name}", FUNCTIONS[name], node.args, {})
    return ["call", name, [_convert(argument) for argument in node.args]]


def _refuse_arguments(
    what: str, function: Callable[..., object], given: list[Any], named: dict[str, Any]
) -> None:
    """ExpressionError if the function cannot take these arguments."""
    import inspect

    try:
        inspect.signature(function).bind(*given, **named)
    except TypeError as error:
        raise ExpressionError(f"{what}: {error}") from error


def _filter(node: Any) -> Node:
    if node.name not in FILTERS:
        raise ExpressionError(f"filter {node.name} is not known; there are {', '.join(sorted(FILTERS))}")
    if node.node is None or node.dyn_args or node.dyn_kwargs:
        raise ExpressionError(f"filter {node.name} needs a value before it and plain arguments")
    named = {pair.key: _convert(pair.value) for pair in node.kwargs}
    _refuse_arguments(f"filter {node.name}", FILTERS[node.name], [node.node, *node.args], named)
    if node.name in ("selectattr", "rejectattr") and len(node.args) > 1:
        _refuse_other_tests(node)
    return ["filter", node.name, _convert(node.node), [_convert(a) for a in node.args], named]


def _refuse_other_tests(node: Any) -> None:
    if len(node.args) != 3 or getattr(node.args[1], "value", None) != "equalto":
        raise ExpressionError(f"{node.name} takes ('field') or ('field', 'equalto', value)")


def _test(node: Any) -> Node:
    if node.name not in TESTS or node.args or node.kwargs:
        raise ExpressionError(f"test 'is {node.name}' is not known; there are {', '.join(sorted(TESTS))}")
    return ["test", node.name, _convert(node.node)]


def _item(node: Any) -> Node:
    return ["item", _convert(node.node), _convert(node.arg)]


def _choice(node: Any) -> Node:
    otherwise = _convert(node.expr2) if node.expr2 is not None else ["const", None]
    return ["choice", _convert(node.test), _convert(node.expr1), otherwise]


def _sequence(node: Any) -> Node:
    return ["list", [_convert(item) for item in node.items]]


_HANDLERS: dict[str, Any] = {
    "Name": _name,
    "Getattr": _attribute,
    "Const": _constant,
    "Compare": _comparison,
    "Call": _call,
    "Filter": _filter,
    "Test": _test,
    "Getitem": _item,
    "CondExpr": _choice,
    "List": _sequence,
    "Tuple": _sequence,
    "Concat": lambda node: ["join", [_convert(item) for item in node.nodes]],
    "And": lambda node: ["and", _convert(node.left), _convert(node.right)],
    "Or": lambda node: ["or", _convert(node.left), _convert(node.right)],
    "Not": lambda node: ["not", _convert(node.node)],
    "Neg": lambda node: ["neg", _convert(node.node)],
    **{
        kind: (lambda node, sign=sign: ["math", sign, _convert(node.left), _convert(node.right)])
        for kind, sign in _ARITHMETIC.items()
    },
}
