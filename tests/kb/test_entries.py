"""What the shipped entries promise holds: examples, near misses, layers, silence on healthy logs."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuhelp.authoring.checks import failures_of
from gpuhelp.diagnosis import Status, diagnose
from gpuhelp.kb.load import KnowledgeBase, load
from gpuhelp.probes.facts import Facts

REPOSITORY = Path(__file__).parents[2]
HEALTHY = sorted((REPOSITORY / "kb" / "healthy").glob("*.log"))
FAMILIES = {
    "install", "visibility", "memory", "kernel", "code", "library", "distributed", "hardware", "performance",
    "other-accelerators", "guide", "not-gpu",
}  # fmt: skip
LAYERS = {
    "cuda-device-assert": "code",
    "cuda-no-kernel-image": "framework",
    "tensors-on-different-devices": "code",
    "cuda-oom": "code",
    "cuda-oom-fragmentation": "framework",
    "cuda-oom-other-process": "host",
    "torch-cpu-only-build": "framework",
    "cuda-driver-too-old": "driver",
    "nvidia-driver-missing": "driver",
    "nvml-version-mismatch": "driver",
    "cuda-not-available": "framework",
    "cuda-no-device": "driver",
    "cuda-invalid-device-ordinal": "code",
    "cuda-illegal-address": "code",
    "cublas-not-initialized": "library",
    "cublas-alloc-failed": "library",
    "nccl-timeout": "distributed",
    "host-oom-killed": "host",
    "dataloader-shm": "host",
    "bf16-unsupported": "hardware",
    "cuda-version-confusion": "driver",
    "gpu-fell-off-bus": "hardware",
    "python-missing-module": "code",
    "python-exception": "code",
}


@pytest.fixture(scope="module")
def knowledge() -> KnowledgeBase:
    return load(use_cache=False)


def test_every_entry_this_version_promises_is_there(knowledge: KnowledgeBase) -> None:
    layers = {entry_id: knowledge.entry(entry_id).layer for entry_id in knowledge.ids}
    assert {entry_id: layers.get(entry_id) for entry_id in LAYERS} == LAYERS


def test_every_entry_lies_in_a_family(knowledge: KnowledgeBase) -> None:
    for entry_id in knowledge.ids:
        found = knowledge.entry(entry_id)
        assert found.family in FAMILIES
        assert found.origin == f"entries/{found.family}/{entry_id}.yaml"


@pytest.mark.parametrize("entry_id", sorted(LAYERS))
def test_an_entry_answers_its_examples_and_no_near_miss(knowledge: KnowledgeBase, entry_id: str) -> None:
    assert list(failures_of(knowledge.entry(entry_id), knowledge)) == []


def test_entries_not_listed_here_answer_their_examples_too(knowledge: KnowledgeBase) -> None:
    others = [entry_id for entry_id in knowledge.ids if entry_id not in LAYERS]
    assert [fault for other in others for fault in failures_of(knowledge.entry(other), knowledge)] == []


def test_an_example_belongs_to_one_entry(knowledge: KnowledgeBase) -> None:
    owners: dict[str, list[str]] = {}
    for entry_id in knowledge.ids:
        for example in knowledge.entry(entry_id).examples:
            owners.setdefault(" ".join(example.text.split()), []).append(entry_id)
    assert [ids for ids in owners.values() if len(set(ids)) > 1] == []


@pytest.mark.parametrize("entry_id", sorted(LAYERS))
def test_windows_line_ends_do_not_change_the_answer(knowledge: KnowledgeBase, entry_id: str) -> None:
    for example in knowledge.entry(entry_id).examples:
        text = example.text.replace("\n", "\r\n")
        facts = Facts.of(example.facts or {}, "example")  # type: ignore[arg-type]
        found = diagnose(text, facts=facts, knowledge=knowledge).findings
        assert [finding.entry.id for finding in found][:1] == [entry_id], example.text


def test_there_are_healthy_logs() -> None:
    assert len(HEALTHY) >= 20


@pytest.mark.parametrize("path", HEALTHY, ids=lambda path: path.stem)
def test_a_healthy_log_shows_no_failure(knowledge: KnowledgeBase, path: Path) -> None:
    diagnosis = diagnose([path], knowledge=knowledge)
    assert [finding.entry.id for finding in diagnosis.findings] == []
    assert diagnosis.status is Status.HEALTHY


def test_healthy_logs_together_show_no_failure(knowledge: KnowledgeBase) -> None:
    assert diagnose(HEALTHY, knowledge=knowledge).status is Status.HEALTHY
