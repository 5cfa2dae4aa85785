"""`nvidia-smi topo -m`: how the GPUs are linked to each other."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from gpuhelp.probes.facts import FactValue
from gpuhelp.probes.pasted.values import Record, Span

_HEADER = re.compile(r"(?:\x1b\[4m)?\s{0,20}GPU0(?:\s{1,12}GPU\d{1,3}){0,64}(?:\s|$)")
_ROW = re.compile(r"\s{0,20}GPU(\d{1,3})\s")
_MOST_ROWS = 200
_KINDS = {"PIX": "pix", "PXB": "pxb", "PHB": "phb", "NODE": "node", "SYS": "sys", "SOC": "sys"}


def blocks(lines: Sequence[str]) -> Iterator[Span]:
    """From the row of names to the last row of a GPU."""
    for start, line in enumerate(lines):
        if _is_header(line):
            last = start
            while last + 1 < min(len(lines), start + _MOST_ROWS) and _is_row(lines[last + 1]):
                last += 1
            if last > start:
                yield start, last


def _is_row(line: str) -> bool:
    return line.lstrip().startswith("NIC") or (_ROW.match(line) is not None and not _is_header(line))


def _is_header(line: str) -> bool:
    return _HEADER.match(line) is not None and " X " not in f"{line} ".replace("\t", " ")


def read(text: str) -> Mapping[str, FactValue]:
    """`topology.links`: one record for each pair of GPUs."""
    header, *rows = text.split("\n")
    columns = re.findall(r"GPU(\d{1,3})", header)
    links: list[FactValue] = []
    for row in rows:
        found = _ROW.match(row)
        if found is None:
            continue
        cells = row[found.end() :].split()
        for column, cell in zip(columns, cells, strict=False):
            one, other = int(found[1]), int(column)
            if one < other and (link := _link(cell)) is not None:
                links.append({"from": one, "to": other, **link})
    return {"topology.links": links} if links else {}


def _link(cell: str) -> Record | None:
    if cell in _KINDS:
        return {"kind": _KINDS[cell]}
    count = re.fullmatch(r"NV(\d{1,3})", cell)
    return {"kind": "nvlink", "nvlink_count": int(count[1])} if count else None
