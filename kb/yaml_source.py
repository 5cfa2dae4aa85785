"""YAML read strictly: safe types, no key twice, bounded size, and the place of every key. Used by the loader."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gpuhelp.kb.problems import Problem

Path = tuple[str | int, ...]
"""Where a value stands in the document: ("causes", 0, "weight")."""
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

    places: dict[Path, Place] = {}
    problems: list[Problem] = []
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(text)
    try:
        node = loader.get_single_node()
        reader = _Reader(loader, path, places, problems)
        data = reader.read(node, ()) if node is not None else None
    except (yaml.YAMLError, RecursionError) as error:
        return Document(path, None, {}, (_yaml_problem(error, path),))
    finally:
        loader.dispose()
    return Document(path, data, places, tuple(problems))


def _yaml_problem(error: Exception, path: str) -> Problem:
    mark = getattr(error, "problem_mark", None)
    line, column = (mark.line + 1, mark.column + 1) if mark else (0, 0)
    what = getattr(error, "problem", None) or str(error).splitlines()[0] or "nested too deeply"
    return Problem(path, line, column, "", f"not YAML: {what}", "quote values that hold ': ', '#' or '{'")


_TOO_MANY = f"more than {_MOST_VALUES} values"


class _Reader:
    """Builds plain data from YAML nodes and notes where each value stood."""

    def __init__(
        self, loader: Any, path: str, places: dict[Path, Place], problems: list[Problem]
    ) -> None:
        self.loader, self.path = loader, path
        self.places, self.problems = places, problems

    def read(self, node: Any, where: Path) -> Any:
        if len(self.places) > _MOST_VALUES:
            if not any(problem.message == _TOO_MANY for problem in self.problems):
                self._complain(node, (), _TOO_MANY, "check its aliases")
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
            key = str(key_node.value) if key_node.id == "scalar" else "?"
            if key in data:
                self._complain(key_node, (*where, key), f"key {key!r} is given twice", "keep one of them")
                continue
            data[key] = self.read(value_node, (*where, key))
            self.places[(*where, key)] = (key_node.start_mark.line + 1, key_node.start_mark.column + 1)
        return data

    def _scalar(self, node: Any, where: Path) -> Any:
        value = self.loader.construct_object(node)
        if isinstance(value, (str, int, float, bool, type(None))):
            return value
        self._complain(node, where, f"{node.value!r} is read as {type(value).__name__}", "quote it")
        return str(node.value)

    def _complain(self, node: Any, where: Path, message: str, hint: str) -> None:
        mark = node.start_mark
        self.problems.append(Problem(self.path, mark.line + 1, mark.column + 1, spell(where), message, hint))
