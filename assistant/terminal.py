"""The outside as commands see it: streams, whether a person sits there, width, colour, language."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import BinaryIO, TextIO

_NARROWEST, _WIDEST = 40, 120


@dataclass(frozen=True, slots=True)
class Terminal:
    """Everything a command may read from or write to. Tests hand in their own."""

    stdin: BinaryIO
    stdout: TextIO
    stderr: TextIO
    environ: Mapping[str, str]
    stdin_is_terminal: bool
    stdout_is_terminal: bool
    width: int = 80

    @classmethod
    def here(cls) -> Terminal:
        """The real one. Output that the terminal's encoding lacks is replaced, never an error."""
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="replace")
        return cls(
            stdin=sys.stdin.buffer,
            stdout=sys.stdout,
            stderr=sys.stderr,
            environ=os.environ,
            stdin_is_terminal=sys.stdin.isatty(),
            stdout_is_terminal=sys.stdout.isatty(),
            width=_width(os.environ),
        )

    def wants_color(self, choice: str) -> bool:
        """Whether to paint: always, never, or as the terminal and NO_COLOR say."""
        if choice != "auto":
            return choice == "always"
        plain = self.environ.get("NO_COLOR") or self.environ.get("TERM") == "dumb"
        return self.stdout_is_terminal and not plain


def _width(environ: Mapping[str, str]) -> int:
    """Columns to write in: the terminal's, 80 where there is none."""
    try:
        columns = os.get_terminal_size(sys.stdout.fileno()).columns
    except (OSError, ValueError, AttributeError):
        given = environ.get("COLUMNS", "")
        columns = int(given) if given.isdecimal() else 80
    return max(_NARROWEST, min(columns or 80, _WIDEST))


def language_of(environ: Mapping[str, str]) -> str:
    """ko where the locale is Korean, else en."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        value = environ.get(name, "")
        if value:
            return "ko" if value.lower().startswith(("ko", "korean")) else "en"
    return _windows_language() if os.name == "nt" else "en"


def _windows_language() -> str:
    import locale

    return "ko" if (locale.getlocale()[0] or "").lower().startswith(("ko", "korean")) else "en"
