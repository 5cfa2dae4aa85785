"""Which CUDA libraries a job would load, and from where: the search of the loader (ld.so(8)), done on paper.

A job that failed is gone, and nothing is left of what it had loaded. This follows what its PyTorch needs, in
the loader's order, for the environment that gpuhelp runs in; what the job loads by itself is not foreseen.
"""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gpuhelp.probes.elf import Dynamic, NotElf, dynamic
from gpuhelp.probes.facts import FactValue
from gpuhelp.probes.loader_cache import parse_loader_cache
from gpuhelp.probes.machine import MAX_FILE_BYTES, Machine
from gpuhelp.probes.packages import package_folders
from gpuhelp.probes.registry import ProbeUnavailable, Told, probe
from gpuhelp.probes.torch_files import torch_folder

CACHE = "/etc/ld.so.cache"
DEFAULT_FOLDERS = ("/lib64", "/usr/lib64", "/lib", "/usr/lib")
# Loaded in this order: torch/__init__.py, _load_global_deps; the others by what it imports then.
TORCH_ROOTS = ("libtorch_global_deps.so", "libtorch_cuda.so", "libc10_cuda.so", "libtorch_cuda_linalg.so")
DRIVER_LIBRARIES = ("libcuda.so.1", "libnvidia-ml.so.1")  # opened by name when CUDA starts
MOST_LIBRARIES = 200
MOST_NAMED = 6  # in the detail
_CUDA = re.compile(
    r"lib(?:cuda|cudart|cublas\w*|cudnn\w*|cufft\w*|curand|cusparse\w*|cusolver\w*|cupti|cufile\w*|nccl|nvrtc\S*|nvJitLink"
    r"|nvToolsExt|nvshmem\w*|nvidia-ml|nvinfer\w*|nvJitLink)\.so(?:\.\d+)*"
)


@dataclass(frozen=True, slots=True)
class Wanted:
    """A library that `by` needs. `rpath` is what those that led to it say, as folders of the machine."""

    name: str
    rpath: tuple[str, ...] = ()
    runpath: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Search:
    """Where the loader looks besides the libraries' own paths, and where PyTorch does if that fails."""

    machine: Machine
    library_path: tuple[str, ...]
    cache: dict[str, tuple[str, ...]]
    wheels: tuple[str, ...] = ()

    @classmethod
    def of(cls, machine: Machine) -> Search:
        """The search on a machine with the environment it has."""
        listed = machine.environ.get("LD_LIBRARY_PATH", "").replace(";", ":").split(":")
        folders = [
            str(machine.unrooted(each))
            for folder in package_folders(machine)
            for each in sorted(folder.resolve().glob("nvidia/*/lib"))
        ]
        return cls(
            machine,
            tuple(each for each in listed if each.startswith("/")),
            parse_loader_cache(_bytes(machine.path(CACHE))),
            tuple(folders),
        )

    def places(self, wanted: Wanted) -> Iterator[str]:
        """Paths at which the library may stand, the first counts.

        RPATH, LD_LIBRARY_PATH, RUNPATH, cache, usual folders; then the wheels that PyTorch loads by hand.
        """
        before = wanted.rpath if wanted.runpath is None else ()
        for folder in (*before, *self.library_path, *(wanted.runpath or ())):
            yield f"{folder}/{wanted.name}"
        yield from self.cache.get(wanted.name, ())
        for folder in (*DEFAULT_FOLDERS, *self.wheels):
            yield f"{folder}/{wanted.name}"

    def copies(self, wanted: Wanted) -> dict[str, Dynamic]:
        """The different files there are, by their path without links in its folders; the first is loaded."""
        found: dict[str, Dynamic] = {}
        seen: set[Path] = set()
        for place in self.places(wanted):
            real = self.machine.resolved(place)
            if real in seen or not os.path.isfile(real):  # noqa: PTH113
                continue
            seen.add(real)
            if (told := _dynamic(real)) is not None:
                found[_tidy(self.machine, place)] = told
        return found


