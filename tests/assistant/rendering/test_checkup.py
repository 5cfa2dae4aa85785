"""The checkup for a terminal and as data: layers, CUDA versions, trouble, and what was not looked at."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from gpuhelp.diagnosis import TableFunctions
from gpuhelp.kb.load import KnowledgeBase
from gpuhelp.probes.facts import Facts, FactValue
from gpuhelp.probes.registry import ProbeStatus
from gpuhelp.probes.runner import ProbeReport
from gpuhelp.reasoning.checkup import Checkup, check
from gpuhelp.rendering.checkup import checkup_data, checkup_rows, version_sentence
from gpuhelp.rendering.layout import lay_out, width_of
from gpuhelp.rendering.paint import paint
from gpuhelp.words import Words

GPU: dict[str, FactValue] = {
    "index": 0,
    "name": "NVIDIA L4",
    "compute_capability": "8.9",
    "sm": "sm_89",
    "memory_total_bytes": 25769803776,
    "memory_free_bytes": 24696061952,
}
FINE: dict[str, FactValue] = {
    "python.version": "3.11.7",
    "torch.installed": True,
    "torch.version": "2.6.0+cu124",
    "torch.cuda_runtime_version": "12.4",
    "torch.hip_version": None,
    "driver.version": "550.90.07",
    "driver.cuda_api_version": "12.4",
    "driver.error": None,
    "gpus": [GPU],
    "os.platform": "linux",
    "os.wsl": False,
}
CPU_ONLY = {**FINE, "torch.version": "2.6.0+cpu", "torch.cuda_runtime_version": None}
LATE = ProbeReport("nvml.driver", ProbeStatus.TIMEOUT, 3.0, "the driver did not answer", ("gpus",))


def checked(values: Mapping[str, FactValue], knowledge: KnowledgeBase) -> Checkup:
    return check(Facts.of(values, "snapshot"), knowledge.table("checks"), TableFunctions(knowledge))


def told(
    values: Mapping[str, FactValue],
    knowledge: KnowledgeBase,
    language: str = "en",
    *reports: ProbeReport,
    width: int = 80,
) -> str:
    rows = checkup_rows(checked(values, knowledge), reports, Words(language), knowledge)
    return paint(lay_out(rows, width), color=False)


def test_a_fine_machine_shows_each_layer_and_says_so(made_up: KnowledgeBase) -> None:
    text = told(FINE, made_up)
    assert "✔ framework" in text
    assert "PyTorch version: 2.6.0+cu124" in text
    assert "✔ GPU" in text
    assert "0: NVIDIA L4 · compute capability 8.9 · 23.0 GiB free of 24.0 GiB" in " ".join(text.split())
    assert "No problem found in what could be looked at." in text
    assert "Could not look" not in text


def test_each_gpu_has_a_line_under_the_first(made_up: KnowledgeBase) -> None:
    lines = told({**FINE, "gpus": [GPU, {**GPU, "index": 1}]}, made_up).splitlines()
    first, second = (next(line for line in lines if f"{index}: NVIDIA L4" in line) for index in (0, 1))
    assert first.index("0:") == second.index("1:")


@pytest.mark.parametrize("language", ["en", "ko"])
def test_the_three_cuda_versions_are_told_apart(made_up: KnowledgeBase, language: str) -> None:
    words = Words(language)
    checkup = checked({**FINE, "toolkit.nvcc_version": "11.8"}, made_up)
    sentences = [version_sentence(kind, checkup, words) for kind in ("driver_api", "runtime", "toolkit")]
    assert ["12.4" in sentences[0], "12.4" in sentences[1], "11.8" in sentences[2]] == [True, True, True]
    assert len(set(sentences)) == 3


def test_a_version_that_is_not_there_is_told_from_one_nobody_knows(made_up: KnowledgeBase) -> None:
    words = Words("en")
    assert "built without CUDA" in version_sentence("runtime", checked(CPU_ONLY, made_up), words)
    assert "not known" in version_sentence("runtime", checked({}, made_up), words)


def test_trouble_names_the_entry_and_the_values_in_words(made_up: KnowledgeBase) -> None:
    text = told(CPU_ONLY, made_up)
    assert "Problems found" in text
    assert "gpuhelp explain torch-cpu-only-build" in text
    assert "CUDA runtime version of PyTorch: none" in text
    assert "PyTorch의 CUDA 런타임 버전: 없음" in told(CPU_ONLY, made_up, "ko")


def test_a_gpu_that_does_not_answer_is_shown_with_its_error(made_up: KnowledgeBase) -> None:
    text = told({**FINE, "gpus": [GPU, {"index": 1, "error": "GPU is lost"}]}, made_up)
    assert "✘ GPU" in text
    assert text.count("1: ? · GPU is lost") == 2


def test_not_having_looked_is_not_fine(made_up: KnowledgeBase) -> None:
    text = told({}, made_up, "en", LATE)
    assert "? driver" in text
    assert "nvml.driver  no answer in time: the driver did not answer" in text
    assert "✔" not in text


def test_a_flag_that_is_off_is_left_out(made_up: KnowledgeBase) -> None:
    assert "WSL" not in told(FINE, made_up)
    assert "WSL (Linux inside Windows): yes" in told({**FINE, "os.wsl": True}, made_up)


@pytest.mark.parametrize("language", ["en", "ko"])
@pytest.mark.parametrize("width", [40, 80])
def test_the_checkup_fits_the_terminal(made_up: KnowledgeBase, language: str, width: int) -> None:
    lines = told({**CPU_ONLY, "python.executable": "/opt/" + "x" * 90}, made_up, language, LATE, width=width)
    assert max(map(width_of, lines.splitlines())) <= width


def test_values_stand_in_one_column_in_korean_too(made_up: KnowledgeBase) -> None:
    lines = [line for line in told(FINE, made_up, "ko").splitlines() if line[2:3] in tuple("✔✘–?")]
    values = (
        "파이썬 버전",
        "PyTorch 버전",
        "알 수 없음",
        "드라이버 버전",
        "0: NVIDIA",
        "알 수 없음",
        "운영 체제",
    )
    columns = [width_of(line[: line.index(value)]) for line, value in zip(lines, values, strict=True)]
    assert len(set(columns)) == 1


def test_data_hold_facts_for_programs_and_texts_for_people(made_up: KnowledgeBase) -> None:
    checkup = checked(CPU_ONLY, made_up)
    data = checkup_data(checkup, Facts.of(CPU_ONLY, "snapshot"), [LATE], Words("en"), made_up)
    framework = next(layer for layer in data["layers"] if layer["layer"] == "framework")
    assert data["status"] == "trouble"
    assert framework["mark"] == "trouble"
    assert framework["facts"]["torch.cuda_runtime_version"] is None
    assert framework["told"] == ["PyTorch version: 2.6.0+cpu"]
    assert data["problems"][0]["entry"] == "torch-cpu-only-build"
    assert data["probes"][0]["status"] == "timeout"
    assert data["cuda_versions"]["driver_api"]["version"] == "12.4"
