"""Where the patterns of the knowledge base stand in a block of bytes. Pure; may be used by several threads.

First all literals are looked for at once, then, where one stands, the patterns it belongs to.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from gpuhelp.kb.entry import Record
from gpuhelp.kb.regexes import regex
from gpuhelp.scanning.crowd import Crowd, around
from gpuhelp.scanning.engine import Gate, gate_for

OVERLAP_BYTES = 4 << 10
"""Of two blocks; no match of a pattern is longer."""
_REACH_BYTES, _FAR_REACH_BYTES = 512, OVERLAP_BYTES // 2
_MOST_HITS = 2000


class Hit(NamedTuple):
    """One match: which pattern, and the bytes of the stream it takes.

    `wanted` is how many hits of the pattern matter, where it only matters beside others; else 0.
    """

    pattern: int
    start: int
    end: int
    wanted: int = 0


def most_wanted(hit: Hit) -> int:
    """How many hits of its pattern are wanted of one stream: as many as a large job has ranks."""
    return hit.wanted or _MOST_HITS


class Muted:
    """Patterns that were hit so often in one stream that no more of their hits are wanted."""

    def __init__(self) -> None:
        self._seen: Counter[int] = Counter()
        self._muted: set[int] = set()

    def __contains__(self, pattern: object) -> bool:
        return pattern in self._muted

    def note(self, hits: Iterable[Hit]) -> None:
        """More hits were found."""
        for hit in hits:
            self._seen[hit.pattern] += 1
            if self._seen[hit.pattern] > most_wanted(hit):
                self._muted.add(hit.pattern)


class Scanner:
    """The scan plan of a knowledge base, ready to use."""

    def __init__(self, plan: Record, gate: Gate | None = None, cache_dir: Path | None = None) -> None:
        self._rows = plan["patterns"]
        self._crowd = Crowd([expression for expression, _, _ in self._rows], cache_dir)
        literals = literals_of(plan)
        self._gate = gate or gate_for(literals, cache_dir)
        self._patterns: list[list[int]] = [[] for _ in literals]
        numbers = {literal: number for number, literal in enumerate(literals)}
        for pattern, (_, own, _) in enumerate(self._rows):
            for literal in own:
                self._patterns[numbers[literal]].append(pattern)

    def hits(
        self, block: bytes, before: bytes = b"", offset: int = 0, muted: Container[int] = ()
    ) -> list[Hit]:
        """Every match that ends in the block, in the order of places, of patterns that are not `muted`.

        `before` is the end of the block before, `offset` the place of the block in its stream.
        """
        found = self._found(block, offset, muted)
        if before:
            seam = self._found(before + block[:OVERLAP_BYTES], offset - len(before), muted)
            found += [hit for hit in seam if hit.start < offset < hit.end]
        return sorted(found, key=lambda hit: (hit.start, hit.end, hit.pattern))

    def _found(self, data: bytes, base: int, muted: Container[int]) -> list[Hit]:
        ends: dict[int, list[int]] = {}
        for literal, end in self._gate.places(data):
            for pattern in self._patterns[literal]:
                if pattern not in muted:
                    ends.setdefault(pattern, []).append(end)
        hits: list[Hit] = []
        view = memoryview(data)
        for pattern in self._crowd.thinned(ends, view, self._reach) if ends else ():
            found = list(islice(self._confirmed(pattern, sorted(ends[pattern]), view, base), _MOST_HITS))
            if not found:
                self._crowd.note(pattern, len(ends[pattern]))
            hits += found
        return hits

    def _confirmed(self, pattern: int, ends: list[int], view: memoryview, base: int) -> Iterator[Hit]:
        expression, _, wanted = self._rows[pattern]
        for low, high in around(ends, self._reach(pattern), len(view)):
            for found in regex(expression).finditer(view[low:high]):
                start, end = found.span()
                if end > start:
                    yield Hit(pattern, base + low + start, base + low + end, wanted)

    def _reach(self, pattern: int) -> int:
        """How far a match may reach from a literal in it: far if it may take a line break."""
        return _FAR_REACH_BYTES if _takes_line_breaks(self._rows[pattern][0]) else _REACH_BYTES


@lru_cache(maxsize=4096)
def _takes_line_breaks(expression: str) -> bool:
    return r"\n" in expression.replace(r"[^\n]", "")


def literals_of(plan: Record) -> list[str]:
    """Every literal of a plan, once, in a fixed order."""
    return sorted({literal for _, own, _ in plan["patterns"] for literal in own})
