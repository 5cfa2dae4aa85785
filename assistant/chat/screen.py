"""Rows become the characters of one terminal: laid out at its width, painted, without secrets."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from io import StringIO

from gpuhelp.rendering.layout import Row, Span, clip, row
from gpuhelp.rendering.output import write_rows
from gpuhelp.rendering.privacy import Privacy
from gpuhelp.terminal import Terminal
from gpuhelp.words import Words

_NARROWEST, _WIDEST = 40, 120
_SHOWN_LINES = 6


@dataclass(frozen=True, slots=True)
class Screen:
    """How to show rows: on which terminal, in which colours, and what to keep to oneself."""

    terminal: Terminal
    color: str
    privacy: Privacy

    def text(self, rows: Iterable[Row], columns: int) -> str:
        """The rows as text for a terminal of that many columns."""
        buffer = StringIO()
        width = max(_NARROWEST, min(columns or 80, _WIDEST))
        write_rows(rows, self.color, replace(self.terminal, stdout=buffer, width=width), self.privacy)
        return buffer.getvalue()


def message_rows(message: str, words: Words, columns: int) -> tuple[Row, ...]:
    """What the person sent, as it stays on the screen: the head and the end of a long paste."""
    lines = message.split("\n")
    if len(lines) == 1 and len(message) < columns * _SHOWN_LINES:
        return (row(Span("> ", "name"), message, hang=2),)
    shown = [clip(line, max(_NARROWEST, columns) - 3) for line in lines]
    if len(shown) > _SHOWN_LINES:
        left_out = words("chat.more_lines", count=len(shown) - _SHOWN_LINES + 1)
        shown = [*shown[: _SHOWN_LINES - 2], left_out, shown[-1]]
    first, *others = (Span(line) for line in shown)
    return (row(Span("> ", "name"), first), *(row(line, indent=2) for line in others))
