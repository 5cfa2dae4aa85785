"""Takes off what loggers, launchers, containers and terminals put around a line, and keeps what it said.

`rows` is the table of prefixes, `prefixes` takes them off, `pastes` finds those of a whole text.
`escapes`, `bars` and `records` know what one line can hold of several, `blocks` what stands around several.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from gpuhelp.reading.evidence import BREAK, PLAIN, Line
from gpuhelp.reading.pieces import Piece
from gpuhelp.reading.wrappers.blocks import without_blocks
from gpuhelp.reading.wrappers.hardwraps import join_hard_wraps
from gpuhelp.reading.wrappers.pastes import SAMPLE_LINES, find_forms
from gpuhelp.reading.wrappers.prefixes import BEGINNINGS, nothing_told, take_off, told_by, wrapping_of
from gpuhelp.reading.wrappers.unfolding import TABLE_ONLY, Signs, Steps, strip, unfold


def unwrap(pieces: Iterable[Piece]) -> tuple[Line, ...]:
    """The lines without wrappers. Where one line holds several, each is a Line of its number.

    Between pieces that do not touch stands a Line of its own, BREAK, so that nothing is read across it.
    """
    pieces = tuple(pieces)
    parts = [(piece.first_line, _physical(piece.text), Signs.of(piece.text)) for piece in pieces]
    steps = find_forms(_sample(parts), _without_prefixes)
    lines: list[Line] = []
    ended = 0
    for first, physical, signs in parts:
        if ended and first > ended:
            lines.append(BREAK)
        if steps == TABLE_ONLY and not any(signs):
            _add_simple(lines, first, physical)
        else:
            for number, raw in enumerate(physical, first):
                lines += unfold(number, raw, signs, steps)
        ended = first + len(physical)
    if any(signs.records for _, _, signs in parts) or len(lines) > sum(len(part[1]) for part in parts):
        lines = _without_inner_forms(lines)
    return tuple(join_hard_wraps(without_blocks(lines, tuple(piece.text for piece in pieces))))


def _physical(text: str) -> list[str]:
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return lines


def _sample(parts: Iterable[tuple[int, list[str], Signs]]) -> Iterator[str]:
    left = SAMPLE_LINES
    for _, physical, signs in parts:
        for raw in physical[:left]:
            yield signs.cleaned(raw)
        left -= len(physical)
        if left <= 0:
            break


def _without_inner_forms(lines: list[Line]) -> list[Line]:
    """The lines without a prefix of the whole text that stood inside of records: srun's label in docker's."""
    texts = (line.text for line in islice((line for line in lines if line is not BREAK), SAMPLE_LINES))
    steps = find_forms(texts, _without_prefixes)
    return lines if steps == TABLE_ONLY else [_stripped_again(line, steps) for line in lines]


def _stripped_again(line: Line, steps: Steps) -> Line:
    told = told_by(line.wrapping)
    text = strip(line.text, told, steps)
    return line if text == line.text else line._replace(text=text, wrapping=wrapping_of(told))


def _without_prefixes(text: str) -> str:
    return take_off(text, nothing_told())


def _add_simple(lines: list[Line], first: int, physical: list[str]) -> None:
    """The lines of a text that holds nothing but prefixes, and mostly not even those."""
    beginnings = BEGINNINGS
    for number, raw in enumerate(physical, first):
        if beginnings[raw[:2]] is None:
            lines.append(Line(number, raw, raw, PLAIN))
        else:
            told = nothing_told()
            text = take_off(raw, told)
            lines.append(Line(number, text, raw, wrapping_of(told)))
