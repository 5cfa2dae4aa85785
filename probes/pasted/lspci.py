"""`lspci` (with -k, -nn or -v too): the NVIDIA GPUs on the bus, and which kernel driver holds them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from gpuhelp.probes.facts import FactValue
from gpuhelp.probes.pasted.values import Record, Span

_DEVICE = re.compile(
    r"((?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]) "
    r"(?:VGA compatible controller|3D controller|Display controller)(?: \[\d{4}\])?: "
    r"NVIDIA Corporation (\S.{0,160})$"
)
_DETAIL = re.compile(
    r"\s{1,8}(?:Kernel driver in use|Subsystem|Kernel modules|DeviceName|Control|Flags|Region|LnkSta)"
)
_DRIVER = re.compile(r"\s{1,8}Kernel driver in use: ([\w-]{1,40})")


def blocks(lines: Sequence[str]) -> Iterator[Span]:
    """Each run of such devices with their details; others of the bus may stand between."""
    starts = [index for index, line in enumerate(lines) if _DEVICE.match(line)]
    if starts:
        last = starts[-1]
        while last + 1 < len(lines) and _DETAIL.match(lines[last + 1]):
            last += 1
        yield starts[0], last


def read(text: str) -> Mapping[str, FactValue]:
    """`host.pci_gpus`: the bus shows a GPU whether or not its driver works."""
    gpus: list[Record] = []
    is_ours = False
    for line in text.split("\n"):
        if found := _DEVICE.match(line):
            name = re.search(r"\[([^\]\[]{3,60})\](?: \[\w{4}:\w{4}\])?", found[2])
            gpus.append(
                {"pci": found[1], "name": name[1] if name else re.sub(r" \(rev \w{2}\)$", "", found[2])}
            )
            is_ours = True
        elif line[:1].strip():
            is_ours = False
        elif is_ours and (driver := _DRIVER.match(line)):
            gpus[-1]["kernel_driver"] = driver[1]
    return {"host.pci_gpus": gpus} if gpus else {}
