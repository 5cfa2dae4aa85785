"""The order in which lines belong together where several processes write into one text at once. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from gpuhelp.reading.chains import Speaker, speaker
from gpuhelp.reading.evidence import BREAK, Line


def order_of_voices(lines: Sequence[Line]) -> tuple[int, ...]:
    """The numbers of the lines, each process's lines together; empty where they stand so already.

    A line that names no process goes with the one before it. Nothing moves across lines that were left out.
    """
    if len({speaker(line) for line in lines}) < 2:
        return ()
    order: list[int] = []
    groups: dict[Speaker, list[int]] = {}
    current: Speaker = ("", "", "")
    for index, line in enumerate(lines):
        if line is BREAK:
            order += [*_flat(groups), index]
            groups = {}
            continue
        current = speaker(line) if any(speaker(line)) else current
        groups.setdefault(current, []).append(index)
    order += _flat(groups)
    return tuple(order) if order != list(range(len(lines))) else ()


def _flat(groups: dict[Speaker, list[int]]) -> list[int]:
    return [index for group in groups.values() for index in group]
