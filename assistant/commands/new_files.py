"""Where a new entry is written, and how: whole or not at all, and never over a file by accident."""

from __future__ import annotations

import argparse
import os
import tempfile
from contextlib import suppress
from pathlib import Path

from gpuhelp.errors import InputError
from gpuhelp.kb.files import SHIPPED
from gpuhelp.kb.origins import user_folder
from gpuhelp.words import Words

_USUAL_FAMILY = "library"


def folder_of(options: argparse.Namespace) -> Path:
    """The folder to write to: --to, else the tree that gpuhelp runs from, else the person's own."""
    family = options.family or _USUAL_FAMILY
    if options.to:
        return Path(options.to)
    tree = Path(SHIPPED)
    is_tree = (tree.parent / "pyproject.toml").is_file()
    return tree / "entries" / family if is_tree else user_folder() / family


def schema_from(path: Path) -> str:
    """How a file names the schema: relative within our tree, else by its place."""
    tree = Path(SHIPPED) / "entries"
    return "../../schema.json" if tree in path.resolve().parents else str(Path(SHIPPED) / "schema.json")


def check_place(path: Path, words: Words, *, may_replace: bool) -> None:
    """Raises InputError for a file that is there, and for a folder that cannot be written to."""
    try:
        is_there = path.exists() and not (may_replace and path.is_file())
        near = next((one for one in path.parents if one.exists()), Path())
    except (OSError, ValueError) as error:  # a name too long for any file, or with a NUL in it
        reason = getattr(error, "strerror", None) or error
        raise InputError(words("error.kb_unwritable", path=path, reason=reason)) from None
    if is_there:
        raise InputError(words("error.kb_exists", path=path))
    if not near.is_dir() or not os.access(near, os.W_OK):
        raise InputError(words("error.kb_unwritable", path=path, reason=near))


def write_whole(path: Path, text: str, words: Words, *, may_replace: bool) -> None:
    """The file appears with all of its text, or stays as it was. Raises InputError with the reason."""
    kept = ""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, kept = tempfile.mkstemp(prefix=f".{path.stem}-", suffix=".tmp", dir=path.parent)
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        Path(kept).chmod(0o666 & ~_mask())
        if path.exists() and not may_replace:  # it came while the questions were answered
            raise InputError(words("error.kb_exists", path=path))
        Path(kept).replace(path)
    except OSError as error:
        reason = error.strerror or error
        raise InputError(words("error.kb_unwritable", path=path, reason=reason)) from None
    finally:
        if kept:
            with suppress(OSError):
                Path(kept).unlink(missing_ok=True)


def _mask() -> int:
    """The rights that new files do not get; they can only be read by setting them."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
