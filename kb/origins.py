"""Where entries come from besides this package: the person's folder, installed packages, `--kb`.

A package brings entries by an entry point of the group `gpuhelp.kb`, whose value names the package that
holds the YAML files:

    [project.entry-points."gpuhelp.kb"]
    my-library = "my_library.gpuhelp_entries"

Nothing of another package is imported or run to find its folder.
"""
# ruff: noqa: PTH100, PTH111, PTH112, PTH113, PTH116, PTH118, PTH120, PTH208

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from gpuhelp.kb.files import Folder
from gpuhelp.kb.problems import Problem
from gpuhelp.kb.store import read_regular, write_cached

GROUP = "gpuhelp.kb"
_LEDGER = "packages.json"
_PACKAGE_FOLDERS = ("site-packages", "dist-packages")
_DESCRIPTIONS = (".dist-info", ".egg-info")
_BROKEN = (OSError, ValueError, KeyError, TypeError, AttributeError)
"""What reading the metadata of a damaged package raises: it brings nothing, and the others count."""


def user_folder() -> Path:
    """The folder for a person's own entries; it need not exist."""
    if sys.platform == "linux":  # asked at every start, and platformdirs takes a twentieth of it to load
        below = os.environ.get("XDG_DATA_HOME", "").strip()
        home = os.path.expanduser("~")  # unlike Path.home() it bears a user without a home
        return Path(below or os.path.join(home, ".local", "share")) / "gpuhelp" / "kb"
    from platformdirs import user_data_dir

    return Path(user_data_dir("gpuhelp", appauthor=False)) / "kb"


def further_folders(cache_dir: Path | None) -> tuple[Folder, ...]:
    """The folders of installed packages, which may be missing: see fault_of, and the person's own.

    `cache_dir` keeps which packages there are.
    """
    mine = user_folder()
    own = (Folder(str(mine), str(mine)),) if os.path.isdir(mine) else ()
    return (*_of_packages(cache_dir), *own)


def fault_of(folder: Folder) -> Problem | None:
    """Why nothing can be read of the folder; None for one that can."""
    if os.path.isdir(folder.path):
        if os.access(folder.path, os.R_OK | os.X_OK):
            return None
        return Problem(folder.path, 0, 0, "", "cannot be read", "let this user read it")
    archive = _archive_around(folder.path)
    if archive:
        hint = "install the package unpacked"
        return Problem(archive, 0, 0, "", f"{folder.source} lies in an archive; entries need a folder", hint)
    message = f"{folder.source} brings no such folder of entries"
    return Problem(folder.path, 0, 0, "", message, f"its entry point `{GROUP}` names it; install it again")


def _archive_around(path: str) -> str:
    """The file that a path leads into, as a package in a zip file has it; "" if there is none."""
    while path and path != os.path.dirname(path):
        path = os.path.dirname(path)
        if os.path.isfile(path):
            return path
    return ""


def _of_packages(cache_dir: Path | None) -> tuple[Folder, ...]:
    """Reading every package's metadata costs a tenth of a start, so it is done when packages have changed."""
    state = _installed(sys.path)
    known = _known(cache_dir / _LEDGER) if cache_dir else {}
    if known.get("state") == state:
        return tuple(Folder(path, source) for path, source in known["folders"])
    folders = tuple(_asked())
    if cache_dir:
        write_cached(cache_dir / _LEDGER, json.dumps({"state": state, "folders": folders}).encode())
    return folders


def _installed(places: Iterable[str]) -> list[list[Any]]:
    """What changes when a package comes or goes: the times of the folders that hold packages.

    Other places that Python looks in (the script's folder, the working folder) change all the time: of these
    the times of what describes a package count, and a place without any does not.
    """
    states: list[list[Any]] = []
    for place in places:
        try:
            if place.endswith((*_PACKAGE_FOLDERS, ".zip", ".whl", ".egg")):
                states.append([place, os.stat(place).st_mtime_ns])
            elif described := [one for one in os.listdir(place or ".") if one.endswith(_DESCRIPTIONS)]:
                states.append([os.path.abspath(place), *_times(place, described)])
        except OSError:
            continue
    return states


def _times(place: str, described: Iterable[str]) -> Iterator[list[Any]]:
    for name in sorted(described):
        path = os.path.join(place, name, "entry_points.txt")
        yield [name, os.stat(path).st_mtime_ns if os.path.isfile(path) else 0]


def _known(path: Path) -> dict[str, Any]:
    try:
        known = json.loads(read_regular(path) or b"")
        well_formed = all(isinstance(part, str) for folder in known["folders"] for part in folder)
    except (ValueError, RecursionError, TypeError, KeyError):
        return {}
    return known if well_formed and all(len(folder) == 2 for folder in known["folders"]) else {}


def _asked() -> Iterator[Folder]:
    """The folders of all packages; of two with one name the first on sys.path, which Python takes too."""
    from importlib.metadata import distributions

    seen: set[str] = set()
    found: list[tuple[str, str, Folder]] = []
    for package in distributions():
        try:
            if GROUP not in (package.read_text("entry_points.txt") or ""):
                continue
            name = package.metadata["Name"]
            if name not in seen:
                seen.add(name)
                points = [point for point in package.entry_points if point.group == GROUP]
                source = f"{name} {package.version}"
                found += [(p.name, p.value, Folder(_folder_of(p.value, package), source)) for p in points]
        except _BROKEN:
            continue
    yield from (folder for _, _, folder in sorted(found))


def _folder_of(value: str, package: Any) -> str:
    """The folder of the package that the entry point names; a path that is none if it cannot be found."""
    parts = value.partition(":")[0].partition("[")[0].strip().split(".")
    if not all(part.isidentifier() for part in parts):  # no name of a package: it could lead anywhere
        shown = value.replace("/", "|").replace("\\", "|")
        return os.path.join(str(package.locate_file("")), f"[{shown}]")
    installed = str(package.locate_file(os.path.join(*parts)))
    if os.path.isdir(installed):
        return os.path.abspath(installed)
    top = _top_folder(parts[0])
    return os.path.abspath(os.path.join(top, *parts[1:])) if top else installed


def _top_folder(name: str) -> str:
    """Where a package that is installed for editing lies, "" if unknown.

    Finding a top-level name runs no code of it.
    """
    from importlib.util import find_spec

    try:
        spec = find_spec(name)
    except (ImportError, ValueError, AttributeError):
        spec = None
    places = list(spec.submodule_search_locations or ()) if spec else []
    return places[0] if places else ""
