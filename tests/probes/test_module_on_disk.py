"""The kernel module that the next start would load."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gpuhelp.probes.machine import Machine
from gpuhelp.probes.module_on_disk import module_on_disk
from gpuhelp.probes.registry import ProbeFailed, ProbeUnavailable
from tests.probes.made_elf import an_elf

MakeMachine = Callable[..., Machine]

KERNEL = "6.8.0-45-generic"
FOLDER = f"/lib/modules/{KERNEL}"
RUNNING = {"/proc/sys/kernel/osrelease": f"{KERNEL}\n", f"{FOLDER}/kernel/fs/ext4/ext4.ko": ""}
FACT = "driver.module_version_on_disk"


def write(machine: Machine, name: str, raw: bytes) -> Path:
    path = machine.path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(raw)
    return path


def a_module(version: str) -> bytes:
    return an_elf({".modinfo": f"license=NVIDIA\0version={version}\0supported=external\0".encode()})


@pytest.mark.parametrize(
    "place",
    [
        "updates/dkms/nvidia.ko", "extra/nvidia.ko", "extra/drivers/video/nvidia/nvidia.ko",
        "kernel/drivers/video/nvidia.ko", "kernel/nvidia-550/nvidia.ko", "updates/dkms/nvidia-current.ko",
    ],
)  # fmt: skip
def test_the_module_says_its_version(make_machine: MakeMachine, place: str) -> None:
    machine = make_machine(RUNNING)
    write(machine, f"{FOLDER}/{place}", a_module("550.90.07"))
    assert module_on_disk(machine) == {FACT: "550.90.07"}


def test_that_of_dkms_comes_before_that_of_the_kernel(make_machine: MakeMachine) -> None:
    machine = make_machine(RUNNING)
    write(machine, f"{FOLDER}/kernel/drivers/video/nvidia.ko", a_module("535.183.01"))
    write(machine, f"{FOLDER}/updates/dkms/nvidia.ko", a_module("550.90.07"))
    assert module_on_disk(machine) == {FACT: "550.90.07"}


def test_that_of_another_kernel_does_not_count(make_machine: MakeMachine) -> None:
    machine = make_machine(RUNNING)
    write(machine, "/lib/modules/6.8.0-40-generic/updates/dkms/nvidia.ko", a_module("550.90.07"))
    assert module_on_disk(machine) == {FACT: None}


@pytest.mark.skipif(sys.platform == "win32", reason="the made-up modinfo is a shell script")
def test_a_packed_module_is_read_by_modinfo(make_machine: MakeMachine) -> None:
    machine = make_machine(RUNNING)
    packed = write(machine, f"{FOLDER}/updates/dkms/nvidia.ko.zst", b"\x28\xb5\x2f\xfd")
    script = f'#!/bin/sh\ntest "$*" = "-F version {packed}" && echo 560.35.03\n'
    write(machine, "/usr/sbin/modinfo", script.encode()).chmod(0o755)
    assert module_on_disk(machine) == {FACT: "560.35.03"}


def test_without_modinfo_dkms_tells_what_it_built(make_machine: MakeMachine) -> None:
    machine = make_machine(
        {**RUNNING, f"/var/lib/dkms/nvidia/560.35.03/{KERNEL}/x86_64/module/nvidia.ko.zst": ""}
    )
    write(machine, f"{FOLDER}/updates/dkms/nvidia.ko.zst", b"\x28\xb5\x2f\xfd")
    assert module_on_disk(machine) == {FACT: "560.35.03"}


def test_a_module_that_cannot_be_read_is_not_none(make_machine: MakeMachine) -> None:
    machine = make_machine(RUNNING)
    write(machine, f"{FOLDER}/updates/dkms/nvidia.ko", b"\x7fELF broken")
    with pytest.raises(ProbeFailed, match=r"nvidia\.ko is there"):
        module_on_disk(machine)


@pytest.mark.parametrize(
    "files",
    [
        {"/proc/sys/kernel/osrelease": f"{KERNEL}\n", "/.dockerenv": ""},
        {"/proc/sys/kernel/osrelease": "5.15.153.1-microsoft-standard-WSL2\n"},
        {**RUNNING, "/etc/nv_tegra_release": "# R36\n"},
        {},
    ],
    ids=["container", "WSL", "Jetson", "no /proc"],
)
def test_where_the_modules_cannot_be_seen_nothing_is_known(
    make_machine: MakeMachine, files: dict[str, str]
) -> None:
    with pytest.raises(ProbeUnavailable):
        module_on_disk(make_machine(files))
