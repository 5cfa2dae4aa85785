"""The lines of a document as episodes look for them: which lines hold a word, and who speaks on."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import accumulate

from gpuhelp.reading.chains import Speaker, speaker
from gpuhelp.reading.evidence import Line, PythonError

LONGEST_LINE = 2_000
"""Characters of a line that are looked at: what a line is shows in its beginning."""
_MOST_FOREIGN = 300
"""Lines of others between two lines of one speaker; ranks that write in turn are nearer to each other."""


_NAMELESS = ("", "", "")


class Script:
    """The lines, and the Python errors found in them."""

    def __init__(self, lines: tuple[Line, ...], errors: tuple[PythonError, ...]) -> None:
        self.lines = lines
        self.errors = errors

    @cached_property
    def _text(self) -> str:
        return "\n".join([line.text for line in self.lines])

    @cached_property
    def _starts(self) -> list[int]:
        return list(accumulate((len(line.text) + 1 for line in self.lines), initial=0))

    def holds(self, words: Iterable[str]) -> bool:
        """True if one of the words stands anywhere."""
        return any(word in self._text for word in words)

    def lines_with(self, words: Iterable[str]) -> list[int]:
        """The indexes of the lines that hold one of the words, in order."""
        return sorted({index for word in words for index in self._lines_with(word)})

    def _lines_with(self, word: str) -> Iterator[int]:
        place = self._text.find(word)
        while place >= 0:
            index = bisect_right(self._starts, place) - 1
            yield index
            place = self._text.find(word, self._starts[index + 1])

    def head(self, index: int) -> str:
        """The beginning of a line."""
        return self.lines[index].text[:LONGEST_LINE]

    def speaker(self, index: int) -> Speaker:
        """Who says a line."""
        return speaker(self.lines[index])

    @cached_property
    def _spoken(self) -> dict[Speaker, list[int]]:
        """The lines of each process."""
        spoken: dict[Speaker, list[int]] = {}
        for index, line in enumerate(self.lines):
            if line.number:
                spoken.setdefault(speaker(line), []).append(index)
        return spoken

    @cached_property
    def _breaks(self) -> list[int]:
        return [-1, *(index for index, line in enumerate(self.lines) if not line.number), len(self.lines)]

    def errors_after(self, index: int) -> Iterator[PythonError]:
        """The Python errors that begin after a line, in order."""
        for place in range(bisect_right(self._errors_first, index), len(self.errors)):
            yield self.errors[place]

    @cached_property
    def _errors_first(self) -> list[int]:
        return [error.first for error in self.errors]

    def after(self, index: int) -> Iterator[int]:
        """The lines in which the same process speaks on, until text was left out or others speak for long.

        Lines without a name that follow its own are its own: a wrapper may stand before the first one only.
        """
        who = self.speaker(index)
        spoken = self._spoken[who]
        end = self._breaks[bisect_right(self._breaks, index)]
        last = index
        while last + 1 < end:
            if who != _NAMELESS and self.speaker(last + 1) == _NAMELESS:
                last += 1
            else:
                place = bisect_right(spoken, last)
                if place == len(spoken) or spoken[place] > end or spoken[place] - last > _MOST_FOREIGN:
                    return
                last = spoken[place]
            yield last

    def before(self, index: int) -> Iterator[int]:
        """The lines in which the same process spoke before, nearest first."""
        spoken = self._spoken[self.speaker(index)]
        start = self._breaks[bisect_right(self._breaks, index) - 1]
        last = index
        for place in range(bisect_right(spoken, index) - 2, -1, -1):
            earlier = spoken[place]
            if earlier < start or last - earlier > _MOST_FOREIGN:
                return
            yield earlier
            last = earlier


def says(expression: str, text: str) -> bool:
    """True if the expression is found in the text."""
    return re.search(expression, text) is not None
