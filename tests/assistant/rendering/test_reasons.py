"""Verdicts are told with the entry's sentence and the values that decided, in the person's language."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from gpuhelp.diagnosis import Diagnosis
from gpuhelp.probes.names import FACT_NAMES, GPU_FIELDS
from gpuhelp.reasoning.judge import Used
from gpuhelp.rendering.labels import known_label, label, labels, source_label
from gpuhelp.rendering.reasons import reasons_of, shown, spell
from gpuhelp.words import Words

Diagnosed = Callable[..., Diagnosis]
CAPTURED = [
    "requested",
    "capacity",
    "free",
    "allocated",
    "reserved",
    "gpu_index",
    "gpu_name",
    "compute_capability",
    "supported_archs",
    "driver_version",
    "cuda_driver",
    "cuda_runtime",
    "torch_version",
    "library",
    "symbol",
    "rank",
    "world_size",
    "collective",
    "timeout_ms",
    "exit_code",
    "signal",
    "xid",
    "pci",
    "port",
    "dtype_expected",
    "dtype_found",
    "device_a",
    "device_b",
    "error_code",
    "user_frame",
]
PROBES = Path(__file__).resolve().parents[3] / "probes"


def reasons(diagnosis: Diagnosis, cause: str, language: str) -> tuple[str, ...]:
    finding = diagnosis.findings[0]
    judgement = next(one for one in finding.judgements if one.cause.id == cause)
    return reasons_of(judgement, finding.scope, Words(language))


@pytest.mark.parametrize(
    ("language", "version", "told"),
    [
        ("en", "450.80.02", ("Driver 450.80.02 is older than 500.", "driver version: 450.80.02 (given)")),
        ("en", "550.54.15", ("Driver 550.54.15 is new enough.", "driver version: 550.54.15 (given)")),
        (
            "ko",
            "450.80.02",
            ("드라이버 450.80.02은 500보다 오래되었습니다.", "드라이버 버전: 450.80.02 (입력값)"),
        ),
    ],
)
def test_a_decided_cause_has_its_sentence_and_the_value(
    diagnosed: Diagnosed, language: str, version: str, told: tuple[str, ...]
) -> None:
    assert reasons(diagnosed({"driver.version": version}), "old-driver", language) == told


def test_nothing_is_said_for_or_against_a_cause_that_nobody_looked_at(diagnosed: Diagnosed) -> None:
    assert reasons(diagnosed(), "little-memory", "en") == ()


@pytest.mark.parametrize("language", ["en", "ko"])
def test_every_fact_and_captured_value_of_the_contract_has_a_name_in_words(language: str) -> None:
    words = Words(language)
    facts = [
        fact.name.replace("<name>", "torch").replace("<NAME>", "RANK").replace("<id>", "x")
        for fact in FACT_NAMES
    ]
    gpu = [f"gpu.{field.name}" for field in GPU_FIELDS]
    assert [name for name in (*facts, *gpu, *CAPTURED) if known_label(name, words) is None] == []


def test_every_name_that_is_told_in_english_is_told_in_korean_too() -> None:
    folder = Path(__file__).resolve().parents[3] / "assistant" / "rendering" / "words"
    korean = json.loads((folder / "ko.json").read_text(encoding="utf-8"))
    english = json.loads((folder / "en.json").read_text(encoding="utf-8"))
    same = {key for key, text in english.items() if korean[key] == text and not only_names(text)}
    international = {"name.env.*", "name.gpu", "name.gpu.name", "name.gpu_name", "name.rank", "name.xid",
                     "name.compute_capability", "name.torch.cuda_available", "check.capability", "rank",
                     "layer.hardware", "source.nvml"}  # fmt: skip
    assert same <= international


def only_names(text: str) -> bool:
    """Nothing in it can be translated: placeholders, and what things are called everywhere."""
    names = {"CUDA_VISIBLE_DEVICES", "NCCL", "PyTorch", "WSL", "/dev/shm", "cuDNN", "nvcc", "import", "torch"}
    return set(re.sub(r"\{\w+\}|[:=→]", " ", text).split()) <= names


def test_a_name_without_words_stands_as_it_is() -> None:
    words = Words("ko")
    assert label("at_backward", words) == "at_backward"
    assert known_label("at_backward", words) is None


def test_families_of_names_are_told_by_their_last_part() -> None:
    words = Words("en")
    assert label("packages.flash_attn", words) == "package flash_attn"
    assert label("extensions.flash_attn.arch_list", words) == "architectures in flash_attn"
    assert label("env.CUDA_VISIBLE_DEVICES", words) == "CUDA_VISIBLE_DEVICES"


def test_names_that_read_the_same_are_told_once() -> None:
    names = ["answers.a", "answers.b", "driver.version"]
    assert labels(names, Words("en")) == "your answer to a question below, driver version"


@pytest.mark.parametrize(
    ("source", "english", "korean"),
    [
        ("text line 12", "line 12 of the text", "로그 12번째 줄"),
        ("nvml", "NVML", "NVML"),
        ("snapshot", "snapshot", "스냅샷"),
        ("/proc/meminfo", "/proc/meminfo", "/proc/meminfo"),
    ],
)
def test_sources_are_named(source: str, english: str, korean: str) -> None:
    assert (source_label(source, Words("en")), source_label(source, Words("ko"))) == (english, korean)


def test_every_source_of_a_probe_that_is_a_sentence_exists_in_korean() -> None:
    from gpuhelp.probes.registry import all_probes

    sentences = {each.source for each in all_probes() if " " in each.source and "/" not in each.source}
    words = Words("ko")
    assert sentences
    assert {source for source in sentences if source_label(source, words) == source} == set()


@pytest.mark.parametrize(
    ("name", "value", "english", "korean"),
    [
        ("torch.hip_version", None, "none", "없음"),
        ("os.wsl", True, "yes", "예"),
        ("os.wsl", False, "no", "아니요"),
        ("host.shm_total_bytes", 67108864, "64.0 MiB", "64.0 MiB"),
        ("torch.arch_list", ["sm_80", "sm_90"], "sm_80 sm_90", "sm_80 sm_90"),
        ("torch.arch_list", [], "none", "없음"),
        ("gpus", [{"index": 0}, {"index": 1}], "2", "2"),
        ("container.memory_limit_bytes", None, "none", "없음"),
    ],
)
def test_values_are_spelled_for_people(name: str, value: object, english: str, korean: str) -> None:
    assert (spell(name, value, Words("en")), spell(name, value, Words("ko"))) == (english, korean)


def test_a_long_value_is_cut_and_a_token_at_the_cut_is_not_half_told() -> None:
    told = spell("driver.error", "x" * 110 + " hf" + "_abcdefghijklmnopqrstuvwxyz0123")
    assert told == "x" * 110 + " <secret>"
    assert len(spell("driver.error", "x" * 200)) == 120


def test_a_value_is_shown_with_name_and_source() -> None:
    used = Used("driver.version", "550.54.15", "nvml")
    assert shown(used, Words("en")) == "driver version: 550.54.15 (NVML)"
