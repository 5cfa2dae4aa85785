"""NVIDIA GPUs on the PCI bus: they stand there whether or not their driver works."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping

from gpuhelp.probes.facts import FactValue
from gpuhelp.probes.host import is_wsl
from gpuhelp.probes.machine import Machine
from gpuhelp.probes.registry import ProbeUnavailable, probe

DEVICES = "/sys/bus/pci/devices"
NVIDIA, AMD, INTEL = "0x10de", "0x1002", "0x8086"  # as the files `vendor` spell them
DISPLAY_CLASS = "0x03"  # VGA and 3D controllers: include/linux/pci_ids.h, PCI_BASE_CLASS_DISPLAY
NAME_FILES = ("/usr/share/misc/pci.ids", "/usr/share/hwdata/pci.ids", "/usr/share/pci.ids")
MOST_NAME_BYTES = 4 << 20  # the list of all devices has 1.5 MiB


@probe("host.pci", facts=("host.pci_gpus",), source=DEVICES)
def pci_gpus(machine: Machine) -> Mapping[str, FactValue]:
    """Address, kernel driver (null: none) and, where the system's list of PCI devices has it, name.

    The driver would know the name too, but not even to be asked may it hang: NVML tells it, in a child.

    Errors: unavailable without /sys/bus/pci, and under WSL, where GPUs are not on a bus.
    """
    if not machine.is_dir(DEVICES):
        raise ProbeUnavailable(f"there is no {DEVICES} on this system")
    if is_wsl(machine):
        raise ProbeUnavailable("under WSL, GPUs are not on the PCI bus")
    addresses = display_devices(machine, NVIDIA)
    numbers = {each: _word(machine, each, "device") for each in addresses}
    names = model_names(machine, numbers.values())
    records: list[FactValue] = []
    for address, number in numbers.items():
        record: dict[str, FactValue] = {"pci": address, "kernel_driver": kernel_driver(machine, address)}
        records.append({**record, **({"name": names[number]} if number in names else {})})
    return {"host.pci_gpus": records}


def display_devices(machine: Machine, vendor: str) -> list[str]:
    """Addresses of the vendor's display devices, sorted; [] without a PCI bus."""
    try:
        addresses = sorted(path.name for path in machine.path(DEVICES).iterdir())
    except OSError:
        return []
    return [
        each
        for each in addresses
        if _word(machine, each, "vendor") == vendor
        and _word(machine, each, "class").startswith(DISPLAY_CLASS)
    ]


def kernel_driver(machine: Machine, address: str) -> str | None:
    """The kernel driver that holds a device: nvidia, nouveau, vfio-pci; None: no driver does."""
    try:
        return os.path.basename(machine.path(f"{DEVICES}/{address}/driver").readlink()) or None  # noqa: PTH119
    except OSError:
        return None


def model_names(machine: Machine, numbers: Iterable[str]) -> dict[str, str]:
    """Names of NVIDIA devices by number (0x2204), from the system's list of PCI devices if it has one."""
    wanted = {number.removeprefix("0x") for number in numbers}
    if not wanted:
        return {}
    for path in NAME_FILES:
        if machine.is_file(path):
            pairs = parse_pci_ids(_lines(machine, path), NVIDIA.removeprefix("0x"))
            return {f"0x{number}": name for number, name in pairs if number in wanted}
    return {}


def parse_pci_ids(lines: Iterable[str], vendor: str) -> Iterator[tuple[str, str]]:
    """Numbers and names of one vendor's devices. `GA102 [GeForce RTX 3090]` is told as GeForce RTX 3090.

    A vendor's line begins with its number, those of its devices with a tab, those of boards with two.
    """
    inside = False
    for line in lines:
        if line[:1] not in ("\t", "#", "\n", ""):
            if inside:
                return
            inside = line.startswith(f"{vendor} ")
        elif inside and (device := re.match(r"\t([0-9a-f]{4})\s+(\S.*)", line)):
            product = re.search(r"\[([^\]]+)\]", device[2])
            yield device[1], product[1] if product else device[2].strip()


def _word(machine: Machine, address: str, name: str) -> str:
    return (machine.read(f"{DEVICES}/{address}/{name}") or "").strip()


def _lines(machine: Machine, path: str) -> list[str]:
    try:
        with machine.path(path).open("rb") as file:
            return file.read(MOST_NAME_BYTES).decode("utf-8", "replace").split("\n")
    except OSError:
        return []
