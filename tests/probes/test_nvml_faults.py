"""Every NVML call in turn: every error code, hanging, garbage, crashing; the rest has to be told."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pynvml
import pytest

import gpuhelp.probes
from gpuhelp.probes import nvml_account
from gpuhelp.probes.machine import Machine
from gpuhelp.probes.nvml_account import CRASHED, NO_ANSWER, NOT_MISSED, code_words, field_words
from gpuhelp.probes.nvml_asking import UNREADABLE
from gpuhelp.probes.registry import ProbeStatus, all_probes
from gpuhelp.probes.runner import GRACE_S, Observation, observe

Library = Callable[..., Path]
Look = Callable[[str], Observation]
Tried = Callable[["tuple[str, ...]", str], None]
Key = TypeVar("Key")

CODES = sorted(getattr(pynvml, name) for name in dir(pynvml) if name.startswith("NVML_ERROR_"))
NEWER_CODE = 77  # of a driver newer than the bindings
NOT_SUPPORTED, NOT_FOUND, GPU_IS_LOST, RESET_REQUIRED = 3, 6, 15, 16
WORKERS = 8
GARBAGE = ("garbage huge", "garbage zero", "garbage text", "garbage endless")
CRASHES = ("crash", "abort", "exit 0", "exit 1")
OUTCOMES = (*(f"return {code}" for code in (*CODES, NEWER_CODE)), *GARBAGE)
LIMIT_S = 5.0
EVERYTHING = Path(__file__).with_name("fake_nvml") / "scenarios" / "everything.txt"
WHOLE_GPU = "everything"


@dataclass(frozen=True)
class Calls:
    """Functions that fail together; the field that is then named, and the fields that are not as usual."""

    functions: tuple[str, ...]
    named: str
    differ: frozenset[str]

    def may_differ(self, outcome: str) -> frozenset[str]:
        """Zeros can be an answer like any other."""
        return self.differ | (
            ZEROS.get(self.functions[0], frozenset()) if outcome == "garbage zero" else set()
        )


def calls(functions: str, named: str = "", *differ: str) -> Calls:
    names = tuple(f"nvml{name}" for name in functions.split())
    return Calls(names, named, frozenset(differ or ([named] if named else [])))


OF_A_GPU = (
    calls("DeviceGetHandleByIndex_v2", "handle", WHOLE_GPU),
    calls("DeviceGetUUID", "uuid", "uuid", "mig_instances"),
    calls("DeviceGetName", "name", "name", "mig_instances"),
    calls("DeviceGetPciInfo_v3", "pci"),
    calls("DeviceGetCudaComputeCapability", "compute_capability", "compute_capability", "sm"),
    calls("DeviceGetMemoryInfo"),  # asked only where the newer one fails
    calls("DeviceGetMemoryInfo_v2", "", "memory_used_bytes"),  # the older one counts what is reserved
    calls(
        "DeviceGetMemoryInfo DeviceGetMemoryInfo_v2", "memory",
        "memory_total_bytes", "memory_used_bytes", "memory_free_bytes", "mig_instances",
    ),
    calls("DeviceGetUtilizationRates", "utilization_percent"),
    calls("DeviceGetPowerUsage", "power_watts"),
    calls("DeviceGetEnforcedPowerLimit", "power_limit_watts"),
    calls("DeviceGetTemperature", "temperature_celsius"),
    calls("DeviceGetTemperatureThreshold", "slowdown_temperature_celsius"),
    calls("DeviceGetFieldValues", "memory_temperature_celsius"),
    calls("DeviceGetCurrentClocksEventReasons"),
    calls("DeviceGetCurrentClocksThrottleReasons"),
    calls("DeviceGetCurrentClocksEventReasons DeviceGetCurrentClocksThrottleReasons", "throttle_reasons"),
    calls("DeviceGetTotalEccErrors", "ecc_uncorrected", "ecc_uncorrected", "ecc_uncorrected_aggregate"),
    calls("DeviceGetRetiredPages", "retired_pages"),
    calls(
        "DeviceGetRemappedRows", "row_remap_pending",
        "row_remap_pending", "row_remap_failure", "remapped_rows",
    ),
    calls("DeviceGetCurrPcieLinkGeneration", "pcie_generation"),
    calls("DeviceGetMaxPcieLinkGeneration", "pcie_generation_max"),
    calls("DeviceGetCurrPcieLinkWidth", "pcie_width"),
    calls("DeviceGetMaxPcieLinkWidth", "pcie_width_max"),
    calls("DeviceGetComputeMode", "compute_mode"),
    calls("DeviceGetPersistenceMode", "persistence_mode"),
    calls("DeviceGetMigMode", "mig_mode", "mig_mode", "mig_instances"),
    calls("DeviceGetMaxMigDeviceCount", "mig_instances"),
    calls("DeviceGetMigDeviceHandleByIndex", "mig_instances"),
    calls("DeviceGetGpuInstanceId", "gpu_instance_id", "mig_instances"),
    calls("DeviceGetComputeInstanceId", "compute_instance_id", "mig_instances"),
    calls("DeviceGetDriverModel_v2", "driver_model"),
    calls("DeviceGetComputeRunningProcesses_v3"),
    calls("DeviceGetComputeRunningProcesses_v2"),
    calls("DeviceGetComputeRunningProcesses_v3 DeviceGetComputeRunningProcesses_v2", "processes"),
    calls("DeviceGetGraphicsRunningProcesses_v3"),
    calls("DeviceGetGraphicsRunningProcesses_v2"),
    calls(
        "DeviceGetGraphicsRunningProcesses_v3 DeviceGetGraphicsRunningProcesses_v2", "graphics_processes",
        "processes",
    ),
    calls("DeviceGetNvLinkState", "nvlinks", "nvlinks_active", "nvlinks_inactive"),
)  # fmt: skip

OF_THE_MACHINE = (
    calls("SystemGetDriverVersion", "driver.version"),
    calls("SystemGetCudaDriverVersion SystemGetCudaDriverVersion_v2", "driver.cuda_api_version"),
    calls("SystemGetProcessName", "program_names", "gpus"),
    calls("DeviceGetCount_v2", "gpus", "gpus", "topology.links", "fabric.state"),
    calls("DeviceGetTopologyCommonAncestor", "topology.links"),
    calls("DeviceGetNvLinkRemotePciInfo_v2", "nvlink_peers", "topology.links"),
    calls("DeviceGetGpuFabricInfo DeviceGetGpuFabricInfoV", "fabric.state"),
    # Calls that another one stands in for, and one without an answer: nothing is missing without them.
    calls("SystemGetCudaDriverVersion DeviceGetGpuFabricInfo DeviceGetNvLinkRemoteDeviceType"),
    calls("SystemGetCudaDriverVersion_v2 DeviceGetGpuFabricInfoV Shutdown"),
)
SHARED = {  # the bindings have one function for both
    "nvmlDeviceGetMemoryInfo_v2": frozenset(
        {"memory_total_bytes", "memory_used_bytes", "memory_free_bytes", "mig_instances"}
    )
}
ALONE = [
    calls("SystemGetCudaDriverVersion"),
    calls("SystemGetCudaDriverVersion_v2"),
    calls("DeviceGetGpuFabricInfo"),
    calls("DeviceGetGpuFabricInfoV"),
    calls("DeviceGetNvLinkRemoteDeviceType"),
    calls("Shutdown"),
    *(what for what in OF_THE_MACHINE if len(what.functions) == 1),
]
APART = {"nvmlInitWithFlags", "nvmlErrorString"}
ZEROS = {  # no reason; no fabric
    "nvmlDeviceGetCurrentClocksEventReasons": frozenset({"throttle_reasons"}),
    "nvmlSystemGetCudaDriverVersion_v2": frozenset({"fabric.state"}),
}


@pytest.fixture
def look(fake_nvml_library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Look:
    """What the NVML probe observes of a scenario; never later than its limit."""
    monkeypatch.setattr(nvml_account, "MAX_TOLD", 1000)
    library = str(fake_nvml_library())
    (probe,) = (each for each in all_probes() if each.id == "nvml.driver")

    def observed(scenario: str) -> Observation:
        path = tmp_path / f"{abs(hash(scenario))}.txt"
        path.write_text(scenario, encoding="utf-8")
        environ = {"LD_LIBRARY_PATH": library, "FAKE_NVML_SCENARIO": str(path)}
        started = time.monotonic()
        seen = observe(None, Machine(environ=environ, root=tmp_path), limit_s=LIMIT_S, probes=(probe,))
        assert time.monotonic() - started < min(LIMIT_S, probe.timeout_s) + GRACE_S + 0.5
        return seen

    return observed


@pytest.fixture(scope="module")
def tried() -> Iterator[Tried]:
    """Counts the combinations of call and outcome, and prints how many there were in the end."""
    seen: set[tuple[tuple[str, ...], str]] = set()
    yield lambda functions, outcome: seen.update(((each,), outcome) for each in functions)
    print(f"\nNVML: {len(seen)} combinations of a call and its failure")


def scenario_of(gpus: int) -> str:
    """The scenario of the file with more GPUs, each like its first, without links between them."""
    lines = EVERYTHING.read_text(encoding="utf-8").splitlines()
    own = [line for line in lines if re.match(r"(gpu|mig|process|nvlink) 0 ", line)]
    graphics = "process 0 4300 1048576 G"
    every = [
        re.sub(r"^(\w+) 0 ", rf"\1 {gpu} ", line)
        .replace("4242", str(5000 + gpu))
        .replace("4300", str(6000 + gpu))
        for gpu in range(gpus)
        for line in (*own, graphics)
    ]
    return "\n".join(("driver 550.90.07", "cuda 12040", *every)) + "\n"


def rules(what: Calls, place: object, outcome: str) -> str:
    return "".join(f"on {function} {place} {outcome}\n" for function in what.functions)


def values_of(seen: Observation) -> dict[str, Any]:
    return dict(seen.facts.values_by_name())


def differing(one: Mapping[str, Any], other: Mapping[str, Any]) -> set[str]:
    """Names that only one of them has, or whose values differ."""
    return {
        name for name in {*one, *other} if (name in one, one.get(name)) != (name in other, other.get(name))
    }


def told_gpu(seen: Observation, index: int) -> dict[str, Any]:
    """The record of a GPU without what tells it from its neighbours in `scenario_of`."""
    record = dict(values_of(seen)["gpus"][index])
    del record["index"]
    if "processes" in record:
        record["processes"] = [process["memory_bytes"] for process in record["processes"]]
    return record


def names_it(seen: Observation, field: str, why: str, gpu: int | None = None) -> bool:
    """The report says of this field why it is missing."""
    where = "" if gpu is None else f" (GPU {gpu})"
    lines = seen.reports[0].detail.split("; ")
    return any(field_words(field) in line and line.endswith(f"{where}: {why}") for line in lines)


def check_gpu(seen: Observation, index: int, usual: Mapping[str, Any], what: Calls, outcome: str) -> None:
    """The GPU lacks what the failing calls tell, nothing else, and the report names it."""
    record, here = told_gpu(seen, index), (what.functions, outcome)
    changed = differing(record, usual) - {"error"}
    allowed = set(usual) if WHOLE_GPU in what.differ else set(what.differ)
    assert changed <= allowed | what.may_differ(outcome), here
    code = int(outcome.split()[1]) if outcome.startswith("return") else None
    if code is None:
        assert outcome != "garbage text" or changed == allowed, here
        return
    assert changed == allowed, here
    none_there = what.functions == ("nvmlDeviceGetMigDeviceHandleByIndex",) and code == NOT_FOUND
    unheard = not what.named or none_there or (what.named in NOT_MISSED and code in nvml_account.LACKING)
    assert unheard or names_it(seen, what.named, code_words(code), index), (here, seen.reports[0].detail)
    lost = code in (GPU_IS_LOST, RESET_REQUIRED) or WHOLE_GPU in what.differ
    assert ("error" in record) == (lost and bool(what.named)), here


def test_each_call_about_a_gpu_fails_with_every_code_and_tells_garbage(look: Look, tried: Tried) -> None:
    healthy = scenario_of(len(OUTCOMES) + 1)
    faults = {
        what: "".join(rules(what, gpu, how) for gpu, how in enumerate(OUTCOMES, 1)) for what in OF_A_GPU
    }
    for what, seen in at_once(look, {what: healthy + rules for what, rules in faults.items()}):
        assert seen.reports[0].status is ProbeStatus.OK
        assert values_of(seen)["driver.version"] == "550.90.07"
        usual = told_gpu(seen, 0)
        assert len(usual) > 30
        for gpu, outcome in enumerate(OUTCOMES, start=1):
            check_gpu(seen, gpu, usual, what, outcome)
            tried(what.functions, outcome)


@pytest.mark.parametrize("what", OF_THE_MACHINE, ids=lambda what: "+".join(what.functions))
def test_a_call_about_the_machine_fails_with_every_code_and_tells_garbage(
    look: Look, tried: Tried, what: Calls
) -> None:
    healthy = scenario_for(what)
    usual = values_of(look(healthy))
    for outcome, seen in at_once(look, {each: healthy + rules(what, "*", each) for each in OUTCOMES}):
        here = (what.functions, outcome, seen.reports[0].detail)
        changed = differing(without_errors(seen), usual)
        assert changed <= what.may_differ(outcome), here
        code = int(outcome.split()[1]) if outcome.startswith("return") else UNREADABLE
        unheard = not what.named or (what.named in NOT_MISSED and code in nvml_account.LACKING)
        if outcome.startswith("return"):
            assert changed == what.differ, here
            assert unheard or names_it(seen, what.named, code_words(code)), here
        whole = "gpus" in seen.facts
        assert seen.reports[0].status is (ProbeStatus.OK if whole else ProbeStatus.ERROR), here
        tried(what.functions, outcome)


@pytest.mark.parametrize("outcomes", [("hang",), CRASHES], ids=["hang", "crash"])
def test_each_call_about_a_gpu_hangs_or_crashes(look: Look, tried: Tried, outcomes: tuple[str, ...]) -> None:
    healthy = scenario_of(len(outcomes) + 1)
    usual = told_gpu(look(healthy), 0)
    alone = [what for what in OF_A_GPU if len(what.functions) == 1]
    faults = {what: "".join(rules(what, gpu, how) for gpu, how in enumerate(outcomes, 1)) for what in alone}
    for what, seen in at_once(look, {what: healthy + rules for what, rules in faults.items()}):
        assert told_gpu(seen, 0) == usual, what
        for gpu, outcome in enumerate(outcomes, 1):
            here = (what.functions, outcome, seen.reports[0].detail)
            record = told_gpu(seen, gpu)
            if WHOLE_GPU in what.differ:
                assert set(record) == {"error"}, here
            else:
                assert differing(record, usual) == SHARED.get(what.functions[0], what.differ), here
            assert not what.named or is_lost(seen, what.named, outcome), here
            tried(what.functions, outcome)


@pytest.mark.parametrize("outcome", ["hang", *CRASHES])
def test_each_call_about_the_machine_hangs_or_crashes(look: Look, tried: Tried, outcome: str) -> None:
    healthy = {text: values_of(look(text)) for text in map(scenario_for, ALONE)}
    faults = {what: scenario_for(what) + rules(what, place_of(what), outcome) for what in ALONE}
    for what, seen in at_once(look, faults):
        here = (what.functions, outcome, seen.reports[0].detail)
        assert differing(values_of(seen), healthy[scenario_for(what)]) <= what.differ, here
        assert not what.named or is_lost(seen, what.named, outcome), here
        tried(what.functions, outcome)


def is_lost(seen: Observation, field: str, outcome: str) -> bool:
    """The probe says that a call for this field never came back."""
    if outcome == "hang":
        return seen.reports[0].status is ProbeStatus.TIMEOUT and names_it(seen, field, NO_ANSWER)
    names = {"crash": "SIGSEGV", "abort": "SIGABRT"}
    why = f"{CRASHED} ({names.get(outcome, outcome.replace('exit', 'exit status'))})"
    return seen.reports[0].status is ProbeStatus.ERROR and names_it(seen, field, why)


def scenario_for(what: Calls) -> str:
    """The file's; without NVLinks for the call that is not made about GPUs that they join."""
    text = EVERYTHING.read_text(encoding="utf-8")
    joined = "nvmlDeviceGetTopologyCommonAncestor" not in what.functions
    return text if joined else re.sub(r"(?m)^nvlink.*\n", "", text)


