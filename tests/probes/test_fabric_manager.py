"""The fabric manager, the network interfaces and the disk."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gpuhelp.probes.disks import disk_free
from gpuhelp.probes.fabric_manager import fabric_manager, parse_version
from gpuhelp.probes.machine import Machine
from gpuhelp.probes.network import network_interfaces, parse_proc_net_dev
from gpuhelp.probes.registry import ProbeFailed, ProbeUnavailable

MakeMachine = Callable[..., Machine]

NET_DEV = """\
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls
    lo:   12345     123    0    0    0     0          0         0    12345     123    0    0    0     0
  eth0: 9876543   98765    0    0    0     0          0         0   123456    1234    0    0    0     0
"""
RUNS = {"/proc/1/comm": "systemd\n", "/proc/29850/comm": "nv-fabricmanage\n"}


def a_program(machine: Machine, prints: str) -> None:
    path = machine.path("/usr/bin/nv-fabricmanager")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho '{prints}'\n", encoding="utf-8")
    path.chmod(0o755)


@pytest.mark.skipif(sys.platform == "win32", reason="the made-up program is a shell script")
@pytest.mark.parametrize(("processes", "running"), [(RUNS, True), ({"/proc/1/comm": "systemd\n"}, False)])
def test_the_manager_tells_whether_it_runs_and_its_version(
    make_machine: MakeMachine, processes: dict[str, str], running: bool
) -> None:
    machine = make_machine(processes)
    a_program(machine, "Fabric Manager version is : 535.161.08")
    assert fabric_manager(machine) == {
        "fabric.manager_running": running,
        "fabric.manager_version": "535.161.08",
    }


def test_a_host_without_it_has_none(make_machine: MakeMachine) -> None:
    machine = make_machine({"/proc/1/comm": "systemd\n"})
    assert fabric_manager(machine) == {"fabric.manager_running": False, "fabric.manager_version": None}


def test_where_processes_of_others_are_hidden_it_may_run(make_machine: MakeMachine) -> None:
    machine = make_machine({"/proc/4242/comm": "python\n"})  # hidepid: not even the first process is shown
    assert fabric_manager(machine) == {"fabric.manager_version": None}


def test_one_that_runs_from_an_unknown_place_has_an_unknown_version(make_machine: MakeMachine) -> None:
    assert fabric_manager(make_machine(RUNS)) == {"fabric.manager_running": True}


@pytest.mark.skipif(sys.platform == "win32", reason="the made-up program is a shell script")
def test_one_that_does_not_tell_its_version_fails_with_what_is_known(make_machine: MakeMachine) -> None:
    machine = make_machine(RUNS)
    a_program(machine, "usage")
    with pytest.raises(ProbeFailed) as failure:
        fabric_manager(machine)
    assert failure.value.facts == {"fabric.manager_running": True}


def test_in_a_container_it_cannot_be_seen(make_machine: MakeMachine) -> None:
    with pytest.raises(ProbeUnavailable):
        fabric_manager(make_machine({**RUNS, "/.dockerenv": ""}))


def test_its_version_stands_among_empty_lines() -> None:
    assert parse_version("\n\n\n\tFabric Manager version is : 450.102.04\n\n") == "450.102.04"
    assert parse_version("nv-fabricmanager: error") is None


def test_interfaces_are_folders_by_name(make_machine: MakeMachine) -> None:
    folder = "/sys/class/net"
    machine = make_machine(
        {
            f"{folder}/lo/": "",
            f"{folder}/ib0/": "",
            f"{folder}/eno1/": "",
            f"{folder}/bonding_masters": "bond0",
        }
    )
    assert network_interfaces(machine) == {"host.network_interfaces": ["eno1", "ib0", "lo"]}


def test_without_sys_the_table_of_proc_names_them(make_machine: MakeMachine) -> None:
    machine = make_machine({"/proc/net/dev": NET_DEV})
    assert network_interfaces(machine) == {"host.network_interfaces": ["eth0", "lo"]}
    assert parse_proc_net_dev("") == []


def test_without_both_nothing_is_known(make_machine: MakeMachine) -> None:
    with pytest.raises(ProbeUnavailable):
        network_interfaces(make_machine())
    with pytest.raises(ProbeUnavailable):
        network_interfaces(make_machine(platform="macos"))


@pytest.mark.skipif(sys.platform == "win32", reason="statvfs is POSIX")
def test_the_free_space_is_that_of_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    free = disk_free(Machine(environ={}))["host.disk_free_bytes"]
    assert isinstance(free, int)
    assert 0 < free < 1 << 60


@pytest.mark.skipif(sys.platform == "win32", reason="a folder in use cannot be removed on Windows")
def test_a_working_folder_that_is_gone_is_not_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(ProbeUnavailable, match="gone"):
        disk_free(Machine(environ={}))
