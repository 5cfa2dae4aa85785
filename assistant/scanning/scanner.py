"""Where the patterns of the knowledge base stand in a block of bytes. Pure; may be used by several threads.

First all literals are looked for at once, then, where one stands, the patterns it belongs to.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
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
"""Of one pattern in one block."""


class Hit(NamedTuple):
    """One match: which pattern, and the bytes of the stream it takes.

    `is_part` tells that it is a part of something whose beginning is found as well: a frame of a traceback.
    """

    pattern: int
    start: int
    end: int
    is_part: bool = False


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
        expression, _, is_part = self._rows[pattern]
        for low, high in around(ends, self._reach(pattern), len(view)):
            for found in regex(expression).finditer(view[low:high]):
                start, end = found.span()
                if end > start:
                    yield Hit(pattern, base + low + start, base + low + end, is_part)

    def _reach(self, pattern: int) -> int:
        """How far a match may reach from a literal in it: far if it may take a line break."""
        return _FAR_REACH_BYTES if _takes_line_breaks(self._rows[pattern][0]) else _REACH_BYTES


@lru_cache(maxsize=4096)
def _takes_line_breaks(expression: str) -> bool:
    return r"\n" in expression.replace(r"[^\n]", "")


def literals_of(plan: Record) -> list[str]:
    """Every literal of a plan, once, in a fixed order."""
    return sorted({literal for _, own, _ in plan["patterns"] for literal in own})
