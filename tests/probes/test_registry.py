"""Which probes there are, and which are asked for a fact."""

from __future__ import annotations

import re

import pytest

from gpuhelp.probes.names import is_fact_name
from gpuhelp.probes.registry import all_probes, probe, probes_for


def ids(*names: str) -> list[str]:
    return [each.id for each in probes_for(names)]


def test_a_name_used_twice_is_refused() -> None:
    all_probes()
    with pytest.raises(ValueError, match=r"nvml\.driver"):
        probe("nvml.driver", facts=("driver.version",))(lambda _: {})


def test_probes_are_named_source_dot_thing_and_come_by_id() -> None:
    found = [each.id for each in all_probes()]
    assert found == sorted(found)
    assert all(re.fullmatch(r"[a-z]+\.[a-z]+", id) for id in found)


def test_each_fact_a_probe_promises_is_in_the_contract() -> None:
    for each in all_probes():
        for fact in each.facts:
            assert is_fact_name(fact.replace("<name>", "x").replace("<NAME>", "X")), (each.id, fact)


def test_no_two_probes_promise_the_same_fact_but_the_gpus_of_each_vendor() -> None:
    promised = [fact for each in all_probes() for fact in each.facts]
    assert {fact for fact in promised if promised.count(fact) > 1} == {"gpus"}


@pytest.mark.parametrize("name", ["gpu", "gpus", "gpu.sm", "gpus[].sm"])
def test_the_gpus_are_asked_of_each_vendor_and_those_of_nvidia_win(name: str) -> None:
    assert ids(name) == ["amd.gpus", "nvml.driver"]  # of a fact told twice, the runner keeps the later one


@pytest.mark.parametrize("name", ["driver.version", "driver.error"])
def test_the_driver_is_asked_through_nvml(name: str) -> None:
    assert ids(name) == ["nvml.driver"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("packages.flash_attn", ["packages.metadata"]),
        ("packages.*", ["packages.metadata"]),
        ("env.NCCL_DEBUG", ["environment.variables"]),
        ("torch.version", ["torch.files"]),
        ("torch.arch_list", ["torch.ask"]),
        ("torch.*", ["torch.ask", "torch.files"]),
        ("driver.kernel_module_version", ["driver.module"]),
        ("driver.module_version_on_disk", ["driver.disk"]),
        ("extensions.flash_attn.arch_list", ["extensions.files"]),
        ("kernel.xids", ["kernel.log"]),
        ("libraries.loaded", ["libraries.search"]),
        ("answers.built_from_source", []),
        ("no.such.fact", []),
    ],
)
def test_a_wanted_name_finds_the_probe_that_tells_it(name: str, expected: list[str]) -> None:
    assert ids(name) == expected


def test_torch_is_not_run_for_what_its_files_tell() -> None:
    assert "torch.ask" not in ids(
        "torch.version", "torch.cuda_runtime_version", "torch.path", "torch.cxx11_abi"
    )
