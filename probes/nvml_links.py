"""What the NVML child reads of several GPUs together: how they are linked, and the fabric of NVSwitches.

Runs in the child only.
"""

from __future__ import annotations

from collections import Counter
from ctypes import byref
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

from gpuhelp.probes.nvml_asking import NVML_ERROR_INVALID_ARGUMENT, NVML_ERROR_NOT_SUPPORTED, Gpu, Record
from gpuhelp.probes.nvml_fields import pci_address

MAX_NVLINKS = 64  # NVML_NVLINK_MAX_LINKS has grown with each generation
STATE_BITS = 0xFF  # nvml.h has one byte for the state, the bindings read four
DEVICE_SWITCH = 2  # NVML_NVLINK_DEVICE_TYPE_SWITCH
OTHER_DEVICES = (0, 1)  # NVML_NVLINK_DEVICE_TYPE_GPU, NVML_NVLINK_DEVICE_TYPE_IBMNPU
ANCESTORS = {  # NVML_TOPOLOGY_*, as `nvidia-smi topo -m` names them; 0 is two GPUs of one board
    0: "pix", 10: "pix", 20: "pxb", 30: "phb", 40: "node", 50: "sys",
}  # fmt: skip
FABRIC_STATES = (
    "N/A",
    "Not Started",
    "In Progress",
    "Completed",
)  # NVML_GPU_FABRIC_STATE_*, in nvidia-smi's words


class NvLinks(NamedTuple):  # a dataclass would double the time in which the child starts
    """The NVLinks of one GPU: how many are up, how many are down, and where those that are up lead.

    `untold` are those of which NVML does not say whether they lead to a switch.
    """

    active: int
    inactive: int
    to_pci: Counter[str]
    to_switch: int
    untold: int


def nvlinks(gpu: Gpu) -> NvLinks | None:
    """The links of a GPU, or None for one that has none, or does not tell."""
    states = link_states(gpu)
    if not states:
        return None
    up = [link for link, state in enumerate(states) if state]
    to_pci, kinds = Counter[str](), Counter[str]()
    for link in up:
        kind = gpu.ask("nvlink_peers", "nvmlDeviceGetNvLinkRemoteDeviceType", link)
        kinds["switch" if kind == DEVICE_SWITCH else "other" if kind in OTHER_DEVICES else "untold"] += 1
        peer = None if kind == DEVICE_SWITCH else peer_address(gpu, link)
        if peer is not None:
            to_pci[peer] += 1
        elif kind in OTHER_DEVICES:
            kinds["untold"] += 1
    return NvLinks(len(up), states.count(False), to_pci, kinds["switch"], kinds["untold"])


def peer_address(gpu: Gpu, link: int) -> str | None:
    peer = gpu.ask("nvlink_peers", "nvmlDeviceGetNvLinkRemotePciInfo", link, sound=has_address)
    return None if peer is None else pci_address(peer)


def has_address(info: Any) -> bool:
    return pci_address(info) is not None


def link_states(gpu: Gpu) -> list[bool]:
    """Whether each link is up. The first link that is none ends the list."""
    states: list[bool] = []
    for link in range(MAX_NVLINKS):
        up = gpu.ask("nvlinks", "nvmlDeviceGetNvLinkState", link, sound=lambda state: state <= 1)
        if up is None:
            if states and gpu.session.failed.get("nvlinks") in (
                NVML_ERROR_INVALID_ARGUMENT,
                NVML_ERROR_NOT_SUPPORTED,
            ):
                del gpu.session.failed["nvlinks"]  # past the last one
                return states
            return []
        states.append(bool(up))
    return states


def nvlink_fields(links: NvLinks | None) -> Record:
    return {} if links is None else {"nvlinks_active": links.active, "nvlinks_inactive": links.inactive}


def topology(gpus: list[tuple[Gpu, str | None, NvLinks | None]]) -> list[Record]:
    """A record of each pair of GPUs: NVLink if they are linked by it, else where their PCIe paths meet."""
    found = []
    for (one, pci, links), (other, other_pci, other_links) in combinations(gpus, 2):
        count = between(links, other_links, pci, other_pci)
        kind = "nvlink" if count else ancestor(one, other)
        if kind is not None:
            ends = {"from": one.index, "to": other.index, "kind": kind}
            found.append(ends if count is None else {**ends, "nvlink_count": count})
    return found


def between(one: NvLinks | None, other: NvLinks | None, pci: str | None, other_pci: str | None) -> int | None:
    """How many NVLinks join two GPUs, or both to switches; None where that is not known."""
    if one is None or other is None:
        return None
    count = max(one.to_pci[other_pci or "?"], other.to_pci[pci or "?"]) or min(one.to_switch, other.to_switch)
    return None if not count and (one.untold or other.untold) else count


def ancestor(one: Gpu, other: Gpu) -> str | None:
    function = "nvmlDeviceGetTopologyCommonAncestor"
    level = one.ask("topology.links", function, other.handle, sound=lambda each: each in ANCESTORS)
    return None if level is None else ANCESTORS[level]


def fabric_state(gpu: Gpu) -> str | None:
    """The fabric state of one GPU, in nvidia-smi's words; None without an answer."""
    info = fabric_info(gpu)
    if info is None:
        return None
    state = FABRIC_STATES[info.state & STATE_BITS]
    return state if state != "Completed" or info.status == 0 else f"Completed with error {info.status}"


def fabric_info(gpu: Gpu) -> Any:
    """The newer function tells more; older drivers and bindings have the other one."""
    calls = (
        partial(fabric_record, gpu, "nvmlDeviceGetGpuFabricInfoV", "c_nvmlGpuFabricInfo_v2_t"),
        partial(fabric_record, gpu, "nvmlDeviceGetGpuFabricInfo", "c_nvmlGpuFabricInfo_t"),
    )
    return gpu.session.first("fabric.state", *calls)


def fabric_record(gpu: Gpu, function: str, record: str) -> Any:
    make = getattr(gpu.session.bindings, record, None)
    info = None if make is None else make()
    if info is None:
        return None
    done = gpu.ask(
        "fabric.state", function, byref(info), sound=lambda _: info.state & STATE_BITS < len(FABRIC_STATES)
    )
    return None if done is None else info


def worst(states: list[str]) -> str | None:
    """The state of the fabric of the machine: the one that is furthest from `Completed`."""
    told = [state for state in states if state != "N/A"]
    order = {state: place for place, state in enumerate(FABRIC_STATES)}
    return min(told, key=lambda state: order.get(state, len(order) - 1.5), default=None)
