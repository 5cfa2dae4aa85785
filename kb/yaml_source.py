"""YAML read strictly: safe types, no key twice, bounded size, the place of every key. Used by the loader."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gpuhelp.kb.problems import Problem

Path = tuple[str | int, ...]
"""Where a value stands in the document: ("causes", 0, "weight")."""
_LONGEST = 2_000_000
"""Characters of a file; the largest table has a fiftieth of that."""
_DEEPEST = 40
_MOST_VALUES = 20_000
"""An entry has a few hundred values; an alias that doubles itself would have no end."""
Place = tuple[int, int]
"""Line and column, counted from 1."""


@dataclass(frozen=True, slots=True)
class Document:
    """Plain data of one file, with the place of each value and the faults of its notation."""

    path: str
    data: Any
    places: dict[Path, Place]
    problems: tuple[Problem, ...]

    def problem(self, where: Path, message: str, hint: str = "") -> Problem:
        """A problem at the nearest known place of `where`."""
        line, column = self._place(where)
        return Problem(self.path, line, column, spell(where), message, hint)

    def _place(self, where: Path) -> Place:
        while where and where not in self.places:
            where = where[:-1]
        return self.places.get(where, (0, 0))


def spell(where: Path) -> str:
    """A path as people write it: causes[0].weight."""
    text = ""
    for part in where:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text


def read_document(text: str, path: str) -> Document:
    """The document of a YAML text. Never raises for bad YAML: the fault is in `problems`, the data None."""
    import yaml

    if len(text) > _LONGEST:
        fault = Problem(path, 0, 0, "", f"longer than {_LONGEST} characters", "split it")
        return Document(path, None, {}, (fault,))
    places: dict[Path, Place] = {}
    problems: list[Problem] = []
    try:
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(text)
        node = loader.get_single_node()
        reader = _Reader(loader, path, places, problems)
        data = reader.read(node, ()) if node is not None else None
    except (yaml.YAMLError, UnicodeError, RecursionError) as error:
        return Document(path, None, {}, (_yaml_problem(error, path),))
    return Document(path, data, places, tuple(problems))


def _yaml_problem(error: Exception, path: str) -> Problem:
    mark = getattr(error, "problem_mark", None)
    line, column = (mark.line + 1, mark.column + 1) if mark else (0, 0)
    what = getattr(error, "problem", None) or str(error).splitlines()[0]
    if isinstance(error, RecursionError):
        what = "nested too deeply"
    hint = next((hint for part, hint in _HINTS.items() if part in what), _QUOTE)
    return Problem(path, line, column, "", f"not YAML: {what}", hint)


_QUOTE = "quote values that hold ': ', '#' or '{'"
_HINTS = {
    "cannot start any token": "indent with spaces, not tabs; quote values that begin with %, @ or `",
    "another document": "one entry a file; remove the line ---",
    "nest": "write it with fewer levels",
    "recursion": "write it with fewer levels",
    "tag": "tags such as !!python are not read; write plain text",
    "control characters": "remove characters that cannot be seen",
    "special characters": "remove characters that cannot be seen",
    "alias": "quote values that begin with *",
}
"""What would be right, by a part of the parser's message."""

_TOO_MANY = f"more than {_MOST_VALUES} values"
_TOO_DEEP = f"nested deeper than {_DEEPEST} levels"


class _Reader:
    """Builds plain data from YAML nodes and notes where each value stood."""

    def __init__(self, loader: Any, path: str, places: dict[Path, Place], problems: list[Problem]) -> None:
        self.loader, self.path = loader, path
        self.places, self.problems = places, problems

    def read(self, node: Any, where: Path) -> Any:
        if len(self.places) > _MOST_VALUES or len(where) > _DEEPEST:
            self._refuse(node, _TOO_DEEP if len(where) > _DEEPEST else _TOO_MANY)
            return None
        self.places[where] = (node.start_mark.line + 1, node.start_mark.column + 1)
        if node.id == "mapping":
            return self._mapping(node, where)
        if node.id == "sequence":
            return [self.read(item, (*where, index)) for index, item in enumerate(node.value)]
        return self._scalar(node, where)

    def _mapping(self, node: Any, where: Path) -> dict[str, Any]:
        data: dict[str, Any] = {}
        for key_node, value_node in node.value:
            if key_node.id != "scalar":
                self._complain(key_node, where, "a key is not a word", "quote values that begin with ?")
                continue
            key = str(key_node.value)
            if key in data:
                self._complain(key_node, (*where, key), f"key {key!r} is given twice", "keep one of them")
                continue
            place: Path = (*where, key)
            data[key] = self.read(value_node, place)
            self.places[place] = (key_node.start_mark.line + 1, key_node.start_mark.column + 1)
        return data

    def _scalar(self, node: Any, where: Path) -> Any:
        try:
            value = self.loader.construct_object(node)
        except (ValueError, LookupError, AttributeError):  # 2024-99-99, 0b_, !!int x, a number of 5000 digits
            self._complain(node, where, f"{node.value[:40]!r} is no value of its kind", "quote it")
            return str(node.value)
        if isinstance(value, (str, int, float, bool, type(None))):
            return value
        self._complain(node, where, f"{node.value[:40]!r} is read as {type(value).__name__}", "quote it")
        return str(node.value)

    def _refuse(self, node: Any, message: str) -> None:
        if not any(problem.message == message for problem in self.problems):
            self._complain(node, (), message, "write it out, without aliases")

    def _complain(self, node: Any, where: Path, message: str, hint: str) -> None:
        mark = node.start_mark
        self.problems.append(Problem(self.path, mark.line + 1, mark.column + 1, spell(where), message, hint))
