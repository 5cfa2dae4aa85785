"""The checkup for a terminal and as data: layers, CUDA versions, trouble, and what was not looked at."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from gpuhelp.kb.load import KnowledgeBase
from gpuhelp.probes.facts import Facts, FactValue
from gpuhelp.probes.registry import ProbeStatus
from gpuhelp.probes.runner import ProbeReport
from gpuhelp.reasoning.checkup import Checkup, check
from gpuhelp.reasoning.table_functions import TableFunctions
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
    assert "├ ✔ PyTorch         2.6.0+cu124 · built with CUDA 12.4" in text
    assert "├ ✔ driver          550.90.07 · runs CUDA up to 12.4" in text
    assert "└ ✔ GPU" in text
    assert "0: NVIDIA L4 · compute capability 8.9 · 23.0 GiB free of 24.0 GiB" in " ".join(text.split())
    assert "No problem found in what could be looked at." in text
    assert "Could not look" not in text


def test_each_kind_of_gpu_has_a_line_under_the_first(made_up: KnowledgeBase) -> None:
    other = {**GPU, "index": 1, "name": "NVIDIA T4", "compute_capability": "7.5", "sm": "sm_75"}
    lines = told({**FINE, "gpus": [GPU, other]}, made_up).splitlines()
    first, second = (
        next(line for line in lines if name in line) for name in ("0: NVIDIA L4", "1: NVIDIA T4")
    )
    assert first.index("0:") == second.index("1:")


def test_gpus_that_are_alike_share_a_line_and_the_fullest_is_told(made_up: KnowledgeBase) -> None:
    gpus = [{**GPU, "index": index} for index in (0, 1, 2, 5)]
    gpus[1] = {**gpus[1], "memory_free_bytes": 1073741824}
    text = " ".join(told({**FINE, "gpus": gpus}, made_up).split())
    assert "4 × NVIDIA L4 (0–2, 5) · compute capability 8.9 · at least 1.0 GiB free of 24.0 GiB each" in text


def test_a_gpu_on_the_bus_that_the_driver_does_not_show_is_told(made_up: KnowledgeBase) -> None:
    bus = [{"pci": "0000:01:00.0", "name": "AD102", "kernel_driver": None}]
    text = told({**FINE, "gpus": [], "host.pci_gpus": bus}, made_up)
    assert "? GPU             AD102 is on the PCI bus, but the driver does not show it" in text


def test_a_newer_minor_runtime_is_told_with_its_limits(made_up: KnowledgeBase) -> None:
    newer = {**FINE, "torch.version": "2.9.0+cu128", "torch.cuda_runtime_version": "12.8"}
    assert "PTX" in version_sentence("runtime", checked(newer, made_up), Words("en"))
    assert "PTX" in version_sentence("runtime", checked(newer, made_up), Words("ko"))
    assert "PTX" not in version_sentence("runtime", checked(FINE, made_up), Words("en"))
    assert checked(newer, made_up).troubles == ()


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
    assert "likely  The CPU wheel of PyTorch is installed although an NVIDIA GPU is here" in text
    assert "→ Replace it by a CUDA build" in text
    assert "$ pip install --force-reinstall torch torchvision --index-url https://" in text
    assert "PyTorch의 CUDA 런타임 버전: 없음" in told(CPU_ONLY, made_up, "ko")


def test_a_gpu_that_does_not_answer_is_shown_with_its_error(made_up: KnowledgeBase) -> None:
    text = told({**FINE, "gpus": [GPU, {"index": 1, "error": "GPU is lost"}]}, made_up)
    assert "✘ GPU" in text
    assert text.count("1: ? · GPU is lost") == 1
    assert "GPU 1 · error of the GPU: GPU is lost" in text


def test_not_having_looked_is_not_fine(made_up: KnowledgeBase) -> None:
    text = told({}, made_up, "en", LATE)
    assert "? driver" in text
    assert "nvml.driver  no answer in time: the driver did not answer" in text
    assert "✔" not in text


def test_a_flag_that_is_off_is_left_out(made_up: KnowledgeBase) -> None:
    assert "WSL" not in told(FINE, made_up)
    assert "linux · WSL" in told({**FINE, "os.wsl": True}, made_up)


@pytest.mark.parametrize("language", ["en", "ko"])
@pytest.mark.parametrize("width", [40, 80])
def test_the_checkup_fits_the_terminal(made_up: KnowledgeBase, language: str, width: int) -> None:
    lines = told({**CPU_ONLY, "python.executable": "/opt/" + "x" * 90}, made_up, language, LATE, width=width)
    wrapped = [line for line in lines.splitlines() if not line.lstrip().startswith("$ ")]
    assert max(map(width_of, wrapped)) <= width  # commands stay whole, so that they can be copied


def test_values_stand_in_one_column_in_korean_too(made_up: KnowledgeBase) -> None:
    lines = [line for line in told(FINE, made_up, "ko").splitlines() if line[4:5] in tuple("✔✘–?")]
    values = ("3.11.7", "2.6.0+cu124", "알 수 없음", "550.90.07", "0: NVIDIA", "알 수 없음", "linux")
    columns = [width_of(line[: line.index(value)]) for line, value in zip(lines, values, strict=True)]
    assert len(set(columns)) == 1


def test_data_hold_facts_for_programs_and_texts_for_people(made_up: KnowledgeBase) -> None:
    checkup = checked(CPU_ONLY, made_up)
    data = checkup_data(checkup, Facts.of(CPU_ONLY, "snapshot"), [LATE], Words("en"), made_up)
    framework = next(layer for layer in data["layers"] if layer["layer"] == "framework")
    assert data["status"] == "trouble"
    assert framework["mark"] == "trouble"
    assert framework["facts"]["torch.cuda_runtime_version"] is None
    assert framework["told"] == ["2.6.0+cpu", "built without CUDA"]
    assert data["problems"][0]["entry"] == "torch-cpu-only-build"
    cause = data["problems"][0]["causes"][0]
    assert (cause["id"], cause["verdict"], cause["fixes"][0]["risk"]) == (
        "cpu-wheel",
        "likely",
        "changes-environment",
    )
    assert data["probes"][0]["status"] == "timeout"
    assert data["cuda_versions"]["driver_api"]["version"] == "12.4"
