"""Names on the command line become places to read: files, `-`, patterns the shell left alone, folders."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeVar

from gpuhelp.errors import InputError, Saying
from gpuhelp.reading.sources.notes import Notes

STANDARD_INPUT = "-"
MOST_FILES = 10_000
"""Of one folder or pattern; ranks are counted in hundreds, files of a data set in millions."""
_DEEPEST = 40

# Endings of weights and data, of pictures and documents, of programs and settings, of packages.
_NO_LOGS = (
    " pt pth ckpt bin safetensors gguf ggml onnx pb tflite engine plan pkl pickle joblib npy npz h5 hdf5 mat "
    "parquet arrow feather avro orc tfrecord lmdb mdb db sqlite csv tsv distcp idx "
    "png jpg jpeg gif bmp webp tif svg ico mp3 mp4 wav flac avi mov mkv pdf docx xlsx pptx ttf woff2 "
    "py pyi pyc pyo pyd pyx so dll dylib exe a o obj lib c cc cpp cxx h hpp cu cuh rs go java class js ts "
    "html md rst tex sh sbatch slurm yaml yml toml ini cfg conf lock wandb whl egg jar 7z rar iso deb rpm "
)
_ARCHIVES = (
    ".zip",
    ".tar",
    ".tgz",
    ".tbz",
    ".tbz2",
    ".txz",
    ".tzst",
    ".tar.gz",
    ".tar.bz2",
    ".tar.xz",
    ".tar.zst",
)
_NO_LOG_FOLDERS = frozenset(
    ("__pycache__", "node_modules", "site-packages", "dist-packages", "__MACOSX", "venv")
)


_Name = TypeVar("_Name")


class Place(NamedTuple):
    """One file to read, or standard input.

    `is_named`: the person named this very file, so it must be readable. `in_folder`: nobody asked for it, so
    it is opened only where it is a log itself.
    """

    name: str
    is_named: bool = True
    in_folder: bool = False


def places_of(names: Iterable[str], notes: Notes) -> tuple[Place, ...]:
    """All files behind the names, in the order given; folders and patterns sorted with rank2 before rank10.

    Raises InputError that tells every name behind which there is nothing to read.
    """
    places: dict[Place, None] = {}
    faults: list[str | Saying] = []
    for name in names:
        try:
            found = _places_of_name(name, notes)
        except InputError as error:
            faults += error.sayings
            continue
        known = {place.name for place in places}
        places.update((place, None) for place in found if place.is_named or place.name not in known)
    if faults:
        raise InputError(*faults)
    return tuple(places)


def refusal(key: str, path: str, **values: object) -> InputError:
    """The error `error.<key>` about a path."""
    return InputError(Saying(f"error.{key}", {"path": path, **values}))


def refusal_of(error: Exception, path: str) -> InputError:
    """The error of a path that the system does not open."""
    if isinstance(error, FileNotFoundError):
        return refusal("no_file", path)
    if isinstance(error, PermissionError):
        return refusal("no_rights", path)
    return refusal("unreadable", path, reason=getattr(error, "strerror", None) or str(error))


def natural_key(name: str) -> tuple[object, ...]:
    """A key that sorts numbers in names by value."""
    import re

    parts = re.split(r"(\d+)", name)
    return tuple((len(digits := part.lstrip("0")), digits) if part.isdecimal() else part for part in parts)


def may_be_log(path: str) -> bool:
    """Whether a file that nobody named by itself is worth opening: not hidden, no weights, no settings."""
    folders, base = os.path.split(path.replace("\\", "/"))
    if base.startswith(".") or any(is_skipped_folder(part) for part in folders.split("/")):
        return False
    if is_archive_name(base):
        return False
    ending = base.lower().rpartition(".")[2] if "." in base else ""
    if ending == "json":
        return (
            "log" in base.lower() or base.lower() == "error.json"
        )  # Docker's log files, torchrun's error file
    return f" {ending} " not in _NO_LOGS and "tfevents" not in base


def is_archive_name(name: str) -> bool:
    """Whether a name ends as those of archives do."""
    return name.lower().endswith(_ARCHIVES)


def is_skipped_folder(name: str) -> bool:
    """Whether a folder is hidden or holds no logs."""
    hidden = name.startswith(".") and name not in (".", "..")
    return hidden or name in _NO_LOG_FOLDERS or name.startswith("checkpoint-")


def _places_of_name(name: str, notes: Notes) -> list[Place]:
    if name == STANDARD_INPUT:
        return [Place(name)]
    try:
        status = os.stat(name)  # noqa: PTH116  a Path refuses nothing, and costs more for a thousand names
    except (OSError, ValueError) as error:
        if isinstance(error, FileNotFoundError):
            return _other_meaning(name, notes)
        raise refusal_of(error, name) from None
    if stat.S_ISDIR(status.st_mode):
        return _in_folder(name, notes)
    _refuse_device(name, status)
    return [Place(name)]


def _other_meaning(name: str, notes: Notes) -> list[Place]:
    """What a name means that is no file: a pattern, or a path in the home folder. Raises InputError."""
    home = os.path.expanduser(name)  # noqa: PTH111
    if home != name and os.path.exists(home):  # noqa: PTH110
        return _places_of_name(home, notes)
    if not any(character in name for character in "*?["):
        raise refusal("no_file", name)
    found = sorted(_matching(home), key=natural_key)
    if not found:
        raise refusal("no_match", name)
    return list(_few(_behind(found, notes), name, notes))


def _behind(paths: Iterable[str], notes: Notes) -> Iterator[Place]:
    """The files that a pattern means, and those in the folders that it means, each of these once."""
    seen: set[tuple[int, int]] = set()
    for path in paths:
        if os.path.isdir(path):  # noqa: PTH112
            yield from (Place(inner, False, True) for inner in walked(path, notes, seen))
        elif os.path.isfile(path):  # noqa: PTH113
            yield Place(path, False)


def _refuse_device(name: str, status: os.stat_result) -> None:
    """Lets pass what ends or belongs to a person: files, pipes, terminals, the null device."""
    mode = status.st_mode
    if stat.S_ISREG(mode) or stat.S_ISFIFO(mode):
        return
    if stat.S_ISCHR(mode) and (_is_terminal(name) or os.path.samestat(status, os.stat(os.devnull))):  # noqa: PTH116
        return
    raise refusal("device", name)


def _is_terminal(name: str) -> bool:
    try:
        descriptor = os.open(name, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0))
    except OSError:
        return False
    try:
        return os.isatty(descriptor)
    finally:
        os.close(descriptor)


def _in_folder(folder: str, notes: Notes) -> list[Place]:
    """The files of a folder that may be logs. Raises InputError where there is none, or no right to look."""
    try:
        with os.scandir(folder):
            pass
    except OSError as error:
        raise refusal_of(error, folder) from None
    places = [Place(path, False, True) for path in _few(walked(folder, notes), folder, notes)]
    if not places:
        raise refusal("no_logs", folder)
    return places


def _few(found: Iterable[_Name], name: str, notes: Notes) -> Iterator[_Name]:
    for count, one in enumerate(found):
        if count >= MOST_FILES:
            notes.add("too_many", name)
            return
        yield one


def walked(folder: str, notes: Notes, seen: set[tuple[int, int]] | None = None) -> Iterator[str]:
    """The files under a folder that may be logs, sorted naturally; links are followed, a file comes once.

    `seen` has what was met before, by device and inode; what is met now is added.
    """
    seen = set() if seen is None else seen
    waiting = [(folder, 0)]
    while waiting:
        path, depth = waiting.pop()
        try:
            with os.scandir(path) as listing:
                entries = sorted(listing, key=lambda entry: natural_key(entry.name))
        except OSError:
            notes.add("no_rights", path)
            continue
        folders = []
        for entry in entries:
            if not _is_new(entry, seen):
                continue
            if entry.is_dir():
                if depth < _DEEPEST and not is_skipped_folder(entry.name):
                    folders.append((entry.path, depth + 1))
            elif may_be_log(entry.name):
                yield entry.path
            elif is_archive_name(entry.name):
                notes.add("archive_in_folder", entry.path)
        waiting += reversed(folders)


def _is_new(entry: os.DirEntry[str], seen: set[tuple[int, int]]) -> bool:
    """Whether an entry is a file or folder that was not met before; pipes and devices are neither."""
    try:
        status = entry.stat()
    except OSError:  # a link that leads nowhere
        return False
    if not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
        return False
    key = (status.st_dev, status.st_ino)
    is_new = key not in seen or not status.st_ino
    seen.add(key)
    return is_new


def _matching(pattern: str) -> Iterator[str]:
    """The paths that a pattern means, in any order; `**` stands for any number of folders."""
    from glob import iglob

    before, anywhere, after = pattern.replace("\\", "/").partition("**/")
    if not anywhere or (before and not before.endswith("/")):
        yield from iglob(pattern)  # noqa: PTH207
        return
    for folder in iglob(before) if before else ["."]:  # noqa: PTH207
        for path in walked(folder, Notes()):
            relative = os.path.relpath(path, folder)
            if _fits(relative.replace(os.sep, "/").split("/"), ["**", *after.split("/")]):
                yield path if before else relative


def _fits(parts: list[str], wanted: list[str]) -> bool:
    """Whether the parts of a path fit those of a pattern; the work is bounded by the length of both."""
    from fnmatch import fnmatchcase

    places = {0}
    for part in [*parts, ""]:
        for place in range(len(wanted)):
            if place in places and wanted[place] == "**":
                places.add(place + 1)
        if part == "":
            break
        places = {
            place if wanted[place] == "**" else place + 1
            for place in places
            if place < len(wanted) and (wanted[place] == "**" or fnmatchcase(part, wanted[place]))
        }
    return len(wanted) in places
