"""Compiles all files of a knowledge base into the sections of a store. Runs only when the cache has none."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Any

from gpuhelp.kb import regexes
from gpuhelp.kb.compile import Messages, compile_entry
from gpuhelp.kb.entry import Record
from gpuhelp.kb.expressions import ExpressionError, parse_expression
from gpuhelp.kb.files import SourceFile
from gpuhelp.kb.load import sections_of
from gpuhelp.kb.problems import KnowledgeError, Problem
from gpuhelp.kb.yaml_source import Document, read_document

_KOREAN = ".ko"
PATTERN_TABLES = {"advice": "advice", "captures": "captures", "failure_signs": "signs"}
"""Tables whose rows are patterns, and the key under which the rows stand."""


def build_sections(files: Iterable[SourceFile]) -> dict[str, Any]:
    """Every section of the store. Raises KnowledgeError with all faults of all files."""
    documents = {file.name: _document(file) for file in files if file.name.endswith(".yaml")}
    problems: list[Problem] = []
    tables = {
        PurePosixPath(name).stem: document
        for name, document in documents.items()
        if name.startswith("tables/")
    }
    sections = {f"table/{stem}": _table(stem, document, problems) for stem, document in tables.items()}
    messages: Messages = sections.get("table/messages") or {}
    entries = {name: d for name, d in documents.items() if name.startswith("entries/")}
    records = _records(entries, messages, problems)
    if problems:
        raise KnowledgeError(tuple(sorted(set(problems))))
    return {**sections_of(records), **sections}


def _document(file: SourceFile) -> Document:
    try:
        text = file.content.decode("utf-8")
    except UnicodeDecodeError as error:
        fault = Problem(file.path, 0, 0, "", f"not UTF-8 text: {error.reason}", "save it as UTF-8")
        return Document(file.path, None, {}, (fault,))
    return read_document(text, file.path)


def _records(entries: dict[str, Document], messages: Messages, problems: list[Problem]) -> list[Record]:
    records: dict[str, Record] = {}
    for name, document in entries.items():
        path = PurePosixPath(name)
        if path.stem.endswith(_KOREAN):
            _check_has_entry(path, document, entries, problems)
            continue
        korean = entries.get(str(path.with_name(f"{path.stem}{_KOREAN}.yaml")))
        record, faults = compile_entry(document, korean, path.parent.name, messages)
        problems += faults
        if record is not None:
            problems += _check_id(record, path.stem, document, records)
            records[record["id"]] = record
    return [records[entry_id] for entry_id in sorted(records)]


def _check_has_entry(
    path: PurePosixPath, document: Document, entries: dict[str, Document], problems: list[Problem]
) -> None:
    english = path.with_name(path.stem.removesuffix(_KOREAN) + ".yaml")
    if str(english) not in entries:
        problems.append(document.problem((), f"there is no {english.name} beside it", "a translation needs its entry"))


def _check_id(record: Record, stem: str, document: Document, others: dict[str, Record]) -> list[Problem]:
    if record["id"] != stem:
        return [document.problem(("id",), f"is {record['id']!r}, the file is {stem!r}", "make them equal")]
    if stem in others:
        return [document.problem(("id",), f"{stem!r} exists already in {others[stem]['origin']}", "choose another id")]
    return []


def _table(stem: str, document: Document, problems: list[Problem]) -> Any:
    """A table's data; rows that are patterns are made ready for the scan."""
    problems += document.problems
    if stem == "checks" and isinstance(document.data, dict):
        return [_check_row(row, document, ("checks", i), problems) for i, row in enumerate(document.data["checks"])]
    if stem not in PATTERN_TABLES or not isinstance(document.data, dict):
        return document.data
    key = PATTERN_TABLES[stem]
    rows = document.data.get(key, [])
    return [_ready_row(row, document, (key, index), problems) for index, row in enumerate(rows)]


def _ready_row(row: Record, document: Document, where: tuple[str | int, ...], problems: list[Problem]) -> Record:
    if "text" in row:
        literal = regexes.squash(row["text"])
        return {**_kept(row), "literal": literal, "anchors": [literal]}
    try:
        ready = regexes.ready(row["regex"], case=row.get("case", False))
        return {**_kept(row), "regex": ready, "anchors": list(regexes.anchors(row["regex"]))}
    except regexes.RegexError as error:
        problems.append(document.problem(where, str(error)))
        return {}


def _check_row(row: Record, document: Document, where: tuple[str | int, ...], problems: list[Problem]) -> Record:
    try:
        return {**row, "when": parse_expression(row["when"])}
    except ExpressionError as error:
        problems.append(document.problem((*where, "when"), str(error)))
        return row


def _kept(row: Record) -> Record:
    return {key: row[key] for key in ("name", "near", "weak") if key in row}
