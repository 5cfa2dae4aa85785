"""Facts: what is known of a machine, and who says so.

The one model that probes, snapshots and readers of text share.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

__all__ = ["Fact", "FactValue", "Facts"]

FactValue = bool | int | float | str | Sequence["FactValue"] | Mapping[str, "FactValue"] | None
"""What JSON can hold. None means "looked, and there is none"."""


class Fact(NamedTuple):
    """One value, and where it comes from: "nvml", "snapshot", "pasted", "text line 3", "you"."""

    value: FactValue
    source: str


class Facts(Mapping[str, Fact]):
    """An immutable mapping of fact names to facts, iterated by name. A name that is absent is not known."""

    __slots__ = ("_facts",)

    def __init__(self, facts: Mapping[str, Fact] | None = None) -> None:
        self._facts: dict[str, Fact] = dict(sorted((facts or {}).items()))

    @classmethod
    def of(cls, values: Mapping[str, FactValue], source: str) -> Facts:
        """Facts of these values, all from one source."""
        return cls({name: Fact(value, source) for name, value in values.items()})

    def merged(self, other: Facts) -> Facts:
        """Both sets of facts; where both know a name, `other` wins."""
        return Facts({**self._facts, **other._facts})

    def values_by_name(self) -> dict[str, FactValue]:
        """The bare values, by name: what a snapshot holds."""
        return {name: fact.value for name, fact in self._facts.items()}

    def __getitem__(self, name: str) -> Fact:
        return self._facts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._facts)

    def __len__(self) -> int:
        return len(self._facts)

    def __repr__(self) -> str:
        return f"Facts({self._facts!r})"
