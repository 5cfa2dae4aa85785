"""A finding's conditions see the GPU it speaks of, completed from the text and the tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from gpuhelp.kb.evaluation import Unknown
from gpuhelp.kb.load import KnowledgeBase
from gpuhelp.probes.facts import Facts
from gpuhelp.reasoning.scope import Scope, scope_of
from gpuhelp.reasoning.table_functions import TableFunctions

A100 = {"index": 0, "name": "NVIDIA A100", "sm": "sm_80", "uuid": "GPU-aaaa1111", "memory_total_bytes": 10}
T4 = {"index": 1, "name": "Tesla T4", "sm": "sm_75", "uuid": "GPU-bbbb2222", "memory_total_bytes": 10}
H100 = {"index": 2, "name": "NVIDIA H100", "sm": "sm_90", "uuid": "GPU-cccc3333", "memory_total_bytes": 10}


def scope(facts: Mapping[str, Any], functions: Any = None, **captured: str) -> Scope:
    return scope_of(Facts.of(facts, "test"), captured, {}, functions or {})


@pytest.mark.parametrize(
    ("visible", "index", "name"),
    [
        (None, "1", "Tesla T4"),
        ("", "1", "Tesla T4"),
        ("2,0", "0", "NVIDIA H100"),
        ("2, 0", "1", "NVIDIA A100"),
        ("1", "0", "Tesla T4"),
        ("GPU-bbbb2222,GPU-aaaa1111", "1", "NVIDIA A100"),
        ("GPU-cccc", "0", "NVIDIA H100"),
        ("1", "1", None),  # the program counts one GPU; there is no second
        ("MIG-1234", "0", None),
        ("2,-1,0", "1", None),
        (None, "7", None),
        (None, "", None),
        (None, "x", None),
    ],
)
def test_the_gpu_is_the_one_the_program_counts_so(visible: str | None, index: str, name: str | None) -> None:
    facts: dict[str, Any] = {"gpus": [A100, T4, H100]}
    if visible is not None:
        facts["env.CUDA_VISIBLE_DEVICES"] = visible
    found = scope(facts, gpu_index=index)
    assert found.gpu.get("name") == name
    assert found.gpu["memory_total_bytes"] == 10


def test_without_an_index_the_name_tells_the_gpu() -> None:
    assert scope({"gpus": [A100, T4]}, gpu_name="Tesla T4").gpu["index"] == 1


def test_without_both_it_is_what_all_gpus_have_in_common() -> None:
    assert scope({"gpus": [A100, {**A100, "index": 1, "uuid": "GPU-x"}]}).gpu == {
        "name": "NVIDIA A100",
        "sm": "sm_80",
        "compute_capability": "8.0",
        "memory_total_bytes": 10,
    }


@pytest.mark.parametrize(
    ("captured", "capability", "sm"),
    [
        ({"compute_capability": "sm_120"}, "12.0", "sm_120"),
        ({"compute_capability": "sm_90a"}, "9.0", "sm_90"),
        ({"compute_capability": "8.6"}, "8.6", "sm_86"),
        ({"compute_capability": "(8, 6)"}, "8.6", "sm_86"),
        ({"gpu_name": "NVIDIA GeForce RTX 3090"}, "8.6", "sm_86"),
        ({"gpu_name": "a card nobody knows"}, None, None),
        ({"compute_capability": "new"}, None, None),
        ({}, None, None),
    ],
)
def test_the_text_tells_of_a_gpu_that_no_probe_saw(
    captured: dict[str, str], capability: str | None, sm: str | None, knowledge: KnowledgeBase
) -> None:
    found = scope({}, TableFunctions(knowledge), **captured)
    assert (found.gpu.get("compute_capability"), found.gpu.get("sm")) == (capability, sm)


def test_what_was_looked_up_wins_over_the_text_and_is_completed() -> None:
    found = scope({"gpus": [{"index": 0, "sm": "sm_75"}]}, compute_capability="sm_80", gpu_name="NVIDIA A100")
    assert found.gpu == {"index": 0, "sm": "sm_75", "compute_capability": "7.5", "name": "NVIDIA A100"}


def test_facts_about_the_gpu_that_the_text_states_win() -> None:
    found = scope({"gpus": [A100], "gpu.sm": "sm_90"})
    assert (found.gpu["sm"], found.gpu["compute_capability"], found.gpu["name"]) == (
        "sm_90",
        "9.0",
        "NVIDIA A100",
    )


@pytest.mark.parametrize("gpus", [None, [], "none", [None, 3], [{"name": 5, "sm": 7}], {"index": 0}, 4])
def test_odd_lists_of_gpus_are_no_crash(gpus: object, knowledge: KnowledgeBase) -> None:
    found = scope({"gpus": gpus}, TableFunctions(knowledge), gpu_index="0")
    assert found.lookup("gpus") == gpus
    assert "compute_capability" not in found.gpu


def test_names_are_captured_values_facts_and_the_rest_is_unknown() -> None:
    found = scope({"driver.version": "550.1", "torch.hip_version": None}, requested="2 GiB")
    assert found.lookup("requested") == "2 GiB"
    assert found.lookup("driver.version") == "550.1"
    assert found.lookup("torch.hip_version") is None
    assert found.lookup("torch.version") == Unknown(["torch.version"])
    assert found.lookup("gpus") == Unknown(["gpus"])


def test_look_ups_of_wheels_know_this_machines_python_and_platform() -> None:
    asked: list[tuple[Any, ...]] = []

    def torch_index(*given: Any, **here: Any) -> str:
        asked.append((given, here))
        return "url"

    functions = {"torch_index": torch_index, "wheel_archs": torch_index, "minimum_driver": torch_index}
    found = scope({"python.version": "3.9.1", "os.platform": "windows"}, functions)
    for name, given in (
        ("torch_index", ("sm_80", "12.4")),
        ("wheel_archs", ("2.6.0",)),
        ("minimum_driver", ("12",)),
    ):
        assert found.functions[name](*given) == "url"
    assert asked == [
        (("sm_80", "12.4"), {"python_version": "3.9.1", "platform": "windows"}),
        (("2.6.0",), {"platform": "windows"}),
        (("12",), {}),
    ]
    assert found.functions.get("absent") is None
