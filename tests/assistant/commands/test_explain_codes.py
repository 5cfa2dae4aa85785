"""`gpuhelp explain CODE`: what is told, in every format and language, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

SPELLED = (
    "700", "error 700", "CUDA error 2", "cuda runtime error (59)", "cudaErrorLaunchFailure",
    "CUDA_ERROR_NO_DEVICE", "Xid 79", "Xid 154", "144", "SXid 20034", "exit 137", "exit code -11", "-9",
    "SIGBUS", "signal 15", "NCCL 5", "ncclRemoteError", "0xC0000005", "WinError 126",
    "CUBLAS_STATUS_NOT_SUPPORTED", "cudnn 8", "CUDNN_STATUS_BAD_PARAM_X", "CUSOLVER_STATUS_INTERNAL_ERROR",
    "CUFFT_ALLOC_FAILED", "CUSPARSE_STATUS_ZERO_PIVOT", "CURAND_STATUS_LAUNCH_FAILURE",
    "NVRTC_ERROR_COMPILATION", "NVML_ERROR_GPU_IS_LOST", "hipErrorNoBinaryForGpu", "9", "0",
)  # fmt: skip


@pytest.mark.parametrize("words", SPELLED)
def test_a_code_is_explained_however_it_is_spelled(gpuhelp: Callable[..., Any], words: str) -> None:
    english, korean = gpuhelp("explain", *words.split()), gpuhelp("explain", words, "--lang", "ko")
    assert (english.status, english.err, korean.status, korean.err) == (0, "", 0, "")
    assert "■ " in english.out
    assert english.out != korean.out


def test_the_likeliest_meaning_is_told_whole_with_its_entry(gpuhelp: Callable[..., Any]) -> None:
    lines = gpuhelp("explain", "700", width=100).out.splitlines()
    assert lines[0].startswith("700 means 2 different things")
    assert lines[2:4] == ["■ CUDA error 700 · cudaErrorIllegalAddress", "  CUDA_ERROR_ILLEGAL_ADDRESS"]
    assert "  printed as: an illegal memory access was encountered" in lines
    assert "  process: it must end; after this error it can no longer use the GPU" in lines
    assert "  releases: number 77 in CUDA 10.0 and older" in lines
    assert "    gpuhelp explain cuda-illegal-address" in lines
    assert "  ○ HIP error 700 · hipErrorIllegalAddress" in lines


def test_an_xid_says_whose_fault_it_is_and_what_to_do(gpuhelp: Callable[..., Any]) -> None:
    text = gpuhelp("explain", "Xid", "79", width=100).out
    assert "mostly the fault of: the hardware" in text
    assert "NVIDIA says to do: Restart the whole machine." in text
    assert "What the line can name" in gpuhelp("explain", "Xid 149").out


def test_a_name_that_is_not_known_says_that_another_is_told(gpuhelp: Callable[..., Any]) -> None:
    text = gpuhelp("explain", "CUDNN_STATUS_BAD_PARAM_X", width=100).out
    assert "CUDNN_STATUS_BAD_PARAM_X is not in the tables; this is the nearest known name." in text


@pytest.mark.parametrize("language", ["en", "ko"])
def test_codes_come_in_every_format(gpuhelp: Callable[..., Any], language: str) -> None:
    argv = ("explain", "137", "--lang", language, "--format")
    data = json.loads(gpuhelp(*argv, "json").out)
    assert (data["schema_version"], data["asked"]) == (1, "137")
    assert [code["space"] for code in data["codes"]] == ["exit", "xid"]
    assert data["codes"][0]["entry"] == "host-oom-killed"
    assert data["codes"][0]["explained"]["causes"]
    markdown = gpuhelp(*argv, "markdown").out
    assert markdown.startswith(f"# {data['codes'][0]['title']}")
    assert data["codes"][1]["meaning"] in markdown.replace("\\", "")


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ("Xid 999", "Xid 999: no such code in the tables"),
        (str(10**30), "no such code in the tables"),
        ("CUBLASS_STATUS", "did you mean CUBLAS_STATUS_"),
        ("", "no such entry"),
        ("\U0001f642", "no such entry"),
        ("x" * 4096, "no such entry"),
        ("9" * 4096, "no such code"),
        ("\x1b[31mred\n\nred", "no such"),
    ],
)
def test_what_is_neither_entry_nor_code_costs_one_line(
    gpuhelp: Callable[..., Any], asked: str, says: str
) -> None:
    ran = gpuhelp("explain", asked)
    assert (ran.status, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert says in ran.err
    assert len(ran.err) < 300
    assert "\x1b" not in ran.err
