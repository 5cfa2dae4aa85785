"""Which scheduler started the job, and the memory it allows."""

from __future__ import annotations

import re
from collections.abc import Mapping

from gpuhelp.probes.cgroups import memory_limits
from gpuhelp.probes.facts import FactValue
from gpuhelp.probes.machine import Machine
from gpuhelp.probes.registry import ProbeUnavailable, probe

_JOB_IDS = (("slurm", "SLURM_JOB_ID"), ("slurm", "SLURM_JOBID"), ("pbs", "PBS_JOBID"))
_OTHER_SCHEDULERS = ("LSB_JOBID", "JOB_ID", "COBALT_JOBID", "OAR_JOB_ID")  # LSF, Grid Engine, Cobalt, OAR
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


@probe(
    "scheduler.job",
    facts=("scheduler.kind", "scheduler.job_id", "scheduler.memory_limit_bytes"),
    source="environment and cgroup",
)
def scheduler(machine: Machine) -> Mapping[str, FactValue]:
    """Kind and id of the job, and the memory it may use on this node; all null outside a job."""
    kind, job_id = job_of(machine.environ)
    if kind is None:
        if any(machine.environ.get(name) for name in _OTHER_SCHEDULERS):
            raise ProbeUnavailable("the job runs under a scheduler that gpuhelp does not know")
        return {"scheduler.kind": None, "scheduler.job_id": None, "scheduler.memory_limit_bytes": None}
    facts: dict[str, FactValue] = {"scheduler.kind": kind, "scheduler.job_id": job_id}
    limits = memory_limits(machine)
    granted = slurm_memory_bytes(machine.environ) if kind == "slurm" else None
    if limits is not None or granted is not None:
        facts["scheduler.memory_limit_bytes"] = min(
            (*(limits or ()), *((granted,) if granted else ())), default=None
        )
    return facts


def job_of(environ: Mapping[str, str]) -> tuple[str | None, str | None]:
    """Scheduler and job id; Kubernetes gives a pod no id in its environment."""
    for kind, variable in _JOB_IDS:
        if environ.get(variable):
            return kind, environ[variable]
    return ("kubernetes" if environ.get("KUBERNETES_SERVICE_HOST") else None), None


def slurm_memory_bytes(environ: Mapping[str, str]) -> int | None:
    """Memory a Slurm job was given on this node, in bytes; None without a limit (0 means the whole node).

    SLURM_MEM_PER_NODE, _PER_CPU and _PER_GPU are in MiB (sbatch manual, "OUTPUT ENVIRONMENT VARIABLES").
    """
    per_node = parse_mib(environ.get("SLURM_MEM_PER_NODE", ""))
    if per_node:
        return per_node
    for share, count in (("CPU", "SLURM_CPUS_ON_NODE"), ("GPU", "SLURM_GPUS_ON_NODE")):
        each = parse_mib(environ.get(f"SLURM_MEM_PER_{share}", ""))
        number = environ.get(count, "")
        if each and number.isdecimal() and len(number) < 10:
            return each * int(number)
    return None


def parse_mib(text: str) -> int | None:
    """Bytes of a number of MiB, which may carry a unit of its own: 4096, 4096M, 4G."""
    match = re.fullmatch(r"(\d+)([KMGT]?)", text.strip(), re.IGNORECASE)
    return int(match[1]) * _UNITS[match[2].upper() or "M"] if match else None
