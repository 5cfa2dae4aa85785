"""NVIDIA's fabric manager, which sets up the NVSwitches of large machines: does it run, and which is it."""

from __future__ import annotations

import re
from collections.abc import Mapping

from gpuhelp.probes.container import container_kind
from gpuhelp.probes.facts import FactValue
from gpuhelp.probes.machine import Machine
from gpuhelp.probes.processes import sees_driver_pids
from gpuhelp.probes.programs import find_program, plain_environ
from gpuhelp.probes.registry import ProbeFailed, ProbeUnavailable, probe

TIMEOUT_S = 2.0
PROGRAM = "nv-fabricmanager"
SHORT_NAME = PROGRAM[:15]  # the kernel keeps fifteen characters of a program's name


@probe(
    "fabric.manager",
    facts=("fabric.manager_running", "fabric.manager_version"),
    timeout_s=TIMEOUT_S,
    source=PROGRAM,
)
def fabric_manager(machine: Machine) -> Mapping[str, FactValue]:
    """Whether it runs, and the version that is installed; null: none is.

    Errors: unavailable in a container, whose processes and files are not the host's.
    """
    if machine.platform != "linux":
        raise ProbeUnavailable("the fabric manager is a program of Linux")
    if container_kind(machine) is not None or not sees_driver_pids(machine):
        raise ProbeUnavailable("the fabric manager runs outside this container")
    running = is_running(machine)
    facts: dict[str, FactValue] = {} if running is None else {"fabric.manager_running": running}
    program = find_program(machine, PROGRAM)
    if program is None:  # one that runs was installed in a way that is not known here
        return facts if running else {**facts, "fabric.manager_version": None}
    result = machine.children.run(
        (str(machine.path(program)), "--version"), timeout_s=TIMEOUT_S, env=plain_environ(machine)
    )
    version = parse_version(result.stdout + result.stderr)
    if version is None:
        raise ProbeFailed(f"{PROGRAM} did not tell its version", facts)
    return {**facts, "fabric.manager_version": version}


def is_running(machine: Machine) -> bool | None:
    """Whether a process of its name is there; None where those of others are hidden (hidepid of /proc)."""
    names = (machine.read(f"/proc/{path.name}/comm") for path in machine.path("/proc").glob("[0-9]*"))
    if any((name or "").strip() == SHORT_NAME for name in names):
        return True
    return None if machine.read("/proc/1/comm") is None else False


def parse_version(text: str) -> str | None:
    """535.161.08 in "Fabric Manager version is : 535.161.08"."""
    match = re.search(r"Fabric Manager version is\s*:\s*(\d+(?:\.\d+)+)", text)
    return match[1] if match else None
