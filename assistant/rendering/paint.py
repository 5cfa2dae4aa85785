"""Lines become characters: plain, or in colour with rich, which is loaded only then."""

from __future__ import annotations

from collections.abc import Iterable

from gpuhelp.rendering.layout import Line

STYLES = {
    "title": "bold",
    "heading": "bold cyan",
    "mark": "bold red",
    "good": "green",
    "likely": "yellow",
    "bad": "red",
    "dim": "dim",
    "quote": "",
    "name": "cyan",
    "command": "bold green",
    "here": "bold reverse",
}
"""Style names of layout, as rich spells them. Meaning never rests on colour alone: every mark has a word."""


def paint(lines: Iterable[Line], *, color: bool) -> str:
    """The text of the lines, each ended by a newline."""
    return _colored(lines) if color else _plain(lines)


def _plain(lines: Iterable[Line]) -> str:
    return "".join("".join(span.text for span in line).rstrip() + "\n" for line in lines)


def _colored(lines: Iterable[Line]) -> str:
    from io import StringIO

    from rich.console import Console
    from rich.text import Text

    buffer = StringIO()
    console = Console(
        file=buffer,
        force_terminal=True,
        force_jupyter=False,
        color_system="standard",
        no_color=False,  # who asks is decided by then: rich would look at NO_COLOR again
        width=10_000,
        legacy_windows=False,
        highlight=False,
    )
    for line in lines:
        text = Text(no_wrap=True, end="\n")
        for span in line:
            text.append(span.text, STYLES.get(span.style, ""))
        text.rstrip()
        console.print(text, soft_wrap=True)
    return buffer.getvalue()
