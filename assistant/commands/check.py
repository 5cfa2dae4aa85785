"""`gpuhelp check`: the stack of this machine, layer by layer, and what is wrong with it."""

from __future__ import annotations

import argparse

from gpuhelp.commands.common import given_facts, knowledge_of, look_of
from gpuhelp.diagnosis import TableFunctions
from gpuhelp.errors import ExitCode
from gpuhelp.reasoning.checkup import check, names_wanted
from gpuhelp.rendering.checkup import checkup_data, checkup_rows
from gpuhelp.rendering.output import write_data, write_rows
from gpuhelp.rendering.privacy import Privacy
from gpuhelp.terminal import Terminal
from gpuhelp.words import Words


def run(options: argparse.Namespace, terminal: Terminal, words: Words) -> int:
    """0 nothing wrong found, 1 something."""
    knowledge = knowledge_of(options, terminal)
    rows = knowledge.table("checks")
    observation = look_of(options, terminal)(sorted(names_wanted(rows)), ())
    facts = observation.facts.merged(given_facts(options))
    checkup = check(facts, rows, TableFunctions(knowledge))
    privacy = Privacy(terminal.environ, share=options.redact or options.format == "markdown")
    if options.format == "text":
        told = checkup_rows(checkup, observation.reports, words, knowledge)
        write_rows(told, options.color, terminal, privacy)
    else:
        data = privacy.data(checkup_data(checkup, facts, observation.reports, words, knowledge))
        write_data(data, "checkup.md.j2", options, terminal, words)
    return ExitCode.FAILURE_FOUND if checkup.troubles else ExitCode.NO_FAILURE
