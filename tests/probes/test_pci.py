"""GPUs on the PCI bus, and AMD GPUs as their driver shows them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gpuhelp.probes.amd_gpus import amd_gpus, gfx_name, parse_properties, pci_address
from gpuhelp.probes.machine import Machine
from gpuhelp.probes.pci import pci_gpus
from gpuhelp.probes.registry import ProbeUnavailable

MakeMachine = Callable[..., Machine]
GIB = 1 << 30

PCI_IDS = """\
#	List of PCI ID's
1002  Advanced Micro Devices, Inc. [AMD/ATI]
	2204  Not this one
10de  NVIDIA Corporation
	2204  GA102 [GeForce RTX 3090]
		10de 147d  GeForce RTX 3090 Founders Edition
	20b5  GA100 [A100 PCIe 80GB]
	2330  GH100
10df  Emulex Corporation
	20b5  Not this one either
"""


def a_device(address: str, vendor: str, number: str, kind: str) -> dict[str, str]:
    folder = f"/sys/bus/pci/devices/{address}"
    return {
        f"{folder}/vendor": f"{vendor}\n",
        f"{folder}/device": f"{number}\n",
        f"{folder}/class": f"{kind}\n",
    }


NVIDIA_GPU = a_device("0000:41:00.0", "0x10de", "0x2204", "0x030000")
NVIDIA_AUDIO = a_device("0000:41:00.1", "0x10de", "0x1aef", "0x040300")
NVIDIA_3D = a_device("0000:81:00.0", "0x10de", "0x20b5", "0x030200")
INTEL_GPU = a_device("0000:00:02.0", "0x8086", "0xa780", "0x030000")


def bind(machine: Machine, address: str, driver: str) -> None:
    folder = machine.path(f"/sys/bus/pci/drivers/{driver}")
    folder.mkdir(parents=True, exist_ok=True)
    machine.path(f"/sys/bus/pci/devices/{address}/driver").symlink_to(folder)


def test_gpus_are_told_with_their_name_and_driver(make_machine: MakeMachine) -> None:
    machine = make_machine(
        {**NVIDIA_GPU, **NVIDIA_AUDIO, **NVIDIA_3D, **INTEL_GPU, "/usr/share/misc/pci.ids": PCI_IDS}
    )
    bind(machine, "0000:41:00.0", "nouveau")
    assert pci_gpus(machine) == {
        "host.pci_gpus": [
            {"pci": "0000:41:00.0", "kernel_driver": "nouveau", "name": "GeForce RTX 3090"},
            {"pci": "0000:81:00.0", "kernel_driver": None, "name": "A100 PCIe 80GB"},
        ]
    }


def test_a_gpu_without_a_known_name_is_a_gpu(make_machine: MakeMachine) -> None:
    machine = make_machine(a_device("0000:41:00.0", "0x10de", "0xffff", "0x030000"))
    assert pci_gpus(machine)["host.pci_gpus"] == [{"pci": "0000:41:00.0", "kernel_driver": None}]


def test_a_bus_without_nvidia_gpus_is_looked_and_there_is_none(make_machine: MakeMachine) -> None:
    assert pci_gpus(make_machine(INTEL_GPU)) == {"host.pci_gpus": []}


def test_without_a_bus_and_under_wsl_nothing_is_known(make_machine: MakeMachine) -> None:
    with pytest.raises(ProbeUnavailable):
        pci_gpus(make_machine())
    wsl = {"/proc/sys/kernel/osrelease": "5.15.153.1-microsoft-standard-WSL2\n"}
    with pytest.raises(ProbeUnavailable, match="WSL"):
        pci_gpus(make_machine({**NVIDIA_GPU, **wsl}))


CPU_NODE = "cpu_cores_count 16\nsimd_count 0\nvendor_id 0\ngfx_target_version 0\n"
MI300X = (
    "cpu_cores_count 0\nsimd_count 1216\ngfx_target_version 90402\nvendor_id 4098\ndevice_id 29857\n"
    f"location_id 1280\ndomain 0\ndrm_render_minor 128\nunique_id {0xA0E95B1FF6AFF6D9}\n"
)
RX_7900 = "simd_count 192\ngfx_target_version 110000\nvendor_id 4098\nlocation_id 768\ndomain 1\n"
NODES = "/sys/class/kfd/kfd/topology/nodes"
DEVICE = "/sys/bus/pci/devices/0000:05:00.0"
MI300X_FILES = {
    f"{DEVICE}/product_name": "AMD Instinct MI300X\n",
    f"{DEVICE}/mem_info_vram_total": f"{192 * GIB}\n",
    f"{DEVICE}/mem_info_vram_used": f"{2 * GIB}\n",
    f"{DEVICE}/gpu_busy_percent": "97\n",
    f"{DEVICE}/current_link_width": "8\n",
    f"{DEVICE}/max_link_width": "16\n",
    f"{DEVICE}/hwmon/hwmon5/temp1_input": "61000\n",
    f"{DEVICE}/hwmon/hwmon5/power1_average": "412000000\n",
    f"{DEVICE}/hwmon/hwmon5/power1_cap": "750000000\n",
}


def test_amd_gpus_are_told_as_their_driver_shows_them(make_machine: MakeMachine) -> None:
    nodes = {f"{NODES}/{index}/properties": text for index, text in enumerate((CPU_NODE, MI300X, RX_7900))}
    assert amd_gpus(make_machine({**nodes, **MI300X_FILES})).facts == {
        "gpus": [
            {
                "index": 0, "gfx": "gfx942", "uuid": "GPU-a0e95b1ff6aff6d9", "pci": "0000:05:00.0",
                "name": "AMD Instinct MI300X", "memory_total_bytes": 192 * GIB, "memory_used_bytes": 2 * GIB,
                "memory_free_bytes": 190 * GIB, "utilization_percent": 97, "temperature_celsius": 61,
                "power_watts": 412.0, "power_limit_watts": 750.0, "pcie_width": 8, "pcie_width_max": 16,
            },
            {"index": 1, "gfx": "gfx1100", "pci": "0001:03:00.0"},
        ]
    }  # fmt: skip


def test_nodes_are_counted_as_numbers_not_as_words(make_machine: MakeMachine) -> None:
    nodes = {f"{NODES}/{index}/properties": RX_7900 for index in range(1, 11)}
    nodes[f"{NODES}/2/properties"] = RX_7900.replace("110000", "90010")
    told = amd_gpus(make_machine(nodes)).facts["gpus"]
    assert isinstance(told, list)
    assert [each["gfx"] for each in told[:3]] == ["gfx1100", "gfx90a", "gfx1100"]


@pytest.mark.parametrize(
    ("files", "why"),
    [({}, "no compute driver"), ({f"{NODES}/1/properties": RX_7900, **NVIDIA_GPU}, "NVIDIA")],
    ids=["no driver", "beside an NVIDIA GPU"],
)
def test_where_nobody_computes_on_amd_gpus_none_is_told(
    make_machine: MakeMachine, files: dict[str, str], why: str
) -> None:
    told = amd_gpus(make_machine(files))
    assert (told.facts, why in told.detail) == ({}, True)


def test_gpus_that_are_hidden_from_this_process_are_not_none(make_machine: MakeMachine) -> None:
    machine = make_machine({f"{NODES}/0/properties": CPU_NODE, f"{NODES}/1/properties": ""})
    with pytest.raises(ProbeUnavailable, match="shows none to this process"):
        amd_gpus(machine)


@pytest.mark.parametrize(
    ("version", "name"),
    [
        (90010, "gfx90a"),
        (90402, "gfx942"),
        (90500, "gfx950"),
        (100306, "gfx1036"),
        (110501, "gfx1151"),
        (120001, "gfx1201"),
    ],
)
def test_a_target_version_is_a_gfx_name(version: int, name: str) -> None:
    assert gfx_name(version) == name


def test_a_location_is_a_pci_address() -> None:
    assert pci_address({"location_id": 0xC1 << 8 | 2 << 3 | 1, "domain": 0x10}) == "0010:c1:02.1"


def test_broken_properties_are_left_out() -> None:
    assert parse_properties("simd_count 4\nname x\n\nbroken\nbig -1\n") == {"simd_count": 4}
