"""What can end a command early. Inner code raises these; only cli and repl catch them."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """Exit statuses that other programs rely on."""

    NO_FAILURE = 0
    FAILURE_FOUND = 1
    BAD_INPUT = 2
    DEFECT = 3
    INTERRUPTED = 130


class GpuhelpError(Exception):
    """Shown to the person as one line each; `lines` says what is wrong and what to do."""

    def __init__(self, *lines: str) -> None:
        super().__init__("; ".join(lines))
        self.lines = lines


class InputError(GpuhelpError):
    """A file, option or text that cannot be used."""
