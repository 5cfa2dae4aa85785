"""`gpuhelp env > env.json`: a snapshot of this machine, redacted, to diagnose with elsewhere."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from gpuhelp.commands.common import given_facts, look_of
from gpuhelp.errors import ExitCode
from gpuhelp.rendering.documents import to_json
from gpuhelp.rendering.layout import BLANK, Row, Span, row
from gpuhelp.rendering.output import write_rows
from gpuhelp.rendering.privacy import Privacy
from gpuhelp.rendering.reasons import spell
from gpuhelp.rendering.text import probe_rows
from gpuhelp.terminal import Terminal
from gpuhelp.words import Words

if TYPE_CHECKING:
    from gpuhelp.probes.runner import ProbeReport


def run(options: argparse.Namespace, terminal: Terminal, words: Words) -> int:
    """Every probe is asked; what cannot be looked at is named. With --env that snapshot is told again."""
    from dataclasses import replace
    from datetime import datetime, timezone

    from gpuhelp.probes.snapshot import to_snapshot

    given = given_facts(options)
    observation = look_of(options, terminal)(None, ())
    observation = replace(observation, facts=observation.facts.merged(given))
    snapshot = to_snapshot(observation, datetime.now(timezone.utc).isoformat(timespec="seconds"))
    if options.format == "json":
        terminal.stdout.write(to_json(snapshot))
    else:
        privacy = Privacy(terminal.environ, share=True)
        write_rows(_rows(snapshot["facts"], observation.reports, words), options.color, terminal, privacy)
    return ExitCode.NO_FAILURE


def _rows(facts: Mapping[str, object], reports: Iterable[ProbeReport], words: Words) -> list[Row]:
    """Names as the snapshot has them. Most variables and packages are not there: those are counted."""
    rows = [_fact_row(name, value, words) for name, value in facts.items() if value is not None]
    absent = sum(value is None for value in facts.values())
    if absent:
        rows += [BLANK, row(Span(words("env.absent", count=absent), "dim"))]
    return [*rows, *probe_rows(reports, words)]


def _fact_row(name: str, value: object, words: Words) -> Row:
    return row(Span(f"{name}  ", "name"), spell(name, value, words), hang=4)
