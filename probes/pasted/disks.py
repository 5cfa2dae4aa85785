"""`df` and `df -h`: the size of /dev/shm, and of the one file system that was asked about."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from gpuhelp.probes.facts import FactValue
from gpuhelp.probes.pasted.values import Span, size_bytes

_HEADER = re.compile(
    r"\s{0,4}(?:Filesystem|파일\s?시스템)\s{1,80}(?:Type\s{1,20})?(Size|1K-blocks|1024-blocks|1M-blocks|1G-blocks|크기|1K-블록)\s"
)
_ROW = re.compile(
    r"\s{0,4}(\S{1,300})\s{1,80}(?:[a-z][\w.]{1,20}\s{1,20})?(\d[\d.]{0,15}[KMGTP]?)\s{1,20}(\d[\d.]{0,15}[KMGTP]?)"
    r"\s{1,20}(-?\d[\d.]{0,15}[KMGTP]?)\s{1,12}(\d{1,3}%|-)\s{1,12}(/\S{0,300})$"
)
_UNITS = {"1K-blocks": "k", "1024-blocks": "k", "1K-블록": "k", "1M-blocks": "m", "1G-blocks": "g"}
_MOST_ROWS = 200


def blocks(lines: Sequence[str]) -> Iterator[Span]:
    """Each header with its rows, and a row of /dev/shm alone, as grep leaves it."""
    covered = -1
    for start, line in enumerate(lines):
        if start <= covered:
            continue
        is_header = _HEADER.match(line) is not None
        row = _ROW.match(line)
        if not is_header and not (row and row[6] == "/dev/shm"):
            continue
        last = start
        while last + 1 < min(len(lines), start + _MOST_ROWS) and _ROW.match(lines[last + 1]):
            last += 1
        covered = last
        if last > start or not is_header:
            yield start, last


def read(text: str) -> Mapping[str, FactValue]:
    """`host.shm_*` and, where one file system was asked about, `host.disk_free_bytes`."""
    lines = text.split("\n")
    header = _HEADER.match(lines[0])
    unit = _UNITS.get(header[1], "") if header else ""
    rows = [found for line in lines if (found := _ROW.match(line))]
    facts: dict[str, FactValue] = {}
    for row in rows:
        total, free = size_bytes(row[2], unit), size_bytes(row[4].lstrip("-"), unit)
        if row[6] == "/dev/shm" and (unit or not row[2].isdecimal() or row[2] == "0"):
            facts |= {} if total is None else {"host.shm_total_bytes": total}
            facts |= {} if free is None else {"host.shm_free_bytes": free}
        elif len(rows) == 1 and header and free is not None:
            facts["host.disk_free_bytes"] = free
    return facts
