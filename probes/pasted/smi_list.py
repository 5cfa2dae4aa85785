"""`nvidia-smi -L`: the GPUs and their MIG devices, with their UUIDs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from gpuhelp.probes.facts import FactValue
from gpuhelp.probes.pasted.values import Record, Span

_GPU = re.compile(r"\s{0,8}GPU (\d{1,3}): (\S.{0,80}?) \(UUID: (GPU-[0-9a-f-]{8,40})\)")
_MIG = re.compile(r"\s{1,8}MIG (\S{1,30})\s{1,12}Device\s{1,8}(\d{1,3}): \(UUID: (MIG-[\w/-]{8,80})\)")


def blocks(lines: Sequence[str]) -> Iterator[Span]:
    """Each run of such lines."""
    start: int | None = None
    for index, line in enumerate([*lines, ""]):
        if _GPU.match(line) or (start is not None and _MIG.match(line)):
            start = index if start is None else start
        elif start is not None:
            yield start, index - 1
            start = None


def read(text: str) -> Mapping[str, FactValue]:
    """`gpus` with index, name, uuid and MIG instances."""
    gpus: list[Record] = []
    for line in text.split("\n"):
        if found := _GPU.match(line):
            gpus.append({"index": int(found[1]), "name": found[2], "uuid": found[3]})
        elif gpus and (found := _MIG.match(line)):
            known = gpus[-1].get("mig_instances")
            instance: Record = {"name": f"MIG {found[1]}", "uuid": found[3]}
            gpus[-1]["mig_instances"] = [*(known if isinstance(known, list) else ()), instance]
            gpus[-1]["mig_mode"] = True
    return {"gpus": gpus} if gpus else {}