@probe("libraries.search", facts=("libraries.loaded",), timeout_s=3.0, source="search order of the loader")
def libraries(machine: Machine) -> Told:
    """Path and name of each CUDA library that PyTorch would load, and the driver's; of copies the first.

    The detail names other copies that lie behind it, and libraries that are needed and not found.
    """
    if machine.platform != "linux":
        raise ProbeUnavailable("the search of the loader is known for Linux only")
    search = Search.of(machine)
    roots = list(_roots(machine))
    queue: deque[Wanted] = deque(each for root in roots for each in _needs(machine, *root))
    queue.extend(Wanted(name, _python_rpath(machine)) for name in DRIVER_LIBRARIES)
    loaded: dict[str, FactValue] = {}
    collisions: list[str] = []
    missing: list[str] = []
    while queue and len(loaded) < MOST_LIBRARIES:
        wanted = queue.popleft()
        if wanted.name in loaded or wanted.name in missing:
            continue
        copies = search.copies(wanted)
        if not copies:
            missing.append(wanted.name)
            continue
        path, told = next(iter(copies.items()))
        loaded[wanted.name] = {"path": path, "soname": told.soname or wanted.name}
        if len(copies) > 1:
            collisions.append(f"{wanted.name}: {' before '.join(copies)}")
        queue.extend(_needs(machine, path, told, wanted.rpath))
    return Told({"libraries.loaded": list(loaded.values())}, _detail(collisions, missing))


def _roots(machine: Machine) -> Iterator[tuple[str, Dynamic, tuple[str, ...]]]:
    """PyTorch's own libraries, with what the interpreter adds to their search."""
    package = torch_folder(package_folders(machine))
    if package is None:
        return
    inherited = _python_rpath(machine)
    for name in TORCH_ROOTS:
        path = package.resolve() / "lib" / name
        if (told := _dynamic(path)) is not None:
            yield str(machine.unrooted(path)), told, inherited


def _python_rpath(machine: Machine) -> tuple[str, ...]:
    """Conda's interpreter names its own library folder, which then comes before LD_LIBRARY_PATH."""
    if machine.python is None:
        return ()
    real = machine.resolved(machine.python)
    told = _dynamic(real)
    if told is None or told.runpath:
        return ()
    return _expanded(machine, str(machine.unrooted(real)), told.rpath)


def _needs(machine: Machine, path: str, told: Dynamic, inherited: tuple[str, ...]) -> Iterator[Wanted]:
    """The CUDA libraries that a library asks for."""
    rpath = (*(() if told.runpath else _expanded(machine, path, told.rpath)), *inherited)
    runpath = _expanded(machine, path, told.runpath) if told.runpath else None
    return (Wanted(name, rpath, runpath) for name in told.needed if _CUDA.fullmatch(name))


def _expanded(machine: Machine, path: str, folders: tuple[str, ...]) -> tuple[str, ...]:
    """$ORIGIN is the folder of the library itself."""
    origin = path.rpartition("/")[0]
    named = (re.sub(r"\$ORIGIN|\$\{ORIGIN\}", lambda _: origin, folder) for folder in folders)
    return tuple(str(machine.unrooted(machine.resolved(each))) for each in named if each.startswith("/"))


def _tidy(machine: Machine, place: str) -> str:
    """/usr/lib/x86_64-linux-gnu/libcuda.so.1 where /lib is a link to /usr/lib: as other tools show it."""
    folder, _, name = place.rpartition("/")
    return f"{machine.unrooted(machine.resolved(folder))}/{name}"


def _dynamic(path: Path) -> Dynamic | None:
    try:
        with path.open("rb") as file:
            return dynamic(file)
    except (NotElf, OSError):
        return None


def _bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MAX_FILE_BYTES)
    except OSError:
        return b""


def _detail(collisions: list[str], missing: list[str]) -> str:
    needed = [name for name in missing if name not in DRIVER_LIBRARIES]
    parts = [f"several copies: {'; '.join(collisions[:MOST_NAMED])}"] if collisions else []
    parts += [f"needed and not found: {', '.join(needed[:MOST_NAMED])}"] if needed else []
    return "; ".join(parts)
