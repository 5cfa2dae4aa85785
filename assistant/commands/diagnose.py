"""`gpuhelp [FILE...]`: what the text shows, judged and told."""

from __future__ import annotations

import argparse

from gpuhelp.commands.common import given_facts, knowledge_of, observer_of
from gpuhelp.diagnosis import Diagnosis, Status, diagnose_texts
from gpuhelp.errors import ExitCode
from gpuhelp.reading.sources import STANDARD_INPUT, read_paths
from gpuhelp.terminal import Terminal
from gpuhelp.words import Words


def run(options: argparse.Namespace, terminal: Terminal, words: Words) -> int:
    """Diagnose files or standard input; 0 no failure, 1 a failure."""
    texts = read_paths(options.files or [STANDARD_INPUT], terminal.stdin)
    if not any(text.text.strip() for text in texts):
        print(words("nothing"), file=terminal.stderr)
        return ExitCode.NO_FAILURE
    knowledge = knowledge_of(options)
    diagnosis = diagnose_texts(
        texts, facts=given_facts(options), probes=observer_of(options, terminal), knowledge=knowledge
    )
    from gpuhelp.rendering.output import write

    write(diagnosis, options, terminal, words, knowledge)
    return exit_code(diagnosis)


def exit_code(diagnosis: Diagnosis) -> ExitCode:
    """1 where a failure was found, known or not."""
    return ExitCode.NO_FAILURE if diagnosis.status is Status.HEALTHY else ExitCode.FAILURE_FOUND
