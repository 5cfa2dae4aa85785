"""Whether this runs in a container, which kind, and what the container was given."""

from __future__ import annotations

import re
from collections.abc import Mapping

from gpuhelp.probes.cgroups import memory_limits
from gpuhelp.probes.facts import FactValue
from gpuhelp.probes.host import file_system_bytes, gpu_device_paths
from gpuhelp.probes.machine import Machine
from gpuhelp.probes.registry import ProbeUnavailable, probe

_ENVIRONMENT_MARKS = (
    ("KUBERNETES_SERVICE_HOST", "kubernetes"),
    ("APPTAINER_CONTAINER", "singularity"),
    ("SINGULARITY_CONTAINER", "singularity"),
)
_FILE_MARKS = (
    ("/var/run/secrets/kubernetes.io", "kubernetes"),
    ("/.singularity.d", "singularity"),
    ("/run/.containerenv", "podman"),
    ("/.dockerenv", "docker"),
)
_CGROUP_MARKS = (("kubepods", "kubernetes"), ("libpod", "podman"), ("docker", "docker"), ("/lxc", "lxc"))
_KINDS = ("docker", "podman", "kubernetes", "singularity", "lxc")


@probe(
    "container.kind",
    facts=("container.kind", "container.shm_bytes", "container.gpu_devices", "container.memory_limit_bytes"),
    source="files of the container",
)
def container(machine: Machine) -> Mapping[str, FactValue]:
    """Kind, shared memory, GPU devices and memory limit; all null outside a container."""
    if machine.platform != "linux":
        raise ProbeUnavailable("only Linux containers can be told")
    kind = container_kind(machine)
    if kind is None:
        return dict.fromkeys(
            f"container.{name}" for name in ("kind", "shm_bytes", "gpu_devices", "memory_limit_bytes")
        )
    facts: dict[str, FactValue] = {"container.kind": kind, "container.gpu_devices": gpu_device_paths(machine)}
    shm = file_system_bytes(machine, "/dev/shm")
    if shm is not None:
        facts["container.shm_bytes"] = shm[0]
    limits = memory_limits(machine)
    if limits is not None:
        facts["container.memory_limit_bytes"] = limits[0] if limits else None
    return facts


def container_kind(machine: Machine) -> str | None:
    """The kind of container, by the marks each leaves; the manager that a person deals with wins.

    Raises ProbeUnavailable for a container of a kind that the contract does not know.
    """
    for variable, kind in _ENVIRONMENT_MARKS:
        if machine.environ.get(variable):
            return kind
    for path, kind in _FILE_MARKS:
        if machine.exists(path):
            return kind
    named = (machine.read("/run/systemd/container") or machine.environ.get("container", "")).strip()
    if named.split("-")[0] in _KINDS:  # lxc-libvirt is lxc
        return named.split("-")[0]
    if named not in ("", "wsl"):
        raise ProbeUnavailable(f"this is a container of a kind that gpuhelp does not know ({named})")
    return kind_by_cgroup(machine.read("/proc/self/cgroup") or "")


def kind_by_cgroup(self_cgroup: str) -> str | None:
    """The kind that the group's path names, e.g. 0::/docker/<id>; in its own namespace it names none."""
    for mark, kind in _CGROUP_MARKS:
        if re.search(rf":.*{re.escape(mark)}", self_cgroup):
            return kind
    return None
