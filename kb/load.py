"""Finds entries and tables, compiles or takes them from the cache, and hands out what we know.

`load()` is the only door: it gives a KnowledgeBase or raises KnowledgeError with every fault.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from gpuhelp.kb.entry import Entry, Record, Signature, entry_from, signature_from
from gpuhelp.kb.problems import KnowledgeError, Problem
from gpuhelp.kb.store import FORMAT, Store, checksum, pack, read_cached, unpack, write_cached

SHIPPED = Path(__file__).resolve().parent
_SIGNATURE_KEYS = ("id", "layer", "patterns", "unless", "refines", "leads_to", "fallback")


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One YAML file as found: `name` is its path below its root, `path` the one shown to people."""

    name: str
    path: str
    content: bytes


class KnowledgeBase:
    """All entries and tables, read as they are asked for."""

    def __init__(self, store: Store) -> None:
        self._store = store

    @cached_property
    def signatures(self) -> tuple[Signature, ...]:
        """What decides which entries match, sorted by id."""
        return tuple(signature_from(record) for record in self._store.read("signatures"))

    @property
    def ids(self) -> tuple[str, ...]:
        """Every entry's id, sorted."""
        return self._store.names("entry/")

    def entry(self, entry_id: str) -> Entry:
        """The whole entry. Raises KeyError for an id that does not exist."""
        return entry_from(self._store.read(f"entry/{entry_id}"))

    def record(self, entry_id: str) -> Record:
        """The entry's plain record, for lint. Raises KeyError."""
        record: Record = self._store.read(f"entry/{entry_id}")
        return record

    @cached_property
    def questions(self) -> Mapping[str, Mapping[str, tuple[str, ...]]]:
        """How people ask, by entry and language; titles included."""
        return {
            entry_id: {language: tuple(asked) for language, asked in by_language.items()}
            for entry_id, by_language in self._store.read("questions").items()
        }

    def table(self, name: str) -> Any:
        """The plain data of kb/tables/<name>.yaml. Raises KeyError."""
        return self._store.read(f"table/{name}")

    def rows(self, name: str) -> tuple[Record, ...]:
        """The rows of a table of patterns (advice, captures, failure_signs), ready for the scan."""
        return tuple(self._store.read(f"table/{name}")) if f"table/{name}" in self._store else ()

    @property
    def table_names(self) -> tuple[str, ...]:
        return self._store.names("table/")


def load(extra: Iterable[Path] = (), *, cache_dir: Path | None = None, use_cache: bool = True) -> KnowledgeBase:
    """The shipped entries and those of `extra` folders. Raises KnowledgeError with every fault found."""
    files = tuple(_shipped_files()) + tuple(file for root in extra for file in _extra_files(root))
    if not use_cache:
        return KnowledgeBase(unpack(_compile(files)))
    path = (cache_dir or _user_cache_dir()) / f"kb-{_key(files)}.jsonl"
    store = read_cached(path)
    if store is None:
        data = _compile(files)
        write_cached(path, data)
        store = unpack(data)
    return KnowledgeBase(store)


def _user_cache_dir() -> Path:
    from platformdirs import user_cache_dir

    return Path(user_cache_dir("gpuhelp", appauthor=False))


def _shipped_files() -> Iterator[SourceFile]:
    yield SourceFile("schema.json", "schema.json", (SHIPPED / "schema.json").read_bytes())
    for folder in ("entries", "tables"):
        for path in sorted((SHIPPED / folder).rglob("*.yaml")):
            name = path.relative_to(SHIPPED).as_posix()
            yield SourceFile(name, name, path.read_bytes())


def _extra_files(root: Path) -> Iterator[SourceFile]:
    """Entries of a folder given by the person; its layout is free: any *.yaml below it is an entry."""
    if not root.is_dir():
        raise KnowledgeError((Problem(str(root), 0, 0, "", "no such folder of entries", "see --kb"),))
    for path in sorted(root.rglob("*.yaml")):
        try:
            content = path.read_bytes()
        except OSError as error:
            reason = error.strerror or str(error)
            raise KnowledgeError((Problem(str(path), 0, 0, "", f"cannot be read: {reason}"),)) from error
        yield SourceFile(f"entries/{path.parent.name}/{path.name}", str(path), content)


def _key(files: tuple[SourceFile, ...]) -> str:
    parts: list[bytes] = []
    for file in files:
        parts.append(f"\0{file.path}\0{len(file.content)}\0".encode("utf-8", "surrogateescape"))
        parts.append(file.content)
    return checksum(b"".join(parts), f"format {FORMAT}")


def _compile(files: tuple[SourceFile, ...]) -> bytes:
    from gpuhelp.kb.build import build_sections

    return pack(build_sections(files))


def sections_of(records: list[Record]) -> dict[str, Any]:
    """The sections that hold entries: signatures together, each entry on its own, questions together."""
    signatures = [{key: record[key] for key in _SIGNATURE_KEYS} for record in records]
    sections: dict[str, Any] = {"signatures": signatures, "questions": {r["id"]: _asked(r) for r in records}}
    for record in records:
        sections[f"entry/{record['id']}"] = {k: v for k, v in record.items() if k != "patterns"}
    return sections


def _asked(record: Record) -> dict[str, list[str]]:
    return {
        language: [record["title"][language], *record["questions"].get(language, [])]
        for language in record["title"]
    }
