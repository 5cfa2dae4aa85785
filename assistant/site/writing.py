"""Writes the site: only into its own folder, file by file, and takes away what a former run left behind."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath

from gpuhelp.errors import InputError, Saying

MARKER = ".gpuhelp-site.json"
"""Lists the files that are ours; a folder that holds it may be written again."""


def write_site(pages: Mapping[str, str], folder: Path) -> int:
    """Writes the pages and gives how many files changed or went.

    Raises InputError for a folder that holds something else, or that cannot be written.
    """
    try:
        former = _former(folder)
        folder.mkdir(parents=True, exist_ok=True)
        _note(folder, {*former, *pages})
        written = sum(_write(folder / path, text.encode("utf-8")) for path, text in pages.items())
        gone = [path for path in former if path not in pages]
        _remove(folder, gone)
        _note(folder, pages)
    except OSError as error:
        values = {"path": folder, "reason": error.strerror or error}
        raise InputError(Saying("error.site_write", values)) from None
    return written + len(gone)


def _former(folder: Path) -> tuple[str, ...]:
    """The files of a former run. Raises InputError for a folder with other things in it, and for a file."""
    if not folder.exists():
        return ()
    marker = folder / MARKER
    if folder.is_dir() and marker.is_file():
        return _listed(marker)
    if not folder.is_dir() or any(folder.iterdir()):
        raise InputError(Saying("error.site_folder", {"path": folder, "marker": MARKER}))
    return ()


def _listed(marker: Path) -> tuple[str, ...]:
    """The paths that a marker names; those that lead out of the folder are not ours."""
    try:
        names = json.loads(marker.read_text("utf-8"))["files"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return ()
    if not isinstance(names, list):
        return ()
    return tuple(name for name in names if isinstance(name, str) and _stays_inside(name))


def _stays_inside(name: str) -> bool:
    path = PurePosixPath(name)
    is_inside = not path.is_absolute() and ".." not in path.parts and "\\" not in name and ":" not in name
    return is_inside and name.isprintable()  # neither NUL nor half a character, which no file has in its name


def _note(folder: Path, names: Iterable[str]) -> None:
    text = json.dumps({"files": sorted(names)}, indent=1) + "\n"
    _write(folder / MARKER, text.encode("utf-8"))


def _write(path: Path, data: bytes) -> bool:
    """Puts the file in place in one step, unless it is so already."""
    if path.is_file() and path.read_bytes() == data:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f"{path.name}.new")
    fresh.write_bytes(data)
    fresh.replace(path)
    return True


def _remove(folder: Path, names: Iterable[str]) -> None:
    """Takes files away, and the folders that are empty then; never through a link."""
    root = folder.resolve()
    for name in names:
        path = folder / name
        if root in path.resolve().parents:
            path.unlink(missing_ok=True)
            _remove_empty(path.parent, folder)


def _remove_empty(parent: Path, folder: Path) -> None:
    while parent != folder and parent.is_dir() and not any(parent.iterdir()):
        parent.rmdir()
        parent = parent.parent
