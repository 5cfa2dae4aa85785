"""How an entry shows, as people read it: wordings, examples, and the patterns as they are written. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from gpuhelp.kb.entry import Entry, Pattern, Signature
from gpuhelp.kb.regexes import squash

_MOST_LINES = 14
_MOST_SHOWN = 3
_READABLE = ("text", "fuzzy")
_PRINTED = re.compile(
    r"\w*(?:Error|Exception|Warning)\b|[A-Z]+_[A-Z_]{3,}|Xid\b|\w: |\[[^\]]+\]|^Traceback|\w\(\)",
    re.MULTILINE,
)
"""What a program's own line looks like, as against what people say about it."""


class Symptoms(NamedTuple):
    """wordings: texts that programs print; examples: shown; further: folded; raw: kind and pattern."""

    wordings: tuple[str, ...]
    examples: tuple[str, ...]
    further: tuple[str, ...]
    raw: tuple[tuple[str, str], ...]


def symptoms_of(entry: Entry, signature: Signature) -> Symptoms:
    """The symptoms of an entry; lines that programs print come first, then the shortest; each text once."""
    examples = sorted(dict.fromkeys(_short(one.text) for one in entry.examples), key=_telling_first)
    shown = tuple(_unlike(examples))
    return Symptoms(
        wordings=wordings_of(signature),
        examples=shown,
        further=tuple(text for text in examples if text not in shown),
        raw=tuple(dict.fromkeys((one.kind, one.label) for one in signature.patterns)),
    )


def wordings_of(signature: Signature) -> tuple[str, ...]:
    """The texts that stand in its patterns as a program prints them, each once."""
    readable = (one.label for one in signature.patterns if _is_readable(one))
    return tuple({squash(text): text for text in reversed(list(readable))}.values())[::-1]


def _is_readable(pattern: Pattern) -> bool:
    return pattern.kind in _READABLE


def _telling_first(text: str) -> tuple[bool, int, int, str]:
    return _PRINTED.search(text) is None, text.count("\n"), len(text), text


def _unlike(examples: list[str]) -> Iterator[str]:
    """A few examples that do not hold each other."""
    taken: list[str] = []
    for text in examples:
        if len(taken) < _MOST_SHOWN and not any(squash(one) in squash(text) for one in taken):
            taken.append(text)
            yield text


def _short(text: str) -> str:
    """The text without its middle where it is long: the end of a traceback says most."""
    lines = text.strip("\n").split("\n")
    if len(lines) <= _MOST_LINES:
        return "\n".join(lines)
    half = _MOST_LINES // 2
    return "\n".join([*lines[:half], "…", *lines[-half:]])
