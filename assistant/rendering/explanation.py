"""One entry told without a log: what it is, what lies behind it, what to do. Pure."""

from __future__ import annotations

from typing import Any

from gpuhelp.kb.entry import Cause, Entry
from gpuhelp.kb.evaluation import Unknown
from gpuhelp.probes.facts import Facts
from gpuhelp.reasoning.fixes import ToldFix, tell, tools_of
from gpuhelp.reasoning.scope import Scope
from gpuhelp.rendering.labels import entry_label
from gpuhelp.rendering.layout import BLANK, Row, Span, row
from gpuhelp.rendering.stack import stack_row
from gpuhelp.words import Words

_NOTHING_KNOWN = Scope(Facts(), {**tools_of(Facts()), "gpus": Unknown(["gpus"])}, {}, {})


def explanation_rows(entry: Entry, words: Words) -> tuple[Row, ...]:
    """The entry for a terminal: causes by how common they are, each with its fixes by title."""
    language = words.language
    rows = [
        row(Span("■ ", "mark"), Span(entry.title.of(language), "title"), hang=2),
        row(Span(entry_label(entry, words), "dim"), indent=2),
        stack_row(entry.layer, words),
        BLANK,
        *(row(" ".join(part.split()), indent=2) for part in entry.summary.of(language).strip().split("\n\n")),
        BLANK,
        row(Span(words("causes"), "heading")),
    ]
    for cause in _by_weight(entry):
        share = words("explain.share", percent=round(cause.weight * 100))
        common = Span(f"  {share}", "dim", unbroken=True)
        rows.append(row("○ ", Span(cause.title.of(language), "title"), common, indent=2, hang=2))
        for told in _fixes(cause, language):
            risk = Span(f"  [{words('risk.' + told.risk)}]", "dim", unbroken=True)
            rows.append(row("→ ", told.title, risk, indent=6, hang=2))
            rows += [row(Span(f"$ {command}", "command"), indent=8, whole=True) for command in told.commands]
    rows += [BLANK, row(Span(words("references"), "heading"))]
    rows += [row(Span(reference.url, "dim"), indent=2, whole=True) for reference in entry.references]
    return tuple(rows)


def explanation_data(entry: Entry, language: str) -> dict[str, Any]:
    """The entry as plain data."""
    origin = {"source": entry.source} if entry.source else {}
    return {
        "schema_version": 1,
        "entry": entry.id,
        "layer": entry.layer,
        "title": entry.title.of(language),
        "summary": entry.summary.of(language).strip(),
        "leads_to": list(entry.leads_to),
        "causes": [
            {
                "id": cause.id,
                "title": cause.title.of(language),
                "weight": cause.weight,
                "when": cause.when_source,
                "fixes": [
                    {
                        "title": told.title,
                        "risk": told.risk,
                        "commands": list(told.commands),
                        "undo": told.undo,
                        "proof": told.proof,
                    }
                    for told in _fixes(cause, language)
                ],
            }
            for cause in _by_weight(entry)
        ],
        "references": [reference.url for reference in entry.references],
        **origin,
    }


def _by_weight(entry: Entry) -> list[Cause]:
    return sorted(entry.causes, key=lambda cause: -cause.weight)


def _fixes(cause: Cause, language: str) -> list[ToldFix]:
    return [tell(fix, _NOTHING_KNOWN, language) for fix in cause.fixes]
