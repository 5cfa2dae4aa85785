"""What each GPU can do, from kb/tables/capabilities.yaml and what the driver tells of it. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from gpuhelp.kb.drivers import version_numbers
from gpuhelp.reasoning.scope import Gpu

Row = Mapping[str, Any]


class Ability(NamedTuple):
    """One thing a GPU can do (True), cannot (False), or of which that is not known (None).

    `why` says by language what a GPU lacks that cannot do it; empty for one that can.
    """

    id: str
    name: str
    can: bool | None
    why: Mapping[str, str]


class Model(NamedTuple):
    """GPUs of one model: their indices, and what they can do."""

    name: str
    compute_capability: str
    gpus: tuple[int, ...]
    abilities: tuple[Ability, ...]


def models(gpus: Iterable[Gpu], rows: Iterable[Row]) -> tuple[Model, ...]:
    """The models among these GPUs, by the first GPU of each; those of unknown capability are left out.

    `gpus` carry their compute capability (see scope_of); `rows` are the features of the table.
    """
    rows, found = tuple(rows), dict[tuple[object, ...], Model]()
    for gpu in gpus:
        capability = gpu.get("compute_capability")
        if version_numbers(str(capability)) is None:
            continue
        abilities = tuple(ability(gpu, row) for row in rows)
        key = (gpu.get("name"), capability, tuple(each.can for each in abilities))
        former = found.get(key)
        indices = (*(former.gpus if former else ()), int(gpu.get("index", 0)))
        found[key] = Model(str(gpu.get("name") or "GPU"), str(capability), indices, abilities)
    return tuple(found.values())


def ability(gpu: Gpu, row: Row) -> Ability:
    """Whether this GPU can do what the row speaks of."""
    can = _can(gpu, row)
    return Ability(row["id"], row["name"], can, row["why"] if can is False else {})


def _can(gpu: Gpu, row: Row) -> bool | None:
    known = [gpu[name] for name in row.get("facts", ()) if gpu.get(name) is not None]
    if known:
        # A mode that is told, on or off, is one that the GPU has; of counts one has to be more than none.
        return any(isinstance(value, bool) or value for value in known)
    number, lowest = version_numbers(str(gpu["compute_capability"])), version_numbers(row.get("from", ""))
    if "only" in row:
        return gpu["compute_capability"] in row["only"]
    if number is None or lowest is None:
        return None
    if "models" in row and number >= lowest:
        return bool(re.search(row["models"], gpu["name"])) if isinstance(gpu.get("name"), str) else None
    return number >= lowest
