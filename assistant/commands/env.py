"""`gpuhelp env > env.json`: a snapshot of this machine, redacted, to diagnose with elsewhere."""

from __future__ import annotations

import argparse
import json

from gpuhelp.commands.common import machine_of
from gpuhelp.errors import ExitCode
from gpuhelp.rendering.layout import Row, Span, row
from gpuhelp.rendering.output import write_rows
from gpuhelp.rendering.privacy import Privacy
from gpuhelp.rendering.reasons import spell
from gpuhelp.terminal import Terminal
from gpuhelp.words import Words


def run(options: argparse.Namespace, terminal: Terminal, words: Words) -> int:
    """Every probe is asked; what cannot be looked at is named in the snapshot."""
    from datetime import datetime, timezone

    from gpuhelp.probes.runner import observe
    from gpuhelp.probes.snapshot import to_snapshot

    observation = observe(None, machine_of(options, terminal), limit_s=options.probe_timeout)
    snapshot = to_snapshot(observation, datetime.now(timezone.utc).isoformat(timespec="seconds"))
    if options.format == "json":
        terminal.stdout.write(json.dumps(snapshot, ensure_ascii=False, indent=2) + "\n")
    else:
        privacy = Privacy(terminal.environ, share=True)
        write_rows(_rows(snapshot["facts"]), options.color, terminal, privacy)
    return ExitCode.NO_FAILURE


def _rows(facts: dict[str, object]) -> list[Row]:
    return [row(Span(f"{name}  ", "name"), spell(name, value), hang=4) for name, value in facts.items()]
