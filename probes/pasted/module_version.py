"""`cat /proc/driver/nvidia/version`: the kernel module that is loaded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from gpuhelp.probes.driver_module import parse_version_file
from gpuhelp.probes.facts import FactValue
from gpuhelp.probes.pasted.values import Span


def blocks(lines: Sequence[str]) -> Iterator[Span]:
    """The line of the module, and that of the compiler below it."""
    for index, line in enumerate(lines):
        if line.startswith("NVRM version:"):
            yield index, index + (index + 1 < len(lines) and lines[index + 1].startswith("GCC version:"))


def read(text: str) -> Mapping[str, FactValue]:
    """`driver.kernel_module_version` and `driver.module_open`."""
    return parse_version_file(text)
