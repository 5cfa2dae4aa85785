"""`pip list` and `uv pip list`: the table with a header."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from gpuhelp.probes.facts import FactValue
from gpuhelp.probes.pasted.packages_listed import NAME, VERSION, package_facts, without_gaps
from gpuhelp.probes.pasted.values import Span, command_of

_HEADER = re.compile(
    r"\s{0,8}Package\s{1,100}Version(?:\s{1,40}(?:Editable project location|Location|Build).{0,80})?$"
)
_RULE = re.compile(r"\s{0,8}-{3,200}\s{1,8}-{3,80}[- ]{0,200}$")
_ROW = re.compile(rf"\s{{0,8}}({NAME})\s{{1,100}}({VERSION})(?:\s.{{0,200}})?$")
_COMMAND = re.compile(r"(?:.{0,60}[/ ])?(?:pip3?|pip3?\.exe|uv pip|-m pip) list\b")
_MOST_ROWS = 3_000


def blocks(lines: Sequence[str]) -> Iterator[Span]:
    """Each header, or command (`pip list | grep torch`), with the rows below it."""
    for start, line in enumerate(lines):
        if _HEADER.match(line) or _is_command(line):
            last = start + (start + 1 < len(lines) and _RULE.match(lines[start + 1]) is not None)
            while last + 1 < min(len(lines), start + _MOST_ROWS) and _ROW.match(lines[last + 1]):
                last += 1
            if last > start:
                yield start, last


def read(text: str) -> Mapping[str, FactValue]:
    """`packages.<name>`; None for one that would stand in the middle of a list that nothing was cut from."""
    head, *lines = text.split("\n")
    rows = [found for line in lines if (found := _ROW.match(line))]
    missing = without_gaps([row[1] for row in rows]) if _HEADER.match(head) else {}
    return {**missing, **package_facts((row[1], row[2]) for row in rows)}


def _is_command(line: str) -> bool:
    if " list" not in line:
        return False
    return _COMMAND.match(command_of(line) or line.strip()) is not None
