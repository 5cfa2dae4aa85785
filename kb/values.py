"""Values of conditions: the unknown, sizes and versions, and the functions and filters over plain data. Pure.

A fact can be of any type and size, since snapshots and tables come from elsewhere. What a function cannot
work on raises one of ODD_VALUES, which gpuhelp.kb.evaluation turns into an unknown. No value grows without
bound.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from functools import total_ordering
from typing import TYPE_CHECKING, Any, TypeGuard

if TYPE_CHECKING:
    from packaging.version import Version

LONGEST_TEXT = 100_000
"""Characters of a text that values are joined to."""
_LARGEST = 1e308
_MOST_ITEMS = 100_000
_DEEPEST_SHOWN = 4
_MOST_DIGITS = 15

ODD_VALUES = (TypeError, ValueError, ArithmeticError, LookupError, AttributeError, RecursionError)
"""What a fact of an unexpected type or size can raise; the answer is then unknown, not a crash."""


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


def unknown_of(*values: object) -> Unknown | None:
    """One Unknown that carries the names of all unknown values, or None if all are known."""
    unknown = [value for value in values if isinstance(value, Unknown)]
    if not unknown:
        return None
    return Unknown(name for value in unknown for name in value.names)


def shown(value: object, depth: int = 0) -> str:
    """The value as it stands in a text; an unknown one as <its name>."""
    if isinstance(value, Unknown):
        return f"<{', '.join(sorted(value.names)) or '?'}>"
    if isinstance(value, (list, tuple)):
        return _joined(value, ", ", depth + 1) if depth < _DEEPEST_SHOWN else "…"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    try:
        return "none" if value is None else str(value)[:LONGEST_TEXT]
    except ODD_VALUES:  # too many digits, or nested without end
        return "<?>"


# sizes, numbers, versions

_SIZE = re.compile(
    r"(?P<number>\d+(?:\.\d+)?)\s*(?:(?P<prefix>[KMGT]?)(?P<binary>i?)B(?:ytes?)?)?", re.IGNORECASE
)


def parse_bytes(text: object) -> int | Unknown:
    """Bytes of a size as programs print it: '2.00 GiB', '512MiB', '20.94 GB', '150 bytes', '150', 150."""
    if is_number(text):
        return int(text) if math.isfinite(text) else Unknown()
    found = _SIZE.fullmatch(str(text).strip()) if isinstance(text, str) else None
    if not found:
        return Unknown()
    base = 1024 if found["binary"] else 1000
    size = float(found["number"]) * base ** " KMGT".index((found["prefix"] or " ").upper())
    return int(size) if math.isfinite(size) else Unknown()


def format_bytes(count: object) -> str:
    """A size for people, in binary units: 3221225472 -> '3.0 GiB'."""
    try:
        size = float(count) if is_number(count) else 0.0
    except OverflowError:
        size = math.inf
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if abs(size) < 1024:
            return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} TiB"


def is_number(value: object) -> TypeGuard[int | float]:
    """True for an int or a float; truth values are no numbers here."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _size(value: object) -> str:
    if not is_number(value):
        raise TypeError("a size is a number of bytes")
    return format_bytes(value)


@total_ordering
class _Version:
    """A version to compare: '12.4', '550.54.15', '2.6.0+cu124' (the local part does not count).

    Parsed when it is first compared: most conditions meet an unknown before that. What is no version then
    raises ValueError, and the comparison is unknown.
    """

    __slots__ = ("text",)

    def __init__(self, text: object) -> None:
        self.text = str(text).split("+")[0].strip().removeprefix("v")

    def _parsed(self) -> Version:
        from packaging.version import Version

        return Version(self.text)

    def __eq__(self, other: object) -> bool:
        return self._parsed() == (other._parsed() if isinstance(other, _Version) else other)

    def __lt__(self, other: _Version) -> bool:
        return self._parsed() < other._parsed()

    def __hash__(self) -> int:
        return hash(self._parsed())

    def __str__(self) -> str:
        return self.text


def _number(text: object) -> object:
    value = float(str(text).replace(",", ""))
    if not math.isfinite(value):
        return Unknown()
    return int(value) if value.is_integer() else value


def _rounded(value: Any, digits: Any = 0) -> object:
    places = max(0, min(int(digits), _MOST_DIGITS))
    return round(value, places) if places else round(value)


# operators


def equal(first: object, second: object) -> bool:
    """Equality of plain data; a list and a tuple of the same items are equal."""
    if isinstance(first, (list, tuple)) and isinstance(second, (list, tuple)):
        return list(first) == list(second)
    return first == second


def contains(item: object, container: Any) -> bool | Unknown:
    """`in`, with a third answer: among values nobody knows it may be."""
    if not isinstance(container, (list, tuple)):
        return item in container
    if any(not isinstance(other, Unknown) and equal(other, item) for other in container):
        return True
    return unknown_of(*container) or False


