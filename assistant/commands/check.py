"""`gpuhelp check`: the stack of this machine, what is wrong with it, and what its GPUs can do."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING

from gpuhelp.commands.common import given_facts, knowledge_of, look_of, machine_of
from gpuhelp.errors import ExitCode, InputError
from gpuhelp.kb.load import KnowledgeBase
from gpuhelp.reasoning.abilities import Model, models
from gpuhelp.reasoning.checkup import Checkup, check, names_of_causes, names_wanted
from gpuhelp.reasoning.troubles import per_gpu
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
    _tell(observation, checkup, trial, options, terminal, words, knowledge)
    failed = checkup.troubles or (trial is not None and trial.failed)
    return ExitCode.FAILURE_FOUND if failed else ExitCode.NO_FAILURE


def _tell(
    observation: Observation,
    checkup: Checkup,
    trial: Trial | None,
    options: argparse.Namespace,
    terminal: Terminal,
    words: Words,
    knowledge: KnowledgeBase,
) -> None:
    from gpuhelp.rendering.checkup import checkup_data, checkup_rows
    from gpuhelp.rendering.output import write_data, write_rows
    from gpuhelp.rendering.privacy import Privacy

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


def _look(
    options: argparse.Namespace, terminal: Terminal, knowledge: KnowledgeBase
) -> tuple[Observation, Checkup]:
    """The machine and what is wrong with it; where something is, a second look decides between its causes."""
    given, look, rows = given_facts(options), look_of(options, terminal), knowledge.table("checks")
    wanted = names_wanted(rows) | ({"torch.*"} if options.deep else frozenset())
    observation = _while_loading(lambda: look(sorted(wanted), ()))
    from gpuhelp.reasoning.table_functions import TableFunctions

    functions = TableFunctions(knowledge)
    observation = replace(observation, facts=observation.facts.merged(given))
    checkup = check(observation.facts, rows, functions)
    asked = names_of_causes(knowledge.entry(each.entry) for each in checkup.troubles)
    more = _not_asked_yet(asked, observation)
    if not more:
        return observation, checkup
    observation = _both(observation, look, more, given)
    return observation, check(observation.facts, rows, functions)


def _while_loading(look: Callable[[], Observation]) -> Observation:
    """What the look gives. It mostly waits for children: time to load what comes after it."""
    from threading import Thread

    found: list[Observation] = []
    thread = Thread(target=lambda: found.append(look()), daemon=True)
    try:
        thread.start()
    except RuntimeError:  # no more threads for this person: one after the other then
        return look()
    for name in ("reasoning.table_functions", "rendering.checkup", "rendering.output"):
        import_module(f"gpuhelp.{name}")
    thread.join()
    return found[0] if found else look()  # what it raised is raised here


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
    from gpuhelp.diagnosis import diagnose
    from gpuhelp.probes.trial import try_torch
    from gpuhelp.reasoning.trial import Trial, first_error

    attempt = try_torch(machine_of(options, terminal))
    error = first_error(attempt)
    return Trial(attempt, diagnose(error, knowledge=knowledge).findings if error else ())
