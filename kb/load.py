"""Finds entries and tables, compiles or takes them from the cache, and hands out what we know.

`load()` is the only door: it gives a KnowledgeBase or raises KnowledgeError with every fault.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from gpuhelp.kb.entry import Entry, Record, Signature, entry_from, signature_from
from gpuhelp.kb.files import (
    COMPILED,
    Folder,
    FoundFile,
    SourceFile,
    content_key,
    find_files,
    fingerprint,
    read_files,
    settled,
)
from gpuhelp.kb.origins import fault_of, further_folders
from gpuhelp.kb.problems import Problem
from gpuhelp.kb.store import BrokenStore, Store, pack, read_cached, read_regular, unpack, write_cached

_SIGNATURE_KEYS = ("id", "layer", "patterns", "unless", "refines", "leads_to", "fallback", "reports")


class KnowledgeBase:
    """All entries and tables, read as they are asked for. `cache_dir` keeps compiled data, if it is kept."""

    def __init__(
        self,
        store: Store,
        cache_dir: Path | None = None,
        again: Callable[[], Store] | None = None,
        absent: tuple[Problem, ...] = (),
    ) -> None:
        self._store = store
        self._again = again
        self._absent = absent
        self.cache_dir = cache_dir

    def _read(self, name: str) -> Any:
        """One section; where the file was altered, of a store that is compiled `again`."""
        try:
            return self._store.read(name)
        except BrokenStore:
            if self._again is None:
                raise
            self._store, self._again = self._again(), None
            return self._store.read(name)

    @cached_property
    def signatures(self) -> tuple[Signature, ...]:
        """What decides which entries match, sorted by id."""
        return tuple(self._signature(entry_id) for entry_id in self.ids)

    def signatures_near(self, squashed: str, holds: Callable[[str], bool]) -> tuple[Signature, ...]:
        """The signatures that can match a squashed text at all, by id, with the patterns that can.

        `holds` tells if the text has a literal.
        """

        def can_match(pattern: Record) -> bool:
            groups = (pattern.get("anchors", ()), *pattern.get("further", ()))
            return all(not group or any(map(holds, group)) for group in groups)

        index = self._read("anchors")
        near = set(index["always"])
        for begin in _begins(squashed, index["anchored"]):
            for line in index["anchored"][begin].split("\n"):
                anchor, *ids = line.split("\t")
                if holds(anchor):
                    near.update(ids)
        near.update(
            entry_id
            for entry_id, *groups in index["common"]
            if entry_id not in near and all(any(map(holds, group)) for group in groups)
        )
        return tuple(self._signature(entry_id, can_match) for entry_id in sorted(near))

    def _signature(self, entry_id: str, wants: Callable[[Record], bool] | None = None) -> Signature:
        return signature_from(self._read(f"signature/{entry_id}"), wants)

    @property
    def ids(self) -> tuple[str, ...]:
        """Every entry's id, sorted."""
        return self._store.names("entry/")

    def entry(self, entry_id: str) -> Entry:
        """The whole entry. Raises KeyError for an id that does not exist."""
        return entry_from(self._read(f"entry/{entry_id}"))

    def record(self, entry_id: str) -> Record:
        """The entry's plain record, for lint. Raises KeyError."""
        record: Record = self._read(f"entry/{entry_id}")
        return record

    @property
    def scan_plan(self) -> Record:
        """What to look for in a text too large to read whole: see gpuhelp.kb.scan_plan."""
        plan: Record = self._read("scan")
        return plan

    @cached_property
    def questions(self) -> Mapping[str, Mapping[str, tuple[str, ...]]]:
        """How people ask, by entry and language, titles included; under "about" the entry's own words."""
        return {
            entry_id: {language: tuple(asked) for language, asked in by_language.items()}
            for entry_id, by_language in self._read("questions").items()
        }

    def table(self, name: str) -> Any:
        """The plain data of kb/tables/<name>.yaml. Raises KeyError."""
        return self._read(f"table/{name}")

    def rows(self, name: str) -> tuple[Record, ...]:
        """The rows of a table of patterns (advice, captures, failure_signs), ready for the scan."""
        return tuple(self._read(f"table/{name}")) if f"table/{name}" in self._store else ()

    @property
    def skipped(self) -> tuple[Problem, ...]:
        """Why entries of a person's folders and of packages were not taken, one fault each."""
        return (*self._absent, *(Problem(*fault) for fault in self._read("skipped")))

    @property
    def table_names(self) -> tuple[str, ...]:
        return self._store.names("table/")


