"""Text without white space and in lower case, in which many literals are looked for. Pure."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import cached_property
from itertools import chain

_SHORT, _LONG = 20_000, 1_000_000
"""Characters from which on it pays to note which words a text has at all, and where they grow too many."""
_WORD_BYTES = 4


class Squashed:
    """A squashed text. It remembers what it was asked for, since patterns share their literals."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._held: dict[str, bool] = {}

    def holds(self, literal: str) -> bool:
        """True if this squashed literal stands here."""
        if len(self.text) <= _SHORT:  # quicker than to remember, and there may be ten thousand short texts
            return literal in self.text
        known = self._held.get(literal)
        if known is None:
            known = self._held[literal] = self._look_for(literal)
        return known

    def may_match(self, anchors: Iterable[str]) -> bool:
        """False if none of these literals stands here; a pattern need not be compiled then."""
        wanted = tuple(anchors)
        return not wanted or any(map(self.holds, wanted))

    def _look_for(self, literal: str) -> bool:
        if len(self.text) < _LONG:
            data = literal.encode("utf-8", "surrogatepass")
            ends = (data[:_WORD_BYTES], data[-_WORD_BYTES:]) if len(data) >= _WORD_BYTES else ()
            if any(int.from_bytes(end, sys.byteorder) not in self._words for end in ends):
                return False
        return literal in self.text

    @cached_property
    def _words(self) -> frozenset[int]:
        """Every four bytes that follow each other, as numbers."""
        data = memoryview(self.text.encode("utf-8", "surrogatepass"))
        shifted = (data[shift:] for shift in range(_WORD_BYTES))
        return frozenset(chain.from_iterable(part[: len(part) & -_WORD_BYTES].cast("I") for part in shifted))
