"""What GPUs can do, by compute capability, by model and by what the driver tells."""

from __future__ import annotations

from typing import Any

import pytest

from gpuhelp.kb.load import KnowledgeBase
from gpuhelp.reasoning.abilities import Model, models

ALL = {"bf16", "tf32", "fp8", "flash_attention_2", "flash_attention_3", "int8", "int4", "mig", "nvlink"}


def can(knowledge: KnowledgeBase, name: str, capability: str, **more: Any) -> dict[str, bool | None]:
    gpu = {"index": 0, "name": name, "compute_capability": capability, **more}
    (model,) = models([gpu], knowledge.table("capabilities")["features"])
    return {ability.id: ability.can for ability in model.abilities}


@pytest.mark.parametrize(
    ("name", "capability", "abilities"),
    [
        ("Tesla P100-PCIE-16GB", "6.0", set()),
        ("Tesla V100-SXM2-16GB", "7.0", set()),
        ("Tesla T4", "7.5", {"int8", "int4"}),
        ("NVIDIA A100-SXM4-40GB", "8.0", {"bf16", "tf32", "flash_attention_2", "int8", "int4", "mig"}),
        ("NVIDIA GeForce RTX 3090", "8.6", {"bf16", "tf32", "flash_attention_2", "int8", "int4"}),
        ("NVIDIA GeForce RTX 4090", "8.9", {"bf16", "tf32", "fp8", "flash_attention_2", "int8", "int4"}),
        ("NVIDIA H100 80GB HBM3", "9.0", ALL - {"int4", "nvlink"}),
        ("NVIDIA B200", "10.0", ALL - {"int4", "nvlink", "flash_attention_3"}),
        ("NVIDIA GeForce RTX 5090", "12.0", {"bf16", "tf32", "fp8", "flash_attention_2", "int8"}),
        ("NVIDIA RTX PRO 6000 Blackwell Server Edition", "12.0",
         {"bf16", "tf32", "fp8", "flash_attention_2", "int8", "mig"}),
    ],
)  # fmt: skip
def test_abilities_of_known_models(
    name: str, capability: str, abilities: set[str], knowledge: KnowledgeBase
) -> None:
    known = can(knowledge, name, capability)
    assert {id for id, value in known.items() if value} == abilities
    assert known["nvlink"] is None


def test_the_driver_decides_before_the_table(knowledge: KnowledgeBase) -> None:
    told = can(
        knowledge, "NVIDIA GeForce RTX 3090", "8.6", nvlinks_active=0, nvlinks_inactive=4, mig_mode=None
    )
    assert (told["nvlink"], told["mig"]) == (True, False)
    assert can(knowledge, "NVIDIA L4", "8.9", nvlinks_active=0, nvlinks_inactive=0)["nvlink"] is False
    assert can(knowledge, "NVIDIA X9000", "8.0", mig_mode=False)["mig"] is True


def test_a_gpu_without_a_name_or_capability_is_not_judged(knowledge: KnowledgeBase) -> None:
    rows = knowledge.table("capabilities")["features"]
    assert models([{"index": 0, "gfx": "gfx942"}, {"index": 1, "error": "GPU is lost"}], rows) == ()
    (model,) = models([{"index": 0, "compute_capability": "8.0"}], rows)
    assert {each.id for each in model.abilities if each.can is None} == {"mig", "nvlink"}


def test_gpus_of_one_model_are_one(knowledge: KnowledgeBase) -> None:
    gpus = [{"index": index, "name": "NVIDIA L4", "compute_capability": "8.9"} for index in range(3)]
    told = models(gpus, knowledge.table("capabilities")["features"])
    assert [(model.name, model.gpus) for model in told] == [("NVIDIA L4", (0, 1, 2))]
    assert isinstance(told[0], Model)


def test_the_table_says_why_in_both_languages_and_where_it_stands(knowledge: KnowledgeBase) -> None:
    table = knowledge.table("capabilities")
    assert {row["id"] for row in table["features"]} == ALL
    for row in table["features"]:
        assert row["why"]["en"].endswith(".")
        assert row["why"]["ko"].endswith(".")
        assert row["source"] in table["source"]
        assert set(row.get("only", ())) <= set(knowledge.table("gpus")["capabilities"])
