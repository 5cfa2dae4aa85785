"""Network interfaces of the host: what NCCL and Gloo choose from."""

from __future__ import annotations

from collections.abc import Mapping

from gpuhelp.probes.facts import FactValue
from gpuhelp.probes.machine import Machine
from gpuhelp.probes.registry import ProbeUnavailable, probe

FOLDER = "/sys/class/net"


@probe("host.network", facts=("host.network_interfaces",), source=FOLDER)
def network_interfaces(machine: Machine) -> Mapping[str, FactValue]:
    """Names, sorted, of the interfaces that this process sees: those of its network namespace."""
    if machine.platform != "linux":
        raise ProbeUnavailable("network interfaces are looked at on Linux only")
    try:  # a bonding driver keeps a file among the folders
        names = [path.name for path in machine.path(FOLDER).iterdir() if path.is_dir()]
    except OSError:
        names = parse_proc_net_dev(machine.read("/proc/net/dev") or "")
    if not names:
        raise ProbeUnavailable("neither /sys/class/net nor /proc/net/dev tells the network interfaces")
    return {"host.network_interfaces": sorted(names)}


def parse_proc_net_dev(text: str) -> list[str]:
    """Names in /proc/net/dev, whose first two lines are headings."""
    return [line.partition(":")[0].strip() for line in text.splitlines()[2:] if ":" in line]
