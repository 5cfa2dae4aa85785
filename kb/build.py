"""Compiles all files of a knowledge base into the sections of a store. Runs only when the cache has none.

A fault of ours stops everything; an entry that a person or a package brought is skipped, and says why.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePath, PurePosixPath
from typing import Any, NamedTuple

from gpuhelp.kb import merging
from gpuhelp.kb.compile import CodeTables, Messages, compile_entry
from gpuhelp.kb.entry import Record
from gpuhelp.kb.files import SourceFile, content_key
from gpuhelp.kb.load import record_of, sections_of
from gpuhelp.kb.problems import KnowledgeError, Problem
from gpuhelp.kb.scan_plan import rarest_first, rows_of_entry, scan_plan
from gpuhelp.kb.store import BrokenStore, Store
from gpuhelp.kb.table_rows import ready_table
from gpuhelp.kb.yaml_source import Document, read_document

_KOREAN = ".ko"
_ONLY_LARGE_TEXTS = "common_words"
"""The table that decides what is looked for in large texts, not what an entry means."""


class _Files(NamedTuple):
    """The file of one entry and its translation; one of them may be absent."""

    english: SourceFile | None
    korean: SourceFile | None


@dataclass(frozen=True, slots=True)
class _Shared:
    """What every entry is compiled with. `key` changes when any of it, or the compiler, does."""

    key: str
    messages: Messages
    code_tables: CodeTables
    common_words: tuple[str, ...]


def build_sections(files: Iterable[SourceFile], former: Store | None = None) -> dict[str, Any]:
    """Every section of the store. Raises KnowledgeError with all faults of the shipped files.

    Entries whose files are as they were come out of a `former` store: compiling one takes 30 ms.
    """
    files = tuple(files)
    problems: list[Problem] = []
    written = {
        PurePosixPath(file.name).stem: _document(file) for file in files if file.name.startswith("tables/")
    }
    tables = {f"table/{stem}": ready_table(stem, document, problems) for stem, document in written.items()}
    skipped: list[Problem] = []
    records = _records(files, _shared(files, written), _Former(former), problems, skipped)
    if problems:
        raise KnowledgeError(tuple(sorted(set(problems))))
    signs = (*_rows(written, "failure_signs", "signs"), *_rows(written, "root_pointers", "pointers"))
    plan = scan_plan(records, signs, _rows(written, "speakers", "speakers"), _common_words(written))
    return {
        **sections_of(records),
        **tables,
        "scan": plan,
        "keys": {record["key"]: record["id"] for record in records if "key" in record},
        "skipped": [list(problem) for problem in sorted(set(skipped))],
    }


class _Former:
    """The entries of an earlier store by what they were made of."""

    def __init__(self, store: Store | None) -> None:
        self._store = store
        try:
            self._ids: dict[str, str] = store.read("keys") if store else {}
        except (KeyError, BrokenStore):
            self._ids = {}

    def get(self, key: str) -> Record | None:
        if self._store is None or key not in self._ids:
            return None
        try:
            return record_of(self._ids[key], self._store)
        except (KeyError, BrokenStore):
            return None


def _shared(files: tuple[SourceFile, ...], written: Mapping[str, Document]) -> _Shared:
    shared = [file for file in files if not file.name.startswith("entries/")]
    plain = {stem: document.data for stem, document in written.items()}
    return _Shared(
        key=content_key(shared),
        messages=plain.get("messages") or {},
        code_tables={stem: data for stem, data in plain.items() if isinstance(data, dict)},
        common_words=_common_words(written),
    )


def _common_words(written: Mapping[str, Document]) -> tuple[str, ...]:
    return tuple(map(str, _rows(written, _ONLY_LARGE_TEXTS, "words")))


def _rows(written: Mapping[str, Document], stem: str, key: str) -> list[Any]:
    """The rows of a table as written."""
    return list(written[stem].data[key]) if stem in written else []


def _document(file: SourceFile) -> Document:
    if file.fault:
        return Document(file.path, None, {}, (file.fault,))
    try:
        text = file.content.decode("utf-8")
    except UnicodeDecodeError as error:
        fault = Problem(file.path, 0, 0, "", f"not UTF-8 text: {error.reason}", "save it as UTF-8")
        return Document(file.path, None, {}, (fault,))
    return read_document(text, file.path)


def _records(
    files: tuple[SourceFile, ...],
    shared: _Shared,
    former: _Former,
    problems: list[Problem],
    skipped: list[Problem],
) -> list[Record]:
    records: dict[str, Record] = {}
    for (source, _), pair in _entries(files).items():
        record, faults = _record(pair, shared, former)
        clash = merging.add(record, records) if record is not None and not faults else None
        if clash is not None and pair.english is not None:
            faults = (_document(pair.english).problem((clash.key,), clash.message, clash.hint),)
        (skipped if source else problems).extend(faults)
    return [records[entry_id] for entry_id in sorted(records)]


def _entries(files: tuple[SourceFile, ...]) -> dict[tuple[str, str], _Files]:
    """The files of each entry by who brought it and where it lies: a person's folder may repeat our names."""
    found: dict[tuple[str, str], _Files] = {}
    for file in files:
        if not file.name.startswith("entries/"):
            continue
        path = PurePath(file.path)
        is_korean = path.stem.endswith(_KOREAN)
        key = (file.source, str(path.with_name(path.stem.removesuffix(_KOREAN))))
        before = found.get(key, _Files(None, None))
        found[key] = before._replace(**{"korean" if is_korean else "english": file})
    return found


def _record(pair: _Files, shared: _Shared, former: _Former) -> tuple[Record | None, tuple[Problem, ...]]:
    """The compiled entry, the former one where its files are as they were; or its faults."""
    if pair.english is None:
        return None, _lonely(pair)
    key = content_key([file for file in pair if file is not None]) + shared.key
    record = former.get(key)
    if record is not None:
        return record, ()
    document = _document(pair.english)
    korean = _document(pair.korean) if pair.korean else None
    path = PurePath(pair.english.path)
    record, faults = compile_entry(document, korean, path.parent.name, shared.messages, shared.code_tables)
    faults = (*faults, *_faults_of_id(document, path.stem))
    if record is None or faults:
        return None, faults
    record["source"] = pair.english.source
    record["patterns"] = [rarest_first(pattern, shared.common_words) for pattern in record["patterns"]]
    record["scan"] = rows_of_entry(record["scan"], shared.common_words)
    record["key"] = key
    return record, ()


def _lonely(pair: _Files) -> tuple[Problem, ...]:
    """The faults of a translation without its entry."""
    assert pair.korean is not None
    document = _document(pair.korean)
    entry = PurePath(pair.korean.path).name.replace(f"{_KOREAN}.yaml", ".yaml")
    message = f"there is no {entry} beside it"
    return (*document.problems, document.problem((), message, "a translation needs its entry"))


def _faults_of_id(document: Document, stem: str) -> tuple[Problem, ...]:
    found = document.data.get("id") if isinstance(document.data, dict) else None
    if isinstance(found, str) and found != stem:
        return (document.problem(("id",), f"is {found!r}, the file is {stem!r}", "make them equal"),)
    return ()
