"""Made-up NVIDIA drivers, from library to answer: what they say decides, and a hang costs one look."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the fake NVML library is built for Linux")
RunCommand = Callable[..., Any]
FakeNvml = Callable[..., dict[str, str]]
EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
MISMATCH = EXAMPLES / "driver-mismatch.log"
OOM_OF_OTHERS = b"""\
Traceback (most recent call last):
  File "/home/student/train.py", line 9, in <module>
    model.cuda()
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of \
39.39 GiB of which 512.00 MiB is free. Process 4242 has 38.80 GiB memory in use. Of the allocated memory \
0 bytes is allocated by PyTorch, and 0 bytes is reserved by PyTorch but unallocated.
"""
ORDINAL = b"""\
lightning_fabric.utilities.exceptions.MisconfigurationException: You requested gpu: [3]
 But your machine only has: [0, 1]
"""
LOST = (
    b"Unable to determine the device handle for GPU 0000:65:00.0: GPU is lost."
    b"  Reboot the system to recover this GPU\n"
)
NO_DRIVER = (
    b"RuntimeError: Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU"
    b" and installed a driver\n"
)
LIMIT_S = 1.0
HANG_S = 5.0
"""More than the limit by this much is a hang; the exact figure is what tests/bench/probe_limit.py prints."""


def found(ran: Any) -> dict[str, Any]:
    """The JSON of a diagnosis."""
    data: dict[str, Any] = json.loads(ran.out)
    return data


def verdicts(data: dict[str, Any], entry: str) -> dict[str, str]:
    (finding,) = [one for one in data["findings"] if one["entry"] == entry]
    return {cause["id"]: cause["verdict"] for cause in finding["causes"]}


def status_of(data: dict[str, Any], probe: str) -> str:
    return str(next(report["status"] for report in data["probes"] if report["id"] == probe))


@pytest.mark.parametrize("scenario", ["start-hangs", "second-gpu-hangs"])
def test_a_driver_that_hangs_costs_one_look_and_not_the_answer(
    gpuhelp: RunCommand, fake_nvml: FakeNvml, scenario: str
) -> None:
    started = time.monotonic()
    ran = gpuhelp(
        EXAMPLES / "ddp-oom.log",
        "--probe-timeout",
        str(LIMIT_S),
        "--format",
        "json",
        environ=fake_nvml(scenario),
    )
    seconds = time.monotonic() - started
    data = found(ran)
    assert ran.status == 1
    assert data["findings"][0]["entry"] == "cuda-oom"
    assert status_of(data, "nvml.driver") == "timeout"
    assert seconds < LIMIT_S + HANG_S


def test_the_look_that_hung_is_named_in_the_text(gpuhelp: RunCommand, fake_nvml: FakeNvml) -> None:
    argv = (EXAMPLES / "ddp-oom.log", "--probe-timeout", str(LIMIT_S))
    ran = gpuhelp(*argv, environ=fake_nvml("start-hangs"))
    assert "Could not look" in ran.out
    assert "nvml.driver no answer in time: the NVIDIA driver did not answer" in " ".join(ran.out.split())
    korean = gpuhelp(*argv, "--lang", "ko", environ=fake_nvml("start-hangs"))
    assert "확인하지 못한 것" in korean.out


def test_a_checkup_of_a_driver_that_hangs_comes_back(gpuhelp: RunCommand, fake_nvml: FakeNvml) -> None:
    started = time.monotonic()
    ran = gpuhelp("check", "--probe-timeout", str(LIMIT_S), environ=fake_nvml("start-hangs"))
    assert time.monotonic() - started < LIMIT_S + HANG_S
    assert "? driver" in ran.out
    assert "nvml.driver" in ran.out


def test_what_was_told_before_the_driver_hung_is_kept(gpuhelp: RunCommand, fake_nvml: FakeNvml) -> None:
    ran = gpuhelp(
        "check", "--format", "json", "--probe-timeout", str(LIMIT_S), environ=fake_nvml("second-gpu-hangs")
    )
    data = json.loads(ran.out)
    first, second = data["facts"]["gpus"]["value"]
    assert first["name"] == "NVIDIA GeForce RTX 3090"
    assert second["error"] == "the driver did not answer"
    assert data["facts"]["driver.version"] == {"value": "550.90.07", "source": "nvml"}


def test_two_healthy_gpus_are_shown(gpuhelp: RunCommand, fake_nvml: FakeNvml) -> None:
    ran = gpuhelp("check", environ=fake_nvml("two-healthy-gpus"))
    assert "✔ GPU" in ran.out
    assert "2 × NVIDIA GeForce RTX 3090 (0–1) · compute capability 8.6" in ran.out
    assert "550.90.07 · runs CUDA up to 12.4" in ran.out
    assert "CUDA driver API version 12.4" in ran.out


def test_a_number_beyond_two_gpus_is_confirmed(gpuhelp: RunCommand, fake_nvml: FakeNvml) -> None:
    environ = fake_nvml("two-healthy-gpus")
    data = found(gpuhelp("--format", "json", stdin=ORDINAL, environ=environ))
    assert data["findings"][0]["entry"] == "cuda-invalid-device-ordinal"
    assert "confirmed" in verdicts(data, "cuda-invalid-device-ordinal").values()
    assert len(data["facts"]["gpus"]["value"]) == 2


def test_a_version_mismatch_is_told_by_the_checkup(gpuhelp: RunCommand, fake_nvml: FakeNvml) -> None:
    ran = gpuhelp("check", environ=fake_nvml("version-mismatch"))
    assert ran.status == 1
    assert "✘ driver" in ran.out
    assert "gpuhelp explain nvml-version-mismatch" in ran.out


def test_a_version_mismatch_is_seen_by_the_diagnosis(gpuhelp: RunCommand, fake_nvml: FakeNvml) -> None:
    data = found(gpuhelp(MISMATCH, "--format", "json", environ=fake_nvml("version-mismatch")))
    assert data["findings"][0]["entry"] == "nvml-version-mismatch"
    assert "mismatch" in data["facts"]["driver.error"]["value"].lower()
    assert status_of(data, "nvml.driver") == "unavailable"


def test_no_driver_is_told_by_the_checkup(gpuhelp: RunCommand, fake_nvml: FakeNvml) -> None:
    ran = gpuhelp("check", environ=fake_nvml("no-driver"))
    assert "– driver" in ran.out
    assert "CUDA driver API version: none" in ran.out


def test_no_driver_is_confirmed_by_the_diagnosis(gpuhelp: RunCommand, fake_nvml: FakeNvml) -> None:
    data = found(gpuhelp("--format", "json", stdin=NO_DRIVER, environ=fake_nvml("no-driver")))
    assert data["findings"][0]["entry"] == "nvidia-driver-missing"
    assert data["facts"]["driver.version"] == {"value": None, "source": "nvml"}
    assert data["findings"][0]["causes"][0]["because"]


@pytest.mark.parametrize("scenario", ["gpu-lost", "gpu-falls-off"])
def test_a_lost_gpu_is_told(gpuhelp: RunCommand, fake_nvml: FakeNvml, scenario: str) -> None:
    ran = gpuhelp("check", environ=fake_nvml(scenario))
    assert ran.status == 1
    assert "✘ GPU" in ran.out
    assert "gpuhelp explain gpu-fell-off-bus" in ran.out
    data = found(gpuhelp("--format", "json", stdin=LOST, environ=fake_nvml(scenario)))
    assert data["findings"][0]["entry"] == "gpu-fell-off-bus"
    assert any("error" in gpu for gpu in data["facts"].get("gpus", {"value": [{"error": ""}]})["value"])


def test_memory_that_somebody_else_holds_is_confirmed(gpuhelp: RunCommand, fake_nvml: FakeNvml) -> None:
    environ = fake_nvml("busy-gpu")
    data = found(gpuhelp("--format", "json", stdin=OOM_OF_OTHERS, environ=environ))
    assert data["findings"][0]["entry"] == "cuda-oom-other-process"
    assert data["findings"][0]["causes"][0]["verdict"] == "confirmed"
    told = gpuhelp("check", environ=environ)
    assert "1.0 GiB free of 40.0 GiB" in " ".join(told.out.split())


def test_with_no_probes_the_driver_is_not_asked(gpuhelp: RunCommand, fake_nvml: FakeNvml) -> None:
    started = time.monotonic()
    data = found(gpuhelp(MISMATCH, "--no-probes", "--format", "json", environ=fake_nvml("start-hangs")))
    assert data["probes"] == []
    assert time.monotonic() - started < HANG_S
