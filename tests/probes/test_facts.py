"""Facts and their names."""

from __future__ import annotations

import subprocess
import sys

import pytest

from gpuhelp.probes.facts import Fact, Facts
from gpuhelp.probes.names import FACT_NAMES, GPU_FIELDS, FactType, fact_name, is_fact_name


def test_facts_are_iterated_by_name() -> None:
    facts = Facts.of({"torch.version": "2.6.0", "driver.version": "550.90.07"}, "nvml")
    assert list(facts) == ["driver.version", "torch.version"]
    assert facts["torch.version"] == Fact("2.6.0", "nvml")


def test_an_absent_fact_is_not_a_null_fact() -> None:
    facts = Facts.of({"torch.cuda_runtime_version": None}, "files of PyTorch")
    assert facts.get("torch.cuda_runtime_version") == Fact(None, "files of PyTorch")
    assert facts.get("torch.version") is None


def test_merged_facts_are_those_of_the_other_where_both_know() -> None:
    probed = Facts.of({"driver.version": "550.90.07", "os.platform": "linux"}, "nvml")
    told = Facts.of({"driver.version": "535.183.01"}, "text line 3")
    merged = probed.merged(told)
    assert merged["driver.version"] == Fact("535.183.01", "text line 3")
    assert merged["os.platform"].source == "nvml"
    assert probed["driver.version"].value == "550.90.07"


def test_facts_cannot_be_changed_through_what_they_were_made_of() -> None:
    made_of = {"os.platform": Fact("linux", "you")}
    facts = Facts(made_of)
    made_of.clear()
    assert len(facts) == 1
    assert facts.values_by_name() == {"os.platform": "linux"}


@pytest.mark.parametrize(
    "name",
    [
        "os.wsl", "python.manager", "driver.cuda_api_version", "driver.module_version_on_disk",
        "fabric.state", "gpus", "gpu", "gpu.sm", "gpu.processes", "topology.links", "torch.arch_list",
        "toolkit.cuda_home", "packages.flash_attn", "extensions.flash_attn.arch_list",
        "env.CUDA_VISIBLE_DEVICES", "container.daemon", "scheduler.job_id", "host.device_nodes",
        "host.shm_stale_files", "host.disk_free_bytes", "libraries.loaded", "kernel.oom_kills",
        "answers.built_from_source",
    ],
)  # fmt: skip
def test_names_of_the_contract_are_known(name: str) -> None:
    assert is_fact_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "torch",
        "gpu.",
        "gpu.colour",
        "gpus.sm",
        "packages.",
        "packages.flash-attn",
        "packages.PyYAML",
        "env.",
        "extensions.x",
    ],
)
def test_other_names_are_not(name: str) -> None:
    assert not is_fact_name(name)


def test_each_name_says_what_it_means_and_its_unit() -> None:
    every = [*FACT_NAMES, *GPU_FIELDS]
    assert all(each.meaning and not each.meaning.endswith(".") for each in every)
    for each in every:
        suffix = each.name.rpartition("_")[2]
        assert each.unit == (suffix if suffix in ("bytes", "percent", "celsius", "watts") else ""), each.name


def test_a_pattern_stands_for_each_of_its_names() -> None:
    entry = fact_name("packages.torchvision")
    assert entry is not None
    assert (entry.name, entry.type) == ("packages.<name>", FactType.TEXT)


def test_importing_facts_loads_nothing_heavy() -> None:
    loaded_anyway = modules_after("pass")  # the import hook of an editable install is part of that
    loaded = modules_after("import gpuhelp.probes.facts") - loaded_anyway
    assert "gpuhelp.probes.facts" in loaded
    assert not {"subprocess", "threading", "pathlib", "json", "pynvml", "ctypes"} & loaded


def modules_after(code: str) -> set[str]:
    code = f"import sys; {code}; print(' '.join(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(run.stdout.split())
