"""What can end a command early. Inner code raises these; only cli and repl catch them."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import NamedTuple

from gpuhelp.words import Words


class ExitCode(IntEnum):
    """Exit statuses that other programs rely on."""

    NO_FAILURE = 0
    FAILURE_FOUND = 1
    BAD_INPUT = 2
    DEFECT = 3
    INTERRUPTED = 130


class Saying(NamedTuple):
    """A sentence of gpuhelp.words that is told later, in the language of whoever reads it."""

    key: str
    values: Mapping[str, object]

    def told(self, words: Words) -> str:
        """The sentence in the language of `words`."""
        return words(self.key, **self.values)


class GpuhelpError(Exception):
    """Shown to the person as one line each: what is wrong, and what to do."""

    def __init__(self, *sayings: str | Saying) -> None:
        super().__init__(*sayings)
        self.sayings = sayings

    def told(self, words: Words) -> tuple[str, ...]:
        """The lines in the language of `words`."""
        return tuple(one.told(words) if isinstance(one, Saying) else one for one in self.sayings)

    def __str__(self) -> str:
        return "; ".join(self.told(Words("en")))


class InputError(GpuhelpError):
    """A file, option or text that cannot be used."""
