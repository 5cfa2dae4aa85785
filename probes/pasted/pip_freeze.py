"""`pip freeze`: lines of `name==version`, after the command or long and sorted: requirements look alike."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from gpuhelp.probes.facts import FactValue
from gpuhelp.probes.pasted.packages_listed import NAME, VERSION, package_facts, without_gaps
from gpuhelp.probes.pasted.values import Span, command_of

_ROW = re.compile(rf"({NAME})(?:\[[\w,-]{{1,60}}\])?==({VERSION})$")
_OTHER_ROW = re.compile(rf"(?:-e |{NAME} @ |# Editable)\S?.{{0,300}}$")
_WHEEL = re.compile(rf"({NAME}) @ \S{{1,200}}/[\w.]{{1,80}}-(\d[\w.!+%]{{0,60}})-(?:cp|py)\d\S{{1,100}}$")
_FEWEST = 10
_MOST_ROWS = 3_000


def blocks(lines: Sequence[str]) -> Iterator[Span]:
    """Each run of such lines after the command, or of ten and more that are sorted."""
    index = 0
    while index < len(lines):
        if not _ROW.match(lines[index]):
            index += 1
            continue
        last = index
        while last + 1 < min(len(lines), index + _MOST_ROWS) and _is_row(lines[last + 1]):
            last += 1
        if _is_frozen(lines, index, last):
            yield index, last
        index = last + 1


def read(text: str) -> Mapping[str, FactValue]:
    """`packages.<name>`; None for one that would stand in the middle of a long list."""
    rows = [found for line in text.split("\n") if (found := _ROW.match(line) or _WHEEL.match(line))]
    names = [row[1] for row in rows]
    missing = without_gaps(names) if len(rows) >= _FEWEST and " @ " not in text else {}
    return {**missing, **package_facts((row[1], row[2].replace("%2B", "+")) for row in rows)}


def _is_row(line: str) -> bool:
    return _ROW.match(line) is not None or _OTHER_ROW.match(line) is not None


def _is_frozen(lines: Sequence[str], first: int, last: int) -> bool:
    command = command_of(lines[first - 1]) or lines[first - 1] if first else ""
    if re.search(r"\bpip3? (?:freeze|list)\b", command):
        return True
    names = [found[1].lower() for line in lines[first : last + 1] if (found := _ROW.match(line))]
    return len(names) >= _FEWEST and names == sorted(names)
