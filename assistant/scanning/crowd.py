"""Patterns whose literals stand often in logs although they hardly match: "exit code 0".

Trying each of them wherever its literal stands would cost more than all the rest. Once that is seen they are
tried together, as whole expressions, in one pass of hyperscan over the places. Which patterns these are is
kept for the next time, since a person's logs are alike.
"""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from gpuhelp.kb.store import checksum, read_regular, write_cached
from gpuhelp.scanning.engine import Gate, crowd_gate_for

_FRUITLESS = 200
"""Places of a pattern's literal without a match until it joins; half of it, if another one joins."""
_MOST_JOININGS = 8
_BETWEEN = b"\n\0\n"
"""Stands between stretches that are looked through together; no pattern reaches across it."""
Ends = Mapping[int, list[int]]
"""By pattern: where its literals end in a block."""


class Crowd:
    """Learns while a log is scanned. May be used by several threads at once."""

    def __init__(self, expressions: Sequence[str], cache_dir: Path | None = None) -> None:
        self._expressions = expressions
        self._cache_dir = cache_dir
        self._fruitless: Counter[int] = Counter()
        self._lock = threading.Lock()
        self._joinings = 0
        self._gathered: tuple[frozenset[int], Gate] | None = None
        self._join(_remembered(self._path, len(expressions)))

    @property
    def members(self) -> frozenset[int]:
        """The patterns that are tried together."""
        return self._gathered[0] if self._gathered else frozenset()

    def thinned(self, ends: Ends, view: memoryview, reach: Callable[[int], int]) -> Iterable[int]:
        """The patterns without those of the crowd that do not match within reach of their literals."""
        if self._gathered is None:
            return ends
        members, gate = self._gathered
        places: dict[int, set[int]] = {}
        for pattern in members.intersection(ends):
            places.setdefault(reach(pattern), set()).update(ends[pattern])
        if not places:
            return ends
        around_them = _BETWEEN.join(
            view[low:high]
            for distance, found in places.items()
            for low, high in around(sorted(found), distance, len(view))
        )
        fired = {pattern for pattern, _ in gate.places(around_them)}
        return [pattern for pattern in ends if pattern in fired or pattern not in members]

    def note(self, pattern: int, fruitless: int) -> None:
        """Literals of the pattern stood in so many places without a match."""
        before = self._fruitless[pattern]
        self._fruitless[pattern] = before + fruitless
        if before < _FRUITLESS <= before + fruitless and self._joinings < _MOST_JOININGS:
            with self._lock:
                self._joinings += 1
                self._join({number for number, count in self._fruitless.items() if count >= _FRUITLESS // 2})

    def _join(self, patterns: set[int]) -> None:
        members = self.members | patterns
        if members == self.members:
            return
        expressions = {pattern: self._expressions[pattern] for pattern in sorted(members)}
        gate = crowd_gate_for(expressions, self._cache_dir)
        if gate is not None:
            self._gathered = members, gate
            if self._path is not None:
                write_cached(self._path, json.dumps(sorted(members)).encode())

    @property
    def _path(self) -> Path | None:
        if self._cache_dir is None:
            return None
        key = checksum("\n".join(self._expressions).encode())
        return self._cache_dir / f"crowd-{key}.json"


def _remembered(path: Path | None, count: int) -> set[int]:
    """The members that were kept; none where that file is missing or broken."""
    try:
        numbers = json.loads((path and read_regular(path)) or b"[]")
    except (ValueError, RecursionError):
        return set()
    known = isinstance(numbers, list) and all(
        type(number) is int and 0 <= number < count for number in numbers
    )
    return set(numbers) if known else set()


def around(ends: Sequence[int], reach: int, length: int) -> Iterator[tuple[int, int]]:
    """What lies around places, which are sorted: where it begins and ends; what touches is joined."""
    low, high = max(0, ends[0] - reach), ends[0] + reach
    for end in ends[1:]:
        if end - reach > high:
            yield low, high
            low = end - reach
        high = end + reach
    yield low, min(high, length)
