"""Every probe that reads files meets files that are nonsense, folders, loops and gone: it never breaks."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gpuhelp.probes.machine import Machine
from gpuhelp.probes.names import fact_name
from gpuhelp.probes.registry import ProbeStatus, all_probes
from gpuhelp.probes.runner import Observation, observe

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links and permissions are POSIX")

KERNEL = "6.8.0-45-generic"
SITE = "/env/lib/python3.11/site-packages"
ROOM = "/sys/class/kfd/kfd/topology/nodes"
PCI = "/sys/bus/pci/devices/0000:41:00.0"
FILES = (
    "/proc/sys/kernel/osrelease", "/proc/meminfo", "/proc/self/limits", "/proc/self/status",
    "/proc/self/cgroup", "/proc/net/dev", "/proc/version", "/proc/driver/nvidia/version",
    "/proc/1/comm", "/proc/1/maps", "/proc/1/fd", "/etc/os-release", "/etc/group", "/etc/passwd",
    "/etc/ld.so.cache", "/usr/share/misc/pci.ids", "/env/pyvenv.cfg",
    f"/lib/modules/{KERNEL}/updates/dkms/nvidia.ko", f"/lib/modules/{KERNEL}/kernel/x",
    f"{SITE}/torch/version.py", f"{SITE}/torch/lib/libtorch_cuda.so", f"{SITE}/xformers/_C.so",
    f"{SITE}/flash_attn-2.dist-info/METADATA", f"{PCI}/vendor", f"{PCI}/class", f"{PCI}/device",
    f"{PCI}/driver", f"{ROOM}/1/properties", f"{ROOM}/2", "/dev/shm/torch_1", "/dev/nvidia0",
    "/sys/class/net/eth0", "/home/alice/.docker/config.json", "/sys/fs/cgroup/memory.max",
    "/run/systemd/container",
)  # fmt: skip
STARTS_CHILDREN = ("nvml.driver", "torch.ask")  # they are tested with their own children


def noise(seed: int) -> bytes:
    return random.Random(seed).randbytes(3000)


def nothing(path: Path, seed: int) -> None:
    path.write_bytes(b"")


def bytes_of_no_text(path: Path, seed: int) -> None:
    path.write_bytes(noise(seed))


def the_beginning_of_a_library(path: Path, seed: int) -> None:
    path.write_bytes(b"\x7fELF\x02\x01\x01" + noise(seed))


def a_folder(path: Path, seed: int) -> None:
    path.mkdir(exist_ok=True)


def a_loop(path: Path, seed: int) -> None:
    path.symlink_to(path)


def very_long_numbers(path: Path, seed: int) -> None:
    path.write_text(
        "9" * 5000 + "\nMemTotal: " + "9" * 5000 + " kB\nsimd_count " + "9" * 4000, encoding="utf-8"
    )


def look(root: Path) -> Observation:
    machine = Machine(
        environ={"HOME": "/home/alice", "LD_LIBRARY_PATH": "::relative:/dev", "PATH": "/env/bin"},
        python="/env/bin/python",
        root=root,
        platform="linux",
    )
    chosen = tuple(each for each in all_probes() if each.id not in STARTS_CHILDREN)
    return observe(None, machine, limit_s=10.0, probes=chosen)


@pytest.mark.parametrize(
    "become", [nothing, bytes_of_no_text, the_beginning_of_a_library, a_folder, a_loop, very_long_numbers]
)
@pytest.mark.parametrize("seed", range(3))
def test_no_probe_breaks(tmp_path: Path, become: Callable[[Path, int], None], seed: int) -> None:
    for number, name in enumerate(FILES):
        path = tmp_path / name.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        become(path, seed * 1000 + number)
    if seed == 2:  # so that what stands behind the kernel's version is reached
        release = tmp_path / "proc/sys/kernel/osrelease"
        if release.is_symlink() or release.is_file():
            release.unlink()
            release.write_text(KERNEL, encoding="utf-8")
    seen = look(tmp_path)
    broken = {each.id: each.detail for each in seen.reports if each.status is ProbeStatus.ERROR}
    assert {id: why for id, why in broken.items() if "cannot be read" not in why} == {}
    assert [name for name in seen.facts if fact_name(name) is None] == []


def test_a_machine_of_nothing_at_all_breaks_no_probe(tmp_path: Path) -> None:
    seen = look(tmp_path)
    assert {each.status for each in seen.reports} == {ProbeStatus.OK, ProbeStatus.UNAVAILABLE}
