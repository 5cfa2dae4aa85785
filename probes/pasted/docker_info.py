"""`docker info`: whether the NVIDIA runtime is registered, and what kind of daemon runs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from gpuhelp.probes.facts import FactValue
from gpuhelp.probes.pasted.values import Span, distribution_facts, size_bytes, stretch

_START = re.compile(r"Client:|Server:| ?Server Version: | ?Containers: \d")
_RUNTIMES = re.compile(r"\s{0,4}Runtimes: (.{1,300})$")
_PAIR = re.compile(r"\s{0,4}([A-Z][\w ]{1,40}): (.{1,200})$")
_MOST_LINES = 200


def blocks(lines: Sequence[str]) -> Iterator[Span]:
    """The report around each line of runtimes."""
    for index, line in enumerate(lines):
        if not _RUNTIMES.match(line):
            continue
        first = index
        for above in range(index, max(-1, index - _MOST_LINES), -1):
            if _START.match(lines[above]):
                first = above
            elif not lines[above].startswith(" ") and lines[above].strip() and above < index:
                break
        yield (
            first,
            stretch(lines, index, _MOST_LINES, re.compile(r"(?!\s|WARNING|ID:|[A-Z][\w ]{2,40}: )\S")),
        )


def read(text: str) -> Mapping[str, FactValue]:
    """`container.toolkit_installed` where the runtime is registered, `container.daemon`, facts of the host.

    A runtime that is not registered does not say that the toolkit is missing: `--gpus` needs none.
    """
    lines = text.split("\n")
    told = {found[1]: found[2].strip() for line in reversed(lines) if (found := _PAIR.match(line))}
    if "Server Version" not in told and "Default Runtime" not in told:
        return {}
    facts: dict[str, FactValue] = {}
    if "nvidia" in told.get("Runtimes", "").split() or "nvidia.com/gpu" in text:
        facts["container.toolkit_installed"] = True
    if "Operating System" in told:
        facts["container.daemon"] = _daemon(told, text)
    if "Operating System" in told and facts["container.daemon"] != "vm":
        facts |= distribution_facts(told["Operating System"])
        facts |= {"os.kernel": told["Kernel Version"]} if "Kernel Version" in told else {}
        ram = size_bytes(told.get("Total Memory", ""))
        facts |= {} if ram is None else {"host.ram_total_bytes": ram}
    return facts


def _daemon(told: Mapping[str, str], text: str) -> str:
    if "Docker Desktop" in told["Operating System"]:
        return "vm"
    if re.search(r"^\s{1,4}rootless\s{0,4}$", text, re.MULTILINE):
        return "rootless"
    return "snap" if "/snap/docker" in told.get("Docker Root Dir", "") else "native"
