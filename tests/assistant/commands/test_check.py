"""`gpuhelp check` from the command line: exit status, formats, and --deep."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.assistant.machines import HEALTHY, SERVER, WORKSTATION, gpu

RunCommand = Callable[..., Any]
WARM = {"temperature_celsius": 89}
HOT = {
    **WORKSTATION,
    "gpus": [gpu(0, "NVIDIA L4", "8.9", 24, throttle_reasons=["hw_thermal_slowdown"], **WARM)],
}


def written(folder: Path, facts: object) -> Path:
    path = folder / "env.json"
    path.write_text(json.dumps(facts), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", HEALTHY)
def test_a_machine_in_order_is_status_0(gpuhelp: RunCommand, tmp_path: Path, name: str) -> None:
    ran = gpuhelp("check", "--env", written(tmp_path, HEALTHY[name]))
    assert ran.status == 0
    assert "No problem found" in ran.out


def test_eight_gpus_take_no_more_room_than_one(gpuhelp: RunCommand, tmp_path: Path) -> None:
    lines = gpuhelp("check", "--env", written(tmp_path, SERVER)).out.splitlines()
    assert len(lines) < 35
    assert sum("NVIDIA H100" in line for line in lines) == 2


@pytest.mark.parametrize("language", ["en", "ko"])
@pytest.mark.parametrize("format", ["text", "json", "markdown"])
def test_trouble_is_status_1_in_every_format(
    gpuhelp: RunCommand, tmp_path: Path, format: str, language: str
) -> None:
    ran = gpuhelp("check", "--env", written(tmp_path, HOT), "--format", format, "--lang", language)
    assert ran.status == 1
    assert ran.err == ""
    assert "gpu-thermal-throttle" in ran.out
    assert "FlashAttention 3" in ran.out


def test_json_names_abilities_problems_and_causes(gpuhelp: RunCommand, tmp_path: Path) -> None:
    data = json.loads(gpuhelp("check", "--env", written(tmp_path, HOT), "--format", "json").out)
    assert data["status"] == "trouble"
    assert data["abilities"][0]["can"]["fp8"] is True
    assert data["problems"][0]["gpus"] == [0]
    assert data["problems"][0]["causes"][0]["id"] == "poor-cooling"


@pytest.mark.parametrize("option", [("--no-probes",), ("--env", "env.json")])
def test_deep_tries_this_machine_only(gpuhelp: RunCommand, option: tuple[str, ...]) -> None:
    ran = gpuhelp("check", "--deep", *option)
    assert (ran.status, ran.err.count("\n")) == (2, 1)
    assert "--deep" in ran.err


@pytest.mark.parametrize("language", ["en", "ko"])
def test_deep_tells_why_it_fails_through_an_entry(gpuhelp: RunCommand, tmp_path: Path, language: str) -> None:
    (tmp_path / "torch.py").write_text(
        "raise ImportError('libcudnn.so.9: cannot open shared object file: No such file or directory')",
        encoding="utf-8",
    )
    argv = ("check", "--deep", "--python", sys.executable, "--lang", language)
    ran = gpuhelp(*argv, environ={"PYTHONPATH": str(tmp_path)})
    assert ran.status == 1
    assert "libcudnn.so.9" in ran.out
    assert "gpuhelp explain cuda-shared-lib-missing" in ran.out
    data = json.loads(gpuhelp(*argv, "--format", "json", environ={"PYTHONPATH": str(tmp_path)}).out)
    assert data["trial"]["failed"] is True
    assert data["trial"]["entries"] == ["cuda-shared-lib-missing"]
