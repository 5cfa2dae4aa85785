"""One physical line becomes its lines: what was drawn over one another, what JSON, loggers and repr joined.

From the outside to the inside: terminal sequences and entities, prefixes, records, tails, joined lines.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from gpuhelp.reading.evidence import Line
from gpuhelp.reading.wrappers.bars import split_bars
from gpuhelp.reading.wrappers.escapes import (
    bytes_lines,
    holds_controls,
    holds_sequences,
    layers,
    raised_lines,
    rare,
    spelled_lines,
    syslog_lines,
    without_controls,
    without_entities,
    without_sequences,
)
from gpuhelp.reading.wrappers.prefixes import Prefix, Told, nothing_told, take_off, wrapping_of
from gpuhelp.reading.wrappers.records import record_lines

_MOST_DEPTH = 4
_TAIL = (
    r" ?\[repeated \d{1,9}x across cluster\](?: \(Ray deduplicates logs[^\n]{0,400})?$"
    r"|</std(?:out|err|diag)>$"
)
_ENTITIES = ("&lt;", "&gt;", "&quot;", "&amp;", "&#", "&nbsp;", "&apos;")
Steps = tuple[Prefix | None, ...]
"""What comes off a line, in this order: prefixes of the whole paste; None for all that the table knows."""
TABLE_ONLY: Steps = (None,)


class Signs(NamedTuple):
    """What a text holds somewhere: for what it does not hold, no line of it is searched."""

    redrawn: bool
    controls: bool
    sequences: bool
    entities: bool
    bars: bool
    records: bool
    tails: bool
    joined: bool

    @classmethod
    def of(cls, text: str) -> Signs:
        """The signs of a whole text; single characters first, since they are found fastest."""
        quoted = "'" in text or '"' in text
        return cls(
            redrawn="\r" in text or "\x1b" in text or "\x08" in text,
            controls=holds_controls(text),
            sequences=holds_sequences(text),
            entities="&" in text and any(sign in text for sign in _ENTITIES),
            bars="%|" in text or "it [" in text,
            records=quoted and "{" in text and '{"' in text,
            tails="x across cluster]" in text or "</std" in text,
            joined=("\\" in text and "\\n" in text)
            or ("#" in text and "#012" in text)
            or (quoted and any(sign in text for sign in ("b'", 'b"', "('", '("'))),
        )

    def cleaned(self, text: str) -> str:
        """The text without what is no text."""
        if self.sequences:
            text = without_sequences(text)
        if self.controls:
            text = without_controls(text)
        return without_entities(text) if self.entities else text


def strip(text: str, told: Told, steps: Steps) -> str:
    """The text without its prefixes."""
    for step in steps:
        text = take_off(text, told) if step is None else text[step.take_off(text, 0, told) :]
    return text


def unfold(number: int, raw: str, signs: Signs, steps: Steps) -> list[Line]:
    """The lines of one physical line. `raw` of each is a part of it."""
    lines: list[Line] = []
    for layer in layers(raw) if signs.redrawn else (raw,):
        told = nothing_told()
        text = strip(signs.cleaned(layer), told, steps)
        parts = _parts(text, told, signs, steps, 0)
        if parts is None:
            lines.append(Line(number, text, layer, wrapping_of(told)))
        else:
            pieces = _pieces(layer, [text for text, _ in parts])
            lines += [
                Line(number, text, piece, wrapping_of(told))
                for (text, told), piece in zip(parts, pieces, strict=True)
            ]
    return lines


def _parts(text: str, told: Told, signs: Signs, steps: Steps, depth: int) -> list[tuple[str, Told]] | None:
    """The lines that a text without a line break holds, with what is told of each; None if it is one."""
    lines, inner = None, TABLE_ONLY
    if signs.records and text[:2] == '{"':
        lines = record_lines(text, told)
    if lines is None and signs.tails and (tail := rare(_TAIL).search(text)):
        lines = [text[: tail.start()]]
    if lines is None and signs.bars:
        lines, inner = split_bars(text), steps
    if lines is None and signs.joined:
        lines = _spelled(text)
    if lines is None or depth >= _MOST_DEPTH:
        return None
    return [part for line in lines for part in _parts_again(line, list(told), inner, depth + 1)]


def _parts_again(line: str, told: Told, steps: Steps, depth: int) -> list[tuple[str, Told]]:
    """What stood inside of a wrapper may be wrapped itself."""
    signs = Signs.of(line)
    text = strip(signs.cleaned(line), told, steps)
    parts = _parts(text, told, signs, steps, depth) if any(signs) else None
    return [(text, told)] if parts is None else parts


def _spelled(text: str) -> list[str] | None:
    looks: tuple[tuple[bool, Callable[[str], list[str] | None]], ...] = (
        ("#012" in text, syslog_lines),
        (text[:2] in ("b'", 'b"'), bytes_lines),
        ("('" in text or '("' in text, raised_lines),
        ("\\n" in text, spelled_lines),
    )
    for looks_so, lines_of in looks:
        if looks_so and (lines := lines_of(text)) is not None:
            return lines
    return None


def _pieces(raw: str, texts: list[str]) -> list[str]:
    """Where each line stands in the physical one; all of it for each, where that cannot be told."""
    if len(texts) == 1:
        return [raw]
    starts: list[int] = []
    place = 0
    for text in texts:
        word = text.split(None, 1)[0][:24] if text.strip() else ""
        start = raw.find(word, place)
        if start < 0:
            return [raw] * len(texts)
        starts.append(start)
        place = start + len(word)
    return [raw[start:end] for start, end in zip([0, *starts[1:]], [*starts[1:], len(raw)], strict=True)]
