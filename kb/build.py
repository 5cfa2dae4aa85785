"""Compiles all files of a knowledge base into the sections of a store. Runs only when the cache has none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import PurePath, PurePosixPath
from typing import Any

from gpuhelp.kb import regexes
from gpuhelp.kb.compile import Messages, compile_entry
from gpuhelp.kb.entry import Record
from gpuhelp.kb.expressions import ExpressionError, parse_expression
from gpuhelp.kb.files import SourceFile
from gpuhelp.kb.load import sections_of
from gpuhelp.kb.problems import KnowledgeError, Problem
from gpuhelp.kb.scan_plan import scan_plan
from gpuhelp.kb.yaml_source import Document, Path, read_document

_KOREAN = ".ko"
PATTERN_TABLES = {
    "advice": "advice",
    "captures": "captures",
    "failure_signs": "signs",
    "root_pointers": "pointers",
    "speakers": "speakers",
    "survivals": "signs",
}
"""Tables whose rows are patterns, and the key under which the rows stand."""
Place = tuple[bool, PurePath]
"""Where a file lies: whether it is shipped, and its path. A person's folder may repeat our names."""


def build_sections(files: Iterable[SourceFile]) -> dict[str, Any]:
    """Every section of the store. Raises KnowledgeError with all faults of all files."""
    documents = [(file, _document(file)) for file in files if file.name.endswith(".yaml")]
    problems: list[Problem] = []
    tables = {
        PurePosixPath(file.name).stem: document
        for file, document in documents
        if file.name.startswith("tables/")
    }
    sections = {f"table/{stem}": _table(stem, document, problems) for stem, document in tables.items()}
    messages: Messages = sections.get("table/messages") or {}
    entries = {
        (file.shipped, PurePath(file.path)): document
        for file, document in documents
        if file.name.startswith("entries/")
    }
    records = _records(entries, messages, problems)
    if problems:
        raise KnowledgeError(tuple(sorted(set(problems))))
    signs = (*_rows(tables, "failure_signs", "signs"), *_rows(tables, "root_pointers", "pointers"))
    speakers = _rows(tables, "speakers", "speakers")
    plan = scan_plan(records, signs, speakers, _rows(tables, "common_words", "words"))
    return {**sections_of(records), **sections, "scan": plan}


def _rows(tables: Mapping[str, Document], stem: str, key: str) -> list[Any]:
    """The rows of a table as written."""
    return list(tables[stem].data[key]) if stem in tables else []


def _document(file: SourceFile) -> Document:
    try:
        text = file.content.decode("utf-8")
    except UnicodeDecodeError as error:
        fault = Problem(file.path, 0, 0, "", f"not UTF-8 text: {error.reason}", "save it as UTF-8")
        return Document(file.path, None, {}, (fault,))
    return read_document(text, file.path)


def _records(entries: dict[Place, Document], messages: Messages, problems: list[Problem]) -> list[Record]:
    records: dict[str, Record] = {}
    origins: dict[str, str] = {}
    for (shipped, path), document in entries.items():
        if path.stem.endswith(_KOREAN):
            problems += _lonely(path, document, (shipped, _beside(path, "")) in entries)
            continue
        korean = entries.get((shipped, _beside(path, _KOREAN)))
        record, faults = compile_entry(document, korean, path.parent.name, messages)
        problems += faults
        problems += _faults_of_id(document, path.stem, origins)
        origins.setdefault(path.stem, document.path)
        if record is not None:
            records[record["id"]] = record
    return [records[entry_id] for entry_id in sorted(records)]


def _beside(path: PurePath, language: str) -> PurePath:
    """The entry's file in that language ("" for the entry itself)."""
    return path.with_name(f"{path.stem.removesuffix(_KOREAN)}{language}.yaml")


def _lonely(path: PurePath, document: Document, has_entry: bool) -> list[Problem]:
    if has_entry:
        return []
    message = f"there is no {_beside(path, '').name} beside it"
    return [*document.problems, document.problem((), message, "a translation needs its entry")]


def _faults_of_id(document: Document, stem: str, origins: dict[str, str]) -> list[Problem]:
    found = document.data.get("id") if isinstance(document.data, dict) else None
    if isinstance(found, str) and found != stem:
        return [document.problem(("id",), f"is {found!r}, the file is {stem!r}", "make them equal")]
    if stem in origins:
        message = f"{stem!r} exists already in {origins[stem]}"
        return [document.problem(("id",), message, "choose another id")]
    return []


def _table(stem: str, document: Document, problems: list[Problem]) -> Any:
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
