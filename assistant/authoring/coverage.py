"""What the knowledge base has and what it lacks: classes, untested causes, translations, old references."""

from __future__ import annotations

from collections import Counter
from typing import Any

from gpuhelp.kb.compile import untranslated
from gpuhelp.kb.entry import Entry
from gpuhelp.kb.load import KnowledgeBase


def coverage(knowledge: KnowledgeBase) -> dict[str, Any]:
    """Counts, and the gaps by entry; plain data for JSON and for the screen."""
    entries = [knowledge.entry(entry_id) for entry_id in knowledge.ids]
    signatures = {signature.id: signature for signature in knowledge.signatures}
    linked = {other for one in signatures.values() for other in (*one.refines, *one.leads_to)}
    return {
        "schema_version": 1,
        "entries": len(entries),
        "families": dict(sorted(Counter(entry.family for entry in entries).items())),
        "layers": dict(sorted(Counter(entry.layer for entry in entries).items())),
        "causes": sum(len(entry.causes) for entry in entries),
        "fixes": sum(len(cause.fixes) for entry in entries for cause in entry.causes),
        "patterns": sum(len(signature.patterns) for signature in signatures.values()),
        "examples": sum(len(entry.examples) for entry in entries),
        "near_misses": sum(len(entry.not_examples) for entry in entries),
        "references": sum(len(entry.references) for entry in entries),
        "causes_without_test": {entry.id: gaps for entry in entries if (gaps := _untested(entry))},
        "without_korean": [one.id for one in entries if untranslated(knowledge.record(one.id))],
        "names_without_entry": sorted(linked - set(knowledge.ids)),
        "oldest_references": _oldest(entries),
        "from_elsewhere": {entry.id: entry.source for entry in entries if entry.source},
    }


def _untested(entry: Entry) -> list[str]:
    """Causes that facts can decide, and that no example brings about or rules out."""
    shown = {example.cause for example in entry.examples}
    shown |= {cause for example in entry.examples for cause in example.ruled_out}
    return [c.id for c in entry.causes if (c.when is not None or c.hint is not None) and c.id not in shown]


_MOST_REFERENCES = 10


def _oldest(entries: list[Entry]) -> list[dict[str, str]]:
    """Entries whose references were read longest ago; those without a date come before all."""
    dated = [{"entry": entry.id, "checked": entry.checked} for entry in entries]
    return sorted(dated, key=lambda one: (one["checked"], one["entry"]))[:_MOST_REFERENCES]
