"""The outside as commands see it: streams, whether a person sits there, width, colour, language."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO, StringIO, TextIOWrapper
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
        """The real one; a stream that was closed is empty, or leads nowhere.

        Output that the terminal's encoding lacks is replaced, never an error.
        """
        stdout, stderr = (stream or StringIO() for stream in (sys.stdout, sys.stderr))
        for stream in (stdout, stderr):
            if isinstance(stream, TextIOWrapper):
                stream.reconfigure(errors="replace")
        return cls(
            stdin=sys.stdin.buffer if sys.stdin else BytesIO(),
            stdout=stdout,
            stderr=stderr,
            environ=os.environ,
            stdin_is_terminal=bool(sys.stdin) and sys.stdin.isatty(),
            stdout_is_terminal=stdout.isatty(),
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
        columns = int(given) if given.isdecimal() and len(given) < 6 else 80
    return max(_NARROWEST, min(columns or 80, _WIDEST))


def language_of(environ: Mapping[str, str]) -> str:
    """ko where the locale is Korean, else en."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        value = environ.get(name, "")
        if value:
            return _known_language(value)
    return _windows_language() if os.name == "nt" else "en"


def _windows_language() -> str:
    import locale

    return _known_language(locale.getlocale()[0] or "")


def _known_language(name: str) -> str:
    """Of `ko_KR.UTF-8` or `Korean_Korea.949`; kok is another language."""
    return "ko" if name.lower().partition("_")[0].partition(".")[0] in ("ko", "korean") else "en"
