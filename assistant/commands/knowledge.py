"""`gpuhelp kb …`: what is known, whether it holds, and what helps to add to it."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gpuhelp.commands.common import knowledge_of, no_such_entry
from gpuhelp.errors import ExitCode, InputError
from gpuhelp.kb.load import KnowledgeBase
from gpuhelp.rendering.layout import Row, Span, row, width_of
from gpuhelp.rendering.output import write_data, write_rows
from gpuhelp.rendering.privacy import Privacy
from gpuhelp.terminal import Terminal
from gpuhelp.words import Words

Told = tuple[dict[str, Any], list[Row]]
"""What an action has to say: plain data, and the rows of a terminal."""


def run(options: argparse.Namespace, terminal: Terminal, words: Words) -> int:
    """0 if all is well, 1 if lint or a test found faults."""
    if options.action == "new":
        from gpuhelp.commands.new_entry import write_new_entry

        return write_new_entry(options, terminal, words)
    ids, files = _ids_and_files(options)
    options.kb = [*options.kb, *files]
    checks = options.action in ("lint", "test")
    knowledge = knowledge_of(options, terminal, tell_skipped=not checks)
    if checks:
        return _check(options, ids, knowledge, terminal, words)
    if options.action == "list":
        _write(_listed(_chosen(ids, knowledge, words), knowledge, words), options, terminal, words)
        return ExitCode.NO_FAILURE
    if options.action == "site":
        from gpuhelp.commands.site import write_pages

        _write(write_pages(options, knowledge, words), options, terminal, words)
        return ExitCode.NO_FAILURE
    from gpuhelp.commands import authors

    action: Callable[..., Told] = authors.ACTIONS[options.action]
    _write(action(options, ids, knowledge, terminal, words), options, terminal, words)
    return ExitCode.NO_FAILURE


def _check(
    options: argparse.Namespace, ids: list[str], knowledge: KnowledgeBase, terminal: Terminal, words: Words
) -> int:
    """Lint or the tests; entries that had to be left out are faults as well, where they were meant."""
    broken = {problem: Path(problem.path).stem.removesuffix(".ko") for problem in knowledge.skipped}
    meant = tuple(options.kb)
    left_out = [
        str(one) for one, entry in broken.items() if not ids or entry in ids or one.path.startswith(meant)
    ]
    sound = [one for one in ids if one in knowledge.ids or one not in broken.values()]
    chosen = _chosen(sound, knowledge, words) if sound or not ids else ()
    faults = (*left_out, *_faults(options.action, chosen, knowledge))
    told = words(
        f"kb.{options.action}.{'bad' if faults else 'good'}", faults=len(faults), entries=len(chosen)
    )
    data = {"schema_version": 1, "checked": list(chosen), "faults": list(faults), "told": told}
    _write((data, [row(line, whole=True) for line in (*faults, told)]), options, terminal, words)
    return ExitCode.FAILURE_FOUND if faults else ExitCode.NO_FAILURE


def _write(told: Told, options: argparse.Namespace, terminal: Terminal, words: Words) -> None:
    """Markdown is made to be shared, so names are taken out of what logs said."""
    data, rows = told
    privacy = Privacy(terminal.environ, share=options.redact or options.format == "markdown")
    if options.format == "text":
        write_rows(rows, options.color, terminal, privacy)
    else:
        write_data(privacy.data(data), "knowledge.md.j2", options, terminal, words)


def _faults(action: str, chosen: tuple[str, ...], knowledge: KnowledgeBase) -> tuple[str, ...]:
    """One line a fault that lint, or the entries' own examples, found."""
    if action == "lint":
        from gpuhelp.authoring.checks import healthy_logs
        from gpuhelp.kb.lint import lint
        from gpuhelp.probes.names import is_fact_name

        return tuple(map(str, lint(knowledge, chosen, is_fact_name, healthy_logs())))
    from gpuhelp.authoring.checks import failures

    return failures(knowledge, chosen)


def _ids_and_files(options: argparse.Namespace) -> tuple[list[str], list[str]]:
    """What was named: ids as they are, and for a YAML file its id and the file, which is read as well."""
    if options.action not in ("list", "lint", "test", "try"):
        return list(options.what), []
    named = options.what[:1] if options.action == "try" else options.what
    files = [one for one in named if one.endswith(".yaml")]
    ids = [Path(one).stem.removesuffix(".ko") if one in files else one for one in options.what]
    return list(dict.fromkeys(ids)), [one.replace(".ko.yaml", ".yaml") for one in files]


def _chosen(ids: list[str], knowledge: KnowledgeBase, words: Words) -> tuple[str, ...]:
    """The ids asked for, all of them if none. Raises InputError, one line for each that does not exist."""
    wrong = [asked for asked in ids if asked not in knowledge.ids]
    if wrong:
        raise InputError(*(no_such_entry(asked, asked, knowledge, words) for asked in wrong))
    return tuple(ids) or knowledge.ids


def _listed(ids: tuple[str, ...], knowledge: KnowledgeBase, words: Words) -> Told:
    entries = [knowledge.entry(entry_id) for entry_id in ids]
    listed = [
        {
            "entry": one.id,
            "layer": one.layer,
            "title": one.title.of(words.language),
            **({"source": one.source} if one.source else {}),
        }
        for one in entries
    ]
    return {"schema_version": 1, "entries": listed}, _list_rows(listed, words)


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
            *([Span(f"  [{one['source']}]", "dim")] if "source" in one else []),
            whole=True,
        )
        for one in entries
    ]


def _padded(text: str, width: int) -> str:
    return text + " " * (width - width_of(text))
