"""`gpuhelp explain ID`: one class of failure, whatever the log."""

from __future__ import annotations

import argparse

from gpuhelp.commands.common import knowledge_of, no_such_entry
from gpuhelp.errors import ExitCode, InputError
from gpuhelp.kb.load import KnowledgeBase
from gpuhelp.rendering.explanation import explanation_data, explanation_rows
from gpuhelp.rendering.output import write_data, write_rows
from gpuhelp.rendering.privacy import Privacy
from gpuhelp.terminal import Terminal
from gpuhelp.words import Words


def run(options: argparse.Namespace, terminal: Terminal, words: Words) -> int:
    """0 explained. Raises InputError for an id that does not exist, with the nearest ones."""
    knowledge = knowledge_of(options)
    entry = knowledge.entry(resolve(" ".join(options.what), knowledge, words))
    privacy = Privacy(terminal.environ, share=False)
    if options.format == "text":
        write_rows(explanation_rows(entry, words), options.color, terminal, privacy)
    else:
        write_data(explanation_data(entry, words.language), "explanation.md.j2", options, terminal, words)
    return ExitCode.NO_FAILURE


def resolve(asked: str, knowledge: KnowledgeBase, words: Words) -> str:
    """The id meant: `cuda oom` and `CUDA_OOM` are cuda-oom. Raises InputError."""
    entry_id = "-".join(asked.lower().replace("_", " ").replace("-", " ").split())
    if entry_id in knowledge.ids:
        return entry_id
    raise InputError(no_such_entry(asked, entry_id, knowledge, words))
