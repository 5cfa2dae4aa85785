"""The host's side of containers: the NVIDIA container toolkit, and what kind of Docker daemon there is.

Read from files. `docker info` would wake a daemon that sleeps, and hangs with one that hangs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from gpuhelp.probes.container import container_kind
from gpuhelp.probes.facts import FactValue
from gpuhelp.probes.machine import Machine
from gpuhelp.probes.processes import uid_of
from gpuhelp.probes.programs import find_program
from gpuhelp.probes.registry import ProbeUnavailable, Told, probe

TOOLKIT_PROGRAMS = (
    "nvidia-ctk",
    "nvidia-container-runtime",
    "nvidia-container-cli",
    "nvidia-container-toolkit",
)
TOOLKIT_FOLDERS = ("/usr/local/nvidia/toolkit", "/run/current-system/sw/bin")  # GPU operator, NixOS
SNAP_FOLDERS = ("/snap/bin", "/var/lib/snapd/snap/bin")
SOCKETS = ("/var/run/docker.sock", "/run/docker.sock")
DESKTOP_IN_WSL = "/mnt/wsl/docker-desktop"  # where Docker Desktop shows itself to a WSL distribution
ELSEWHERE = "elsewhere"


@probe(
    "container.daemon",
    facts=("container.toolkit_installed", "container.daemon"),
    source="files of Docker and of the container toolkit",
)
def container_daemon(machine: Machine) -> Told:
    """Whether the toolkit is installed, and the daemon that the person's `docker` speaks to; null: no Docker.

    Errors: unavailable in a container, where neither can be seen.
    """
    if machine.platform != "linux":
        raise ProbeUnavailable("the container toolkit is installed on Linux")
    if container_kind(machine) is not None:
        raise ProbeUnavailable("the container toolkit and the daemon are outside this container")
    toolkit = find_program(machine, *TOOLKIT_PROGRAMS, folders=TOOLKIT_FOLDERS) is not None
    facts: dict[str, FactValue] = {"container.toolkit_installed": toolkit}
    daemon = daemon_of(machine)
    if daemon == ELSEWHERE:
        return Told(facts, "docker is set to speak to a daemon that its name or address does not tell")
    if daemon is None and find_program(machine, "podman") is not None:
        return Told(facts, "podman is installed, which has no daemon")
    return Told({**facts, "container.daemon": daemon})


def daemon_of(machine: Machine) -> str | None:
    """vm (Docker Desktop), rootless, snap, native or elsewhere; None without Docker.

    As docker chooses: DOCKER_HOST, DOCKER_CONTEXT, the context in its settings, then the usual socket.
    """
    host = machine.environ.get("DOCKER_HOST", "")
    context = machine.environ.get("DOCKER_CONTEXT", "") or _context(machine)
    chosen = _by_address(host) if host else _by_context(context)
    return chosen or _by_files(machine)


def _by_files(machine: Machine) -> str | None:
    """The daemon at the usual socket, by the files that each kind leaves."""
    program = find_program(machine, "docker", folders=SNAP_FOLDERS)
    if machine.is_dir(DESKTOP_IN_WSL):
        return "vm"
    if program is not None and program.startswith(SNAP_FOLDERS):
        return "snap"
    uid = uid_of(machine.read("/proc/self/status") or "")
    has_socket = any(machine.exists(path) for path in SOCKETS)
    if uid and not has_socket and machine.exists(f"/run/user/{uid}/docker.sock"):
        return "rootless"
    return "native" if has_socket or find_program(machine, "dockerd", "docker") is not None else None


def _by_address(address: str) -> str:
    """The daemon at an address of DOCKER_HOST: unix:///run/user/1000/docker.sock is a rootless one."""
    if address.startswith(("tcp://", "ssh://", "http://", "https://")):
        return ELSEWHERE
    if "/.docker/desktop/" in address:
        return "vm"
    return "rootless" if re.match(r"unix:///(?:var/)?run/user/\d+/docker\.sock", address) else ""


def _by_context(name: str) -> str:
    """The daemon of a context, by the names that Docker itself gives; others may be anywhere."""
    if name in ("", "default"):
        return ""
    return {"desktop-linux": "vm", "rootless": "rootless"}.get(name, ELSEWHERE)


def _context(machine: Machine) -> str:
    folder = machine.environ.get("DOCKER_CONFIG") or f"{machine.environ.get('HOME', '')}/.docker"
    try:
        settings: object = json.loads(machine.read(f"{folder}/config.json") or "{}")
    except ValueError:
        return ""
    chosen = settings.get("currentContext") if isinstance(settings, Mapping) else None
    return chosen if isinstance(chosen, str) else ""
