"""Files in /dev/shm that nobody uses."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gpuhelp.probes.machine import Machine
from gpuhelp.probes.registry import ProbeUnavailable
from gpuhelp.probes.shm_files import INITIAL_IPC_NAMESPACE, mapped, stale_files

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc is a matter of Linux")

MakeMachine = Callable[..., Machine]
FACT = "host.shm_stale_files"


def status(uid: int) -> str:
    return f"Name:\tpython\nUid:\t{uid}\t{uid}\t{uid}\t{uid}\n"


def a_host(make_machine: MakeMachine, *names: str, uid: int | None = None) -> Machine:
    files = {f"/dev/shm/{name}": "" for name in names}
    own = os.getuid() if uid is None else uid
    return make_machine({"/dev/shm/": "", "/proc/self/status": status(own), **files})


def map_file(machine: Machine, pid: int, name: str) -> None:
    told = machine.path(f"/dev/shm/{name}").stat()
    device = f"{os.major(told.st_dev):02x}:{os.minor(told.st_dev):02x}"
    line = f"7f0000000000-7f0000001000 rw-s 00000000 {device} {told.st_ino}    /dev/shm/{name}\n"
    path = machine.path(f"/proc/{pid}/maps")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"55d0-55d1 r--p 00000000 fe:01 42    /usr/bin/python\n{line}", encoding="utf-8")


def test_files_that_no_process_uses_are_counted(make_machine: MakeMachine) -> None:
    machine = a_host(make_machine, "torch_1_2_0", "nccl-AbCdEf", "sem.loky-7")
    assert stale_files(machine).facts == {FACT: 3}


def test_files_in_folders_count_too(make_machine: MakeMachine) -> None:
    assert stale_files(a_host(make_machine, "ray/session/plasma")).facts == {FACT: 1}


def test_a_mapped_file_is_in_use(make_machine: MakeMachine) -> None:
    machine = a_host(make_machine, "torch_1_2_0", "psm_left")
    map_file(machine, 77, "torch_1_2_0")
    assert stale_files(machine).facts == {FACT: 1}


def test_an_open_file_is_in_use(make_machine: MakeMachine) -> None:
    machine = a_host(make_machine, "torch_1_2_0")
    folder = machine.path("/proc/77/fd")
    folder.mkdir(parents=True)
    (folder / "3").symlink_to(machine.path("/dev/shm/torch_1_2_0"))
    (folder / "4").symlink_to("/gone")
    assert stale_files(machine).facts == {FACT: 0}


def test_an_empty_folder_has_none_whoever_else_may_use_it(make_machine: MakeMachine) -> None:
    machine = a_host(make_machine)
    in_namespaces(machine, pid="pid:[4026532000]", ipc=INITIAL_IPC_NAMESPACE)
    assert stale_files(machine).facts == {FACT: 0}


def in_namespaces(machine: Machine, *, pid: str, ipc: str) -> None:
    folder = machine.path("/proc/self/ns")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pid").symlink_to(pid)
    (folder / "ipc").symlink_to(ipc)


@pytest.mark.parametrize(
    ("marks", "ipc", "known"),
    [
        ({"/.dockerenv": ""}, "ipc:[4026532001]", True),
        ({"/.dockerenv": ""}, INITIAL_IPC_NAMESPACE, False),
        ({"/.dockerenv": "", "/var/run/secrets/kubernetes.io/": ""}, "ipc:[4026532001]", False),
    ],
    ids=["its own", "that of the host", "that of a pod"],
)
def test_in_a_container_only_a_folder_of_its_own_is_judged(
    make_machine: MakeMachine, marks: dict[str, str], ipc: str, known: bool
) -> None:
    machine = a_host(make_machine, "torch_1_2_0")
    make_machine(marks)
    in_namespaces(machine, pid="pid:[4026532000]", ipc=ipc)
    if known:
        assert stale_files(machine).facts == {FACT: 1}
    else:
        with pytest.raises(ProbeUnavailable, match="outside this container"):
            stale_files(machine)


def test_files_of_others_are_not_judged_but_counted_apart(make_machine: MakeMachine) -> None:
    told = stale_files(a_host(make_machine, "a", "b", uid=os.getuid() + 1))
    assert (told.facts, told.detail) == ({FACT: 0}, "2 files of other users could not be judged")


def test_root_sees_everybody(make_machine: MakeMachine) -> None:
    assert stale_files(a_host(make_machine, "a", "b", uid=0)).facts == {FACT: 2}


def test_maps_that_are_broken_name_no_file(tmp_path: Path) -> None:
    maps = tmp_path / "maps"
    maps.write_bytes(b"\xff\xfe\n7f00-7f01 rw-s 0 00:00 \n7f00-7f01 rw-s 0 00:00 abc /dev/shm/x\n")
    assert mapped(maps, {(0, 5)}) == set()
    assert mapped(tmp_path / "absent", {(0, 5)}) == set()


def test_without_the_folder_the_probe_is_unavailable(make_machine: MakeMachine) -> None:
    with pytest.raises(ProbeUnavailable):
        stale_files(make_machine())


def test_a_real_mapping_of_this_process_is_seen() -> None:
    from multiprocessing import shared_memory

    block = shared_memory.SharedMemory(create=True, size=4096)
    try:
        real = Path(f"/dev/shm/{block.name}").stat()
        identity = (real.st_dev, real.st_ino)
        assert mapped(Path("/proc/self/maps"), {identity}) == {identity}
    finally:
        block.close()
        block.unlink()
