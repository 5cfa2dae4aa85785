"""The host: operating system, memory, limits, device files, and the user's groups."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping

from gpuhelp.probes.facts import FactValue
from gpuhelp.probes.machine import Machine
from gpuhelp.probes.processes import field_of
from gpuhelp.probes.registry import ProbeUnavailable, probe

# Opened by every CUDA program (NVIDIA) and every HIP program (AMD); the numbered ones are looked for.
NEEDED_DEVICES = ("/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/kfd")
NUMBERED_DEVICES = ("nvidia[0-9]*", "dri/renderD*")
WSL_DEVICE = "/dev/dxg"
MACOS_VERSION = "/System/Library/CoreServices/SystemVersion.plist"
SYSCTL = "/usr/sbin/sysctl"

_LIMITS = (
    ("Max open files", "host.open_files_limit"),
    ("Max locked memory", "host.memlock_bytes"),
    ("Max address space", "host.address_space_limit_bytes"),
)


@probe("host.os", facts=("os.platform", "os.kernel", "os.distribution", "os.wsl"), source="operating system")
def operating_system(machine: Machine) -> Mapping[str, FactValue]:
    """Platform, kernel version, distribution, and whether this is WSL."""
    facts: dict[str, FactValue] = {"os.platform": machine.platform, "os.wsl": is_wsl(machine)}
    kernel = (machine.read("/proc/sys/kernel/osrelease") or "").strip() or _release()
    distribution = parse_os_release(machine.read("/etc/os-release") or "")
    if machine.platform == "windows":
        distribution = f"Windows {_release()}"
    if machine.platform == "macos":
        distribution = parse_system_version(machine.read(MACOS_VERSION) or "")
    facts.update({"os.kernel": kernel} if kernel else {})
    facts.update({"os.distribution": distribution} if distribution else {})
    return facts


@probe(
    "host.memory",
    facts=("host.ram_total_bytes", "host.ram_available_bytes", "host.commit_limit_bytes"),
    source="/proc/meminfo",
)
def memory(machine: Machine) -> Mapping[str, FactValue]:
    """Memory of the host in bytes.

    The commit limit is null unless the kernel keeps to it (vm.overcommit_memory=2).
    """
    text = machine.read("/proc/meminfo")
    if text is None and machine.platform == "macos":
        return macos_memory(machine)
    if text is None:
        raise ProbeUnavailable("there is no /proc/meminfo on this system")
    sizes = parse_meminfo(text)
    names = {"MemTotal": "host.ram_total_bytes", "MemAvailable": "host.ram_available_bytes"}
    facts: dict[str, FactValue] = {fact: sizes[name] for name, fact in names.items() if name in sizes}
    overcommit = (machine.read("/proc/sys/vm/overcommit_memory") or "").strip()
    if overcommit:
        facts["host.commit_limit_bytes"] = sizes.get("CommitLimit") if overcommit == "2" else None
    return facts


@probe("host.shm", facts=("host.shm_total_bytes", "host.shm_free_bytes"), source="/dev/shm")
def shared_memory(machine: Machine) -> Mapping[str, FactValue]:
    """Size and free space of /dev/shm in bytes."""
    sizes = file_system_bytes(machine, "/dev/shm")
    if sizes is None:
        raise ProbeUnavailable("there is no /dev/shm on this system")
    return {"host.shm_total_bytes": sizes[0], "host.shm_free_bytes": sizes[1]}


@probe("host.limits", facts=tuple(fact for _, fact in _LIMITS), source="/proc/self/limits")
def limits(machine: Machine) -> Mapping[str, FactValue]:
    """Limits of a process of this user; null: unlimited."""
    text = machine.read("/proc/self/limits")
    if text is None:
        raise ProbeUnavailable("there is no /proc/self/limits on this system")
    return parse_limits(text)


@probe("host.devices", facts=("host.device_nodes",), source="/dev")
def devices(machine: Machine) -> Mapping[str, FactValue]:
    """Device files that GPU programs open: the needed ones, there or not, and the numbered ones there are."""
    if machine.platform != "linux":
        raise ProbeUnavailable("GPU device files are a matter of Linux")
    paths = [*NEEDED_DEVICES, *gpu_device_paths(machine)]
    return {"host.device_nodes": [_device_node(machine, path) for path in dict.fromkeys(paths)]}


@probe("host.groups", facts=("host.groups",), source="/etc/group")
def groups(machine: Machine) -> Mapping[str, FactValue]:
    """Groups of this process, by name or else by number. One that was given since login is not among them."""
    status = machine.read("/proc/self/status")
    if status is None:
        raise ProbeUnavailable("there is no /proc/self/status on this system")
    ids = [*(field_of(status, "Gid") or "").split()[:1], *(field_of(status, "Groups") or "").split()]
    names = parse_groups(machine.read("/etc/group") or "")
    return {"host.groups": sorted({names.get(each, each) for each in ids})}


def is_wsl(machine: Machine) -> bool:
    """Whether this Linux runs inside Windows: its kernel is built by Microsoft and says so."""
    return (
        machine.platform == "linux"
        and "microsoft" in (machine.read("/proc/sys/kernel/osrelease") or "").lower()
    )


def gpu_device_paths(machine: Machine) -> list[str]:
    """The GPU device files there are, by name: /dev/nvidia0, /dev/dri/renderD128, /dev/dxg ..."""
    folder = machine.path("/dev")
    found = [
        f"/dev/{path.relative_to(folder)}"
        for pattern in NUMBERED_DEVICES
        for path in sorted(folder.glob(pattern))
    ]
    found += [path for path in (*NEEDED_DEVICES, WSL_DEVICE) if machine.exists(path)]
    return sorted(
        found, key=lambda path: [int(part) if part.isdecimal() else part for part in re.split(r"(\d+)", path)]
    )


def file_system_bytes(machine: Machine, path: str) -> tuple[int, int] | None:
    """Size and free space (for this user) of a file system, in bytes; None if it is not there."""
    if not hasattr(os, "statvfs"):
        return None
    try:
        sizes = os.statvfs(machine.path(path))
    except OSError:
        return None
    return sizes.f_blocks * sizes.f_frsize, sizes.f_bavail * sizes.f_frsize


def parse_os_release(text: str) -> str | None:
    """The distribution's own name for itself: PRETTY_NAME of /etc/os-release."""
    match = re.search(r"^PRETTY_NAME=(['\"]?)(.*?)\1\s*$", text, re.MULTILINE)
    return match[2] if match else None


