"""Lines that a terminal broke at a fixed width are one line again (it breaks inside words)."""

from __future__ import annotations

from gpuhelp.reading.evidence import PLAIN, Line
from gpuhelp.reading.wrappers.escapes import rare

_NARROWEST = 60
_WIDEST = 400
_BEGINS_ANEW = r'\s*File "|Traceback \(most|[\w.]{1,80}(?:Error|Exception|Warning): |\s*\d{1,3}%\|'
_EDGES = ("|", "+", "│", "┃", "╮", "╯", "===", "---", "***", "###", "───")
_SAME_BEGINNING = 8
"""Characters; a line that begins as the full one before it is the next record, not its rest."""


def join_hard_wraps(lines: list[Line]) -> list[Line]:
    """The lines, those joined that a terminal broke: two full ones in a row show that one did."""
    widths = [len(line.raw) for line in lines]
    width = max(widths, default=0)
    if not _NARROWEST <= width <= _WIDEST or widths.count(width) < 2:
        return lines
    full = [place for place, length in enumerate(widths[:-1]) if length == width]
    rests = [place + 1 for place in full if _is_rest(lines[place], lines[place + 1])]
    if not any(widths[place] == width for place in rests):
        return lines
    joined: list[Line] = []
    done = 0
    for place in rests:
        joined += lines[done:place]
        joined[-1] = joined[-1]._replace(text=joined[-1].text + lines[place].text)
        done = place + 1
    return joined + lines[done:]


def _is_rest(full: Line, line: Line) -> bool:
    """True if the line can be what did not fit into the full line before it.

    Tables, rulers, progress bars and the records of a regular log are as wide as one another too.
    """
    return (
        bool(line.text)
        and line.number != full.number
        and line.wrapping == PLAIN
        and line.raw[:_SAME_BEGINNING] != full.raw[:_SAME_BEGINNING]
        and not full.raw.endswith(_EDGES)
        and not rare(_BEGINS_ANEW).match(line.text)
    )
