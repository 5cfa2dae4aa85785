"""nvcc, the kernel module's own file, and environment variables."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from gpuhelp.probes.driver_module import driver_module, parse_version_file
from gpuhelp.probes.environment import ALLOWED, environment_variables, is_allowed
from gpuhelp.probes.machine import Machine
from gpuhelp.probes.names import is_fact_name
from gpuhelp.probes.registry import ProbeFailed, ProbeUnavailable
from gpuhelp.probes.toolkit import parse_nvcc_version, toolkit

MakeMachine = Callable[..., Machine]

NVCC = """\
nvcc: NVIDIA (R) Cuda compiler driver
Copyright (c) 2005-2024 NVIDIA Corporation
Built on Thu_Mar_28_02:18:24_PDT_2024
Cuda compilation tools, release 12.4, V12.4.131
Build cuda_12.4.r12.4/compiler.34097967_0
"""
CLOSED = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.90.07  Fri May 31 09:35:42 UTC 2024\n"
OPEN = (
    "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  565.57.01  Release Build  (dvs-builder@U16)\n"
)


def a_compiler(machine: Machine, path: str, prints: str) -> None:
    file = machine.path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!/bin/sh\necho '{prints}'\n", encoding="utf-8")
    file.chmod(0o755)


def test_the_release_of_nvcc_is_its_version() -> None:
    assert parse_nvcc_version(NVCC) == "12.4"
    assert parse_nvcc_version("command not found") is None


@pytest.mark.skipif(sys.platform == "win32", reason="the made-up compiler is a shell script")
def test_the_compiler_of_cuda_home_comes_before_that_on_path(make_machine: MakeMachine) -> None:
    machine = make_machine(environ={"CUDA_HOME": "/opt/cuda-12.4", "PATH": "/opt/cuda-11/bin"})
    a_compiler(machine, "/opt/cuda-12.4/bin/nvcc", NVCC)
    a_compiler(machine, "/opt/cuda-11/bin/nvcc", "release 11.8, V11.8.89\n")
    assert toolkit(machine) == {"toolkit.nvcc_version": "12.4", "toolkit.cuda_home": "/opt/cuda-12.4"}


@pytest.mark.skipif(sys.platform == "win32", reason="the made-up compiler is a shell script")
def test_without_cuda_home_the_folder_above_nvcc_is_meant(make_machine: MakeMachine) -> None:
    machine = make_machine(environ={"PATH": "/usr/bin:/opt/cuda-11/bin", "CUDA_HOME": "/gone"})
    a_compiler(machine, "/opt/cuda-11/bin/nvcc", "release 11.8, V11.8.89\n")
    assert toolkit(machine) == {"toolkit.nvcc_version": "11.8", "toolkit.cuda_home": "/opt/cuda-11"}


def test_no_toolkit_is_looked_and_there_is_none(make_machine: MakeMachine) -> None:
    assert toolkit(make_machine()) == {"toolkit.nvcc_version": None, "toolkit.cuda_home": None}


@pytest.mark.skipif(sys.platform == "win32", reason="the made-up compiler is a shell script")
def test_a_compiler_that_tells_no_version_keeps_the_folder(make_machine: MakeMachine) -> None:
    machine = make_machine()
    a_compiler(machine, "/usr/local/cuda/bin/nvcc", "broken\n")
    with pytest.raises(ProbeFailed) as caught:
        toolkit(machine)
    assert caught.value.facts == {"toolkit.cuda_home": "/usr/local/cuda"}


@pytest.mark.parametrize(
    ("text", "version", "is_open"),
    [(CLOSED, "550.90.07", False), (OPEN, "565.57.01", True)],
)
def test_the_loaded_module_tells_its_version_and_kind(text: str, version: str, is_open: bool) -> None:
    assert parse_version_file(text) == {
        "driver.kernel_module_version": version,
        "driver.module_open": is_open,
    }


def test_a_driver_version_of_two_numbers_is_read_too() -> None:
    text = "NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  555.58  Release Build\n"
    assert parse_version_file(text)["driver.kernel_module_version"] == "555.58"
    assert parse_version_file("something else\n") == {}


def test_no_module_is_null_only_where_one_could_be_seen(make_machine: MakeMachine) -> None:
    assert driver_module(make_machine({"/proc/version": "Linux"})) == {"driver.kernel_module_version": None}
    for machine in (
        make_machine({"/proc/sys/kernel/osrelease": "5.15-microsoft-standard-WSL2"}),
        make_machine(platform="windows"),
    ):
        with pytest.raises(ProbeUnavailable):
            driver_module(machine)


def test_only_allowed_variables_are_told_and_unset_ones_are_null(make_machine: MakeMachine) -> None:
    machine = make_machine(
        environ={"CUDA_VISIBLE_DEVICES": "", "NCCL_NEW_KNOB": "1", "HF_TOKEN": "hf_x", "HOME": "/h"}
    )
    facts = environment_variables(machine)
    assert facts["env.CUDA_VISIBLE_DEVICES"] == ""
    assert facts["env.NCCL_NEW_KNOB"] == "1"
    assert facts["env.CUDA_LAUNCH_BLOCKING"] is None
    assert "env.HF_TOKEN" not in facts
    assert "env.HOME" not in facts


def test_the_allow_list_holds_no_secret_and_only_fact_names() -> None:
    assert list(ALLOWED) == sorted(set(ALLOWED))
    assert all(is_fact_name(f"env.{name}") for name in ALLOWED)
    assert not [
        name
        for name in ALLOWED
        if any(word in name for word in ("TOKEN", "SECRET", "PASSWORD", "API_KEY"))
        and name != "TOKENIZERS_PARALLELISM"
    ]
    assert not is_allowed("WANDB_API_KEY")
