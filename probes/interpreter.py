"""Finds the interpreter that ran the person's job, and tells what made its environment."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from gpuhelp.probes.facts import FactValue
from gpuhelp.probes.machine import Machine
from gpuhelp.probes.python_environments import manager_of, prefix_of, version_of
from gpuhelp.probes.registry import ProbeUnavailable, probe

_POSIX_LIBRARY = re.compile(
    r"^(?P<prefix>/.*?)/lib(?:64)?/python(?P<version>\d+(?:\.\d+)?)t?/(?P<kind>\w+-packages)?"
)
_WINDOWS_LIBRARY = re.compile(r"^(?P<prefix>[A-Za-z]:[\\/].*?)[\\/]Lib[\\/]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FoundPython:
    """An interpreter, and how it was found: "traceback", "VIRTUAL_ENV", "CONDA_PREFIX" or "PATH"."""

    path: str
    how: str


def find_python(traceback_paths: Iterable[str], environ: Mapping[str, str], root: Path) -> FoundPython | None:
    """The interpreter of the person's job, or None.

    That of the traceback's own paths if it is on this machine, else the active environment's, else the first
    on PATH; gpuhelp's own only if PyTorch is in it. Paths are as programs of
    the machine spell them, without `root`. A log is anybody's text: a program that it names is started only
    if it belongs to this user or to root.
    """
    machine = Machine(environ=environ, root=root)
    for path, how in _candidates(traceback_paths, machine):
        if machine.is_file(path) and _may_be_asked(path, how, machine):
            return FoundPython(path, how)
    return None


def _may_be_asked(path: str, how: str, machine: Machine) -> bool:
    return machine.is_own(path) if how == "traceback" else not _is_ours_alone(path, machine)


def _candidates(traceback_paths: Iterable[str], machine: Machine) -> Iterator[tuple[str, str]]:
    for path in traceback_paths:
        for python in pythons_of_library_path(path):
            yield python, "traceback"
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        if prefix := machine.environ.get(variable):
            for python in pythons_of_prefix(prefix):
                yield python, variable
    for folder in filter(None, _path_folders(machine.environ)):
        for python in _pythons_of_path_folder(folder, machine):
            yield python, "PATH"


def pythons_of_library_path(path: str) -> tuple[str, ...]:
    """Where the interpreter may stand that loads modules from `path`; () if the path does not tell."""
    if posix := _POSIX_LIBRARY.match(path):
        prefix, version = posix["prefix"], posix["version"]
        if prefix.endswith("/.local") or (prefix == "/usr/local" and posix["kind"] == "dist-packages"):
            # pip install --user, and Debian's folder for pip: the interpreter stands elsewhere
            return (f"/usr/bin/python{version}", f"/usr/local/bin/python{version}")
        if prefix in ("/usr", "/usr/local"):  # several versions share these, and `python` may be any of them
            return (f"{prefix}/bin/python{version}",)
        return (f"{prefix}/bin/python", f"{prefix}/bin/python3", f"{prefix}/bin/python{version}")
    if windows := _WINDOWS_LIBRARY.match(path):
        return (rf"{windows['prefix']}\Scripts\python.exe", rf"{windows['prefix']}\python.exe")
    return ()


def pythons_of_prefix(prefix: str) -> tuple[str, ...]:
    """Where the interpreter of an environment stands."""
    if "\\" in prefix:
        return (rf"{prefix}\Scripts\python.exe", rf"{prefix}\python.exe")
    prefix = prefix.rstrip("/")
    return (f"{prefix}/bin/python", f"{prefix}/bin/python3")


@probe(
    "interpreter.python",
    facts=("python.version", "python.executable", "python.prefix", "python.manager"),
    source="files of the interpreter",
)
def interpreter_python(machine: Machine) -> Mapping[str, FactValue]:
    """Path, environment, version and manager of the interpreter of the job."""
    if machine.python is None:
        raise ProbeUnavailable("no Python interpreter was found")
    if not machine.is_file(machine.python):
        raise ProbeUnavailable(f"there is no interpreter at {machine.python}")
    prefix = prefix_of(machine, machine.python)
    version = version_of(machine, machine.python)
    return {
        "python.executable": machine.python,
        "python.prefix": prefix,
        "python.manager": manager_of(machine, prefix),
        **({"python.version": version} if version else {}),
    }


def _is_ours_alone(python: str, machine: Machine) -> bool:
    """Whether an interpreter is that of gpuhelp's own environment, and no torch is in it.

    A tool installer (pipx, uv tool) gives gpuhelp an environment of its own, which no job runs in.
    """
    import sys

    if sys.prefix == sys.base_prefix or Path(prefix_of(machine, python)) != Path(sys.prefix):
        return False
    return not any(machine.path(sys.prefix).glob("lib*/python*/site-packages/torch"))


def _pythons_of_path_folder(folder: str, machine: Machine) -> tuple[str, ...]:
    """Interpreters in a folder of PATH; instead of pyenv's scripts the interpreter that they choose."""
    root, _, last = folder.rstrip("/").rpartition("/")
    if last != "shims" or not machine.is_dir(f"{root}/versions"):
        return tuple(_join(folder, name) for name in ("python3", "python", "python.exe"))
    chosen = machine.environ.get("PYENV_VERSION") or machine.read(f"{root}/version") or ""
    version = re.split(r"[:\s]", chosen.strip())[0]
    return pythons_of_prefix(f"{root}/versions/{version}") if version else ()


def _path_folders(environ: Mapping[str, str]) -> list[str]:
    path = environ.get("PATH", "")
    return path.split(";" if ";" in path or re.match(r"[A-Za-z]:[\\/]", path) else ":")


def _join(folder: str, name: str) -> str:
    return f"{folder}\\{name}" if "\\" in folder else f"{folder.rstrip('/')}/{name}"
