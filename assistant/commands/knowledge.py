"""`gpuhelp kb list|lint|test`: what is known, and whether it holds."""

from __future__ import annotations

import argparse
from typing import Any

from gpuhelp.commands.common import knowledge_of, no_such_entry
from gpuhelp.errors import ExitCode, InputError
from gpuhelp.kb.load import KnowledgeBase
from gpuhelp.rendering.layout import Row, Span, row, width_of
from gpuhelp.rendering.output import write_data, write_rows
from gpuhelp.rendering.privacy import Privacy
from gpuhelp.terminal import Terminal
from gpuhelp.words import Words


def run(options: argparse.Namespace, terminal: Terminal, words: Words) -> int:
    """0 if all is well, 1 if lint or a test found faults; broken files are told by the command line."""
    knowledge = knowledge_of(options)
    chosen = _chosen(options.ids, knowledge, words)
    faults: tuple[str, ...] = ()
    if options.action == "list":
        data = _listed(chosen, knowledge, words.language)
        rows = _list_rows(data["entries"], words)
    else:
        faults = _faults(options.action, chosen, knowledge)
        key = f"kb.{options.action}.{'bad' if faults else 'good'}"
        told = words(key, faults=len(faults), entries=len(chosen))
        data = {"schema_version": 1, "checked": list(chosen), "faults": list(faults), "told": told}
        rows = [row(line, whole=True) for line in (*faults, told)]
    if options.format == "text":
        write_rows(rows, options.color, terminal, Privacy(terminal.environ, share=options.redact))
    else:
        write_data(data, "knowledge.md.j2", options, terminal, words)
    return ExitCode.FAILURE_FOUND if faults else ExitCode.NO_FAILURE


def _faults(action: str, chosen: tuple[str, ...], knowledge: KnowledgeBase) -> tuple[str, ...]:
    """One line a fault that lint, or the entries' own examples, found."""
    if action == "lint":
        from gpuhelp.kb.lint import lint
        from gpuhelp.probes.names import is_fact_name

        return tuple(str(problem) for problem in lint(knowledge, chosen, is_fact_name))
    from gpuhelp.commands.entry_tests import failures

    return failures(knowledge, chosen)


def _chosen(ids: list[str], knowledge: KnowledgeBase, words: Words) -> tuple[str, ...]:
    """The ids asked for, all of them if none. Raises InputError, one line for each that does not exist."""
    wrong = [asked for asked in ids if asked not in knowledge.ids]
    if wrong:
        raise InputError(*(no_such_entry(asked, asked, knowledge, words) for asked in wrong))
    return tuple(ids) or knowledge.ids


def _listed(ids: tuple[str, ...], knowledge: KnowledgeBase, language: str) -> dict[str, Any]:
    entries = (knowledge.entry(entry_id) for entry_id in ids)
    listed = [{"entry": one.id, "layer": one.layer, "title": one.title.of(language)} for one in entries]
    return {"schema_version": 1, "entries": listed}


def _list_rows(entries: list[dict[str, str]], words: Words) -> list[Row]:
    """One row an entry, never wrapped: lists are searched line by line."""
    layers = {one["layer"]: words(f"layer.{one['layer']}") for one in entries}
    first = max((width_of(one["entry"]) for one in entries), default=0) + 2
    second = max(map(width_of, layers.values()), default=0) + 2
    return [
        row(
            Span(_padded(one["entry"], first), "name"),
            Span(_padded(layers[one["layer"]], second), "dim"),
            one["title"],
            whole=True,
        )
        for one in entries
    ]


def _padded(text: str, width: int) -> str:
    return text + " " * (width - width_of(text))
