"""What the NVML child reads of how one GPU is shared out: modes, MIG instances, processes.

Runs in the child only.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

from gpuhelp.probes.nvml_asking import NVML_ERROR_NOT_FOUND, PROCESS_NAME_ROOM, Gpu, Record, is_text, known
from gpuhelp.probes.nvml_fields import MAX_MEMORY_BYTES, Reader, memory_info

COMPUTE_MODES = ("default", "exclusive_thread", "prohibited", "exclusive_process")  # NVML_COMPUTEMODE_*
DRIVER_MODELS = ("WDDM", "TCC", "MCDM")  # NVML_DRIVER_*; nvml.h calls TCC by its old name, WDM
SWITCHES = (False, True)  # NVML_FEATURE_*, NVML_DEVICE_MIG_*
MAX_MIG_DEVICES = 64
LINUX_MAX_PID = 1 << 22  # PID_MAX_LIMIT, include/linux/threads.h


def modes(gpu: Gpu) -> Record:
    """Compute mode, persistence mode, current MIG mode and, on Windows, the driver model, in words."""
    compute = gpu.number("compute_mode", "nvmlDeviceGetComputeMode", high=len(COMPUTE_MODES) - 1)
    persistence = gpu.number("persistence_mode", "nvmlDeviceGetPersistenceMode", high=1)
    mig = gpu.ask("mig_mode", "nvmlDeviceGetMigMode", sound=lambda pair: pair[0] <= 1)
    model = gpu.ask("driver_model", "nvmlDeviceGetDriverModel", sound=lambda pair: pair[0] <= 2)
    return known(
        compute_mode=None if compute is None else COMPUTE_MODES[compute],
        persistence_mode=None if persistence is None else SWITCHES[persistence],
        mig_mode=None if mig is None else SWITCHES[mig[0]],
        driver_model=None if model is None else DRIVER_MODELS[model[0]],
        mig_instances=None if mig is None else mig_instances(gpu) if mig[0] else [],
    )


def mig_instances(gpu: Gpu) -> Any:
    """A record of each MIG instance; None where NVML does not tell them all."""
    most = gpu.number("mig_instances", "nvmlDeviceGetMaxMigDeviceCount", high=MAX_MIG_DEVICES)
    if most is None:
        return None
    found = []
    for place in range(most):
        handle = gpu.ask("mig_instances", "nvmlDeviceGetMigDeviceHandleByIndex", place)
        if handle is not None:
            found.append(mig_instance(gpu, handle))
        elif gpu.session.failed.get("mig_instances") == NVML_ERROR_NOT_FOUND:
            del gpu.session.failed["mig_instances"]  # a place that holds no instance
        else:
            return None
    return found


def mig_instance(gpu: Gpu, handle: Any) -> Record:
    info = memory_info(gpu, "mig_instance_memory", of=handle)
    return known(
        uuid=gpu.text("mig_instance_uuid", "nvmlDeviceGetUUID", of=handle),
        name=gpu.text("mig_instance_name", "nvmlDeviceGetName", of=handle),
        gpu_instance_id=gpu.number("gpu_instance_id", "nvmlDeviceGetGpuInstanceId", high=255, of=handle),
        compute_instance_id=gpu.number(
            "compute_instance_id", "nvmlDeviceGetComputeInstanceId", high=255, of=handle
        ),
        memory_total_bytes=None if info is None else info.total,
        memory_used_bytes=None if info is None else info.used,
    )


def processes(gpu: Gpu) -> Record:
    """`processes`: pid, program and memory in bytes of each compute and graphics process, by pid.

    Without an answer about compute processes it is left out: a short list would say that nobody uses the GPU.
    """
    compute = running(gpu, "processes", "Compute")
    graphics = running(gpu, "graphics_processes", "Graphics")
    if compute is None:
        return {}
    found: dict[int, Record] = {}
    for process in (*compute, *(graphics or ())):
        if process.pid not in found:
            program = program_of(gpu, process.pid)
            found[process.pid] = known(pid=process.pid, program=program, memory_bytes=process.usedGpuMemory)
    return {"processes": [found[pid] for pid in sorted(found)]}


def program_of(gpu: Gpu, pid: int) -> Any:
    sound = partial(is_text, room=PROCESS_NAME_ROOM)
    return gpu.session.ask("program_names", "nvmlSystemGetProcessName", pid, sound=sound)


def running(gpu: Gpu, field: str, kind: str) -> Any:
    # The unversioned functions raise an error of their own where the driver is older than the bindings. Early
    # drivers of branch 535 lay the records of _v3 out otherwise than the bindings do, so that they are read
    # askew (XuehaiPan/nvitop issue 75).
    functions = (f"nvmlDeviceGet{kind}RunningProcesses{version}" for version in ("_v3", "_v2"))
    calls = (partial(gpu.ask, field, function, sound=plausible_processes) for function in functions)
    return gpu.session.first(field, *calls)


def plausible_processes(found: Any) -> bool:
    return all(plausible_pid(each.pid) and plausible_share(each.usedGpuMemory) for each in found)


def plausible_pid(pid: int) -> bool:
    return sys.platform != "linux" or 0 < pid <= LINUX_MAX_PID


def plausible_share(used: int | None) -> bool:
    return used is None or used <= MAX_MEMORY_BYTES


READERS: tuple[Reader, ...] = (modes, processes)
