"""`conda list` (mamba and micromamba too): name, version, build, channel."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from gpuhelp.probes.facts import FactValue
from gpuhelp.probes.pasted.packages_listed import VERSION, build_facts, package_facts
from gpuhelp.probes.pasted.values import Span, command_of

_MARK = "# packages in environment at"
_ROW = re.compile(
    rf"\s{{0,4}}([A-Za-z0-9_][\w.-]{{0,80}})\s{{1,60}}({VERSION})(?:\s{{1,40}}(\S{{1,80}}))?(?:\s.{{0,120}})?$"
)
_COMMAND = re.compile(r"(?:conda|mamba|micromamba) list\b")
_MOST_ROWS = 3_000


def blocks(lines: Sequence[str]) -> Iterator[Span]:
    """Each heading, or command (`conda list | grep torch`), with the rows below it."""
    for start, line in enumerate(lines):
        if _MARK in line or _COMMAND.match(command_of(line) or line.strip()):
            last = start
            while last + 1 < min(len(lines), start + _MOST_ROWS) and _is_row(lines[last + 1]):
                last += 1
            if last > start:
                yield start, last


def read(text: str) -> Mapping[str, FactValue]:
    """`packages.<name>`, and what PyTorch was built for."""
    rows = [found for line in text.split("\n") if (found := _ROW.match(line))]
    facts = package_facts((row[1], row[2]) for row in rows)
    build = next((row[3] for row in rows if row[1] in ("pytorch", "torch") and row[3]), "")
    if facts and (where := re.search(r"environment at (\S{1,300}?):?\s*$", text.split("\n")[0])):
        facts |= {"python.prefix": where[1], "python.manager": "conda"}
    python = next((row[2] for row in rows if row[1] == "python"), None)
    return {**facts, **build_facts(build), **({"python.version": python} if facts and python else {})}


def _is_row(line: str) -> bool:
    return line.startswith("#") or _ROW.match(line) is not None