def on_numbers(operation: Callable[[Any, Any], Any]) -> Callable[[Any, Any], object]:
    """Arithmetic on numbers only. A text or list times a number would fill the memory."""

    def run(first: Any, second: Any) -> object:
        if not all(isinstance(value, (int, float)) for value in (first, second)):
            raise TypeError("numbers expected")
        result = operation(first, second)
        if not abs(result) <= _LARGEST:
            raise OverflowError
        return result

    return run


def add(first: Any, second: Any) -> object:
    """The sum of two numbers, or two texts or lists one after the other."""
    if isinstance(first, str) and isinstance(second, str):
        return (first + second)[:LONGEST_TEXT]
    if isinstance(first, (list, tuple)) and isinstance(second, (list, tuple)):
        return [*first, *second][:_MOST_ITEMS]
    return on_numbers(lambda a, b: a + b)(first, second)


# lists


def attribute_of(item: object, name: object) -> object:
    """A field of a plain mapping; dotted names go deeper. Nothing else has attributes here."""
    for part in str(name).split("."):
        if not isinstance(item, Mapping) or part not in item:
            return Unknown([part])
        item = item[part]
    return item


def _items(value: object) -> list[object]:
    """The items of a list; of none, no items: somebody looked, and there is nothing."""
    if value is None:
        return []
    if not isinstance(value, (list, tuple)):
        raise TypeError("a list expected")
    return list(value)


def _joined(items: Iterable[object], separator: str, depth: int = 0) -> str:
    text = ""
    for number, item in enumerate(items):
        text += (separator if number else "") + shown(item, depth)
        if len(text) >= LONGEST_TEXT:
            return text[:LONGEST_TEXT]
    return text


def _join(value: object, separator: object = ", ", attribute: object = None) -> str:
    items = [value] if isinstance(value, str) else _items(value)
    if attribute is not None:
        items = [attribute_of(item, attribute) for item in items]
    return _joined(items, shown(separator))


def _map(value: object, *, attribute: object) -> list[object]:
    return [attribute_of(item, attribute) for item in _items(value)]


def _select(value: object, name: object, test: object = None, wanted: object = None) -> list[object]:
    """The items whose field is true, or equal to `wanted`; an item without the field is not among them."""
    chosen = []
    for item in _items(value):
        field = attribute_of(item, name)
        if not isinstance(field, Unknown) and (equal(field, wanted) if test == "equalto" else bool(field)):
            chosen.append(item)
    return chosen


def _reject(value: object, name: object, test: object = None, wanted: object = None) -> list[object]:
    """The items that _select leaves; an item without the field is among them."""
    kept = {id(item) for item in _select(value, name, test, wanted)}
    return [item for item in _items(value) if id(item) not in kept]


def _sum(value: object, attribute: object = None) -> object:
    items = [attribute_of(item, attribute) if attribute else item for item in _items(value)]
    return unknown_of(*items) or sum(item for item in items if item is not None)  # type: ignore[misc]


def _any(value: object) -> object:
    items = _items(value)
    if any(item for item in items if not isinstance(item, Unknown)):
        return True
    return unknown_of(*items) or False


def _all(value: object) -> object:
    items = _items(value)
    if not all(item for item in items if not isinstance(item, Unknown)):
        return False
    return unknown_of(*items) or True


def _extreme(choose: Callable[[list[Any]], object]) -> Callable[..., object]:
    def run(first: object, *others: object) -> object:
        items = [first, *others] if others else _items(first)
        return unknown_of(*items) or choose(items)

    return run


def _words(text: object) -> list[str]:
    return [] if text is None else shown(text).split()


def _basename(path: object) -> str:
    if not isinstance(path, str):
        raise TypeError("a path is a text")
    return re.split(r"[\\/]", path)[-1]


FUNCTIONS: dict[str, Callable[..., object]] = {
    "all": _all,
    "any": _any,
    "basename": _basename,
    "bytes": parse_bytes,
    "max": _extreme(max),
    "min": _extreme(min),
    "number": _number,
    "version": _Version,
    "words": _words,
}
"""Functions that need nothing but their arguments."""

TABLE_FUNCTIONS = frozenset(
    {
        "torch_index", "wheel_archs", "minimum_driver", "compute_capability_of", "arch_runs_on",
        "cuda_api_of_driver", "driver_runs", "code_meaning", "code_name",
        "fits_torch", "companion_release", "wheel_cxx11_abi",
    }
)  # fmt: skip
"""Functions the caller brings: look-ups in kb/tables. None from one means that the table does not say."""


def _default(value: object, other: object) -> object:
    return value


FILTERS: dict[str, Callable[..., object]] = {
    "default": _default,
    "first": lambda value: (_items(value) or [Unknown()])[0],
    "join": _join,
    "last": lambda value: (_items(value) or [Unknown()])[-1],
    "length": lambda value: len(value),
    "lower": lambda value: shown(value).lower(),
    "map": _map,
    "rejectattr": _reject,
    "round": _rounded,
    "selectattr": _select,
    "size": _size,
    "sum": _sum,
    "upper": lambda value: shown(value).upper(),
}

TESTS = frozenset({"known", "none"})