def parse_system_version(text: str) -> str | None:
    """macOS and its version, of the text of SystemVersion.plist."""
    match = re.search(r"<key>ProductVersion</key>\s*<string>([\d.]+)</string>", text)
    return f"macOS {match[1]}" if match else None


def macos_memory(machine: Machine) -> dict[str, FactValue]:
    """Memory of a Mac in bytes, which GPU programs share with all others. What is free is not told there."""
    command = (str(machine.path(SYSCTL)), "-n", "hw.memsize")
    said = machine.children.run(command, timeout_s=1.0, env=machine.environ).stdout.strip()
    if not (said.isdecimal() and len(said) < 20):
        raise ProbeUnavailable("sysctl does not tell the memory of this Mac")
    return {"host.ram_total_bytes": int(said)}


def parse_meminfo(text: str) -> dict[str, int]:
    """Sizes of /proc/meminfo in bytes; the file has KiB and writes kB."""
    pattern = re.compile(r"^(\w+):\s+(\d{1,18}) kB$", re.MULTILINE)
    return {match[1]: int(match[2]) * 1024 for match in pattern.finditer(text)}


def parse_limits(text: str) -> dict[str, FactValue]:
    """The soft limits in /proc/self/limits, which are those in force."""
    facts: dict[str, FactValue] = {}
    for title, fact in _LIMITS:
        match = re.search(rf"^{title}\s+(\d{{1,20}}|unlimited)\s", text, re.MULTILINE)
        if match:
            facts[fact] = None if match[1] == "unlimited" else int(match[1])
    return facts


def parse_groups(text: str) -> dict[str, str]:
    """Group names by group id, both as text, from the text of /etc/group."""
    rows = (line.split(":") for line in text.splitlines())
    return {row[2]: row[0] for row in rows if len(row) >= 3}


def _device_node(machine: Machine, path: str) -> dict[str, FactValue]:
    readable = os.access(machine.path(path), os.R_OK | os.W_OK)
    return {"path": path, "present": machine.exists(path), "readable": readable}


def _release() -> str:
    if sys.platform == "win32":
        version = sys.getwindowsversion()
        return "11" if version.build >= 22000 else str(version.major)
    return os.uname().release
