"""`conda env export`: a file of an environment with every build; one that a person wrote by hand is none."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from gpuhelp.probes.facts import FactValue
from gpuhelp.probes.pasted.packages_listed import VERSION, build_facts, package_facts
from gpuhelp.probes.pasted.values import Span

_CONDA = re.compile(rf"\s{{1,8}}- ([\w.-]{{1,80}})=({VERSION})=(\S{{1,80}})$")
_PIP = re.compile(rf"\s{{1,12}}- ([\w.-]{{1,80}})(?:\[[\w,-]{{1,60}}\])?==({VERSION})$")
_MOST_ROWS = 3_000


def blocks(lines: Sequence[str]) -> Iterator[Span]:
    """From `dependencies:` to `prefix:`."""
    for start, line in enumerate(lines):
        if line.rstrip() == "dependencies:":
            last = start
            while last + 1 < min(len(lines), start + _MOST_ROWS) and lines[last + 1].startswith(
                (" ", "prefix:")
            ):
                last += 1
            yield start, last


def read(text: str) -> Mapping[str, FactValue]:
    """`packages.<name>`, and what PyTorch was built for."""
    lines = text.split("\n")
    conda = [found for line in lines if (found := _CONDA.match(line))]
    if not conda:
        return {}
    pip = [found for line in lines if (found := _PIP.match(line))]
    facts = package_facts((row[1], row[2]) for row in (*pip, *conda))
    build = next((row[3] for row in conda if row[1] in ("pytorch", "torch")), "")
    python = next((row[2] for row in conda if row[1] == "python"), None)
    return {**facts, **build_facts(build), **({"python.version": python} if facts and python else {})}
