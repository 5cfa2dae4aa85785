"""Whose process is it: names and users of the processes that hold GPU memory, from /proc."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any

from gpuhelp.probes.facts import FactValue
from gpuhelp.probes.machine import Machine

INITIAL_PID_NAMESPACE = "pid:[4026531836]"  # PROC_PID_INIT_INO of the Linux kernel, include/linux/proc_ns.h


@dataclass(frozen=True, slots=True)
class Owners:
    """Looks processes up in /proc of one machine.

    `same_pids`: a process id of the driver means the same process here. `own_uid` is None where it cannot be
    told.
    """

    machine: Machine
    same_pids: bool
    own_uid: int | None
    users: Mapping[int, str]

    @classmethod
    def of(cls, machine: Machine) -> Owners:
        """The owners of a machine's processes."""
        own_uid = uid_of(machine.read("/proc/self/status") or "")
        return cls(machine, sees_driver_pids(machine), own_uid, users_of(machine.read("/etc/passwd") or ""))

    def describe(self, process: Mapping[str, Any]) -> dict[str, FactValue]:
        """A record of the contract: pid, name, user, memory_bytes, is_self; what is not known is left out."""
        record: dict[str, FactValue] = {"pid": process["pid"]}
        if self.same_pids:
            record.update(self._who(process["pid"], process.get("program", "")))
        if "memory_bytes" in process:
            record["memory_bytes"] = process["memory_bytes"]
        return record

    def _who(self, pid: int, program: str) -> dict[str, FactValue]:
        status = self.machine.read(f"/proc/{pid}/status") or ""
        name, uid = program_name(program) or field_of(status, "Name"), uid_of(status)
        who: dict[str, FactValue] = {"name": name} if name else {}
        if uid is not None:
            who["user"] = self.users.get(uid, str(uid))
            who["is_self"] = uid == self.own_uid
        return who


def sees_driver_pids(machine: Machine) -> bool:
    """Whether a process id of the driver is the same here.

    In a container it is not: the driver tells the host's ids (NVIDIA/nvidia-docker issue 1483), and looking
    one up would name some other process.
    """
    try:
        return str(machine.path("/proc/self/ns/pid").readlink()) == INITIAL_PID_NAMESPACE
    except OSError:
        return True


def field_of(status: str, name: str) -> str | None:
    """A field of /proc/<pid>/status."""
    for line in status.splitlines():
        key, _, value = line.partition(":")
        if key == name:
            return value.strip()
    return None


def uid_of(status: str) -> int | None:
    """The real user id in /proc/<pid>/status."""
    ids = (field_of(status, "Uid") or "").split()
    return int(ids[0]) if ids and ids[0].isdecimal() and len(ids[0]) < 20 else None


def users_of(passwd: str) -> dict[int, str]:
    """User names by user id, from the text of /etc/passwd.

    The first line of an id counts, as for the C library.
    """
    users: dict[int, str] = {}
    for line in passwd.splitlines():
        name, *rest = line.split(":")
        if len(rest) >= 2 and rest[1].isdecimal() and len(rest[1]) < 20:
            users.setdefault(int(rest[1]), name)
    return users


def program_name(program: str) -> str:
    """The program's name out of what NVML calls the process name: a path, sometimes with arguments."""
    path = program.split(" -", 1)[0].strip()
    return PureWindowsPath(path).name if "\\" in path else PurePosixPath(path).name
