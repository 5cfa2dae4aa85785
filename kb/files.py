"""The YAML files of a knowledge base on disk: which there are, whether they changed, what they hold.

Runs at every start, over hundreds of files: os.path and os.scandir cost a tenth of pathlib.
"""
# ruff: noqa: PTH100, PTH112, PTH113, PTH116, PTH118, PTH119, PTH120, PTH123

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from gpuhelp.kb.problems import KnowledgeError, Problem
from gpuhelp.kb.store import FORMAT, checksum

SHIPPED = os.path.dirname(os.path.abspath(__file__))
COMPILED = os.path.join(SHIPPED, "compiled.jsonl")
"""The store that a wheel brings along."""
_COMPILER = (
    "build.py",
    "code_patterns.py",
    "merging.py",
    "compile.py",
    "expressions.py",
    "literals.py",
    "load.py",
    "regexes.py",
    "scan_plan.py",
    "table_rows.py",
    "values.py",
)
"""The code that decides what a store holds: when it changes, stores made before are not read."""
_SETTLED_S = 2.0
"""A file touched a moment ago may change again within the same tick of the file system's clock."""

_MOST_BYTES = 16 << 20
"""The text of the longest file that gpuhelp.kb.yaml_source takes is shorter in every script."""


class FoundFile(NamedTuple):
    """One file as found: `name` is what it is to us (entries/<family>/<id>.yaml), `path` its place.

    `source` is empty for the files of this package, else it names the folder or package that brought them.
    """

    name: str
    path: str
    state: tuple[int, int, int, int]
    source: str = ""


class SourceFile(NamedTuple):
    """One file, read. `path` is the one shown to people. A file that cannot be read says why in `fault`."""

    name: str
    path: str
    content: bytes
    source: str = ""
    fault: Problem | None = None


class Folder(NamedTuple):
    """A folder of further entries, or one entry's file, and what people call the one who brought it."""

    path: str
    source: str


def find_files(extra: Iterable[Folder] = ()) -> tuple[FoundFile, ...]:
    """Every file of the shipped knowledge and of `extra` folders, sorted.

    Raises KnowledgeError for a folder that is missing.
    """
    found = [_file(name, os.path.join(SHIPPED, name)) for name in ("schema.json", *_COMPILER)]
    for folder in ("entries", "tables"):
        paths = _yaml_below(os.path.join(SHIPPED, folder))
        found += [_file(os.path.relpath(path, SHIPPED).replace(os.sep, "/"), path) for path in paths]
    seen = {file.path for file in found}
    for root, source in extra:
        for path in _entries_at(root):
            if os.path.abspath(path) not in seen:  # a folder given twice counts once
                seen.add(os.path.abspath(path))
                name = f"entries/{_family(path)}/{os.path.basename(path)}"
                found.append(_file(name, path, source))
    return tuple(found)


def _entries_at(root: str) -> Iterable[str]:
    if os.path.isdir(root):
        return _yaml_below(root)
    if root.endswith(".yaml") and os.path.isfile(root):
        korean = root.removesuffix(".yaml") + ".ko.yaml"
        return [root, *([korean] if os.path.isfile(korean) else [])]
    raise KnowledgeError((Problem(root, 0, 0, "", "no such folder of entries", "see --kb"),))


def fingerprint(files: Iterable[FoundFile]) -> str:
    """Equal as long as no file was added, removed, written to or brought by somebody else."""
    seen = [(file.path, file.source, file.state) for file in files]
    return checksum(repr(seen).encode("utf-8", "surrogateescape"))


def settled(files: Iterable[FoundFile], now_s: float) -> bool:
    """True if no file was touched so lately that another change could go unseen."""
    return all(max(file.state[1:3]) / 1e9 < now_s - _SETTLED_S for file in files)


def read_files(files: Iterable[FoundFile]) -> tuple[SourceFile, ...]:
    """The contents; a file that cannot be read has none, and says why."""
    return tuple(map(_read, files))


def _read(file: FoundFile) -> SourceFile:
    shown = file.path if file.source else file.name
    try:
        return SourceFile(file.name, shown, _content(file.path), file.source)
    except OSError as error:
        reason = error.strerror or str(error)
        hint = "let this user read it, or move it out of the folder"
        fault = Problem(file.path, 0, 0, "", f"cannot be read: {reason}", hint)
        return SourceFile(file.name, shown, b"", file.source, fault)


def _content(path: str) -> bytes:
    """The bytes of a file, at most a little more than any entry may have. Raises OSError, also for a pipe."""
    if not os.path.isfile(path):
        os.stat(path)  # raises what is wrong with the name
        raise OSError(None, "not a file")
    with open(path, "rb") as stream:
        return stream.read(_MOST_BYTES)


def content_key(files: Iterable[SourceFile]) -> str:
    """Equal for equal names and contents."""
    parts: list[bytes] = []
    for file in files:
        head = f"\0{file.source}\0{file.path}\0{len(file.content)}\0{file.fault}\0"
        parts.append(head.encode("utf-8", "surrogateescape"))
        parts.append(file.content)
    return checksum(b"".join(parts), f"format {FORMAT}")


def _file(name: str, path: str, source: str = "") -> FoundFile:
    try:
        status = os.stat(path)
    except OSError:
        return FoundFile(name, path, (0, 0, 0, 0), source)
    state = (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
    return FoundFile(name, path, state, source)


def _yaml_below(folder: str) -> Iterator[str]:
    """Paths of *.yaml files, depth first, sorted: the order must not depend on the file system."""
    try:
        with os.scandir(folder) as items:
            inside = sorted(items, key=lambda item: item.name)
    except OSError:
        return
    for item in inside:
        if item.is_dir(follow_symlinks=False):  # a link to a folder above would never end
            yield from _yaml_below(item.path)
        elif item.name.endswith(".yaml"):
            yield item.path


def _family(path: str) -> str:
    return os.path.basename(os.path.dirname(path))
