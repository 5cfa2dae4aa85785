"""`uname -a`: the kernel, and whether it is that of WSL."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from gpuhelp.probes.facts import FactValue
from gpuhelp.probes.pasted.values import Span

_LINE = re.compile(r"\s{0,8}Linux \S{1,80} (\d{1,2}\.\d{1,3}\S{0,80}) #\S.{5,160} GNU/Linux")


def blocks(lines: Sequence[str]) -> Iterator[Span]:
    """Each such line."""
    return ((index, index) for index, line in enumerate(lines) if _LINE.match(line))


def read(text: str) -> Mapping[str, FactValue]:
    """`os.kernel`, `os.platform` and `os.wsl`."""
    found = _LINE.match(text)
    if found is None:
        return {}
    return {"os.kernel": found[1], "os.platform": "linux", "os.wsl": "microsoft" in found[1].lower()}
