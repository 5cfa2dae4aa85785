"""Compiled entries kept by what they were made of: a change of one file costs the compilation of that one."""

from __future__ import annotations

from pathlib import Path

from gpuhelp.kb.entry import Record
from gpuhelp.kb.store import Store, pack, read_cached, write_cached

_MOST = 1000
"""Entries kept, those of the last run first; ours are two hundred."""


class Kept:
    """Records by key. Starts with those of an earlier run; `save` writes them back if there are new ones."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._store: Store | None = read_cached(path) if path else None
        self._used: dict[str, Record] = {}
        self._is_changed = False

    def get(self, key: str) -> Record | None:
        """The record of this key, None if there is none."""
        if key not in self._used and self._store is not None and key in self._store:
            self._used[key] = self._store.read(key)
        return self._used.get(key)

    def put(self, key: str, record: Record) -> None:
        self._used[key] = record
        self._is_changed = True

    def save(self) -> None:
        """A folder that cannot be written costs time at the next start, nothing else."""
        if not self._is_changed or self._path is None:
            return
        names = self._store.names("") if self._store else ()
        rest = [name for name in names if name not in self._used][: max(0, _MOST - len(self._used))]
        older = {name: self._store.read(name) for name in rest} if self._store else {}
        write_cached(self._path, pack({**self._used, **older}))
