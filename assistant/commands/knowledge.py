"""`gpuhelp kb list|lint|test`: what is known, and whether it holds."""

from __future__ import annotations

import argparse

from gpuhelp.commands.common import knowledge_of
from gpuhelp.errors import ExitCode, InputError
from gpuhelp.kb.load import KnowledgeBase
from gpuhelp.terminal import Terminal
from gpuhelp.words import Words


def run(options: argparse.Namespace, terminal: Terminal, words: Words) -> int:
    """0 if all is well, 1 if lint or a test found faults; broken files are told by the command line."""
    knowledge = knowledge_of(options)
    chosen = _chosen(options.ids, knowledge)
    faults: tuple[str, ...]
    if options.action == "list":
        for line in _listed(chosen, knowledge, words.language):
            print(line, file=terminal.stdout)
        return ExitCode.NO_FAILURE
    if options.action == "lint":
        from gpuhelp.kb.lint import lint
        from gpuhelp.probes.names import is_fact_name

        faults = tuple(str(problem) for problem in lint(knowledge, chosen, is_fact_name))
    else:
        from gpuhelp.commands.entry_tests import failures

        faults = failures(knowledge, chosen)
    for fault in faults:
        print(fault, file=terminal.stdout)
    key = f"kb.{options.action}.{'bad' if faults else 'good'}"
    print(words(key, faults=len(faults), entries=len(chosen)), file=terminal.stdout)
    return ExitCode.FAILURE_FOUND if faults else ExitCode.NO_FAILURE


def _chosen(ids: list[str], knowledge: KnowledgeBase) -> tuple[str, ...]:
    """The ids asked for, all of them if none. Raises InputError for one that does not exist."""
    for entry_id in ids:
        if entry_id not in knowledge.ids:
            from difflib import get_close_matches

            near = get_close_matches(entry_id, knowledge.ids, 1)
            hint = f"did you mean {near[0]}?" if near else "see `gpuhelp kb list`"
            raise InputError(f"{entry_id}: no such entry; {hint}")
    return tuple(ids) or knowledge.ids


def _listed(ids: tuple[str, ...], knowledge: KnowledgeBase, language: str) -> list[str]:
    width = max(map(len, ids), default=0)
    entries = [knowledge.entry(entry_id) for entry_id in ids]
    return [f"{entry.id:<{width}}  {entry.layer:<11}  {entry.title.of(language)}" for entry in entries]
