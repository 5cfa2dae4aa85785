"""Tables whose rows are patterns or conditions are made ready when the store is built. Pure."""

from __future__ import annotations

from typing import Any

from gpuhelp.kb import regexes
from gpuhelp.kb.entry import Record
from gpuhelp.kb.expressions import ExpressionError, parse_expression
from gpuhelp.kb.problems import Problem
from gpuhelp.kb.yaml_source import Document, Path

PATTERN_TABLES = {
    "advice": "advice",
    "captures": "captures",
    "failure_signs": "signs",
    "root_pointers": "pointers",
    "speakers": "speakers",
    "survivals": "signs",
}
"""Tables whose rows are patterns, and the key under which the rows stand."""


def ready_table(stem: str, document: Document, problems: list[Problem]) -> Any:
    """A table's data; rows that are patterns are made ready for the scan, conditions are parsed."""
    problems += document.problems
    key = "checks" if stem == "checks" else PATTERN_TABLES.get(stem)
    if key is None or document.problems:
        return document.data
    rows = document.data.get(key) if isinstance(document.data, dict) else None
    if not isinstance(rows, list):
        problems.append(document.problem((key,), "holds no list of rows", f"write them below `{key}:`"))
        return []
    ready = _check_row if stem == "checks" else _ready_row
    return [ready(row, document, (key, index), problems) for index, row in enumerate(rows)]


def _ready_row(row: Any, document: Document, where: Path, problems: list[Problem]) -> Record:
    if not isinstance(row, dict) or not any(isinstance(row.get(kind), str) for kind in ("text", "regex")):
        problems.append(document.problem(where, "has neither text nor regex", "give it one of them"))
        return {}
    if "text" in row:
        literal = regexes.squash(row["text"])
        return {**_kept(row), "literal": literal, "anchors": [literal]}
    try:
        ready = regexes.ready(row["regex"], case=row.get("case", False))
        return {**_kept(row), "regex": ready, "anchors": list(regexes.anchors(row["regex"]))}
    except regexes.RegexError as error:
        hint = "RE2 syntax: no look-around, no back-references"
        problems.append(document.problem((*where, "regex"), str(error), hint))
        return {}


def _check_row(row: Any, document: Document, where: Path, problems: list[Problem]) -> Record:
    try:
        return {**row, "when": parse_expression(row["when"])}
    except ExpressionError as error:
        problems.append(document.problem((*where, "when"), str(error), "see the conditions of entries"))
    except (TypeError, KeyError):
        problems.append(document.problem(where, "has no condition", "add `when:`"))
    return {}


def _kept(row: Record) -> Record:
    kept = ("name", "near", "weak", "kind", "program", "look", "waits")
    return {key: row[key] for key in kept if key in row}
