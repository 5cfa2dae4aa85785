"""For which GPUs the compiled extensions of an environment were built."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gpuhelp.probes.extensions import FILES, extension_architectures
from gpuhelp.probes.machine import Machine
from gpuhelp.probes.names import is_fact_name
from gpuhelp.probes.registry import ProbeUnavailable
from tests.probes.conftest import SITE
from tests.probes.made_elf import a_library, amd_code, gpu_code

MakeMachine = Callable[..., Machine]


def a_build(*architectures: str) -> bytes:
    return a_library("_C.so", parts={".nv_fatbin": gpu_code(architectures)})


def test_each_extension_tells_what_it_was_built_for(with_files: MakeMachine) -> None:
    machine = with_files(
        {
            f"{SITE}/flash_attn_2_cuda.cpython-311-x86_64-linux-gnu.so": a_build("sm_80", "sm_90"),
            f"{SITE}/xformers/_C.so": a_build("sm_75", "compute_80"),
            f"{SITE}/xformers/_C_flashattention3.so": a_build("sm_90a"),
            f"{SITE}/torchvision/_C.so": a_library("_C.so"),
        }
    )
    told = extension_architectures(machine)
    assert told.facts == {
        "extensions.flash_attn.arch_list": ["sm_80", "sm_90"],
        "extensions.torchvision.arch_list": [],
        "extensions.xformers.arch_list": ["sm_75", "compute_80"],
    }
    assert told.detail == ""


@pytest.mark.parametrize(
    ("environ", "expected"), [({}, ["sm_80"]), ({"BNB_CUDA_VERSION": "128"}, ["sm_80", "sm_120"])]
)
def test_bitsandbytes_takes_the_library_of_the_runtime(
    with_files: MakeMachine, environ: dict[str, str], expected: list[str]
) -> None:
    folder = f"{SITE}/bitsandbytes/libbitsandbytes_cuda"
    machine = with_files(
        {f"{folder}124.so": a_build("sm_80"), f"{folder}128.so": a_build("sm_80", "sm_120")}, environ
    )
    assert extension_architectures(machine).facts == {"extensions.bitsandbytes.arch_list": expected}


def test_what_pytorch_compiled_for_this_runtime_is_an_extension_too(with_files: MakeMachine) -> None:
    cache = "/home/alice/.cache/torch_extensions"
    machine = with_files(
        {
            f"{cache}/py311_cu124/fused-adam/fused-adam.so": a_build("sm_86"),
            f"{cache}/py311_cu118/fused_lamb/fused_lamb.so": a_build("sm_70"),
        },
        {"HOME": "/home/alice"},
    )
    assert extension_architectures(machine).facts == {"extensions.fused_adam.arch_list": ["sm_86"]}


def test_a_build_for_amd_names_its_targets(with_files: MakeMachine) -> None:
    machine = with_files(
        {f"{SITE}/vllm/_C.abi3.so": a_library(parts={".hip_fatbin": amd_code("gfx942", "gfx90a")})}
    )
    assert extension_architectures(machine).facts == {"extensions.vllm.arch_list": ["gfx90a", "gfx942"]}


def test_what_cannot_be_told_is_named_and_costs_no_other(with_files: MakeMachine) -> None:
    machine = with_files(
        {
            f"{SITE}/vllm/_C.abi3.so": a_library(parts={".nv_fatbin": b"\1" * 64}),
            f"{SITE}/mmcv/_ext.so": b"version https://git-lfs.github.com/spec/v1\n",
            f"{SITE}/pytorch3d/_C.so": a_build("sm_89"),
        }
    )
    told = extension_architectures(machine)
    assert told.facts == {"extensions.pytorch3d.arch_list": ["sm_89"]}
    assert told.detail == (
        "mmcv: no 64-bit little-endian ELF file; vllm: GPU code in a form that is not known"
    )


def test_a_build_that_calls_the_gpu_but_holds_no_code_for_it_is_not_one_without(
    with_files: MakeMachine,
) -> None:
    machine = with_files({f"{SITE}/torchvision/_C.so": a_library(needed=["libc10.so", "libtorch_cuda.so"])})
    told = extension_architectures(machine)
    assert (told.facts, told.detail) == ({}, "torchvision: its GPU code is in another file")


def test_an_environment_without_extensions_tells_of_none(with_files: MakeMachine) -> None:
    assert extension_architectures(with_files({})).facts == {}


def test_without_an_environment_the_probe_is_unavailable(make_machine: MakeMachine) -> None:
    with pytest.raises(ProbeUnavailable):
        extension_architectures(make_machine())


def test_the_names_are_names_of_facts() -> None:
    assert all(is_fact_name(f"extensions.{name}.arch_list") for name in FILES)
