"""Python environments, told from their files: whose folder is it, which version, what made it."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from gpuhelp.probes.machine import Machine

_POETRY_FOLDER = re.compile(r".+-[A-Za-z0-9_-]{8}-py\d")  # <project>-<hash>-py<version>


def prefix_of(machine: Machine, python: str) -> str:
    """The folder of the environment an interpreter belongs to.

    Links are followed, except out of a virtual environment, whose interpreter is a link by design.
    """
    if "\\" in python:
        folder = python.rpartition("\\")[0]
        return folder.rpartition("\\")[0] if folder.lower().endswith("\\scripts") else folder
    prefix = PurePosixPath(python).parent.parent
    if any(machine.exists(prefix / mark) for mark in ("pyvenv.cfg", "conda-meta")):
        return str(prefix)
    target = machine.resolved(python)
    return str(machine.unrooted(target).parent.parent)


def manager_of(machine: Machine, prefix: str) -> str:
    """conda, uv, poetry or pip, by the marks each leaves in an environment; pip where there is none."""
    if machine.is_dir(f"{prefix}/conda-meta"):
        return "conda"
    config = machine.read(f"{prefix}/pyvenv.cfg")
    if config is None:
        return "pip"
    if "uv" in parse_pyvenv(config):
        return "uv"
    return "poetry" if _is_poetry(machine, prefix) else "pip"


def parse_pyvenv(text: str) -> dict[str, str]:
    """The settings of a pyvenv.cfg. uv writes `uv = <its version>` there; keys are in lower case."""
    pairs = (line.partition("=") for line in text.splitlines() if "=" in line)
    return {key.strip().lower(): value.strip() for key, _, value in pairs}


def version_of(machine: Machine, python: str) -> str | None:
    """The version of an interpreter: as pyvenv.cfg or conda-meta tell it, else as it says itself."""
    return _told_version(machine, python) or _asked_version(machine, python)


def minor_version_of(machine: Machine, python: str) -> str:
    """Its version as folders spell it, e.g. 3.11, without running it if possible; "" if it cannot be told."""
    told = _told_version(machine, python)
    if told is None:
        name = re.fullmatch(r"python(\d+\.\d+)t?", machine.resolved(python).name)
        told = name[1] if name else _asked_version(machine, python)
    return ".".join((told or "").split(".")[:2])


def _told_version(machine: Machine, python: str) -> str | None:
    prefix = prefix_of(machine, python)
    settings = parse_pyvenv(machine.read(f"{prefix}/pyvenv.cfg") or "")
    told = settings.get("version_info") or settings.get("version") or _conda_python(machine, prefix)
    whole = re.match(r"\d+\.\d+(?:\.\d+)?", told or "")
    return whole[0] if whole else None


def _conda_python(machine: Machine, prefix: str) -> str | None:
    for path in sorted(machine.path(f"{prefix}/conda-meta").glob("python-[0-9]*.json")):
        return path.name.split("-")[1]
    return None


def _asked_version(machine: Machine, python: str) -> str | None:
    result = machine.children.run(
        (str(machine.path(python)), "--version"), timeout_s=2.0, env=machine.environ
    )
    said = re.search(r"Python (\d+\.\d+\.\d+)", result.stdout)
    return said[1] if said else None


def _is_poetry(machine: Machine, prefix: str) -> bool:
    """In Poetry's own folder, or a .venv beside a poetry.lock: Poetry leaves no mark inside."""
    parts = PurePosixPath(prefix.replace("\\", "/"))
    if parts.parent.name == "virtualenvs" and "pypoetry" in str(parts.parent).lower():
        return _POETRY_FOLDER.match(parts.name) is not None
    return parts.name == ".venv" and machine.is_file(parts.parent / "poetry.lock")