def place_of(what: Calls) -> object:
    """One GPU for the calls that are made about each: more than one call that hangs would take too long."""
    return 0 if re.search("Device(?!GetCount)", what.functions[0]) else "*"


def without_errors(seen: Observation) -> dict[str, Any]:
    """The facts, but for the `error` of GPUs of which a call said that they are lost."""
    values = values_of(seen)
    gpus = [{name: gpu[name] for name in gpu if name != "error"} for gpu in values.pop("gpus", ())]
    return {**values, "gpus": gpus} if gpus else values


def at_once(look: Look, scenarios: Mapping[Key, str]) -> Iterable[tuple[Key, Observation]]:
    """What is observed of each scenario. Several at a time, for some of them wait."""
    with ThreadPoolExecutor(WORKERS) as pool:
        yield from zip(scenarios, pool.map(look, scenarios.values()), strict=True)


def test_a_start_that_fails_is_told_in_nvmls_words_or_in_those_of_the_bindings(
    look: Look, tried: Tried
) -> None:
    starts = {f"{code}": f"on nvmlInitWithFlags * return {code}\n" for code in (*CODES, NEWER_CODE)}
    for code, seen in at_once(look, starts):
        tried(("nvmlInitWithFlags",), f"return {code}")
        assert seen.reports[0].status is ProbeStatus.UNAVAILABLE
        assert "gpus" not in seen.facts
        error = seen.facts["driver.error"].value
        assert isinstance(error, str), code
        assert error, code
        assert seen.reports[0].detail.startswith(error), code


