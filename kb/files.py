"""The YAML files of a knowledge base on disk: which there are, whether they changed, what they hold.

Runs at every start, over hundreds of files: os.path and os.scandir cost a tenth of pathlib.
"""
# ruff: noqa: PTH100, PTH112, PTH113, PTH116, PTH118, PTH119, PTH120, PTH123

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from gpuhelp.kb.problems import KnowledgeError, Problem
from gpuhelp.kb.store import FORMAT, checksum

SHIPPED = os.path.dirname(os.path.abspath(__file__))
_COMPILER = (
    "build.py",
    "compile.py",
    "expressions.py",
    "literals.py",
    "load.py",
    "regexes.py",
    "scan_plan.py",
    "values.py",
)
"""The code that decides what a store holds: when it changes, stores made before are not read."""
_SETTLED_S = 2.0
"""A file touched a moment ago may change again within the same tick of the file system's clock."""

_MOST_BYTES = 16 << 20
"""The text of the longest file that gpuhelp.kb.yaml_source takes is shorter in every script."""


class FoundFile(NamedTuple):
    """One file as found: `name` is what it is to us (entries/<family>/<id>.yaml), `path` its place.

    `shipped` tells the files of this package from those of a person's folders, whose names can be equal.
    """

    name: str
    path: str
    state: tuple[int, int, int, int]
    shipped: bool = True


class SourceFile(NamedTuple):
    """One file, read. `path` is the one shown to people."""

    name: str
    path: str
    content: bytes
    shipped: bool = True


def find_files(extra: Iterable[Path] = ()) -> tuple[FoundFile, ...]:
    """Every file of the shipped knowledge and of `extra` folders, sorted.

    Raises KnowledgeError for a folder that is missing.
    """
    found = [_file(name, os.path.join(SHIPPED, name)) for name in ("schema.json", *_COMPILER)]
    for folder in ("entries", "tables"):
        paths = _yaml_below(os.path.join(SHIPPED, folder))
        found += [_file(os.path.relpath(path, SHIPPED).replace(os.sep, "/"), path) for path in paths]
    seen = {file.path for file in found}
    for root in extra:
        if not os.path.isdir(root):
            raise KnowledgeError((Problem(str(root), 0, 0, "", "no such folder of entries", "see --kb"),))
        for path in _yaml_below(str(root)):
            if os.path.abspath(path) not in seen:  # a folder given twice counts once
                seen.add(os.path.abspath(path))
                name = f"entries/{_family(path)}/{os.path.basename(path)}"
                found.append(_file(name, path, shipped=False))
    return tuple(found)


def fingerprint(files: Iterable[FoundFile]) -> str:
    """Equal as long as no file was added, removed or written to."""
    return checksum(repr([(file.path, file.state) for file in files]).encode("utf-8", "surrogateescape"))


def settled(files: Iterable[FoundFile], now_s: float) -> bool:
    """True if no file was touched so lately that another change could go unseen."""
    return all(max(file.state[1:3]) / 1e9 < now_s - _SETTLED_S for file in files)


def read_files(files: Iterable[FoundFile]) -> tuple[SourceFile, ...]:
    """The contents. Raises KnowledgeError that names every file that cannot be read."""
    read: list[SourceFile] = []
    problems: list[Problem] = []
    for file in files:
        shown = file.name if file.shipped else file.path
        try:
            read.append(SourceFile(file.name, shown, _content(file.path), file.shipped))
        except OSError as error:
            reason = error.strerror or str(error)
            hint = "let this user read it, or move it out of the folder"
            problems.append(Problem(file.path, 0, 0, "", f"cannot be read: {reason}", hint))
    if problems:
        raise KnowledgeError(tuple(problems))
    return tuple(read)


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
        head = f"\0{file.shipped}\0{file.path}\0{len(file.content)}\0"
        parts.append(head.encode("utf-8", "surrogateescape"))
        parts.append(file.content)
    return checksum(b"".join(parts), f"format {FORMAT}")


def _file(name: str, path: str, *, shipped: bool = True) -> FoundFile:
    try:
        status = os.stat(path)
    except OSError:
        return FoundFile(name, path, (0, 0, 0, 0), shipped)
    state = (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
    return FoundFile(name, path, state, shipped)


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
