"""The host, from a made-up /proc, /etc and /dev."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gpuhelp.probes.host import (
    MACOS_VERSION,
    SYSCTL,
    devices,
    gpu_device_paths,
    groups,
    is_wsl,
    limits,
    memory,
    operating_system,
    parse_limits,
    parse_os_release,
    shared_memory,
)
from gpuhelp.probes.machine import Machine
from gpuhelp.probes.registry import ProbeUnavailable

MakeMachine = Callable[..., Machine]

LIMITS = """\
Limit                     Soft Limit           Hard Limit           Units
Max address space         unlimited            unlimited            bytes
Max open files            1024                 524288               files
Max locked memory         8388608              8388608              bytes
"""


def test_the_operating_system_is_told(make_machine: MakeMachine) -> None:
    machine = make_machine(
        {
            "/proc/sys/kernel/osrelease": "5.15.0-105-generic\n",
            "/etc/os-release": 'NAME="Ubuntu"\nPRETTY_NAME="Ubuntu 22.04.4 LTS"\nVERSION_ID="22.04"\n',
        }
    )
    assert operating_system(machine) == {
        "os.platform": "linux",
        "os.kernel": "5.15.0-105-generic",
        "os.distribution": "Ubuntu 22.04.4 LTS",
        "os.wsl": False,
    }


@pytest.mark.parametrize(
    ("release", "wsl"),
    [("5.15.153.1-microsoft-standard-WSL2", True), ("4.4.0-19041-Microsoft", True), ("6.8.0", False)],
)
def test_wsl_is_known_by_its_kernel(make_machine: MakeMachine, release: str, wsl: bool) -> None:
    assert is_wsl(make_machine({"/proc/sys/kernel/osrelease": release})) is wsl


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("PRETTY_NAME='Rocky Linux 9.3'\n", "Rocky Linux 9.3"),
        ("PRETTY_NAME=Alpine\nID=alpine\n", "Alpine"),
        ("", None),
    ],
)
def test_the_distribution_names_itself(text: str, name: str | None) -> None:
    assert parse_os_release(text) == name


@pytest.mark.parametrize(("mode", "limit"), [("0", None), ("1", None), ("2", 2097152)])
def test_memory_is_in_bytes_and_the_commit_limit_counts_only_where_it_is_kept(
    make_machine: MakeMachine, mode: str, limit: int | None
) -> None:
    meminfo = "MemTotal:       16384 kB\nMemFree:  1 kB\nMemAvailable:    4096 kB\nCommitLimit: 2048 kB\n"
    machine = make_machine({"/proc/meminfo": meminfo, "/proc/sys/vm/overcommit_memory": f"{mode}\n"})
    assert memory(machine) == {
        "host.ram_total_bytes": 16384 * 1024,
        "host.ram_available_bytes": 4096 * 1024,
        "host.commit_limit_bytes": limit,
    }


def test_a_mac_tells_its_version_and_its_memory(make_machine: MakeMachine) -> None:
    version = "<dict>\n\t<key>ProductVersion</key>\n\t<string>14.6.1</string>\n</dict>\n"
    machine = make_machine({MACOS_VERSION: version}, platform="macos")
    sysctl = machine.path(SYSCTL)
    sysctl.parent.mkdir(parents=True)
    sysctl.write_text('#!/bin/sh\ntest "$*" = "-n hw.memsize" && echo 34359738368\n', encoding="utf-8")
    sysctl.chmod(0o755)
    assert operating_system(machine)["os.distribution"] == "macOS 14.6.1"
    assert memory(machine) == {"host.ram_total_bytes": 32 << 30}


def test_a_mac_that_does_not_tell_its_memory_has_an_unknown_one(make_machine: MakeMachine) -> None:
    machine = make_machine(platform="macos")
    assert "os.distribution" not in operating_system(machine)
    with pytest.raises(ProbeUnavailable, match="sysctl"):
        memory(machine)


def test_limits_are_the_soft_ones_and_unlimited_is_null(make_machine: MakeMachine) -> None:
    expected = {
        "host.address_space_limit_bytes": None,
        "host.open_files_limit": 1024,
        "host.memlock_bytes": 8388608,
    }
    assert parse_limits(LIMITS) == expected
    assert limits(make_machine({"/proc/self/limits": LIMITS})) == expected


def test_shared_memory_has_a_size(make_machine: MakeMachine) -> None:
    facts = shared_memory(make_machine({"/dev/shm/": ""}))
    total, free = facts["host.shm_total_bytes"], facts["host.shm_free_bytes"]
    assert isinstance(total, int)
    assert isinstance(free, int)
    assert 0 <= free <= total


def test_device_files_are_told_whether_they_are_there_or_not(make_machine: MakeMachine) -> None:
    machine = make_machine(
        {"/dev/nvidiactl": "", "/dev/nvidia0": "", "/dev/nvidia-modeset": "", "/dev/null": ""}
    )
    machine.path("/dev/nvidia0").chmod(0o600)
    assert devices(machine) == {
        "host.device_nodes": [
            {"path": "/dev/nvidiactl", "present": True, "readable": True},
            {"path": "/dev/nvidia-uvm", "present": False, "readable": False},
            {"path": "/dev/kfd", "present": False, "readable": False},
            {"path": "/dev/nvidia0", "present": True, "readable": True},
        ]
    }


def test_gpu_devices_are_in_the_order_of_their_numbers(make_machine: MakeMachine) -> None:
    names = ("nvidia10", "nvidia2", "nvidiactl", "dri/renderD128", "nvidia-uvm", "dri/card0")
    machine = make_machine({f"/dev/{name}": "" for name in names})
    found = gpu_device_paths(machine)
    assert found == [
        "/dev/dri/renderD128",
        "/dev/nvidia2",
        "/dev/nvidia10",
        "/dev/nvidia-uvm",
        "/dev/nvidiactl",
    ]


def test_groups_are_those_of_the_process_by_name(make_machine: MakeMachine) -> None:
    machine = make_machine(
        {
            "/proc/self/status": "Uid:\t1000\nGid:\t1000\t1000\t1000\t1000\nGroups:\t44 1000 7777 \n",
            "/etc/group": "video:x:44:\nalice:x:1000:\nrender:x:109:alice\n",
        }
    )
    assert groups(machine) == {"host.groups": ["7777", "alice", "video"]}


@pytest.mark.parametrize("look", [memory, shared_memory, limits, groups])
def test_what_is_not_there_is_unavailable_and_not_fine(
    make_machine: MakeMachine, look: Callable[[Machine], object]
) -> None:
    with pytest.raises(ProbeUnavailable):
        look(make_machine())