@pytest.mark.parametrize("outcome", [*GARBAGE, *CRASHES, "hang"])
def test_an_error_that_nvml_cannot_put_into_words_has_those_of_the_bindings(
    look: Look, tried: Tried, outcome: str
) -> None:
    tried(("nvmlErrorString",), outcome)
    seen = look(f"on nvmlInitWithFlags * return 18\non nvmlErrorString * {outcome}\n")
    assert seen.facts["driver.error"].value == "RM has detected an NVML/RM version mismatch."
    assert seen.reports[0].status is ProbeStatus.UNAVAILABLE


@pytest.mark.parametrize("outcome", [*CRASHES, "hang"])
def test_a_start_that_is_no_end_costs_this_probe_alone(look: Look, tried: Tried, outcome: str) -> None:
    tried(("nvmlInitWithFlags",), outcome)
    seen = look(f"on nvmlInitWithFlags * {outcome}\n")
    status = ProbeStatus.TIMEOUT if outcome == "hang" else ProbeStatus.ERROR
    assert (seen.reports[0].status, len(seen.facts)) == (status, 0)
    assert seen.reports[0].detail


def test_no_call_of_the_child_is_left_out() -> None:
    sources = Path(gpuhelp.probes.__file__).parent.glob("nvml_*.py")
    named = {
        name for path in sources for name in re.findall(r'"(nvml[A-Z]\w+)"', path.read_text(encoding="utf-8"))
    }
    called = {each for what in (*OF_A_GPU, *OF_THE_MACHINE) for each in what.functions} | APART
    assert plain(named) - plain(called) == {"nvmlInit", "nvmlMemory"}  # by flags; a version number


def plain(names: Iterable[str]) -> set[str]:
    """Names of functions without their versions, which the bindings choose."""
    return {re.sub(r"_v\d+$", "", name) for name in names}
