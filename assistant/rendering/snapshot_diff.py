"""The comparison of two snapshots, for people and as data. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from gpuhelp.kb.load import KnowledgeBase
from gpuhelp.probes.snapshot_diff import Change
from gpuhelp.reasoning.snapshot_changes import Comparison, Turn
from gpuhelp.rendering.gpu_lines import gpu_numbers
from gpuhelp.rendering.labels import label
from gpuhelp.rendering.layout import BLANK, Row, Span, row
from gpuhelp.rendering.reasons import spell
from gpuhelp.words import Words

_MOST_TURNS = 12
_MOST_TOUCHED = 10
_MOST_CHANGES = 60


def diff_rows(
    comparison: Comparison, good: str, bad: str, words: Words, knowledge: KnowledgeBase
) -> tuple[Row, ...]:
    """What changed, the causes it turns, what a checkup finds in one of the two, entries, and what moves."""
    rows: list[Row] = [row(Span(words("diff.title", good=good, bad=bad), "title"))]
    if not comparison.differs:
        rows += [BLANK, row(Span(words("diff.same"), "good"))]
    for title, changes in _sections(comparison, good, bad, words):
        rows += [BLANK, row(Span(title, "heading"))]
        rows += _changes(changes, words)
    rows += _troubles(comparison, good, bad, words, knowledge)
    rows += _turns(comparison.turns, words)
    rows += _touched(comparison, words)
    moving = [change for change in comparison.changes if change.moves]
    if moving:
        rows += [BLANK, row(Span(words("diff.moving"), "heading"))]
        rows += _changes(moving, words, style="dim")
    return tuple(rows)


def diff_data(
    comparison: Comparison, good: str, bad: str, words: Words, knowledge: KnowledgeBase
) -> dict[str, Any]:
    """The same for programs; `told` and titles are for people."""
    return {
        "schema_version": 1,
        "status": "differs" if comparison.differs else "same",
        "good": good,
        "bad": bad,
        "changes": [_change_data(change, words) for change in comparison.changes if not change.moves],
        "moving": [_change_data(change, words) for change in comparison.changes if change.moves],
        "verdicts": [
            {
                "entry": turn.entry.id,
                "title": turn.entry.title.of(words.language),
                "cause": turn.cause.id,
                "cause_title": turn.cause.title.of(words.language),
                "good": turn.good.value,
                "bad": turn.bad.value,
            }
            for turn in comparison.turns
        ],
        "checks": [
            {"entry": id, "title": _title(id, words, knowledge), "found_in": side}
            for side, ids in (("bad", comparison.troubles_bad), ("good", comparison.troubles_good))
            for id in ids
        ],
        "entries": [
            {"entry": entry.id, "title": entry.title.of(words.language)} for entry in comparison.touched
        ],
    }


def _sections(
    comparison: Comparison, good: str, bad: str, words: Words
) -> Iterable[tuple[str, list[Change]]]:
    lasting = [change for change in comparison.changes if not change.moves]
    parts = (
        (words("diff.changed"), [each for each in lasting if each.knows_good and each.knows_bad]),
        (words("diff.only_good", good=good), [each for each in lasting if not each.knows_bad]),
        (words("diff.only_bad", bad=bad), [each for each in lasting if not each.knows_good]),
    )
    return ((title, changes) for title, changes in parts if changes)


def _changes(changes: Iterable[Change], words: Words, style: str = "") -> list[Row]:
    """A row each; what changed in the same way on several GPUs is one."""
    alike: dict[tuple[str, str], list[str]] = {}
    for change in changes:
        alike.setdefault((change.name, _told(change, words)), []).append(change.place)
    rows = [
        row(Span(f"{_name(name, places, words)}  ", "name"), Span(told, style), indent=2, hang=4)
        for (name, told), places in alike.items()
    ]
    return [*rows[:_MOST_CHANGES], *_more(len(rows) - _MOST_CHANGES, words)]


def _name(name: str, places: list[str], words: Words) -> str:
    if not any(places):
        return label(name, words)
    numbers = gpu_numbers(int(place) for place in places if place.isdecimal()) or ", ".join(places)
    where = words("check.gpu" if len(places) == 1 else "check.gpus", numbers=numbers)
    return where if name == "gpus" else f"{where} · {label(name, words)}"


def _told(change: Change, words: Words) -> str:
    """`before → after`; the one value where only one of the two knows it."""
    if not change.knows_bad:
        return _value(change.name, change.good, words)
    if not change.knows_good:
        return _value(change.name, change.bad, words)
    return f"{_value(change.name, change.good, words)} → {_value(change.name, change.bad, words)}"


def _value(name: str, value: object, words: Words) -> str:
    """Records of which there are few are told whole: what was added or is gone is what counts."""
    if isinstance(value, list) and value and all(isinstance(each, Mapping) for each in value):
        told = (" ".join(str(part) for part in each.values() if part is not None) for each in value)
        return spell(name, "; ".join(told), words)
    return spell(name, value, words)


def _change_data(change: Change, words: Words) -> dict[str, Any]:
    data: dict[str, Any] = {"name": change.name}
    if change.place:
        data["gpu"] = int(change.place) if change.place.isdecimal() else change.place
    if change.knows_good:
        data["good"] = change.good
    if change.knows_bad:
        data["bad"] = change.bad
    return {**data, "told": f"{_name(change.name, [change.place], words)}: {_told(change, words)}"}


def _turns(turns: tuple[Turn, ...], words: Words) -> list[Row]:
    if not turns:
        return []
    rows = [BLANK, row(Span(words("diff.verdicts"), "heading"))]
    for turn in turns[:_MOST_TURNS]:
        before, after = words(f"verdict.{turn.good.value}"), words(f"verdict.{turn.bad.value}")
        title = turn.cause.title.of(words.language)
        told = Span(f"  {before} → {after}", "dim", unbroken=True)
        rows.append(row(Span(f"{turn.entry.id}  ", "name"), title, told, indent=2, hang=4))
    return [*rows, *_more(len(turns) - _MOST_TURNS, words)]


def _troubles(
    comparison: Comparison, good: str, bad: str, words: Words, knowledge: KnowledgeBase
) -> list[Row]:
    sides = (
        (words("diff.found_only_bad", bad=bad), comparison.troubles_bad, "bad"),
        (words("diff.found_only_good", good=good), comparison.troubles_good, "dim"),
    )
    found = [
        row(Span("✘ ", style), f"{_title(id, words, knowledge)} ({where})", indent=2, hang=2)
        for where, ids, style in sides
        for id in ids
    ]
    return [BLANK, row(Span(words("diff.checks"), "heading")), *found] if found else []


def _touched(comparison: Comparison, words: Words) -> list[Row]:
    if not comparison.touched:
        return []
    ids = [entry.id for entry in comparison.touched]
    listed = ", ".join(ids[:_MOST_TOUCHED])
    rows = [BLANK, row(Span(words("diff.entries"), "heading")), row(listed, indent=2)]
    return [*rows, *_more(len(ids) - _MOST_TOUCHED, words)]


def _more(count: int, words: Words) -> list[Row]:
    return [row(Span(words("diff.more", count=count), "dim"), indent=2)] if count > 0 else []


def _title(entry_id: str, words: Words, knowledge: KnowledgeBase) -> str:
    return str(knowledge.entry(entry_id).title.of(words.language))
