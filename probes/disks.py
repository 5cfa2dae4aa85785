"""Free space of the working folder, where checkpoints and caches mostly go."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from gpuhelp.probes.facts import FactValue
from gpuhelp.probes.host import file_system_bytes
from gpuhelp.probes.machine import Machine
from gpuhelp.probes.registry import ProbeUnavailable, probe


@probe("host.disk", facts=("host.disk_free_bytes",), source="working folder")
def disk_free(machine: Machine) -> Mapping[str, FactValue]:
    """Bytes that this user may still write, without those kept for root. A quota is not seen."""
    try:
        folder = str(Path.cwd())
    except OSError:
        raise ProbeUnavailable("the working folder is gone") from None
    sizes = file_system_bytes(machine, folder)
    if sizes is None:
        raise ProbeUnavailable("the free space of the working folder cannot be told")
    return {"host.disk_free_bytes": sizes[1]}
