"""Where entries come from besides this package: the person's folder, installed packages, `--kb`.

A package brings entries by an entry point of the group `gpuhelp.kb`, whose value names the package that
holds the YAML files:

    [project.entry-points."gpuhelp.kb"]
    my-library = "my_library.gpuhelp_entries"

Nothing of another package is imported or run to find its folder.
"""
# ruff: noqa: PTH112, PTH116, PTH118

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from gpuhelp.kb.files import Folder
from gpuhelp.kb.store import read_regular, write_cached

GROUP = "gpuhelp.kb"
_LEDGER = "packages.json"


def user_folder() -> Path:
    """The folder for a person's own entries; it need not exist."""
    if sys.platform == "linux":  # asked at every start, and platformdirs takes a twentieth of it to load
        below = os.environ.get("XDG_DATA_HOME", "").strip() or os.path.join(Path.home(), ".local", "share")
        return Path(below) / "gpuhelp" / "kb"
    from platformdirs import user_data_dir

    return Path(user_data_dir("gpuhelp", appauthor=False)) / "kb"


def further_folders(cache_dir: Path | None) -> tuple[Folder, ...]:
    """The person's folder and those of installed packages. `cache_dir` keeps which packages there are."""
    mine = user_folder()
    own = (Folder(str(mine), str(mine)),) if os.path.isdir(mine) else ()
    return (*own, *_of_packages(cache_dir))


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

    Other places that Python looks in (the script's folder, the working folder) change all the time.
    """
    states = []
    for place in places:
        if not place.endswith(("site-packages", "dist-packages")):
            continue
        try:
            states.append([place, os.stat(place).st_mtime_ns])
        except OSError:
            continue
    return states


def _known(path: Path) -> dict[str, Any]:
    try:
        known = json.loads(read_regular(path) or b"")
        well_formed = all(isinstance(part, str) for folder in known["folders"] for part in folder)
    except (ValueError, RecursionError, TypeError, KeyError):
        return {}
    return known if well_formed and all(len(folder) == 2 for folder in known["folders"]) else {}


def _asked() -> Iterator[Folder]:
    from importlib.metadata import entry_points

    for point in sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value)):
        source = f"{point.dist.name} {point.dist.version}" if point.dist else point.name
        yield Folder(_folder_of(point), source)


def _folder_of(point: Any) -> str:
    """The folder of the package that the entry point names; a path that is none if it cannot be found."""
    parts = str(point.value).partition(":")[0].split(".")
    if point.dist is not None:
        installed = str(point.dist.locate_file(os.path.join(*parts)))
        if os.path.isdir(installed):
            return installed
    return os.path.join(_top_folder(parts[0]), *parts[1:])


def _top_folder(name: str) -> str:
    """Where a package that is installed for editing lies. Finding a top-level name runs no code of it."""
    from importlib.util import find_spec

    try:
        spec = find_spec(name)
    except (ImportError, ValueError, AttributeError):
        spec = None
    places = list(spec.submodule_search_locations or ()) if spec else []
    return places[0] if places else name
