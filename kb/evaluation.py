"""The value of a parsed condition or text, with a third truth value. Pure; used by matching and reasoning.

Kleene's logic: `unknown or true` is true, `unknown and false` is false, everything else that touches an
unknown stays unknown and remembers which names would decide it. "Could not look" is never "no".
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from gpuhelp.kb.values import (
    FILTERS,
    FUNCTIONS,
    LONGEST_TEXT,
    ODD_VALUES,
    TABLE_FUNCTIONS,
    TESTS,
    Unknown,
    add,
    attribute_of,
    contains,
    equal,
    format_bytes,
    on_numbers,
    parse_bytes,
    shown,
    unknown_of,
)

__all__ = [
    "FILTERS",
    "FUNCTIONS",
    "TABLE_FUNCTIONS",
    "TESTS",
    "Functions",
    "Lookup",
    "Node",
    "Unknown",
    "evaluate",
    "format_bytes",
    "parse_bytes",
    "render",
    "render_whole",
    "truth",
]

Node = Any
"""A nested list as made by gpuhelp.kb.expressions: [kind, parts...]."""
Lookup = Callable[[str], object]
"""Gives the value of a name, or an Unknown that carries the name."""
Functions = Mapping[str, Callable[..., object]]


def evaluate(node: Node, lookup: Lookup, functions: Functions | None = None) -> object:
    """The value of an expression: a plain value, or Unknown. Raises nothing for odd values."""
    return _Evaluator(lookup, functions or {}).value(node)


def truth(node: Node, lookup: Lookup, functions: Functions | None = None) -> bool | Unknown:
    """The expression's truth: True, False or Unknown."""
    return _truth(evaluate(node, lookup, functions))


def render(segments: Iterable[Node], lookup: Lookup, functions: Functions | None = None) -> str:
    """The text with its values filled in; a value that is not known prints as <its name>."""
    return _Evaluator(lookup, functions or {}).text(segments)


def render_whole(segments: Iterable[Node], lookup: Lookup, functions: Functions | None = None) -> str | None:
    """Like render, but None if any value in the text is not known."""
    evaluator = _Evaluator(lookup, functions or {})
    text = evaluator.text(segments)
    return None if evaluator.met_unknown else text


def _truth(value: object) -> bool | Unknown:
    return value if isinstance(value, Unknown) else bool(value)


def _compared(operation: Callable[[Any, Any], object]) -> Callable[[Any, Any], object]:
    """A comparison whose answer is unknown where an item of a list is."""

    def run(first: object, second: object) -> object:
        items = (item for value in (first, second) if isinstance(value, (list, tuple)) for item in value)
        return unknown_of(*items) or operation(first, second)

    return run


def _unequal(first: object, second: object) -> bool | Unknown:
    """Whether two values differ; unknown if one is "there is none", for which `is none` asks."""
    return Unknown() if (first is None) != (second is None) else not equal(first, second)


def _contains_not(item: object, container: object) -> bool | Unknown:
    found = contains(item, container)
    return found if isinstance(found, Unknown) else not found


_COMPARE: dict[str, Callable[[Any, Any], object]] = {
    "==": _compared(equal),
    "!=": _compared(_unequal),
    "<": _compared(operator.lt),
    "<=": _compared(operator.le),
    ">": _compared(operator.gt),
    ">=": _compared(operator.ge),
    "in": contains,
    "not in": _contains_not,
}
_MATH: dict[str, Callable[[Any, Any], object]] = {
    "+": add,
    "-": on_numbers(operator.sub),
    "*": on_numbers(operator.mul),
    "/": on_numbers(operator.truediv),
    "%": on_numbers(operator.mod),
}


