"""nvidia-smi as the way out where NVML cannot be loaded: a made-up program of that name answers."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gpuhelp.probes.machine import Machine
from gpuhelp.probes.registry import ProbeStatus, all_probes
from gpuhelp.probes.runner import Observation, observe

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the made-up program is a script of Linux")

GPU = {
    "index": "0",
    "driver_version": "550.90.07",
    "uuid": "GPU-11111111-2222-3333-4444-555555555555",
    "name": "NVIDIA A100-SXM4-40GB",
    "pci.bus_id": "00000000:01:00.0",
    "compute_cap": "8.0",
    "memory.total": "40960",
    "memory.used": "1024",
    "memory.free": "39424",
    "utilization.gpu": "7",
    "temperature.gpu": "41",
    "temperature.memory": "44",
    "power.draw": "61.50",
    "enforced.power.limit": "400.00",
    "clocks_throttle_reasons.active": "0x0000000000000045",
    "ecc.errors.uncorrected.volatile.total": "0",
    "ecc.errors.uncorrected.aggregate.total": "2",
    "retired_pages.single_bit_ecc.count": "1",
    "retired_pages.double_bit.count": "2",
    "pcie.link.gen.current": "3",
    "pcie.link.gen.max": "4",
    "pcie.link.width.current": "8",
    "pcie.link.width.max": "16",
    "mig.mode.current": "Disabled",
    "compute_mode": "Exclusive_Process",
    "persistence_mode": "Enabled",
    "driver_model.current": "[N/A]",
}
RECORD = {
    "index": 0,
    "uuid": "GPU-11111111-2222-3333-4444-555555555555",
    "name": "NVIDIA A100-SXM4-40GB",
    "pci": "0000:01:00.0",
    "compute_capability": "8.0",
    "sm": "sm_80",
    "memory_total_bytes": 42949672960,
    "memory_used_bytes": 1073741824,
    "memory_free_bytes": 41339060224,
    "utilization_percent": 7,
    "temperature_celsius": 41,
    "memory_temperature_celsius": 44,
    "power_watts": 61.5,
    "power_limit_watts": 400.0,
    "throttle_reasons": ["sw_power_cap", "hw_thermal_slowdown"],
    "ecc_uncorrected": 0,
    "ecc_uncorrected_aggregate": 2,
    "retired_pages": 3,
    "pcie_generation": 3,
    "pcie_generation_max": 4,
    "pcie_width": 8,
    "pcie_width_max": 16,
    "mig_mode": False,
    "compute_mode": "exclusive_process",
    "persistence_mode": True,
}
APPS = "GPU-11111111-2222-3333-4444-555555555555, 4242, 1024, /usr/bin/python3"
HEAD = "==============NVSMI LOG==============\n\nDriver Version : 550.90.07\nCUDA Version   : 12.4\n"

PROGRAM = """#!{python} -IS
import json, sys, time
told = json.loads({told!r})
open({log!r}, "a").write(" ".join(sys.argv[1:]) + chr(10))
if told["fails"]:
    print(told["fails"])
    sys.exit(9)
if told["hangs"]:
    time.sleep(60)
if sys.argv[1].startswith("--query-gpu="):
    for name in sys.argv[1].partition("=")[2].split(","):
        if name not in told["gpus"][0]:
            print('Field "' + name + '" is not a valid field to query.')
            sys.exit(2)
    for gpu in told["gpus"]:
        print(", ".join(gpu[name] for name in sys.argv[1].partition("=")[2].split(",")))
elif sys.argv[1].startswith("--query-compute-apps="):
    print(told["apps"])
elif sys.argv[1] == "-q":
    print(told["head"])
