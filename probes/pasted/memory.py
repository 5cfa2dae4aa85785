"""`free`, with any of its units: memory of the host."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from gpuhelp.probes.facts import FactValue
from gpuhelp.probes.pasted.values import LARGEST_BYTES, Span, size_bytes

_HEADER = re.compile(r"\s{4,30}(?:total\s{1,20}used\s{1,20}free|전체\s{1,20}사용\s{1,20}여유)")
_SIZE = r"(\d[\d.]{0,18}(?:[KMGTP]i?|B)?)"
_ROW = re.compile(
    rf"\s{{0,4}}(?:Mem|메모리):\s{{1,30}}{_SIZE}(?:\s{{1,20}}{_SIZE}){{4}}\s{{1,20}}{_SIZE}\s{{0,4}}$"
)
_COMMAND = re.compile(r"\bfree(?: -[a-zA-Z-]{1,12}){0,3}\s{0,4}$")
_UNITS = {"b": "", "k": "k", "m": "m", "g": "g"}
_KIB_AT_LEAST, _KIB_AT_MOST = 500_000, 2_000_000_000
"""Numbers without a unit that are KiB, as without an option: 0.5 GiB to 2 TiB."""


def blocks(lines: Sequence[str]) -> Iterator[Span]:
    """The header, the command above it, and the row of memory."""
    for index, line in enumerate(lines):
        if index and _HEADER.match(lines[index - 1]) and _ROW.match(line):
            yield index - 1 - (index > 1 and _COMMAND.search(lines[index - 2]) is not None), index


def read(text: str) -> Mapping[str, FactValue]:
    """`host.ram_total_bytes` and `host.ram_available_bytes`."""
    lines = text.split("\n")
    found = _ROW.match(lines[-1])
    if found is None:
        return {}
    unit = _unit(lines[0], found[1])
    total, available = (_bytes(told, unit) for told in (found[1], found[3]))
    if total is None or available is None or total > LARGEST_BYTES:
        return {}
    return {"host.ram_total_bytes": total, "host.ram_available_bytes": available}


def _unit(command: str, total: str) -> str | None:
    """The unit of numbers that have none themselves; None where it cannot be told."""
    asked = re.search(r"\bfree((?: -[a-zA-Z-]{1,12}){1,3})", command)
    letters = "".join(letter for letter in (asked[1] if asked else "") if letter in _UNITS)
    if letters:
        return _UNITS[letters[0]]
    is_kib = total.isdecimal() and _KIB_AT_LEAST <= int(total) <= _KIB_AT_MOST
    return "k" if is_kib or (not asked and _COMMAND.search(command)) else None


def _bytes(told: str, unit: str | None) -> int | None:
    if told.replace(".", "").isdecimal():
        return None if unit is None else size_bytes(told, unit)
    return size_bytes(told)
