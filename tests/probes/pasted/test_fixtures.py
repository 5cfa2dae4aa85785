"""Outputs of tools as people paste them, of many generations: every fact they state, and no other.

A fixture is a text and, beside it, the tools that are recognised and the facts. Packages that a list says are
not installed are left out of the facts there; a test of their own looks at them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gpuhelp.probes.facts import Facts
from gpuhelp.probes.names import GPU_FIELDS, is_fact_name
from gpuhelp.probes.pasted import SOURCE
from gpuhelp.probes.pasted.merging import facts_of
from gpuhelp.probes.pasted.outputs import TOOLS, read_pasted

FIXTURES = sorted((Path(__file__).parent / "fixtures").glob("*.txt"))
GIB = 1 << 30


def facts(name: str) -> Facts:
    text = (Path(__file__).parent / "fixtures" / f"{name}.txt").read_text(encoding="utf-8")
    return facts_of(read_pasted(text))


def values_of(name: str) -> dict[str, Any]:
    return dict(facts(name).values_by_name())


def told(found: Facts) -> dict[str, Any]:
    values = found.values_by_name()
    return {name: value for name, value in values.items() if value is not None or "packages." not in name}


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
def test_a_fixture_gives_its_facts(path: Path) -> None:
    pasted = read_pasted(path.read_text(encoding="utf-8"))
    expected = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    assert list(dict.fromkeys(each.tool for each in pasted)) == expected["tools"]
    assert told(facts_of(pasted)) == expected["facts"]


def test_there_are_fixtures_of_every_tool() -> None:
    assert len(FIXTURES) >= 60
    told_by = {
        tool
        for path in FIXTURES
        for tool in json.loads(path.with_suffix(".json").read_text("utf-8"))["tools"]
    }
    assert told_by == {tool.name for tool in TOOLS}


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
def test_names_are_those_of_the_contract_and_the_source_is_the_paste(path: Path) -> None:
    found = facts_of(read_pasted(path.read_text(encoding="utf-8")))
    assert [name for name in found if not is_fact_name(name)] == []
    assert {fact.source for fact in found.values()} == {SOURCE}
    gpus: Any = found["gpus"].value if "gpus" in found else []
    assert {field for gpu in gpus for field in gpu} <= {field.name for field in GPU_FIELDS}


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
def test_windows_line_ends_a_quotation_and_colors_change_nothing(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    expected = facts_of(read_pasted(text))
    assert facts_of(read_pasted(text.replace("\n", "\r\n"))) == expected
    assert facts_of(read_pasted(f"\x1b[1m{text}\x1b[0m\n")) == expected
    if ">>>" not in text and not text.startswith("> "):
        assert facts_of(read_pasted("".join(f"> {line}\n" for line in text.splitlines()))) == expected


@pytest.mark.parametrize(
    ("fixture", "driver", "cuda", "gpu"),
    [
        ("smi_331_not_supported", "331.20", None, "GeForce GTX 550 Ti"),
        ("smi_375_two_k40m", "375.26", None, "Tesla K40m"),
        ("smi_418_notebook_other_driver", "410.79", "10.0", "Tesla T4"),
        ("smi_442_windows_tcc", "442.50", "10.2", "Tesla T4"),
        ("smi_460_cut_name", "460.32.03", "11.2", None),
        ("smi_535_mig_a30", "535.183.01", "12.2", "NVIDIA A30"),
        ("smi_550_damaged_by_a_chat", "550.90.07", "12.4", "NVIDIA A100-SXM4-40GB"),
        ("smi_550_spaces_collapsed", "550.120", "12.4", "NVIDIA GeForce RTX 3090"),
        ("smi_552_windows_wddm", "552.22", "12.4", None),
        ("smi_570_driver_model_header", "573.22", "12.8", "NVIDIA GeForce RTX 5080"),
        ("smi_580_cut_before_processes", "580.82.07", "13.0", "NVIDIA H100 80GB HBM3"),
        ("smi_610_renamed_fields", "610.43.02", "13.3", "NVIDIA GeForce RTX 5090"),
        ("smi_quoted_in_an_issue", "525.105.17", "12.0", "NVIDIA A10G"),
    ],
)
def test_every_generation_of_the_table(fixture: str, driver: str, cuda: str | None, gpu: str | None) -> None:
    values = values_of(fixture)
    assert values["driver.version"] == driver
    assert values.get("driver.cuda_api_version") == cuda
    assert values["gpus"][0].get("name") == gpu


def test_a_table_without_its_processes_says_nothing_of_them() -> None:
    cut, whole = values_of("smi_580_cut_before_processes"), values_of("smi_375_two_k40m")
    assert all("processes" not in gpu for gpu in cut["gpus"])
    assert [len(gpu["processes"]) for gpu in whole["gpus"]] == [1, 0]


def test_what_a_list_of_packages_leaves_out_in_its_middle_is_not_installed() -> None:
    values = values_of("pip_list")
    assert values["packages.flash_attn"] is None
    assert values["packages.tensorflow"] is None
    assert "packages.zstandard" not in values
    assert facts("several_in_one_paste").get("packages.flash_attn") is None  # grep left only some lines


def test_several_outputs_of_one_machine_are_one_machine() -> None:
    values = values_of("collect_env_vllm_old_and_smi")
    assert values["torch.version"] == "2.3.0+cu121"
    assert values["driver.cuda_api_version"] == "12.0"
    (gpu,) = values["gpus"]
    assert gpu["name"] == "NVIDIA A10"
    assert gpu["memory_used_bytes"] == 21504 * (1 << 20)


def test_the_place_of_an_output_is_told_and_its_host() -> None:
    path = Path(__file__).parent / "fixtures" / "several_in_one_paste.txt"
    found = read_pasted(path.read_text(encoding="utf-8"))
    assert [(each.tool, each.first_line, each.last_line, each.host) for each in found] == [
        ("nvidia-smi -L", 2, 2, "node7"),
        ("nvcc", 4, 8, "node7"),
        ("python --version", 10, 10, "node7"),
        ("pip list", 11, 13, "node7"),
        ("uname", 15, 15, "node7"),
    ]


def test_sizes_are_bytes() -> None:
    assert facts("free_h")["host.ram_total_bytes"].value == 62 * GIB
    assert facts("ulimit_a")["host.memlock_bytes"].value == 64 * 1024
    assert facts("df_korean")["host.shm_total_bytes"].value == 64 << 20
    assert facts("ds_report_rocm")["host.shm_total_bytes"].value == 500 * GIB
