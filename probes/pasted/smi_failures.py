"""What nvidia-smi prints instead of its table: NVML does not start, no GPU, or one that does not answer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from gpuhelp.probes.facts import FactValue
from gpuhelp.probes.pasted.values import Span, pci_address

NOT_LOADED = "Driver Not Loaded"
"""What NVML calls it when nvidia-smi cannot communicate with the driver (NVML_ERROR_DRIVER_NOT_LOADED)."""
_MARKS = ("NVIDIA-SMI has failed because", "Failed to initialize NVML: ", "No devices were found",
          "Unable to determine the device handle")  # fmt: skip
_NVML = re.compile(r"\s{0,20}Failed to initialize NVML: ([A-Z][\w/ -]{2,80}[\w)])")
_HANDLE = re.compile(
    r"\s{0,20}Unable to determine the device handle for (?:gpu|GPU) ?([0-9A-Fa-f:.]{7,20}): "
    r"([A-Z][\w ]{2,60}\w)"
)


def blocks(lines: Sequence[str]) -> Iterator[Span]:
    """Each such line at the beginning of a line, where nvidia-smi itself speaks."""
    for index, line in enumerate(lines):
        if line.lstrip().startswith(_MARKS):
            follows = index + 1 < len(lines) and lines[index + 1].lstrip().startswith("NVML library version")
            yield index, index + follows


def read(text: str) -> Mapping[str, FactValue]:
    """`driver.error` in NVML's words, no GPUs, or a GPU with its error."""
    line = text.split("\n")[0].strip()
    if line.startswith("NVIDIA-SMI has failed because"):
        return {"driver.error": NOT_LOADED} if "communicate with the NVIDIA driver" in line else {}
    if found := _NVML.match(line):
        return {"driver.error": found[1]}
    if line.startswith("No devices were found"):
        return {"driver.error": None, "gpus": []}
    if found := _HANDLE.match(line):
        address = pci_address(found[1])
        return {"driver.error": None, "gpus": [{"error": found[2], **({"pci": address} if address else {})}]}
    return {}
