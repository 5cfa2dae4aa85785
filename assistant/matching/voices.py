"""The order in which lines belong together where several processes write into one text at once. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from gpuhelp.reading.evidence import BREAK, Line

Voice = tuple[str, str, str]


def order_of_voices(lines: Sequence[Line]) -> tuple[int, ...]:
    """The numbers of the lines, each process's lines together; empty where they stand so already.

    A line that names no process goes with the one before it. Nothing moves across lines that were left out.
    """
    if len({_voice(line) for line in lines}) < 2:
        return ()
    order: list[int] = []
    groups: dict[Voice, list[int]] = {}
    current: Voice = ("", "", "")
    for index, line in enumerate(lines):
        if line is BREAK:
            order += [*_flat(groups), index]
            groups = {}
            continue
        current = _voice(line) if any(_voice(line)) else current
        groups.setdefault(current, []).append(index)
    order += _flat(groups)
    return tuple(order) if order != list(range(len(lines))) else ()


def _voice(line: Line) -> Voice:
    return line.wrapping.rank, line.wrapping.host, line.wrapping.pid


def _flat(groups: dict[Voice, list[int]]) -> list[int]:
    return [index for group in groups.values() for index in group]
