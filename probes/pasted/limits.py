"""`ulimit -a`: limits of a process, as bash and dash tell them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from gpuhelp.probes.facts import FactValue
from gpuhelp.probes.pasted.values import Span

_ROW = re.compile(
    r"\s{0,4}(?:-\w: )?([a-z][a-z -]{3,30}?)\s{1,40}\((?:([a-z0-9 ]{2,12}), )?"
    r"-(\w)(?: \d)?\)\s{1,20}(\d{1,20}|unlimited)"
)
_OPTIONS = {"l": "host.memlock_bytes", "n": "host.open_files_limit", "v": "host.address_space_limit_bytes"}
_KIB = 1024


def blocks(lines: Sequence[str]) -> Iterator[Span]:
    """Each run of limits."""
    start: int | None = None
    for index, line in enumerate([*lines, ""]):
        if _ROW.match(line):
            start = index if start is None else start
        elif start is not None:
            yield start, index - 1
            start = None


def read(text: str) -> Mapping[str, FactValue]:
    """Locked memory, open files, address space; None: no limit."""
    facts: dict[str, FactValue] = {}
    for line in text.split("\n"):
        found = _ROW.match(line)
        if found and (name := _OPTIONS.get(found[3])):
            is_kib = found[2] in ("kbytes", "kb")
            facts[name] = None if found[4] == "unlimited" else int(found[4]) * (_KIB if is_kib else 1)
    return facts
