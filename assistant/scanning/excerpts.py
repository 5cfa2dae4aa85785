"""From the hits of one stream, what is kept: the lines hit, and those around the first of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

from gpuhelp.scanning.blocks import Block
from gpuhelp.scanning.scanner import Hit, most_wanted


class Context(NamedTuple):
    """How much is kept around a hit: lines before and after, and bytes at most on either side."""

    before: int
    after: int
    most_bytes: int


_WIDE = Context(10, 20, 2 << 10)
_NARROW = Context(8, 8, 2 << 10)
_LINE = Context(0, 0, 1 << 10)
_FRAME, _FEW = Context(0, 2, 1 << 10), 100
"""A frame of a traceback stands with the code below it; what is wanted a few times says all in one line."""
_WIDE_HITS, _NARROW_HITS = 4, 50
"""Of one pattern in one stream: the first few with all that stands around them, then less, then none."""
_TIGHT_BYTES, _TIGHTER_BYTES, _FULL_BYTES = 512 << 10, 2 << 20, 8 << 20
"""From so much kept text on, of all streams together, less is kept around a hit; at last nothing."""
_HEAD = Context(0, 30, 4 << 10)
_TAIL = Context(60, 0, 8 << 10)


@dataclass(slots=True)
class Budget:
    """The bytes kept of all streams of one incident."""

    kept_bytes: int = 0

    def around(self, hit: Hit, seen: int) -> Context | None:
        """What to keep around this hit, the `seen`-th of its pattern in the stream; None for nothing."""
        if self.kept_bytes > _FULL_BYTES or seen > most_wanted(hit):
            return None
        if seen > _NARROW_HITS or self.kept_bytes > _TIGHTER_BYTES:
            return _LINE
        if hit.wanted:
            return _FRAME if hit.wanted > _FEW else _LINE
        return _NARROW if seen > _WIDE_HITS or self.kept_bytes > _TIGHT_BYTES else _WIDE

    def at_the_end(self) -> Context:
        """What to keep of the last lines, whatever stands there."""
        return _TAIL if self.kept_bytes <= _TIGHT_BYTES else _NARROW


@dataclass(slots=True)
class Kept:
    """One piece: where it stands in the stream, the number of its first line, and its bytes."""

    start: int
    first_line: int
    data: bytearray

    @property
    def end(self) -> int:
        """Where the piece ends in the stream."""
        return self.start + len(self.data)


@dataclass(slots=True)
class Excerpts:
    """Takes the blocks of one stream in order. A block's hits are worked off when the next one is there.

    Three blocks are held: the one worked off, and its neighbours.
    """

    budget: Budget
    pieces: list[Kept] = field(default_factory=list)
    size_bytes: int = 0
    line_breaks: int = 0
    ends_in_line: bool = False
    _seen: Counter[int] = field(default_factory=Counter)
    _blocks: list[Block] = field(default_factory=list)
    _breaks_before: dict[int, int] = field(default_factory=dict)
    _mark: tuple[int, int, int] = (0, 0, 0)

    def take(self, block: Block) -> None:
        """The next block of the stream."""
        self._blocks = [*self._blocks[-2:], block]
        known = {**self._breaks_before, block.offset: self.line_breaks}
        self._breaks_before = {kept.offset: known[kept.offset] for kept in self._blocks}
        self.size_bytes = block.end
        self.line_breaks += block.line_breaks
        self.ends_in_line = block.ends_in_line
        if len(self._blocks) == 1:
            self._keep(0, 0, _HEAD)
        if len(self._blocks) > 1:
            self._work_off(self._blocks[-2])

    def finish(self) -> None:
        """No more blocks come."""
        if self._blocks:
            self._work_off(self._blocks[-1])
            self._keep(self.size_bytes, self.size_bytes, self.budget.at_the_end())
            self._blocks = []

    @property
    def line_count(self) -> int:
        """The lines of the stream, as far as it was taken."""
        return self.line_breaks + self.ends_in_line

    def _work_off(self, block: Block) -> None:
        for hit in block.hits:
            self._seen[hit.pattern] += 1
            context = self.budget.around(hit, self._seen[hit.pattern])
            if context is not None:
                self._keep(hit.start, hit.end, context)

    def _keep(self, start: int, end: int, context: Context) -> None:
        """Keep the lines of a stretch of the stream, with those around it, joined to what it touches."""
        start, end = self._lines_around(start, end, context)
        while self.pieces and start <= self.pieces[-1].start:
            end = max(end, self.pieces[-1].end)
            self.budget.kept_bytes -= len(self.pieces.pop().data)
        if self.pieces and start <= self.pieces[-1].end:
            fresh = self._slice(self.pieces[-1].end, end)
            self.pieces[-1].data += fresh
        else:
            fresh = self._slice(start, end)
            self.pieces.append(Kept(start, self._line_at(start), bytearray(fresh)))
        self.budget.kept_bytes += len(fresh)

    def _lines_around(self, start: int, end: int, context: Context) -> tuple[int, int]:
        before = self._slice(start - context.most_bytes, start)
        after = self._slice(end, end + context.most_bytes)
        return start - len(before) + _back(before, context.before), end + _on(after, context.after)

    def _slice(self, start: int, end: int) -> bytes:
        """The bytes of a stretch, as far as the blocks at hand hold them."""
        return b"".join(block.part(start, end) for block in self._blocks)

    def _line_at(self, position: int) -> int:
        """The number of the line at this place; within a block counted on from the last place asked for."""
        block = next(block for block in reversed(self._blocks) if block.offset <= position)
        offset, at, breaks = self._mark
        if offset != block.offset or at > position:
            at, breaks = block.offset, self._breaks_before[block.offset]
        breaks += block.breaks(at, position)
        self._mark = block.offset, position, breaks
        return 1 + breaks


def _back(text: bytes, lines: int) -> int:
    """Where the line begins that stands so many lines before the end of the text."""
    at = len(text)
    for _ in range(lines + 1):
        found = text.rfind(b"\n", 0, at)
        if found < 0:
            return 0
        at = found
    return at + 1


def _on(text: bytes, lines: int) -> int:
    """Where the line ends, break included, that stands so many lines after the start of the text."""
    at = 0
    for _ in range(lines + 1):
        found = text.find(b"\n", at)
        if found < 0:
            return len(text)
        at = found + 1
    return at
