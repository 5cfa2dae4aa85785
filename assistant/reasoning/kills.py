"""Which kills a program brought on itself: its own error, printed in full, stands right before. Pure.

The kernel's killer leaves a process no time to print a traceback.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from gpuhelp.matching.symptoms import Match
from gpuhelp.reading.chains import bearing
from gpuhelp.reading.evidence import Document, PythonError

_MOST_BLANK_LINES = 8
_BY_SHELL = re.compile(r"(?!SIG|\d)\w")
"""How a shell names the signal: in words."""
_HOST_MEMORY = re.compile(r"MemoryError|\[Errno 12\]|[Cc]annot allocate memory|bad_alloc|not enough memory")


def is_bare_kill(match: Match) -> bool:
    """True if a shell or a service manager says that the program was killed, and not by whom."""
    if match.derived.get("guess") != "kill" or "at_worker" in match.derived or "rank" in match.captured:
        return False
    named = _BY_SHELL.match(match.captured.get("signal", "")) is not None
    return named or match.captured.get("exit_code") == "137"


def follows_an_error(match: Match, document: Document, off: Collection[int]) -> bool:
    """True if nothing but blank lines stands between a Python error that ended the program and the kill.

    `off` are the numbers of the errors that ended nothing.
    """
    before = match.first - 1
    least = max(0, match.first - _MOST_BLANK_LINES)
    while before > least and not document.lines[before].text.strip():
        before -= 1
    return any(
        before == error.said[0] and number not in off and _ends_a_program(error)
        for number, error in enumerate(document.errors)
    )


def _ends_a_program(error: PythonError) -> bool:
    return bool(
        error.type
        and error.frames
        and bearing(error) == 0
        and not _HOST_MEMORY.search(f"{error.type}: {error.message[:600]}")
    )