class _Evaluator:
    """One walk over a tree; each kind of node has one method."""

    def __init__(self, lookup: Lookup, functions: Functions) -> None:
        self.lookup = lookup
        self.functions = functions
        self.met_unknown = False

    def value(self, node: Node) -> object:
        return getattr(self, f"_{node[0]}")(*node[1:])

    def text(self, segments: Iterable[Node]) -> str:
        parts = []
        for kind, *rest in segments:
            if kind == "text":
                parts.append(rest[0])
            elif kind == "out":
                value = self.value(rest[0])
                self.met_unknown = self.met_unknown or isinstance(value, Unknown)
                parts.append(shown(value))
            else:
                chosen = rest[1] if _truth(self.value(rest[0])) is True else rest[2]
                parts.append(self.text(chosen))
        return "".join(parts)[:LONGEST_TEXT]

    def _const(self, value: object) -> object:
        return value

    def _name(self, name: str) -> object:
        value = self.lookup(name)
        return Unknown([name]) if isinstance(value, float) and value != value else value  # NaN tells nothing

    def _attr(self, base: Node, name: str) -> object:
        owner = self.value(base)
        label = base[1] if base[0] == "name" else "item"
        if isinstance(owner, Unknown):
            return Unknown([f"{label}.{name}"])
        found = attribute_of(owner, name)
        return Unknown([f"{label}.{name}"]) if isinstance(found, Unknown) else found

    def _item(self, base: Node, index: Node) -> object:
        return self._apply(lambda items, key: items[key], self.value(base), self.value(index))

    def _list(self, items: list[Node]) -> object:
        values = [self.value(item) for item in items]
        return unknown_of(*values) or values

    def _join(self, items: list[Node]) -> object:
        values = [self.value(item) for item in items]
        return unknown_of(*values) or "".join(shown(value) for value in values)[:LONGEST_TEXT]

    def _not(self, operand: Node) -> object:
        value = _truth(self.value(operand))
        return value if isinstance(value, Unknown) else not value

    def _and(self, left: Node, right: Node) -> object:
        first, second = _truth(self.value(left)), _truth(self.value(right))
        if first is False or second is False:
            return False
        return unknown_of(first, second) or True

    def _or(self, left: Node, right: Node) -> object:
        first, second = _truth(self.value(left)), _truth(self.value(right))
        if first is True or second is True:
            return True
        return unknown_of(first, second) or False

    def _cmp(self, left: Node, pairs: list[list[Any]]) -> object:
        outcome: bool | Unknown = True
        current = self.value(left)
        for sign, node in pairs:
            following = self.value(node)
            step = _truth(self._apply(_COMPARE[sign], current, following))
            outcome = False if False in (step, outcome) else unknown_of(outcome, step) or True
            current = following
        return outcome

    def _math(self, sign: str, left: Node, right: Node) -> object:
        return self._apply(_MATH[sign], self.value(left), self.value(right))

    def _neg(self, operand: Node) -> object:
        return self._apply(_MATH["-"], 0, self.value(operand))

    def _choice(self, test: Node, then: Node, otherwise: Node) -> object:
        decided = _truth(self.value(test))
        if isinstance(decided, Unknown):
            return decided
        return self.value(then if decided else otherwise)

    def _test(self, name: str, operand: Node) -> object:
        value = self.value(operand)
        if name == "known":
            return not isinstance(value, Unknown)
        return value if isinstance(value, Unknown) else value is None

    def _call(self, name: str, arguments: list[Node]) -> object:
        function = FUNCTIONS.get(name) or self.functions.get(name)
        if function is None:
            return Unknown([name])
        result = self._apply(function, *(self.value(argument) for argument in arguments))
        return Unknown() if result is None else result

    def _filter(self, name: str, base: Node, arguments: list[Node], named: dict[str, Node]) -> object:
        value = self.value(base)
        if name == "default":
            return self.value(arguments[0]) if isinstance(value, Unknown) or value is None else value
        extra = {key: self.value(node) for key, node in named.items()}
        known = [self.value(argument) for argument in arguments]
        unknown = unknown_of(*extra.values())
        return unknown or self._apply(lambda *values: FILTERS[name](*values, **extra), value, *known)

    def _apply(self, function: Callable[..., object], *values: object) -> object:
        unknown = unknown_of(*values)
        if unknown is not None:
            return unknown
        try:
            return function(*values)
        except ODD_VALUES:
            return Unknown()
