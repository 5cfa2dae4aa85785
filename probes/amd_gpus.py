"""AMD GPUs, from what the amdgpu driver shows in /sys: what rocm-smi reads too."""

from __future__ import annotations

import re
from collections.abc import Mapping

from gpuhelp.probes.facts import FactValue
from gpuhelp.probes.machine import Machine
from gpuhelp.probes.pci import NVIDIA, display_devices
from gpuhelp.probes.registry import ProbeUnavailable, Told, probe

NODES = "/sys/class/kfd/kfd/topology/nodes"
_AMD_VENDOR = 4098  # 0x1002


@probe("amd.gpus", facts=("gpus",), source="amdgpu driver")
def amd_gpus(machine: Machine) -> Told:
    """`gpus`, in the order of HIP; units as the contract has them, what a GPU does not tell left out.

    Nothing is told without the compute part of amdgpu (/sys/class/kfd): `gpus` may be of another vendor; and
    beside an NVIDIA GPU, for then `gpus` speaks of those: mostly the AMD GPU is part of the processor there.
    Errors: unavailable where the driver is loaded and shows no GPU to this process.
    """
    if machine.platform != "linux" or not machine.is_dir(NODES):
        return Told({}, "no compute driver for AMD GPUs (amdkfd) is loaded")
    if display_devices(machine, NVIDIA):
        return Told({}, "there are NVIDIA GPUs, and they are the ones that are told")
    folders = sorted(machine.path(NODES).glob("[0-9]*"), key=lambda path: int(path.name))
    nodes = (parse_properties(machine.read(f"{NODES}/{folder.name}/properties") or "") for folder in folders)
    gpus = [
        node for node in nodes if node.get("simd_count") and node.get("vendor_id", _AMD_VENDOR) == _AMD_VENDOR
    ]
    if not gpus:
        raise ProbeUnavailable("the driver for AMD GPUs shows none to this process")
    return Told({"gpus": [{"index": index, **_record(machine, node)} for index, node in enumerate(gpus)]})


def parse_properties(text: str) -> dict[str, int]:
    """Names and numbers of a node's file `properties`; those of a node that may not be used are not there."""
    return {match[1]: int(match[2]) for match in re.finditer(r"^(\w+) (\d{1,20})$", text, re.MULTILINE)}


def gfx_name(version: int) -> str:
    """gfx90a of 90010: major, minor and step as two decimal digits each, the last two told in hex.

    libhsakmt of ROCm/ROCR-Runtime, topology.c: HSA_GET_GFX_VERSION_MAJOR, _MINOR, _STEP.
    """
    return f"gfx{version // 10000}{version // 100 % 100:x}{version % 100:x}"


def pci_address(node: Mapping[str, int]) -> str:
    """0000:03:00.0 of `domain` and `location_id`, whose low byte is device (5 bits) and function (3)."""
    place = node["location_id"]
    return f"{node.get('domain', 0):04x}:{place >> 8 & 0xFF:02x}:{place >> 3 & 0x1F:02x}.{place & 7}"


def _record(machine: Machine, node: Mapping[str, int]) -> dict[str, FactValue]:
    record: dict[str, FactValue] = {}
    if node.get("gfx_target_version"):
        record["gfx"] = gfx_name(node["gfx_target_version"])
    if node.get("unique_id"):
        record["uuid"] = f"GPU-{node['unique_id']:016x}"
    if "location_id" not in node:
        return record
    record["pci"] = pci_address(node)
    return {**record, **_device(machine, f"/sys/bus/pci/devices/{record['pci']}")}


def _device(machine: Machine, folder: str) -> dict[str, FactValue]:
    """What the driver shows of a device. It counts microwatts, and thousandths of a degree."""
    sensors = sorted(machine.path(f"{folder}/hwmon").glob("hwmon*"))
    sensor = f"{folder}/hwmon/{sensors[0].name}" if sensors else ""
    total, used = (_number(machine, f"{folder}/mem_info_vram_{name}") for name in ("total", "used"))
    power = _number(machine, f"{sensor}/power1_average") or _number(machine, f"{sensor}/power1_input")
    limit = _number(machine, f"{sensor}/power1_cap")
    told: dict[str, FactValue] = {
        "name": (machine.read(f"{folder}/product_name") or "").strip() or None,
        "memory_total_bytes": total,
        "memory_used_bytes": used,
        "memory_free_bytes": None if total is None or used is None else total - used,
        "utilization_percent": _number(machine, f"{folder}/gpu_busy_percent"),
        "temperature_celsius": _thousandth(_number(machine, f"{sensor}/temp1_input")),
        "memory_temperature_celsius": _thousandth(_number(machine, f"{sensor}/temp3_input")),
        "power_watts": None if power is None else power / 1e6,
        "power_limit_watts": None if limit is None else limit / 1e6,
        "pcie_width": _number(machine, f"{folder}/current_link_width"),
        "pcie_width_max": _number(machine, f"{folder}/max_link_width"),
    }
    return {name: value for name, value in told.items() if value is not None}


def _number(machine: Machine, path: str) -> int | None:
    found = re.match(r"\s*(\d{1,18})\b", machine.read(path) or "")
    return int(found[1]) if found else None


def _thousandth(value: int | None) -> int | None:
    return None if value is None else value // 1000
