"""The kernel log (`dmesg`, `journalctl -k`): Xids of the NVIDIA driver, processes killed for memory."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from gpuhelp.probes.facts import FactValue
from gpuhelp.probes.pasted.values import Span, pci_address

_XID = re.compile(r"NVRM: Xid \((?:PCI:)?([0-9A-Fa-f:.]{5,20})\): (\d{1,3})\b")
_KILL = re.compile(
    r"(?:Out of memory|[Mm]emory cgroup out of memory): ?Kill(?:ed)? process (\d{1,10}) ?\((\S{1,40}?)\)"
    r"|\bKilled process (\d{1,10}) ?\((\S{1,40}?)\)"
)
_STAMP = re.compile(
    r"\s{0,4}(?:\[\s{0,12}\d{1,12}\.\d{3,9}\]|\[[A-Z][a-z]{2} [A-Z]|[A-Z][a-z]{2} [ \d]\d |\d{4}-\d\d-\d\dT)"
)
_MOST_RECORDS = 200


def blocks(lines: Sequence[str]) -> Iterator[Span]:
    """From the first such line to the last: what stands between is mostly of the same log."""
    found = [index for index, line in enumerate(lines) if "NVRM: Xid" in line or "Killed process" in line]
    places = [index for index in found if _is_kernel(lines[index])]
    if places:
        yield places[0], places[-1]


def read(text: str) -> Mapping[str, FactValue]:
    """`kernel.xids` and `kernel.oom_kills` where there are any: a piece of a log tells of no others."""
    xids: list[FactValue] = []
    kills: list[FactValue] = []
    for line in text.split("\n"):
        if xid := _XID.search(line):
            xids.append({"xid": int(xid[2]), "pci": _address(xid[1])})
        elif _is_kernel(line) and (kill := _KILL.search(line)):
            kills.append({"pid": int(kill[1] or kill[3]), "name": kill[2] or kill[4]})
    facts: dict[str, FactValue] = {}
    if xids:
        facts["kernel.xids"] = xids[:_MOST_RECORDS]
    if kills:
        facts["kernel.oom_kills"] = kills[:_MOST_RECORDS]
    return facts


def _address(told: str) -> str:
    """0000:3d:00.0 of 0000:3d:00, which is how the driver names the device as a whole."""
    return pci_address(told if "." in told else f"{told}.0") or told


def _is_kernel(line: str) -> bool:
    """A line of the kernel, not of a program that speaks of one."""
    return "NVRM: Xid" in line or _STAMP.match(line) is not None or " kernel: " in line
