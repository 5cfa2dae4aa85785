"""`gpuhelp kb try|search|explain-match|coverage|schema`: for people who write entries."""

from __future__ import annotations

import argparse
from io import BytesIO
from typing import Any

from gpuhelp.authoring.reasons import MATCHED, Reasons, explain_match
from gpuhelp.commands.common import no_such_entry
from gpuhelp.errors import InputError
from gpuhelp.kb.load import KnowledgeBase
from gpuhelp.reading.pieces import RawText
from gpuhelp.rendering.layout import BLANK, Row, Span, row
from gpuhelp.terminal import Terminal
from gpuhelp.words import Words

Told = tuple[dict[str, Any], list[Row]]
_LONGEST_SHOWN = 100
_LONGEST_TOLD = 2_000
"""Characters of a log's line in JSON and Markdown."""
_FOUND = 10


def _try(
    options: argparse.Namespace, ids: list[str], knowledge: KnowledgeBase, terminal: Terminal, words: Words
) -> Told:
    """What one entry would match in these logs, and why."""
    if not ids:
        raise InputError(words("error.kb_try"))
    entry, paths = ids[0], options.what[1:]
    if entry not in knowledge.ids:
        raise InputError(no_such_entry(entry, entry, knowledge, words))
    reasons = explain_match(_texts(paths, terminal, knowledge), knowledge, [entry])
    return _told(reasons, words, is_one=True)


def _explain_match(
    options: argparse.Namespace, ids: list[str], knowledge: KnowledgeBase, terminal: Terminal, words: Words
) -> Told:
    return _told(explain_match(_texts(options.what, terminal, knowledge), knowledge), words)


def _texts(paths: list[str], terminal: Terminal, knowledge: KnowledgeBase) -> tuple[RawText, ...]:
    from gpuhelp.reading.sources import check
    from gpuhelp.scanning.gather import gather

    paths = paths or ["-"]
    check(paths)
    stdin = terminal.stdin if "-" in paths else BytesIO()
    return gather(paths, stdin, knowledge).texts


def _told(reasons: Reasons, words: Words, *, is_one: bool = False) -> Told:
    found = [
        {
            "entry": f.entry.id,
            "role": f.role.value,
            "confidence": round(f.confidence, 2),
            "follows": f.follows,
        }
        for f in reasons.diagnosis.findings
    ]
    considered = [{**one._asdict(), "text": one.text[:_LONGEST_TOLD]} for one in reasons.reasons]
    nearest = [
        {"entry": one.entry, "agreement": round(one.agreement, 2), "question": one.question}
        for one in reasons.nearest
    ]
    data = {"schema_version": 1, "findings": found, "considered": considered, "nearest": nearest}
    rows = [row(Span(words("kb.answer"), "heading")), *(_finding_row(one, words) for one in found)]
    if not found:
        rows.append(row(words("kb.no_answer"), indent=2))
    rows += [BLANK, row(Span(words("kb.considered"), "heading"))]
    rows += [line for one in considered for line in _reason_rows(one, words)]
    if not considered:
        rows.append(row(words("kb.nothing_fits"), indent=2))
    if not is_one:
        rows += [BLANK, row(Span(words("kb.nearest"), "heading"))]
        rows += [
            row(f"{one['agreement']:.2f}  {one['entry']}: {one['question']}", indent=2) for one in nearest
        ]
    return data, rows


def _finding_row(found: dict[str, Any], words: Words) -> Row:
    follows = f" ← {found['follows']}" if found["follows"] else ""
    role = words(f"role.{found['role']}")
    return row(Span(found["entry"], "name"), f"  {role}{follows}  {found['confidence']:.2f}", indent=2)


def _reason_rows(one: dict[str, Any], words: Words) -> list[Row]:
    outcome = words(f"kb.outcome.{one['outcome']}", by=_short(one["by"]))
    mark = "+ " if one["outcome"] == MATCHED else "- "
    place = f"{one['source']}:{one['line']}"
    return [
        row(mark, Span(one["entry"], "name"), f"  {place}  {outcome}", indent=2, hang=2),
        row(Span(f"{one['kind']}: {_short(one['pattern'])}", "dim"), indent=6, hang=2),
        row(Span(_short(one["text"]), "dim"), indent=6, hang=2),
    ]


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 1] + "…"


def _search(
    options: argparse.Namespace, ids: list[str], knowledge: KnowledgeBase, terminal: Terminal, words: Words
) -> Told:
    """Entries nearest to some words: those that hold all of them first."""
    from gpuhelp.authoring.search import search

    asked = " ".join(options.what).strip()
    if not asked:
        raise InputError(words("error.kb_search"))
    found = search(asked, knowledge, words.language)[:_FOUND]
    data = {"schema_version": 1, "found": [one._asdict() for one in found]}
    rows = [
        line
        for one in found
        for line in (
            row(Span(one.entry, "name"), f"  {one.title}", whole=True),
            row(Span(_short(one.where), "dim"), indent=4, hang=2),
        )
    ]
    return data, rows or [row(words("kb.found_nothing"))]


def _coverage(
    options: argparse.Namespace, ids: list[str], knowledge: KnowledgeBase, terminal: Terminal, words: Words
) -> Told:
    from gpuhelp.authoring.coverage import coverage

    data = coverage(knowledge)
    rows = [
        row(Span(words(f"kb.coverage.{key}"), "heading"), Span(f"  {_count(value)}"))
        if not isinstance(value, (dict, list))
        else row(Span(words(f"kb.coverage.{key}"), "heading"), f"  {len(value)}", _listed(value))
        for key, value in data.items()
        if key != "schema_version"
    ]
    return data, rows


def _count(value: object) -> str:
    return str(value)


_MOST_LISTED = 12


def _listed(value: dict[str, Any] | list[Any]) -> str:
    """The first of many, in one line."""
    items = (
        [f"{k} {_plain(v)}" for k, v in value.items()]
        if isinstance(value, dict)
        else list(map(_plain, value))
    )
    more = f" … +{len(items) - _MOST_LISTED}" if len(items) > _MOST_LISTED else ""
    return f": {', '.join(items[:_MOST_LISTED])}{more}" if items else ""


def _plain(value: object) -> str:
    if isinstance(value, dict):
        return " ".join(str(part) for part in value.values() if part)
    return f"({', '.join(map(str, value))})" if isinstance(value, list) else str(value)


def _schema(
    options: argparse.Namespace, ids: list[str], knowledge: KnowledgeBase, terminal: Terminal, words: Words
) -> Told:
    """The place of the JSON Schema, for editors."""
    from importlib.resources import files

    path = str(files("gpuhelp.kb").joinpath("schema.json"))
    return {"schema_version": 1, "schema": path}, [row(path, whole=True)]


ACTIONS = {
    "try": _try,
    "explain-match": _explain_match,
    "search": _search,
    "coverage": _coverage,
    "schema": _schema,
}
