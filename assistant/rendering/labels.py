"""What facts, values of the text and sources are called: keys `name.*` and `source.*` of the words. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

from gpuhelp.kb.entry import Entry
from gpuhelp.rendering.layout import one_line
from gpuhelp.words import Words

_FROM_TEXT_LINE = re.compile(r"text line (\d+)")
_FAMILIES = ("packages", "extensions", "env", "answers")
"""First parts of names of which there are too many to list; `name.<family>.*` says `{name}`."""


def label(name: str, words: Words) -> str:
    """The name in words; as it stands where the words have none."""
    return known_label(name, words) or name


def known_label(name: str, words: Words) -> str | None:
    """The name in words, or None."""
    family, _, rest = name.partition(".")
    if rest and family in _FAMILIES:
        return words(f"name.{family}.*", name=rest.removesuffix(".arch_list"))
    return words.find(f"name.{name}")


def labels(names: Iterable[str], words: Words) -> str:
    """Names in words, each once, with commas between them."""
    return ", ".join(dict.fromkeys(label(name, words) for name in names))


def place_label(source: str, line: int, words: Words) -> str:
    """`train.log:12`; standard input has no name of its own, so it is called what it is."""
    return f"{words('standard_input') if source == 'standard input' else one_line(source)}:{line}"


def entry_label(entry: Entry, words: Words, *more: str) -> str:
    """`cuda-oom · code`, what more there is to say, and who brought an entry that is not ours."""
    origin = (f"[{one_line(entry.source)}]",) if entry.source else ()
    return " · ".join((entry.id, words(f"layer.{entry.layer}"), *more, *origin))


def ranks_label(on: int, of: int, first: str, place: str, words: Words) -> str:
    """On how many of all ranks, and which was the first, at which place."""
    key = "ranks.one" if on == 1 else "ranks.all" if on == of else "ranks"
    return words(key, count=on, of=of, first=first, place=place)


def source_label(source: str, words: Words) -> str:
    """Where a value comes from; what is no sentence of ours (a path, a program) stands as it is."""
    found = _FROM_TEXT_LINE.fullmatch(source)
    if found:
        return words("source.text_line", line=found[1])
    return words.find(f"source.{source}") or source
