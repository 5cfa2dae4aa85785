"""`gpuhelp check`: the stack of this machine, what is wrong with it, and what its GPUs can do."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from gpuhelp.commands.common import given_facts, knowledge_of, look_of, machine_of
from gpuhelp.diagnosis import TableFunctions
from gpuhelp.errors import ExitCode, InputError
from gpuhelp.kb.load import KnowledgeBase
from gpuhelp.reasoning.abilities import Model, models
from gpuhelp.reasoning.checkup import Checkup, check, names_of_causes, names_wanted
from gpuhelp.reasoning.troubles import per_gpu
from gpuhelp.rendering.checkup import checkup_data, checkup_rows
from gpuhelp.rendering.output import write_data, write_rows
from gpuhelp.rendering.privacy import Privacy
from gpuhelp.terminal import Terminal
from gpuhelp.words import Words

if TYPE_CHECKING:
    from gpuhelp.commands.common import Look
    from gpuhelp.probes.facts import Facts
    from gpuhelp.probes.runner import Observation
    from gpuhelp.reasoning.trial import Trial


def run(options: argparse.Namespace, terminal: Terminal, words: Words) -> int:
    """0 nothing wrong found, 1 something. Raises InputError for --deep without a machine to try it on."""
    if options.deep and (options.env or options.no_probes):
        raise InputError(words("error.deep_elsewhere"))
    knowledge = knowledge_of(options, terminal)
    trial = _trial(options, terminal, knowledge)
    observation, checkup = _look(options, terminal, knowledge)
    told = _models(checkup, knowledge)
    privacy = Privacy(terminal.environ, share=options.redact or options.format == "markdown")
    if options.format == "text":
        rows = checkup_rows(checkup, observation.reports, words, knowledge, told)
        if trial is not None:
            from gpuhelp.rendering.trial import trial_rows

            rows = (*rows, *trial_rows(trial, words))
        write_rows(rows, options.color, terminal, privacy)
    else:
        data = checkup_data(checkup, observation.facts, observation.reports, words, knowledge, told)
        if trial is not None:
            from gpuhelp.rendering.trial import trial_data

            data["trial"] = trial_data(trial, words)
        write_data(privacy.data(data), "checkup.md.j2", options, terminal, words)
    failed = checkup.troubles or (trial is not None and trial.failed)
    return ExitCode.FAILURE_FOUND if failed else ExitCode.NO_FAILURE


def _look(
    options: argparse.Namespace, terminal: Terminal, knowledge: KnowledgeBase
) -> tuple[Observation, Checkup]:
    """The machine and what is wrong with it; where something is, a second look decides between its causes."""
    rows, functions = knowledge.table("checks"), TableFunctions(knowledge)
    given, look = given_facts(options), look_of(options, terminal)
    wanted = names_wanted(rows) | ({"torch.*"} if options.deep else frozenset())
    observation = look(sorted(wanted), ())
    observation = replace(observation, facts=observation.facts.merged(given))
    checkup = check(observation.facts, rows, functions)
    asked = names_of_causes(knowledge.entry(each.entry) for each in checkup.troubles)
    more = _not_asked_yet(asked, observation)
    if not more:
        return observation, checkup
    observation = _both(observation, look, more, given)
    return observation, check(observation.facts, rows, functions)


def _not_asked_yet(names: Iterable[str], observation: Observation) -> list[str]:
    """The names that only probes can tell that have not been asked."""
    from gpuhelp.probes.registry import probes_for

    asked = {report.id for report in observation.reports}
    return [name for name in sorted(names) if {probe.id for probe in probes_for([name])} - asked]


def _both(first: Observation, look: Look, more: list[str], given: Facts) -> Observation:
    second = look(more, ())
    reports = {report.id: report for report in (*second.reports, *first.reports)}
    facts = second.facts.merged(first.facts).merged(given)
    return replace(first, facts=facts, reports=tuple(reports[id] for id in sorted(reports)))


def _models(checkup: Checkup, knowledge: KnowledgeBase) -> tuple[Model, ...]:
    return models((each.gpu for each in per_gpu(checkup.scope)), knowledge.table("capabilities")["features"])


def _trial(options: argparse.Namespace, terminal: Terminal, knowledge: KnowledgeBase) -> Trial | None:
    """What came of a small kernel in the person's PyTorch; None unless asked for by --deep."""
    if not options.deep:
        return None
    from gpuhelp.probes.trial import try_torch
    from gpuhelp.reasoning.trial import judged_trial

    return judged_trial(try_torch(machine_of(options, terminal)), knowledge)