"""

LookWith = Callable[..., Observation]


@pytest.fixture
def look(tmp_path: Path) -> LookWith:
    """The NVML probe on a machine whose NVML cannot be loaded, with a made-up nvidia-smi on its PATH."""
    (probe,) = (each for each in all_probes() if each.id == "nvml.driver")

    def observed(limit_s: float = 5.0, **told: Any) -> Observation:
        (tmp_path / "root").mkdir(exist_ok=True)
        (tmp_path / "libnvidia-ml.so.1").touch()  # an empty file cannot be loaded
        environ = {"LD_LIBRARY_PATH": str(tmp_path)}
        if told:
            told = {"fails": "", "hangs": False, "gpus": [GPU], "apps": "", "head": "", **told}
            program = tmp_path / "nvidia-smi"
            log = str(tmp_path / "log")
            text = PROGRAM.format(python=sys.executable, told=json.dumps(told), log=log)
            program.write_text(text, encoding="utf-8")
            program.chmod(0o755)
            environ["PATH"] = str(tmp_path)
        machine = Machine(environ=environ, root=tmp_path / "root")
        return observe(None, machine, limit_s=limit_s, probes=(probe,))

    return observed


def gpus_of(seen: Observation) -> list[dict[str, Any]]:
    value = seen.facts["gpus"].value
    assert isinstance(value, list)
    return value


def test_every_field_is_told_as_nvml_would_tell_it(look: LookWith) -> None:
    seen = look(apps=APPS, head=HEAD)
    assert seen.reports[0].status is ProbeStatus.OK
    assert seen.reports[0].detail == "asked nvidia-smi, because: NVML Shared Library Not Found"
    assert {fact.source for fact in seen.facts.values()} == {"nvidia-smi"}
    processes = [{"pid": 4242, "name": "python3", "memory_bytes": 1073741824}]
    assert seen.facts.values_by_name() == {
        "driver.error": None,
        "driver.version": "550.90.07",
        "driver.cuda_api_version": "12.4",
        "gpus": [{**RECORD, "processes": processes}],
    }


def test_fields_that_this_version_does_not_know_cost_only_themselves(look: LookWith) -> None:
    old = {name: cell for name, cell in GPU.items() if name not in {"compute_cap", "mig.mode.current"}}
    (gpu,) = gpus_of(look(gpus=[old]))
    missing = {"compute_capability", "sm", "mig_mode"}
    assert gpu == {**{name: RECORD[name] for name in RECORD if name not in missing}, "processes": []}


def test_a_field_that_was_renamed_is_asked_by_its_newer_name(look: LookWith) -> None:
    new = {name.replace("clocks_throttle", "clocks_event"): cell for name, cell in GPU.items()}
    (gpu,) = gpus_of(look(gpus=[new]))
    assert gpu["throttle_reasons"] == ["sw_power_cap", "hw_thermal_slowdown"]


@pytest.mark.parametrize("cell", ["[N/A]", "N/A", "[Not Supported]", ""])
def test_what_the_gpu_lacks_is_left_out_without_words(look: LookWith, cell: str) -> None:
    seen = look(gpus=[{**GPU, "power.draw": cell}])
    assert "power_watts" not in gpus_of(seen)[0]
    assert "power" not in seen.reports[0].detail


@pytest.mark.parametrize("cell", ["[Unknown Error]", "ERR!", "nan", "-inf", "-", "9" * 400, "\ufffd"])
def test_what_cannot_be_read_is_left_out_and_named(look: LookWith, cell: str) -> None:
    seen = look(gpus=[{**GPU, "utilization.gpu": cell, "memory.total": cell, "power.draw": cell}])
    (gpu,) = gpus_of(seen)
    missing = {"utilization_percent", "memory_total_bytes", "power_watts"}
    assert gpu == {**{name: RECORD[name] for name in RECORD if name not in missing}, "processes": []}
    for words in ("utilization", "memory total", "power"):
        assert f"{words} (GPU 0): " in seen.reports[0].detail


def test_a_lost_gpu_has_an_error(look: LookWith) -> None:
    lost = dict.fromkeys(GPU, "[GPU is lost]")
    healthy, gone = gpus_of(look(gpus=[GPU, {**lost, "index": "1", "uuid": "GPU-2"}]))
    assert "error" not in healthy
    assert (gone["index"], gone["uuid"], gone["error"]) == (1, "GPU-2", "GPU is lost")
    assert "memory_total_bytes" not in gone


def test_without_the_program_nvml_has_the_word(look: LookWith) -> None:
    seen = look()
    assert (seen.reports[0].status, seen.reports[0].detail) == (
        ProbeStatus.UNAVAILABLE,
        "NVML Shared Library Not Found",
    )
    assert seen.facts["driver.version"].value is None


def test_a_program_that_fails_too_is_quoted(look: LookWith) -> None:
    seen = look(fails="Failed to initialize NVML: Driver/library version mismatch")
    assert seen.reports[0].status is ProbeStatus.UNAVAILABLE
    assert seen.reports[0].detail.endswith("; nvidia-smi: Driver/library version mismatch")
    assert "gpus" not in seen.facts


def test_a_program_that_hangs_is_a_timeout(look: LookWith) -> None:
    started = time.monotonic()
    seen = look(hangs=True, limit_s=1.0)
    assert time.monotonic() - started < 1.0 + 0.5
    assert seen.reports[0].status is ProbeStatus.TIMEOUT
    assert "gpus" not in seen.facts


def test_only_questions_are_asked(look: LookWith, tmp_path: Path) -> None:
    look(apps=APPS, head=HEAD)
    asked = (tmp_path / "log").read_text(encoding="utf-8").splitlines()
    assert len(asked) == 3
    assert all(line.startswith(("--query-gpu=", "--query-compute-apps=", "-q -d COMPUTE")) for line in asked)


@pytest.mark.parametrize(
    "row", ["GPU-1, ², 3, x", "GPU-1, 1, ³, x", f"GPU-1, {'9' * 5000}, 1, x", "GPU-1, nan, 1, x"]
)
def test_a_process_that_cannot_be_read_costs_no_gpu(look: LookWith, row: str) -> None:
    (gpu,) = gpus_of(look(apps=f"{row}\n{APPS}"))
    assert gpu["memory_total_bytes"] == RECORD["memory_total_bytes"]
    assert [process["pid"] for process in gpu["processes"]] == [4242]