def load(
    extra: Iterable[Path] = (),
    *,
    cache_dir: Path | None = None,
    use_cache: bool = True,
    further: bool = False,
) -> KnowledgeBase:
    """The shipped entries and those of `extra` folders; with `further` also the person's and of packages.

    Raises KnowledgeError with every fault of the shipped files, and for an `extra` folder that is missing.
    Other entries with a fault are left out, and packages without their folder: see KnowledgeBase.skipped.
    """
    kept_in = (cache_dir or _user_cache_dir()) if use_cache else None
    brought = {folder: fault_of(folder) for folder in (further_folders(kept_in) if further else ())}
    absent = tuple(fault for fault in brought.values() if fault)
    folders = [folder for folder, fault in brought.items() if not fault]
    folders += [Folder(str(folder), str(folder)) for folder in extra]
    if kept_in is not None and not folders and (shipped := _shipped()) is not None:
        again = partial(_compiled_now, ())
        return KnowledgeBase(shipped, kept_in, again, absent)
    found = find_files(folders)
    store = _compiled_now(found) if kept_in is None else _cached(found, kept_in)
    return KnowledgeBase(store, kept_in, partial(_compiled_now, found), absent)


def _compiled_now(found: tuple[FoundFile, ...]) -> Store:
    return unpack(_compile(read_files(found or find_files())))


def compile_shipped() -> None:
    """Write the store that a wheel brings along. Called when the wheel is built; raises what goes wrong."""
    Path(COMPILED).write_bytes(_compile(read_files(find_files())))


def _shipped() -> Store | None:
    """The store that is built into a wheel. A tree has none: there, files change."""
    return read_cached(Path(COMPILED))


def _cached(found: tuple[FoundFile, ...], folder: Path) -> Store:
    """The store of these files. Nothing is read of files that look untouched since their store was made."""
    state = fingerprint(found)
    ledger = folder / "kb-ledger.json"
    known = _read_ledger(ledger)
    store = read_cached(_store_path(folder, known[state])) if state in known else None
    if store is not None:
        return store
    files = read_files(found)
    key = content_key(files)
    path = _store_path(folder, key)
    store = read_cached(path)
    if store is None:
        data = _compile(files, _former(folder))
        write_cached(path, data)
        store = unpack(data)
    if settled(found, time.time()):
        _write_ledger(ledger, {**known, state: key})
    return store


def _former(folder: Path) -> Store | None:
    """The store written last, whatever it holds: most entries are as they were."""
    try:
        stores = sorted(folder.glob("kb-*.jsonl"), key=lambda path: path.stat().st_mtime_ns, reverse=True)
    except OSError:
        stores = []
    found = (read_cached(path) for path in stores[:1])
    return next((store for store in found if store is not None), None) or _shipped()


def _store_path(folder: Path, key: str) -> Path:
    return folder / f"kb-{key}.jsonl"


_MOST_STATES = 16


def _read_ledger(path: Path) -> dict[str, str]:
    """Which store belongs to which state of the files; empty if there is none, or it is broken."""
    try:
        known = json.loads(read_regular(path) or b"")
    except (ValueError, RecursionError):
        return {}
    return {str(state): str(key) for state, key in known.items()} if isinstance(known, dict) else {}


def _write_ledger(path: Path, known: Mapping[str, str]) -> None:
    kept = dict(list(known.items())[-_MOST_STATES:])
    write_cached(path, json.dumps(kept).encode())


