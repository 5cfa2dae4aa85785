"""NVML scenarios: the real bindings in the real child process, over a made-up driver library."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import pytest

from gpuhelp.probes.machine import Machine
from gpuhelp.probes.processes import program_name
from gpuhelp.probes.registry import Probe, ProbeStatus, all_probes
from gpuhelp.probes.runner import Observation, observe

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the made-up library is built for Linux")

FakeNvml = Callable[..., "dict[str, str]"]
MakeMachine = Callable[..., Machine]


def look(machine: Machine, limit_s: float = 5.0) -> Observation:
    """The answer of the NVML probe alone."""
    return observe(None, machine, limit_s=limit_s, probes=(probe_named("nvml.driver"),))


def probe_named(id: str) -> Probe:
    return next(each for each in all_probes() if each.id == id)


def gpus_of(seen: Observation) -> list[dict[str, Any]]:
    value = seen.facts["gpus"].value
    assert isinstance(value, list)
    return value


def test_two_healthy_gpus_are_told_in_full(fake_nvml: FakeNvml) -> None:
    seen = look(Machine(environ=fake_nvml("two-healthy-gpus")))
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


def test_gpus_that_tell_everything_are_told_in_full(fake_nvml: FakeNvml, make_machine: MakeMachine) -> None:
    seen = look(make_machine(environ=fake_nvml("everything")))
    assert (seen.reports[0].status, seen.reports[0].detail) == (ProbeStatus.OK, "")
    assert seen.facts["fabric.state"].value == "Completed"
    assert seen.facts["topology.links"].value == [{"from": 0, "to": 1, "kind": "nvlink", "nvlink_count": 2}]
    first, second = gpus_of(seen)
    assert first == {
        "index": 0,
        "uuid": "GPU-11111111-2222-3333-4444-555555555550",
        "name": "NVIDIA A100-SXM4-40GB",
        "pci": "0000:01:00.0",
        "compute_capability": "8.0",
        "sm": "sm_80",
        "driver_model": "TCC",
        "memory_total_bytes": 42949672960,
        "memory_used_bytes": 1073741824,
        "memory_free_bytes": 41339060224,
        "utilization_percent": 7,
        "temperature_celsius": 41,
        "memory_temperature_celsius": 44,
        "slowdown_temperature_celsius": 89,
        "power_watts": 61.5,
        "power_limit_watts": 400.0,
        "throttle_reasons": ["sw_power_cap", "hw_thermal_slowdown"],
        "ecc_uncorrected": 0,
        "ecc_uncorrected_aggregate": 2,
        "retired_pages": 3,
        "remapped_rows": 3,
        "row_remap_pending": True,
        "row_remap_failure": False,
        "pcie_generation": 3,
        "pcie_generation_max": 4,
        "pcie_width": 8,
        "pcie_width_max": 16,
        "compute_mode": "default",
        "persistence_mode": True,
        "mig_mode": True,
        "mig_instances": [
            {
                "uuid": "MIG-aaaaaaaa-1111-2222-3333-444444444444",
                "name": "NVIDIA A100-SXM4-40GB MIG 3g.20gb",
                "gpu_instance_id": 1,
                "compute_instance_id": 0,
                "memory_total_bytes": 21474836480,
                "memory_used_bytes": 0,
            },
            {
                "uuid": "MIG-bbbbbbbb-1111-2222-3333-444444444444",
                "name": "NVIDIA A100-SXM4-40GB MIG 2g.10gb",
                "gpu_instance_id": 2,
                "compute_instance_id": 0,
                "memory_total_bytes": 10737418240,
                "memory_used_bytes": 0,
            },
        ],
        "nvlinks_active": 2,
        "nvlinks_inactive": 1,
        "processes": [{"pid": 4242, "name": "program-4242", "memory_bytes": 536870912}],
    }
    assert (second["mig_mode"], second["mig_instances"]) == (False, [])


def test_gpus_without_nvlink_are_linked_where_their_pcie_paths_meet(fake_nvml: FakeNvml) -> None:
    text = "driver 550.90.07\ngpu 0 name A\ngpu 1 name B\ngpu 2 name C\nancestor 0 1 10\nancestor 0 2 50\n"
    seen = look(Machine(environ=fake_nvml(text)))
    assert seen.facts["topology.links"].value == [
        {"from": 0, "to": 1, "kind": "pix"},
        {"from": 0, "to": 2, "kind": "sys"},
    ]


def test_gpus_with_links_to_switches_are_linked_by_as_many(fake_nvml: FakeNvml) -> None:
    text = "driver 550.90.07\ngpu 0 name A\ngpu 1 name B\n" + "".join(
        f"nvlink {gpu} {link} 1 switch\n" for gpu in (0, 1) for link in range(18)
    )
    seen = look(Machine(environ=fake_nvml(text)))
    assert seen.facts["topology.links"].value == [{"from": 0, "to": 1, "kind": "nvlink", "nvlink_count": 18}]


def test_a_gpu_that_has_to_wake_up_is_waited_for(fake_nvml: FakeNvml) -> None:
    text = "driver 550.90.07\ngpu 0 name A\non nvmlDeviceGetHandleByIndex_v2 0 wait 1200\n"
    seen = look(Machine(environ=fake_nvml(text)))
    assert seen.reports[0].status is ProbeStatus.OK
    assert gpus_of(seen) == [{"index": 0, "name": "A", "processes": []}]


def test_what_a_gpu_lacks_is_told_last(fake_nvml: FakeNvml) -> None:
    text = "driver 550.90.07\ncuda 12040\ngpu 0 name A\non nvmlDeviceGetPowerUsage 0 return 4\n"
    *failed, lacking = look(Machine(environ=fake_nvml(text))).reports[0].detail.split("; ")
    assert failed[0] == "UUID, compute capability, memory, temperature: not supported"
    assert "power: no permission" in failed
    assert "MIG mode" in lacking
    assert lacking.endswith(": not supported")


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
    (gpu,) = gpus_of(look(machine))
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
    (gpu,) = gpus_of(look(machine))
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
    seen = look(Machine(environ=fake_nvml(scenario)))
    assert [(each.status, each.detail) for each in seen.reports] == [(ProbeStatus.UNAVAILABLE, error)]
    assert seen.facts["driver.error"].value == error
    assert "gpus" not in seen.facts


def test_without_the_library_there_is_no_driver_but_a_mismatched_one_is_only_unknown(
    fake_nvml: FakeNvml,
) -> None:
    none = look(Machine(environ=fake_nvml("no-driver"))).facts
    assert none["driver.version"].value is None
    mismatched = look(Machine(environ=fake_nvml("version-mismatch"))).facts
    assert "driver.version" not in mismatched


def test_a_lost_gpu_has_an_error_and_the_other_stays(fake_nvml: FakeNvml) -> None:
    seen = look(Machine(environ=fake_nvml("gpu-lost")))
    healthy, lost = gpus_of(seen)
    assert "error" not in healthy
    assert lost == {"index": 1, "error": "GPU is lost"}
    assert seen.reports[0].status is ProbeStatus.OK


def test_a_gpu_that_falls_off_the_bus_keeps_its_identity(fake_nvml: FakeNvml) -> None:
    _, lost = gpus_of(look(Machine(environ=fake_nvml("gpu-falls-off"))))
    assert lost["error"] == "GPU is lost"
    assert lost["uuid"] == "GPU-66666666-7777-8888-9999-000000000000"
    assert not {"memory_total_bytes", "processes", "utilization_percent"} & set(lost)


def test_an_old_driver_without_newer_functions_tells_the_rest(fake_nvml: FakeNvml) -> None:
    seen = look(Machine(environ=fake_nvml("two-healthy-gpus", old=True)))
    assert seen.facts["driver.cuda_api_version"].value == "12.4"
    first = gpus_of(seen)[0]
    assert (
        first["memory_used_bytes"] == 10485760 + 268435456
    )  # with what the driver reserves: it cannot tell them apart
    assert "processes" not in first
    assert "error" not in first
    assert seen.reports[0].status is ProbeStatus.OK


def test_a_gpu_that_supports_few_calls_leaves_those_fields_out(fake_nvml: FakeNvml) -> None:
    (gpu,) = gpus_of(look(Machine(environ=fake_nvml("few-calls"))))
    assert set(gpu) == {
        "index", "uuid", "name", "compute_capability", "sm",
        "memory_total_bytes", "memory_used_bytes", "memory_free_bytes", "compute_mode",
    }  # fmt: skip


def test_a_call_that_never_returns_costs_only_its_field(fake_nvml: FakeNvml) -> None:
    started = time.monotonic()
    seen = look(Machine(environ=fake_nvml("second-gpu-hangs")), limit_s=3.0)
    assert time.monotonic() - started < 3.0 + 0.5
    (report,) = seen.reports
    assert report.status is ProbeStatus.TIMEOUT
    assert report.detail.startswith("utilization (GPU 1): the driver did not answer; ")
    assert seen.facts["driver.version"].value == "550.90.07"
    first, second = gpus_of(seen)
    assert set(first) - set(second) == {"utilization_percent"}
    assert "error" not in second


def test_a_gpu_that_answers_nothing_has_an_error_and_the_rest_is_told(fake_nvml: FakeNvml) -> None:
    text = "driver 550.90.07\ngpu 0 name A\ngpu 1 name B\non nvmlDeviceGetHandleByIndex_v2 1 hang\n"
    first, second = gpus_of(look(Machine(environ=fake_nvml(text)), limit_s=3.0))
    assert first == {"index": 0, "name": "A", "processes": []}
    assert second == {"index": 1, "error": "the driver did not answer"}


def test_a_start_that_never_returns_is_a_timeout_without_facts(fake_nvml: FakeNvml) -> None:
    seen = look(Machine(environ=fake_nvml("start-hangs")), limit_s=1.0)
    assert seen.reports[0].status is ProbeStatus.TIMEOUT
    assert "did not answer" in seen.reports[0].detail
    assert len(seen.facts) == 0


def test_a_call_that_crashes_the_library_costs_only_its_field(fake_nvml: FakeNvml) -> None:
    seen = look(Machine(environ=fake_nvml("second-gpu-crashes")))
    assert seen.reports[0].status is ProbeStatus.ERROR
    crash = "utilization (GPU 1): the driver library crashed (SIGSEGV); "
    assert seen.reports[0].detail.startswith(crash)
    first, second = gpus_of(seen)
    assert set(first) - set(second) == {"utilization_percent"}
    assert "error" not in second


def test_a_driver_that_counts_no_gpu_has_an_empty_list(fake_nvml: FakeNvml) -> None:
    seen = look(Machine(environ=fake_nvml("driver 550.90.07\ncuda 12040\n")))
    assert gpus_of(seen) == []


def test_any_single_call_may_fail_and_the_rest_is_told(fake_nvml: FakeNvml) -> None:
    text = "driver 550.90.07\ncuda 12040\ngpu 0 name GPU\ngpu 0 capability 9.0\ngpu 0 total 1000\n"
    for function in ("nvmlSystemGetDriverVersion", "nvmlDeviceGetName", "nvmlDeviceGetCudaComputeCapability"):
        seen = look(Machine(environ=fake_nvml(f"{text}on {function} * return 999\n")))
        assert seen.reports[0].status is ProbeStatus.OK
        assert gpus_of(seen)[0]["memory_total_bytes"] == 1000


def test_a_driver_that_does_not_count_its_gpus_has_not_told_everything(fake_nvml: FakeNvml) -> None:
    seen = look(Machine(environ=fake_nvml("driver 550.90.07\non nvmlDeviceGetCount_v2 * return 999\n")))
    assert seen.reports[0].status is ProbeStatus.ERROR
    assert seen.facts["driver.version"].value == "550.90.07"
    assert "gpus" not in seen.facts


def test_process_records_read_askew_are_left_out(fake_nvml: FakeNvml) -> None:
    text = "driver 535.54.03\ngpu 0 name GPU\nprocess 0 4242 1000 C\nprocess 0 3116367872 1000 C\n"
    (gpu,) = gpus_of(look(Machine(environ=fake_nvml(text))))
    assert gpu == {"index": 0, "name": "GPU"}


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
