"""`nvcc --version`: the CUDA toolkit a person compiles with."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from gpuhelp.probes.facts import FactValue
from gpuhelp.probes.pasted.values import Span, indexes

_RELEASE = re.compile(r"Cuda compilation tools, release (\d{1,3}\.\d{1,3})")


def blocks(lines: Sequence[str]) -> Iterator[Span]:
    """The lines around each release."""
    for index in indexes(lines, "Cuda compilation tools"):
        first = index
        while first > max(0, index - 3) and lines[first - 1].startswith(("nvcc:", "Copyright", "Built on")):
            first -= 1
        follows = index + 1 < len(lines) and lines[index + 1].startswith("Build cuda")
        yield first, index + follows


def read(text: str) -> Mapping[str, FactValue]:
    """`toolkit.nvcc_version`."""
    found = _RELEASE.search(text)
    return {"toolkit.nvcc_version": found[1]} if found else {}
