"""The account of a GPU's memory at the moment an allocation failed: who held how much. Pure.

The figures are those that the entry worked out of the message (kb/tables/messages.yaml says which there are),
and the processes of the facts where the message names none. The parts always add up to the capacity: what
no figure tells is a part of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any, NamedTuple

from gpuhelp.kb.evaluation import Unknown, parse_bytes
from gpuhelp.reasoning.scope import Scope

_SMALL_SHARE = 0.01
"""A rest below this share of the capacity is rounding, and what the driver keeps for itself."""


class Holder(str, Enum):
    """Who holds a part of the memory."""

    TENSORS = "tensors"
    GRAPHS = "graphs"
    CACHE = "cache"
    CONTEXT = "context"
    OTHERS = "others"
    UNTOLD = "untold"
    FREE = "free"


class Part(NamedTuple):
    """One holder's share, in bytes."""

    holder: Holder
    held_bytes: int


class MemoryAccount(NamedTuple):
    """The parts add up to `capacity_bytes`. `largest` is the part worth attacking; None if all is free.

    `limit_bytes` is the cap on this process, `requested_bytes` what was asked for; None where none is told.
    """

    gpu_index: str
    capacity_bytes: int
    parts: tuple[Part, ...]
    requested_bytes: int | None
    limit_bytes: int | None

    @property
    def largest(self) -> Part | None:
        held = [part for part in self.parts if part.holder is not Holder.FREE]
        return max(held, key=lambda part: part.held_bytes, default=None)


def account_of(scope: Scope) -> MemoryAccount | None:
    """The account of the GPU that a finding speaks of; None where the text tells too little for one."""
    figures = _Figures(scope.values)
    capacity, free, allocated = (figures.get(f"{name}_bytes") for name in ("capacity", "free", "allocated"))
    if not capacity or free is None or allocated is None or free + allocated > capacity * (1 + _SMALL_SHARE):
        return None
    parts = tuple(_parts(figures, capacity, free, allocated, _seen_now(scope)))
    return MemoryAccount(
        gpu_index=str(scope.values.get("gpu_index", "")),
        capacity_bytes=capacity,
        parts=tuple(part for part in parts if part.held_bytes > 0),
        requested_bytes=figures.get("requested_bytes"),
        limit_bytes=figures.get("allowed_bytes"),
    )


class _Figures:
    """The sizes among the values of a text; what is not known, or no size, is None.

    What the entry did not work out (`free_bytes`) is read from the text's own value (`free`).
    """

    def __init__(self, values: Mapping[str, object]) -> None:
        self._values = values

    def get(self, name: str) -> int | None:
        value = self._values.get(name)
        if value is None or isinstance(value, Unknown):
            value = parse_bytes(self._values.get(name.removesuffix("_bytes")))
        is_size = isinstance(value, (int, float)) and not isinstance(value, bool)
        return int(value) if is_size and value >= 0 else None  # type: ignore[call-overload, operator]


def _parts(
    figures: _Figures, capacity: int, free: int, allocated: int, seen_now: int | None
) -> Iterator[Part]:
    pools = min(figures.get("pools_bytes") or 0, allocated)
    cache = min(figures.get("unused_bytes") or 0, max(0, capacity - free - allocated))
    own = figures.get("own_bytes") or 0
    rest = max(0, capacity - free - allocated - cache)
    context = min(max(0, own - allocated - cache), rest)
    yield Part(Holder.TENSORS, allocated - pools)
    yield Part(Holder.GRAPHS, pools)
    yield Part(Holder.CACHE, cache)
    yield from _rest(rest, context, capacity, bool(figures.get("listed_processes")), seen_now)
    yield Part(Holder.FREE, max(0, capacity - allocated - cache - rest))


def _rest(rest: int, context: int, capacity: int, names_others: bool, seen_now: int | None) -> Iterator[Part]:
    """What PyTorch does not hold: the CUDA context of this process and other processes, as far as told."""
    if context:
        left = rest - context
        is_rounding = left <= _SMALL_SHARE * capacity
        yield Part(Holder.CONTEXT, rest if is_rounding else context)
        if not is_rounding:
            yield Part(Holder.OTHERS if names_others else Holder.UNTOLD, left)
    elif seen_now and seen_now <= rest:
        yield Part(Holder.OTHERS, seen_now)
        yield Part(Holder.CONTEXT, rest - seen_now)
    else:
        yield Part(Holder.UNTOLD, rest)


def _seen_now(scope: Scope) -> int | None:
    """What other processes hold on that GPU by the facts, in bytes; None if the facts do not say."""
    processes: Any = scope.gpu.get("processes")
    if not isinstance(processes, (list, tuple)):
        return None
    held = [one.get("memory_bytes") for one in processes if not one.get("is_self")]
    return sum(held) if held and all(isinstance(each, int) for each in held) else None
