"""Prints what NVML tells. A script that runs in a process of its own, because NVML can hang or crash.

    python -I -S -B nvml_child.py DIRECTORY-OF-PYNVML

One JSON object a line. The first is {"driver": {...}, "count": number of GPUs}, or {"error": words, "code":
NVML error code}. Then one for each GPU, written as soon as it is known, so that a later call that hangs costs
only what comes after it. A field that cannot be read is left out. Only init, shutdown, get and error-string
calls; nothing of gpuhelp is imported here.
"""

from __future__ import annotations

import importlib
import json
import signal
import sys
from collections.abc import Callable
from typing import Any

COMPUTE_MODES = ("default", "exclusive_thread", "prohibited", "exclusive_process")  # NVML_COMPUTEMODE_*
SWITCHES = (False, True)  # NVML_FEATURE_*, NVML_DEVICE_MIG_*
NOT_ANSWERED: Any = object()
MILLIWATTS_PER_WATT = 1000
LONGEST_S = 60  # ends this process should the one that started it be gone
LINUX_MAX_PID = 1 << 22  # PID_MAX_LIMIT, include/linux/threads.h

Record = dict[str, Any]
Reader = Callable[[Any, Any], Record]


def main(pynvml_directory: str) -> int:
    """Exit status 0 when NVML started, 1 when it did not; the first line says which."""
    if hasattr(signal, "alarm"):
        signal.alarm(LONGEST_S)
    sys.path.append(pynvml_directory)
    nvml = importlib.import_module("pynvml")
    try:
        nvml.nvmlInit()
    except nvml.NVMLError as error:
        tell({"error": words(nvml, error), "code": error.value})
        return 1
    try:
        count = ask(nvml, "nvmlDeviceGetCount")
        tell({"driver": driver(nvml), **known(count=count)})
        for index in range(0 if count is NOT_ANSWERED else count):
            tell({"gpu": gpu(nvml, index)})
    finally:
        ask(nvml, "nvmlShutdown")
    return 0


def tell(part: Record) -> None:
    """One line, at once: the next call may never return."""
    sys.stdout.write(json.dumps(part) + "\n")
    sys.stdout.flush()


def ask(nvml: Any, function: str, *arguments: Any) -> Any:
    """What an NVML function returns, or NOT_ANSWERED.

    Any call may fail on any machine: not supported, GPU lost, a function this driver or these bindings do not
    have.
    """
    try:
        return getattr(nvml, function)(*arguments)
    except (nvml.NVMLError, AttributeError, UnicodeDecodeError):
        return NOT_ANSWERED


def known(**fields: Any) -> Record:
    """The fields that were answered."""
    return {name: value for name, value in fields.items() if value is not NOT_ANSWERED}


def words(nvml: Any, error: Any) -> str:
    """An NVML error in NVML's own words; the bindings' where the library cannot be asked."""
    text = ask(nvml, "nvmlErrorString", error.value)
    return str(error) if text is NOT_ANSWERED else str(text)


def driver(nvml: Any) -> Record:
    """`version`, e.g. 550.90.07, and `cuda_api_version`, e.g. 12.4 (NVML gives 12040)."""
    number = ask(nvml, "nvmlSystemGetCudaDriverVersion_v2")
    if number is NOT_ANSWERED:  # no libcuda, or a driver before the function; this one always has an answer
        number = ask(nvml, "nvmlSystemGetCudaDriverVersion")
    api = number if number is NOT_ANSWERED else f"{number // 1000}.{number % 1000 // 10}"
    return known(version=ask(nvml, "nvmlSystemGetDriverVersion"), cuda_api_version=api)


def gpu(nvml: Any, index: int) -> Record:
    """The record of one GPU; with `error` if it does not answer as a whole."""
    record: Record = {"index": index}
    try:
        handle = nvml.nvmlDeviceGetHandleByIndex(index)
    except nvml.NVMLError as error:
        return {**record, "error": words(nvml, error)}
    for read in READERS:
        record.update(read(nvml, handle))
    return {**record, **health(nvml, handle)}


def health(nvml: Any, handle: Any) -> Record:
    """`error`, if a GPU that still has a handle is lost.

    Other errors say that one call is not for this GPU.
    """
    try:
        nvml.nvmlDeviceGetMemoryInfo(handle)
    except nvml.NVMLError as error:
        if error.value in (nvml.NVML_ERROR_GPU_IS_LOST, nvml.NVML_ERROR_RESET_REQUIRED):
            return {"error": words(nvml, error)}
    return {}