def _user_cache_dir() -> Path:
    if sys.platform == "linux":  # asked at every start, and platformdirs takes a twentieth of it to load
        below = os.environ.get("XDG_CACHE_HOME", "").strip() or os.path.expanduser("~/.cache")  # noqa: PTH111
        return Path(below) / "gpuhelp"  # unlike Path.home() that bears a user without a home
    from platformdirs import user_cache_dir

    return Path(user_cache_dir("gpuhelp", appauthor=False))


def _compile(files: tuple[SourceFile, ...], former: Store | None = None) -> bytes:
    from gpuhelp.kb.build import build_sections

    return pack(build_sections(files, former))


_BEGIN = 6
"""Characters of a literal by which it is looked up; some have fewer."""
_SHORT = 50_000
"""Characters of a text that is quicker cut into its parts than asked for every beginning."""


def _begins(squashed: str, anchored: Mapping[str, Any]) -> Iterable[str]:
    """The beginnings of literals that stand in the text; all of them where it is long."""
    if len(squashed) > _SHORT:
        return anchored
    sizes = {len(begin) for begin in anchored}
    places = range(len(squashed))
    return anchored.keys() & {squashed[start : start + size] for size in sizes for start in places}


def sections_of(records: list[Record]) -> dict[str, Any]:
    """The sections that hold entries: the anchor index, questions, and three for each entry."""
    sections: dict[str, Any] = {
        "anchors": _anchors(records),
        "questions": {record["id"]: _asked(record) for record in records},
    }
    for record in records:
        sections[f"signature/{record['id']}"] = {key: record[key] for key in _SIGNATURE_KEYS}
        sections[f"rows/{record['id']}"] = record["scan"]
        sections[f"entry/{record['id']}"] = {k: v for k, v in record.items() if k not in ("patterns", "scan")}
    return sections


def record_of(entry_id: str, store: Store) -> Record:
    """The compiled record of an entry, put together again. Raises KeyError, BrokenStore."""
    whole: Record = {**store.read(f"entry/{entry_id}"), **store.read(f"signature/{entry_id}")}
    return {**whole, "scan": store.read(f"rows/{entry_id}")}


def _anchors(records: list[Record]) -> dict[str, Any]:
    """Literals by which entries are found, and the entries that have a pattern without one.

    `anchored` holds them by their first characters, one a line, each with its entries behind tabs: texts that
    are cut only where they can stand are read in a tenth of the time. A pattern whose literals are everyday
    words (`common`) counts only where its further literals stand as well.
    """
    anchored: dict[str, dict[str, list[str]]] = {}
    common: list[list[Any]] = []
    always: list[str] = []
    for record in records:
        exact = [pattern for pattern in record["patterns"] if pattern["kind"] != "fuzzy"]
        plain = {
            anchor
            for pattern in exact
            if not pattern.get("everyday")
            for anchor in pattern.get("anchors", ())
        }
        for anchor in sorted(plain):
            anchored.setdefault(anchor[:_BEGIN], {}).setdefault(anchor, []).append(record["id"])
        everyday = {_as_key(pattern) for pattern in exact if pattern.get("everyday")}
        common += [[record["id"], *json.loads(groups)] for groups in sorted(everyday)]
        if any(not pattern.get("anchors") for pattern in exact):
            always.append(record["id"])
    lines = {
        begin: "\n".join("\t".join([anchor, *ids]) for anchor, ids in found.items())
        for begin, found in anchored.items()
    }
    return {"anchored": lines, "common": common, "always": always}


def _as_key(pattern: Record) -> str:
    return json.dumps([pattern["anchors"], *pattern["further"]])


def _asked(record: Record) -> dict[str, list[str]]:
    asked = {
        language: [record["title"][language], *record["questions"].get(language, [])]
        for language in record["title"]
    }
    own = (record["summary"], *(cause["title"] for cause in record["causes"]))
    return {**asked, "about": [text for texts in own for text in texts.values()]}
