"""The value of a parsed condition or text, with a third truth value. Pure; used by matching and reasoning.

Kleene's logic: `unknown or true` is true, `unknown and false` is false, everything else that touches an
unknown stays unknown and remembers which names would decide it. "Could not look" is never "no".
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

Node = Any
"""A nested list as made by gpuhelp.kb.expressions: [kind, parts...]."""
Lookup = Callable[[str], object]
"""Gives the value of a name, or an Unknown that carries the name."""
Functions = Mapping[str, Callable[..., object]]

_LONGEST_TEXT = 100_000


class Unknown:
    """A value nobody knows; `names` are the facts or captured values that would decide it."""

    __slots__ = ("names",)

    def __init__(self, names: Iterable[str] = ()) -> None:
        self.names = frozenset(names)

    def __repr__(self) -> str:
        return f"Unknown({', '.join(sorted(self.names))})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Unknown) and other.names == self.names

    def __hash__(self) -> int:
        return hash(self.names)


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


def parse_bytes(text: object) -> int | Unknown:
    """Bytes of a size as programs print it: '2.00 GiB', '512MiB', '20.94 GB', '150 bytes', 150."""
    if isinstance(text, (int, float)) and not isinstance(text, bool):
        return int(text)
    found = _SIZE.fullmatch(str(text).strip())
    if not found:
        return Unknown()
    prefix, binary = found["prefix"].upper(), found["binary"]
    base = 1024 if binary else 1000
    return int(float(found["number"]) * base ** " KMGT".index(prefix or " "))


def format_bytes(count: object) -> str:
    """A size for people, in binary units: 3221225472 -> '3.0 GiB'."""
    size = float(count) if isinstance(count, (int, float)) else 0.0
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if abs(size) < 1024:
            return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} TiB"


_SIZE = re.compile(r"(?P<number>\d+(?:\.\d+)?)\s*(?:(?P<prefix>[KMGT]?)(?P<binary>i?)B(?:ytes?)?|bytes?)?", re.I)


def _truth(value: object) -> bool | Unknown:
    return value if isinstance(value, Unknown) else bool(value)


def _unknown_of(*values: object) -> Unknown | None:
    """One Unknown that carries the names of all unknown values, or None if all are known."""
    unknown = [value for value in values if isinstance(value, Unknown)]
    if not unknown:
        return None
    return Unknown(name for value in unknown for name in value.names)


def _version(text: object) -> object:
    """A version to compare: '12.4', '550.54.15', '2.6.0+cu124' (the local part does not count)."""
    from packaging.version import InvalidVersion, Version

    try:
        return Version(str(text).split("+")[0].strip().removeprefix("v"))
    except InvalidVersion:
        return Unknown()


def _number(text: object) -> object:
    try:
        value = float(str(text).replace(",", ""))
    except ValueError:
        return Unknown()
    return int(value) if value.is_integer() else value


def _attribute(item: object, name: object) -> object:
    """A field of a plain mapping; dotted names go deeper. Nothing else has attributes here."""
    for part in str(name).split("."):
        if not isinstance(item, Mapping) or part not in item:
            return Unknown([part])
        item = item[part]
    return item


def _items(value: object) -> list[object]:
    return list(value) if isinstance(value, (list, tuple)) else []


def _select(value: object, name: object, test: object = None, wanted: object = None) -> list[object]:
    chosen = []
    for item in _items(value):
        field = _attribute(item, name)
        if isinstance(field, Unknown):
            continue
        if (field == wanted) if test == "equalto" else bool(field):
            chosen.append(item)
    return chosen


def _join(value: object, separator: object = ", ", attribute: object = None) -> str:
    items = _items(value) if not isinstance(value, str) else [value]
    if attribute is not None:
        items = [_attribute(item, attribute) for item in items]
    return str(separator).join(_shown(item) for item in items)[:_LONGEST_TEXT]


def _map(value: object, attribute: object = None) -> list[object]:
    return [_attribute(item, attribute) for item in _items(value)]


def _reject(value: object, name: object, test: object = None, wanted: object = None) -> list[object]:
    kept = _select(value, name, test, wanted)
    return [item for item in _items(value) if item not in kept]


def _sum(value: object, attribute: object = None) -> object:
    numbers = [_attribute(item, attribute) if attribute else item for item in _items(value)]
    return _unknown_of(*numbers) or sum(n for n in numbers if isinstance(n, (int, float)))


FUNCTIONS: dict[str, Callable[..., object]] = {
    "all": lambda value: all(_items(value)),
    "any": lambda value: any(_items(value)),
    "basename": lambda path: re.split(r"[\\/]", str(path))[-1],
    "bytes": parse_bytes,
    "max": lambda *values: max(_items(values[0]) if len(values) == 1 else values),
    "min": lambda *values: min(_items(values[0]) if len(values) == 1 else values),
    "number": _number,
    "version": _version,
    "words": lambda text: str(text).split(),
}
"""Functions that need nothing but their arguments."""

TABLE_FUNCTIONS = frozenset(
    {"torch_index", "wheel_archs", "minimum_driver", "compute_capability_of", "arch_runs_on", "cuda_api_of_driver", "driver_runs"}
)
"""Functions the caller brings: look-ups in kb/tables. None from one means that the table does not say."""

FILTERS: dict[str, Callable[..., object]] = {
    "default": lambda value, other: value,
    "first": lambda value: (_items(value) or [Unknown()])[0],
    "join": _join,
    "last": lambda value: (_items(value) or [Unknown()])[-1],
    "length": lambda value: len(value),
    "lower": lambda value: str(value).lower(),
    "map": _map,
    "rejectattr": _reject,
    "round": lambda value, digits=0: round(value, digits) if digits else round(value),
    "selectattr": _select,
    "size": format_bytes,
    "sum": _sum,
    "upper": lambda value: str(value).upper(),
}

TESTS = frozenset({"known", "none"})

_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "in": lambda a, b: a in b,
    "not in": lambda a, b: a not in b,
}
_MATH: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "%": operator.mod,
}
_ODD_VALUES = (TypeError, ValueError, ArithmeticError, KeyError, IndexError, AttributeError)
"""What a fact of an unexpected type or size can raise; the answer is then unknown, not a crash."""


def _shown(value: object) -> str:
    if isinstance(value, Unknown):
        return f"<{', '.join(sorted(value.names)) or '?'}>"
    if isinstance(value, (list, tuple)):
        return _join(value)
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return "none" if value is None else str(value)


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
                parts.append(_shown(value))
            else:
                chosen = rest[1] if _truth(self.value(rest[0])) is True else rest[2]
                parts.append(self.text(chosen))
        return "".join(parts)

    def _const(self, value: object) -> object:
        return value

    def _name(self, name: str) -> object:
        return self.lookup(name)

    def _attr(self, base: Node, name: str) -> object:
        owner = self.value(base)
        label = base[1] if base[0] == "name" else "item"
        if isinstance(owner, Unknown):
            return Unknown([f"{label}.{name}"])
        found = _attribute(owner, name)
        return Unknown([f"{label}.{name}"]) if isinstance(found, Unknown) else found

    def _item(self, base: Node, index: Node) -> object:
        return self._apply(lambda items, key: items[key], self.value(base), self.value(index))

    def _list(self, items: list[Node]) -> object:
        values = [self.value(item) for item in items]
        return _unknown_of(*values) or values

    def _join(self, items: list[Node]) -> object:
        values = [self.value(item) for item in items]
        return _unknown_of(*values) or "".join(_shown(value) for value in values)[:_LONGEST_TEXT]

    def _not(self, operand: Node) -> object:
        value = _truth(self.value(operand))
        return value if isinstance(value, Unknown) else not value

    def _and(self, left: Node, right: Node) -> object:
        first, second = _truth(self.value(left)), _truth(self.value(right))
        if first is False or second is False:
            return False
        return _unknown_of(first, second) or True

    def _or(self, left: Node, right: Node) -> object:
        first, second = _truth(self.value(left)), _truth(self.value(right))
        if first is True or second is True:
            return True
        return _unknown_of(first, second) or False

    def _cmp(self, left: Node, pairs: list[list[Any]]) -> object:
        outcome: bool | Unknown = True
        current = self.value(left)
        for sign, node in pairs:
            following = self.value(node)
            step = _truth(self._apply(_COMPARE[sign], current, following))
            if step is False or outcome is False:
                outcome = False
            else:
                outcome = _unknown_of(outcome, step) or True
            current = following
        return outcome

    def _math(self, sign: str, left: Node, right: Node) -> object:
        a, b = self.value(left), self.value(right)
        if sign != "+" and (isinstance(a, (str, list)) or isinstance(b, (str, list))):
            return Unknown()
        return self._apply(_MATH[sign], a, b)

    def _neg(self, operand: Node) -> object:
        return self._apply(operator.neg, self.value(operand))

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
        if name == "default" and (isinstance(value, Unknown) or value is None):
            return self.value(arguments[0])
        extra = {key: self.value(node) for key, node in named.items()}
        known = [self.value(argument) for argument in arguments]
        return self._apply(lambda *values: FILTERS[name](*values, **extra), value, *known)

    def _apply(self, function: Callable[..., object], *values: object) -> object:
        unknown = _unknown_of(*values)
        if unknown is not None:
            return unknown
        try:
            return function(*values)
        except _ODD_VALUES:
            return Unknown()
