"""NVML scenarios: the real bindings in the real child process, over a made-up driver library."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import pytest

from gpuhelp.probes.machine import Machine
from gpuhelp.probes.nvml import facts_of
from gpuhelp.probes.processes import Owners, program_name
from gpuhelp.probes.registry import ProbeStatus
from gpuhelp.probes.runner import Observation, observe

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the made-up library is built for Linux")

FakeNvml = Callable[..., "dict[str, str]"]
MakeMachine = Callable[..., Machine]
WANTED = ("driver.version", "gpus")


def gpus_of(seen: Observation) -> list[dict[str, Any]]:
    value = seen.facts["gpus"].value
    assert isinstance(value, list)
    return value


def test_two_healthy_gpus_are_told_in_full(fake_nvml: FakeNvml) -> None:
    seen = observe(WANTED, Machine(environ=fake_nvml("two-healthy-gpus")))
    assert [(each.id, each.status) for each in seen.reports] == [("nvml.driver", ProbeStatus.OK)]
    assert seen.facts["driver.version"].value == "550.90.07"
    assert seen.facts["driver.cuda_api_version"].value == "12.4"
    assert seen.facts["driver.error"].value is None
    assert {fact.source for fact in seen.facts.values()} == {"nvml"}
    first, second = gpus_of(seen)
    assert first == {
        "index": 0,
        "uuid": "GPU-11111111-2222-3333-4444-555555555555",
        "name": "NVIDIA GeForce RTX 3090",
        "compute_capability": "8.6",
        "sm": "sm_86",
        "memory_total_bytes": 25769803776,
        "memory_used_bytes": 10485760,
        "memory_free_bytes": 25490882560,
        "utilization_percent": 3,
        "temperature_celsius": 41,
        "power_watts": 25.5,
        "power_limit_watts": 350.0,
        "compute_mode": "default",
        "persistence_mode": True,
        "processes": [],
    }
    assert (second["index"], second["memory_used_bytes"]) == (1, 0)


def test_anothers_process_that_holds_the_memory_is_told_with_its_owner(
    fake_nvml: FakeNvml, make_machine: MakeMachine
) -> None:
    machine = make_machine(
        {
            "/etc/passwd": "me:x:1000:1000::/home/me:/bin/sh\nalice:x:1001:1001::/home/alice:/bin/sh\n",
            "/proc/self/status": "Name:\tpython\nUid:\t1000\t1000\t1000\t1000\n",
            "/proc/4242/status": "Name:\tpython3\nUid:\t1001\t1001\t1001\t1001\n",
            "/proc/4243/status": "Name:\tXorg\nUid:\t1000\t1000\t1000\t1000\n",
        },
        environ=fake_nvml("busy-gpu"),
    )
    (gpu,) = gpus_of(observe(WANTED, machine))
    assert gpu["processes"] == [
        {"pid": 4242, "name": "program-4242", "user": "alice", "is_self": False, "memory_bytes": 41771073536},
        {"pid": 4243, "name": "program-4243", "user": "me", "is_self": True, "memory_bytes": 104857600},
    ]
    assert (gpu["compute_mode"], gpu["persistence_mode"], gpu["mig_mode"]) == (
        "exclusive_process",
        False,
        False,
    )


def test_a_process_id_of_the_host_names_nobody_inside_a_container(
    fake_nvml: FakeNvml, make_machine: MakeMachine
) -> None:
    machine = make_machine(
        {"/proc/self/status": "Uid:\t0\t0\t0\t0\n", "/proc/4242/status": "Name:\tbash\nUid:\t0\t0\t0\t0\n"},
        environ=fake_nvml("busy-gpu"),
    )
    namespace = machine.path("/proc/self/ns/pid")
    namespace.parent.mkdir()
    namespace.symlink_to("pid:[4026533001]")
    (gpu,) = gpus_of(observe(WANTED, machine))
    assert gpu["processes"][0] == {"pid": 4242, "memory_bytes": 41771073536}


@pytest.mark.parametrize(
    ("scenario", "error"),
    [
        ("version-mismatch", "Driver/library version mismatch"),
        ("driver-not-loaded", "Driver Not Loaded"),
        ("no-driver", "NVML Shared Library Not Found"),
    ],
)
def test_an_nvml_that_does_not_start_says_why(fake_nvml: FakeNvml, scenario: str, error: str) -> None:
    seen = observe(WANTED, Machine(environ=fake_nvml(scenario)))
    assert [(each.status, each.detail) for each in seen.reports] == [(ProbeStatus.UNAVAILABLE, error)]
    assert seen.facts["driver.error"].value == error
    assert "gpus" not in seen.facts


def test_without_the_library_there_is_no_driver_but_a_mismatched_one_is_only_unknown(
    fake_nvml: FakeNvml,
) -> None:
    none = observe(WANTED, Machine(environ=fake_nvml("no-driver"))).facts
    assert none["driver.version"].value is None
    mismatched = observe(WANTED, Machine(environ=fake_nvml("version-mismatch"))).facts
    assert "driver.version" not in mismatched


def test_a_lost_gpu_has_an_error_and_the_other_stays(fake_nvml: FakeNvml) -> None:
    seen = observe(WANTED, Machine(environ=fake_nvml("gpu-lost")))
    healthy, lost = gpus_of(seen)
    assert "error" not in healthy
    assert lost == {"index": 1, "error": "GPU is lost"}
    assert seen.reports[0].status is ProbeStatus.OK


def test_a_gpu_that_falls_off_the_bus_keeps_its_identity(fake_nvml: FakeNvml) -> None:
    _, lost = gpus_of(observe(WANTED, Machine(environ=fake_nvml("gpu-falls-off"))))
    assert lost["error"] == "GPU is lost"
    assert lost["uuid"] == "GPU-66666666-7777-8888-9999-000000000000"
    assert not {"memory_total_bytes", "processes", "utilization_percent"} & set(lost)


def test_an_old_driver_without_newer_functions_tells_the_rest(fake_nvml: FakeNvml) -> None:
    seen = observe(WANTED, Machine(environ=fake_nvml("two-healthy-gpus", old=True)))
    assert seen.facts["driver.cuda_api_version"].value == "12.4"
    first = gpus_of(seen)[0]
    assert (
        first["memory_used_bytes"] == 10485760 + 268435456
    )  # with what the driver reserves: it cannot tell them apart
    assert "processes" not in first
    assert "error" not in first
    assert seen.reports[0].status is ProbeStatus.OK


def test_a_gpu_that_supports_few_calls_leaves_those_fields_out(fake_nvml: FakeNvml) -> None:
    (gpu,) = gpus_of(observe(WANTED, Machine(environ=fake_nvml("few-calls"))))
    assert set(gpu) == {
        "index", "uuid", "name", "compute_capability", "sm",
        "memory_total_bytes", "memory_used_bytes", "memory_free_bytes", "compute_mode",
    }  # fmt: skip


def test_a_call_that_never_returns_costs_only_what_comes_after_it(fake_nvml: FakeNvml) -> None:
    started = time.monotonic()
    seen = observe(WANTED, Machine(environ=fake_nvml("second-gpu-hangs")), limit_s=2.0)
    assert time.monotonic() - started < 2.0 + 1.0
    assert [(each.id, each.status) for each in seen.reports] == [("nvml.driver", ProbeStatus.TIMEOUT)]
    assert seen.facts["driver.version"].value == "550.90.07"
    first, second = gpus_of(seen)
    assert first["sm"] == "sm_86"
    assert second == {"index": 1, "error": "the driver did not answer"}


def test_a_start_that_never_returns_is_a_timeout_without_facts(fake_nvml: FakeNvml) -> None:
    seen = observe(WANTED, Machine(environ=fake_nvml("start-hangs")), limit_s=1.0)
    assert seen.reports[0].status is ProbeStatus.TIMEOUT
    assert "did not answer" in seen.reports[0].detail
    assert len(seen.facts) == 0


def test_a_call_that_crashes_the_library_keeps_what_was_told(fake_nvml: FakeNvml) -> None:
    seen = observe(WANTED, Machine(environ=fake_nvml("second-gpu-crashes")))
    assert seen.reports[0].status is ProbeStatus.ERROR
    assert "SIGSEGV" in seen.reports[0].detail
    first, second = gpus_of(seen)
    assert first["name"] == "NVIDIA GeForce RTX 3090"
    assert second["error"] == "the driver library crashed"


def test_a_driver_that_counts_no_gpu_has_an_empty_list(fake_nvml: FakeNvml) -> None:
    seen = observe(WANTED, Machine(environ=fake_nvml("driver 550.90.07\ncuda 12040\n")))
    assert gpus_of(seen) == []


def test_any_single_call_may_fail_and_the_rest_is_told(fake_nvml: FakeNvml) -> None:
    text = "driver 550.90.07\ncuda 12040\ngpu 0 name GPU\ngpu 0 capability 9.0\ngpu 0 total 1000\n"
    for function in ("nvmlSystemGetDriverVersion", "nvmlDeviceGetName", "nvmlDeviceGetCudaComputeCapability"):
        seen = observe(WANTED, Machine(environ=fake_nvml(f"{text}on {function} * return 999\n")))
        assert seen.reports[0].status is ProbeStatus.OK
        assert gpus_of(seen)[0]["memory_total_bytes"] == 1000


def test_a_driver_that_does_not_count_its_gpus_has_not_told_everything(fake_nvml: FakeNvml) -> None:
    seen = observe(
        WANTED, Machine(environ=fake_nvml("driver 550.90.07\non nvmlDeviceGetCount_v2 * return 999\n"))
    )
    assert seen.reports[0].status is ProbeStatus.ERROR
    assert seen.facts["driver.version"].value == "550.90.07"
    assert "gpus" not in seen.facts


def test_process_records_read_askew_are_left_out(fake_nvml: FakeNvml) -> None:
    text = "driver 535.54.03\ngpu 0 name GPU\nprocess 0 4242 1000 C\nprocess 0 3116367872 1000 C\n"
    (gpu,) = gpus_of(observe(WANTED, Machine(environ=fake_nvml(text))))
    assert gpu == {"index": 0, "name": "GPU"}


def test_lines_that_say_nothing_are_no_facts() -> None:
    assert facts_of((), Owners.of(Machine(environ={})), "silent") == {}
    assert facts_of(({"noise": 1},), Owners.of(Machine(environ={})), "silent") == {}


@pytest.mark.parametrize(
    ("program", "name"),
    [
        ("/usr/bin/python3", "python3"),
        ("python -m torch.distributed.run train.py", "python"),
        (r"C:\Program Files\Python\python.exe", "python.exe"),
        ("/opt/a b/prog --x /y/z", "prog"),
        ("", ""),
    ],
)
def test_a_program_is_named_without_its_folder_and_arguments(program: str, name: str) -> None:
    assert program_name(program) == name
