"""Files that crashed programs left in /dev/shm: nobody uses them, and they take memory until deleted."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

from gpuhelp.probes.container import container_kind
from gpuhelp.probes.machine import Machine
from gpuhelp.probes.processes import sees_driver_pids, uid_of
from gpuhelp.probes.registry import ProbeTimeout, ProbeUnavailable, Told, probe

FOLDER = "/dev/shm"
TIMEOUT_S = 2.0
LOOK_S = 1.5  # the rest is for the answer
MOST_FILES = 20_000
MOST_MAP_BYTES = 16 << 20  # one process; those of training programs have 1 MiB
OWN_KINDS = ("docker", "podman")  # their /dev/shm is the container's own, unless its IPC is the host's
INITIAL_IPC_NAMESPACE = "ipc:[4026531839]"  # PROC_IPC_INIT_INO of the Linux kernel, include/linux/proc_ns.h

Identity = tuple[int, int]
"""Device and inode: the same file, by whatever path a process sees it."""


@probe("host.stale", facts=("host.shm_stale_files",), timeout_s=TIMEOUT_S, source=FOLDER)
def stale_files(machine: Machine) -> Told:
    """How many of this user's files there no process of this user has open or mapped; root sees everybody's.

    Errors: unavailable where /dev/shm is shared with processes that cannot be seen; timeout on a host with
    very many processes.
    """
    files, others = own_files(machine)
    if files and (why := _hidden_users(machine)):
        raise ProbeUnavailable(why)
    unused = set(files)
    deadline = time.monotonic() + LOOK_S
    for process in machine.path("/proc").glob("[0-9]*"):
        if not unused:
            break
        if time.monotonic() > deadline:
            raise ProbeTimeout(f"too many processes to see who uses the files in {FOLDER}")
        unused -= used_by(process, unused)
    detail = f"{others} files of other users could not be judged" if others else ""
    return Told({"host.shm_stale_files": len(unused)}, detail)


def own_files(machine: Machine) -> tuple[frozenset[Identity], int]:
    """The files in /dev/shm whose users can all be seen, and how many more there are."""
    root = machine.path(FOLDER)
    if machine.platform != "linux" or not machine.is_dir(FOLDER):
        raise ProbeUnavailable(f"there is no {FOLDER} on this system")
    uid = uid_of(machine.read("/proc/self/status") or "")
    own: set[Identity] = set()
    others = 0
    for status in _statuses(root):
        if uid in (0, status.st_uid):
            own.add((status.st_dev, status.st_ino))
        else:
            others += 1
    return frozenset(own), others


def _statuses(root: Path) -> Iterator[os.stat_result]:
    seen = 0
    for folder, _, names in os.walk(root):
        for name in names:
            seen += 1
            if seen > MOST_FILES:
                raise ProbeUnavailable(f"there are too many files in {FOLDER} to look at each")
            try:
                yield Path(folder, name).lstat()
            except OSError:  # deleted while we look
                continue


def used_by(process: Path, files: set[Identity]) -> set[Identity]:
    """Those of the files that a process has mapped or open. One that may not be looked into uses none."""
    return mapped(process / "maps", files) | _open_in(process / "fd", files)


def mapped(maps: Path, files: set[Identity]) -> set[Identity]:
    """Files in the text of /proc/<pid>/maps: `7f…-7f… rw-s 00000000 00:1a 42   /dev/shm/psm_1`."""
    devices = {f" {os.major(each):02x}:{os.minor(each):02x} ".encode(): each for each, _ in files}
    found: set[Identity] = set()
    try:
        with maps.open("rb") as file:
            for line in file.read(MOST_MAP_BYTES).splitlines():
                for mark, device in devices.items():
                    _, hit, rest = line.partition(mark)
                    if hit:
                        found.add((device, int(rest.split(maxsplit=1)[0])))
    except (OSError, ValueError, IndexError):
        pass
    return found & files


def _open_in(folder: Path, files: set[Identity]) -> set[Identity]:
    """Only what its link says lies there is looked up: to ask for a file of a dead disk may never end."""
    found: set[Identity] = set()
    try:
        for link in folder.iterdir():
            if "/shm/" in os.fspath(link.readlink()):
                status = link.stat()
                found.add((status.st_dev, status.st_ino))
    except OSError:
        pass
    return found & files


def _hidden_users(machine: Machine) -> str:
    """Why processes that cannot be seen may use the files; empty where none may."""
    if sees_driver_pids(machine):
        return ""
    try:
        has_host_ipc = str(machine.path("/proc/self/ns/ipc").readlink()) == INITIAL_IPC_NAMESPACE
    except OSError:
        has_host_ipc = True
    if has_host_ipc or container_kind(machine) not in OWN_KINDS:
        return f"{FOLDER} may be shared with processes outside this container"
    return ""
