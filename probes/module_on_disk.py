"""Which NVIDIA kernel module lies on disk for the running kernel: the one that the next start would load."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from gpuhelp.probes.container import container_kind
from gpuhelp.probes.elf import NotElf, module_information
from gpuhelp.probes.facts import FactValue
from gpuhelp.probes.host import is_wsl
from gpuhelp.probes.machine import Machine
from gpuhelp.probes.programs import find_program, plain_environ
from gpuhelp.probes.registry import ProbeFailed, ProbeUnavailable, probe

TIMEOUT_S = 2.0
# In the order in which depmod prefers them, before the kernel's own: depmod.d(5), "search updates built-in".
# DKMS uses updates/dkms, akmods extra, Red Hat weak-updates.
FIRST_FOLDERS = ("updates", "extra", "weak-updates")
NAMES = ("nvidia.ko", "nvidia-current.ko")  # Debian renames it, for several may be installed
PACKINGS = ("", ".zst", ".xz", ".gz")
MOST_FOLDERS = 20_000  # a full tree has about 1 000
DKMS = "/var/lib/dkms"


@probe("driver.disk", facts=("driver.module_version_on_disk",), timeout_s=TIMEOUT_S, source="/lib/modules")
def module_on_disk(machine: Machine) -> Mapping[str, FactValue]:
    """Version in the module's own file, or as modinfo or DKMS tell it; null: this kernel has no such module.

    Errors: unavailable where the modules of the running kernel cannot be seen (containers, WSL, Jetson).
    """
    if machine.platform != "linux" or is_wsl(machine) or machine.exists("/etc/nv_tegra_release"):
        raise ProbeUnavailable("the driver of this system is no kernel module of its own")
    kernel = (machine.read("/proc/sys/kernel/osrelease") or "").strip()
    folder = f"/lib/modules/{kernel}"
    if not kernel or not machine.is_dir(f"{folder}/kernel"):
        where = "in this container" if container_kind(machine) else "on this system"
        raise ProbeUnavailable(f"the modules of the running kernel are not {where}")
    path = next(iter(module_files(machine, folder)), None)
    if path is None:
        return {"driver.module_version_on_disk": None}
    version = version_in(path) or version_by_modinfo(machine, path) or version_by_dkms(machine, kernel)
    if version is None:
        raise ProbeFailed(f"{path.name} is there, but its version cannot be read")
    return {"driver.module_version_on_disk": version}


def module_files(machine: Machine, folder: str) -> list[Path]:
    """The module's files, the preferred first. Raises ProbeFailed for a tree too large for one of modules."""
    top = machine.path(folder)
    files = {f"{name}{packing}" for name in NAMES for packing in PACKINGS}
    found: list[Path] = []
    for count, (place, _, names) in enumerate(os.walk(top)):
        if count > MOST_FOLDERS:
            raise ProbeFailed(f"there are too many folders in {folder}")
        found += [Path(place, name) for name in names if name in files]
    return sorted(found, key=lambda path: (_rank(path.relative_to(top).parts[0]), path))


def _rank(folder: str) -> int:
    return FIRST_FOLDERS.index(folder) if folder in FIRST_FOLDERS else len(FIRST_FOLDERS)


def version_in(path: Path) -> str | None:
    """The version in an unpacked module; None for a packed one."""
    try:
        with path.open("rb") as file:
            return module_information(file).get("version")
    except (NotElf, OSError):
        return None


def version_by_modinfo(machine: Machine, path: Path) -> str | None:
    """What `modinfo`, which can unpack, reads in it."""
    program = find_program(machine, "modinfo")
    if program is None:
        return None
    command = (str(machine.path(program)), "-F", "version", str(path))
    said = machine.children.run(command, timeout_s=TIMEOUT_S / 2, env=plain_environ(machine)).stdout.strip()
    return said if re.fullmatch(r"\d+(?:\.\d+)+", said) else None


def version_by_dkms(machine: Machine, kernel: str) -> str | None:
    """The version whose module DKMS has built for this kernel: /var/lib/dkms/nvidia/<version>/<kernel>/."""
    for path in sorted(machine.path(DKMS).glob(f"nvidia*/*/{kernel}"), reverse=True):
        if re.fullmatch(r"\d+(?:\.\d+)+", path.parent.name):
            return path.parent.name
    return None
