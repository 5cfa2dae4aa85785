"""`python --version`, and the first line of an interactive interpreter."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from gpuhelp.probes.facts import FactValue
from gpuhelp.probes.pasted.values import Span, command_of

_LINE = re.compile(r"Python (3\.\d{1,2}\.\d{1,2}(?:(?:a|b|rc)\d{1,2})?\+?)(?:\s{0,4}$| \(| \|| :: )")
_COMMAND = re.compile(r"(?:^|[/\\ ])(?:python|python3|py)(?:\.exe)?(?:3\.\d{1,2})? (?:-V|-VV|--version)\b")


def blocks(lines: Sequence[str]) -> Iterator[Span]:
    """The line below such a command, and the banner of the interpreter."""
    for index, line in enumerate(lines):
        found = _LINE.match(line)
        if not found:
            continue
        above = lines[index - 1] if index else ""
        is_asked = _COMMAND.search(command_of(above) or above) is not None
        is_banner = line[found.end() - 1 : found.end()] in ("(", "|")
        if is_asked or is_banner:
            yield index, index


def read(text: str) -> Mapping[str, FactValue]:
    """`python.version`."""
    found = _LINE.match(text)
    return {"python.version": found[1].rstrip("+")} if found else {}
