"""`gpuhelp env > env.json`: a snapshot of this machine, redacted, to diagnose with elsewhere.

With --diff two of them are compared; with --zipapp a program is written that takes one where nothing can be
installed.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from gpuhelp.commands.common import given_facts, knowledge_of, look_of
from gpuhelp.errors import ExitCode, InputError
from gpuhelp.rendering.output import write_data, write_rows
from gpuhelp.rendering.privacy import Privacy
from gpuhelp.terminal import Terminal
from gpuhelp.words import Words

if TYPE_CHECKING:
    from gpuhelp.probes.facts import Facts


def run(options: argparse.Namespace, terminal: Terminal, words: Words) -> int:
    """A snapshot: 0. A comparison: 0 the same, 1 something differs. Raises InputError for a bad file."""
    if options.diff or options.zipapp:
        _refuse_machine(options, words)
        return _diff(options, terminal, words) if options.diff else _zipapp(options, terminal, words)
    return _snapshot(options, terminal, words)


def _snapshot(options: argparse.Namespace, terminal: Terminal, words: Words) -> int:
    """Every probe is asked; what cannot be looked at is named. With --env that snapshot is told again."""
    from dataclasses import replace
    from datetime import datetime, timezone

    from gpuhelp.probes.snapshot import to_snapshot

    options.format = options.format or "json"
    given = given_facts(options)
    observation = look_of(options, terminal)(None, ())
    observation = replace(observation, facts=observation.facts.merged(given))
    snapshot = to_snapshot(observation, datetime.now(timezone.utc).isoformat(timespec="seconds"))
    if options.format == "text":
        from gpuhelp.rendering.snapshot import snapshot_rows

        rows = snapshot_rows(snapshot["facts"], observation.reports, words)
        write_rows(rows, options.color, terminal, Privacy(terminal.environ, share=True))
    else:
        if options.format == "markdown":
            from gpuhelp.rendering.snapshot import snapshot_data

            snapshot = snapshot_data(snapshot, words)
        write_data(snapshot, "snapshot.md.j2", options, terminal, words)
    return ExitCode.NO_FAILURE


def _diff(options: argparse.Namespace, terminal: Terminal, words: Words) -> int:
    from gpuhelp.reasoning.snapshot_changes import compare
    from gpuhelp.reasoning.table_functions import TableFunctions
    from gpuhelp.rendering.snapshot_diff import diff_data, diff_rows

    options.format = options.format or "text"
    good, bad = (_facts(path, words) for path in options.diff)
    names = tuple(Path(path).name for path in options.diff)
    name_good, name_bad = names if names[0] != names[1] else options.diff
    knowledge = knowledge_of(options, terminal)
    entries = (knowledge.entry(id) for id in knowledge.ids)
    comparison = compare(good, bad, entries, knowledge.table("checks"), TableFunctions(knowledge))
    privacy = Privacy(terminal.environ, share=options.redact or options.format == "markdown")
    if options.format == "text":
        write_rows(
            diff_rows(comparison, name_good, name_bad, words, knowledge), options.color, terminal, privacy
        )
    else:
        data = privacy.data(diff_data(comparison, name_good, name_bad, words, knowledge))
        write_data(data, "snapshot_diff.md.j2", options, terminal, words)
    return ExitCode.FAILURE_FOUND if comparison.differs else ExitCode.NO_FAILURE


def _facts(path: str, words: Words) -> Facts:
    return given_facts(argparse.Namespace(env=path, language=words.language))


def _zipapp(options: argparse.Namespace, terminal: Terminal, words: Words) -> int:
    from gpuhelp.commands.snapshot_program import NotOurs, write_program
    from gpuhelp.kb.evaluation import format_bytes

    path = Path(options.zipapp)
    try:
        size = write_program(path)
    except NotOurs:
        raise InputError(words("error.zipapp_exists", path=path)) from None
    except OSError as error:
        raise InputError(words("error.zipapp", path=path, reason=error.strerror or error)) from None
    terminal.stdout.write(words("zipapp.done", path=path, name=path.name, size=format_bytes(size)) + "\n")
    return ExitCode.NO_FAILURE


def _refuse_machine(options: argparse.Namespace, words: Words) -> None:
    """Raises InputError for options that would be passed over in silence."""
    both = bool(options.diff and options.zipapp)
    given = {"--env": options.env, "--python": options.python, "--no-probes": options.no_probes}
    for name, value in {**given, "--zipapp": both}.items():
        if value:
            raise InputError(words("error.diff_with", option=name))
