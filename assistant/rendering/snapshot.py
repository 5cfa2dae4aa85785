"""A snapshot for people: the facts there are, by name, and what could not be looked at. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from gpuhelp.rendering.layout import BLANK, Row, Span, row
from gpuhelp.rendering.probe_reports import probe_rows
from gpuhelp.rendering.reasons import spell
from gpuhelp.words import Words

if TYPE_CHECKING:
    from gpuhelp.probes.runner import ProbeReport


def snapshot_rows(facts: Mapping[str, object], reports: Iterable[ProbeReport], words: Words) -> list[Row]:
    """Names as the snapshot has them. Most variables and packages are not there: those are counted."""
    rows = [_fact_row(name, value, words) for name, value in facts.items() if value is not None]
    absent = _absent(facts)
    if absent:
        rows += [BLANK, row(Span(words("env.absent", count=absent), "dim"))]
    return [*rows, *probe_rows(reports, words)]


def snapshot_data(snapshot: Mapping[str, Any], words: Words) -> dict[str, Any]:
    """The snapshot with each fact in words, for a template; fields of GPUs each on their own."""
    told = [
        {"name": name, "told": spell(name, value, words)}
        for name, value in _flat(snapshot["facts"])
        if value is not None
    ]
    return {**snapshot, "told": told, "absent": _absent(snapshot["facts"])}


def _flat(facts: Mapping[str, Any]) -> Iterable[tuple[str, object]]:
    for name, value in facts.items():
        if name == "gpus" and isinstance(value, list):
            for number, gpu in enumerate(value):
                yield from ((f"gpus[{number}].{field}", each) for field, each in dict(gpu).items())
        else:
            yield name, value


def _absent(facts: Mapping[str, object]) -> int:
    return sum(value is None for value in facts.values())


def _fact_row(name: str, value: object, words: Words) -> Row:
    return row(Span(f"{name}  ", "name"), spell(name, value, words), hang=4)