def identity(nvml: Any, handle: Any) -> Record:
    """`uuid`, `name`, `compute_capability` and `sm`."""
    fields = known(uuid=ask(nvml, "nvmlDeviceGetUUID", handle), name=ask(nvml, "nvmlDeviceGetName", handle))
    capability = ask(nvml, "nvmlDeviceGetCudaComputeCapability", handle)
    if capability is not NOT_ANSWERED:
        major, minor = capability
        fields.update(compute_capability=f"{major}.{minor}", sm=f"sm_{major}{minor}")
    return fields


def memory(nvml: Any, handle: Any) -> Record:
    """Total, used and free, in bytes.

    `used` is without what the driver reserves, as in nvidia-smi, where NVML can.
    """
    info = ask(nvml, "nvmlDeviceGetMemoryInfo", handle, getattr(nvml, "nvmlMemory_v2", None))
    if info is NOT_ANSWERED:
        info = ask(nvml, "nvmlDeviceGetMemoryInfo", handle)
    if info is NOT_ANSWERED:
        return {}
    return {"memory_total_bytes": info.total, "memory_used_bytes": info.used, "memory_free_bytes": info.free}


def load(nvml: Any, handle: Any) -> Record:
    """Utilization in percent, temperature in degrees Celsius, power and its limit in watts."""
    rates = ask(nvml, "nvmlDeviceGetUtilizationRates", handle)
    return known(
        utilization_percent=rates if rates is NOT_ANSWERED else rates.gpu,
        temperature_celsius=ask(nvml, "nvmlDeviceGetTemperature", handle, nvml.NVML_TEMPERATURE_GPU),
        power_watts=watts(ask(nvml, "nvmlDeviceGetPowerUsage", handle)),
        power_limit_watts=watts(ask(nvml, "nvmlDeviceGetEnforcedPowerLimit", handle)),
    )


def watts(milliwatts: Any) -> Any:
    return milliwatts if milliwatts is NOT_ANSWERED else milliwatts / MILLIWATTS_PER_WATT


def modes(nvml: Any, handle: Any) -> Record:
    """Compute mode, persistence mode and current MIG mode, in words."""
    mig = ask(nvml, "nvmlDeviceGetMigMode", handle)
    return known(
        compute_mode=word(COMPUTE_MODES, ask(nvml, "nvmlDeviceGetComputeMode", handle)),
        persistence_mode=word(SWITCHES, ask(nvml, "nvmlDeviceGetPersistenceMode", handle)),
        mig_mode=mig if mig is NOT_ANSWERED else word(SWITCHES, mig[0]),
    )


def word(words: tuple[Any, ...], number: Any) -> Any:
    return NOT_ANSWERED if number is NOT_ANSWERED or number >= len(words) else words[number]


def processes(nvml: Any, handle: Any) -> Record:
    """`processes`: pid, program and memory in bytes of each compute and graphics process, by pid.

    Without an answer about compute processes it is left out: a short list would say that nobody uses the GPU.
    """
    compute, graphics = running(nvml, handle, "Compute"), running(nvml, handle, "Graphics")
    if compute is NOT_ANSWERED:
        return {}
    found: dict[int, Record] = {}
    for process in (*compute, *(() if graphics is NOT_ANSWERED else graphics)):
        memory_bytes = NOT_ANSWERED if process.usedGpuMemory is None else process.usedGpuMemory
        program = ask(nvml, "nvmlSystemGetProcessName", process.pid)
        found.setdefault(process.pid, known(pid=process.pid, program=program, memory_bytes=memory_bytes))
    return {"processes": [found[pid] for pid in sorted(found)]}


def running(nvml: Any, handle: Any, kind: str) -> Any:
    # The unversioned functions raise an error of their own where the driver is older than the bindings. Early
    # drivers of branch 535 lay the records of _v3 out otherwise than the bindings do, so that they are read
    # askew (XuehaiPan/nvitop issue 75).
    for version in ("_v3", "_v2"):
        answer = ask(nvml, f"nvmlDeviceGet{kind}RunningProcesses{version}", handle)
        if answer is not NOT_ANSWERED and all(plausible(process.pid) for process in answer):
            return answer
    return NOT_ANSWERED


def plausible(pid: int) -> bool:
    return sys.platform != "linux" or 0 < pid <= LINUX_MAX_PID


READERS: tuple[Reader, ...] = (identity, memory, load, modes, processes)

if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
