"""Which NVIDIA kernel module is loaded, from /proc/driver/nvidia/version."""

from __future__ import annotations

import re
from collections.abc import Mapping

from gpuhelp.probes.facts import FactValue
from gpuhelp.probes.host import is_wsl
from gpuhelp.probes.machine import Machine
from gpuhelp.probes.registry import ProbeUnavailable, probe

VERSION_FILE = "/proc/driver/nvidia/version"


@probe("driver.module", facts=("driver.kernel_module_version", "driver.module_open"), source=VERSION_FILE)
def driver_module(machine: Machine) -> Mapping[str, FactValue]:
    """Version and kind of the loaded module; null version: no module is loaded.

    Errors: unavailable where the driver does not live in this kernel (Windows, macOS, WSL, Jetson).
    """
    text = machine.read(VERSION_FILE)
    if text is not None:
        return parse_version_file(text)
    if machine.platform != "linux" or machine.read("/proc/version") is None:
        raise ProbeUnavailable("there is no /proc on this system")
    if is_wsl(machine) or machine.exists("/etc/nv_tegra_release"):
        raise ProbeUnavailable("the driver of this system has no module in /proc")
    return {"driver.kernel_module_version": None}


def parse_version_file(text: str) -> dict[str, FactValue]:
    """Facts of the text of the file. Its first line reads, with or without the word Open:

    NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.90.07  Release Build  (...)
    """
    line = next((line for line in text.splitlines() if line.startswith("NVRM version:")), "")
    version = re.search(r"\s(\d{2,4}\.\d+(?:\.\d+)*)(?:\s|$)", line)
    if version is None:
        return {}
    return {"driver.kernel_module_version": version[1], "driver.module_open": "Open Kernel Module" in line}
