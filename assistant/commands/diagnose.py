"""`gpuhelp [FILE...]`: what the text shows, judged and told."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gpuhelp.commands.common import given_facts, host_of, knowledge_of, observer_of
from gpuhelp.errors import ExitCode, InputError, Saying
from gpuhelp.kb.load import KnowledgeBase
from gpuhelp.options import COMMANDS
from gpuhelp.reading.sources import STANDARD_INPUT, Notes, check, selection_from
from gpuhelp.rendering.progress import ReadingProgress
from gpuhelp.scanning.gather import Gathered, gather
from gpuhelp.terminal import Terminal
from gpuhelp.words import Words

_MOST_NOTES = 20

if TYPE_CHECKING:
    from gpuhelp.diagnosis import Diagnosis


def run(options: argparse.Namespace, terminal: Terminal, words: Words) -> int:
    """Diagnose files or standard input; 0 no failure, 1 a failure."""
    _refuse_misspelled_command(options.files, words)
    knowledge = knowledge_of(options, terminal)
    probes = observer_of(options, terminal)
    texts, interrupted = _gathered(options, terminal, words, knowledge)
    is_empty = not any(text.text.strip() for text in texts)
    if interrupted and is_empty:
        return ExitCode.INTERRUPTED
    if interrupted or is_empty:
        print(words("note.interrupted" if interrupted else "nothing"), file=terminal.stderr)
    if is_empty:
        return ExitCode.NO_FAILURE
    from gpuhelp.diagnosis import diagnose_texts

    diagnosis = diagnose_texts(
        texts, facts=given_facts(options), probes=probes, knowledge=knowledge, host=host_of(terminal)
    )
    from gpuhelp.rendering.output import write

    write(diagnosis, options, terminal, words, knowledge)
    return ExitCode.INTERRUPTED if interrupted else exit_code(diagnosis)


def _gathered(
    options: argparse.Namespace, terminal: Terminal, words: Words, knowledge: KnowledgeBase
) -> Gathered:
    """The texts to diagnose; what a person should hear about their files goes to standard error."""
    paths = options.files or [STANDARD_INPUT]
    selection = selection_from(options.last, options.since)
    check(paths)
    notes = Notes()
    with ReadingProgress(terminal.stderr) as progress:
        watcher = progress if terminal.stderr.isatty() else None
        gathered = gather(
            paths,
            terminal.stdin,
            knowledge,
            selection=selection,
            notes=notes,
            watcher=watcher,
            meanwhile=_load_what_comes_later,
        )
    _tell(notes, terminal, words)
    return gathered


def _tell(notes: Notes, terminal: Terminal, words: Words) -> None:
    """Each note on a line of its own, the first of them: an archive may hold thousands of broken files."""
    told = [saying.told(words) if isinstance(saying, Saying) else saying for saying in notes.sayings]
    if not told:
        return
    from gpuhelp.rendering.layout import one_line
    from gpuhelp.rendering.privacy import without_secrets

    for line in told[:_MOST_NOTES]:
        print(without_secrets(one_line(line)), file=terminal.stderr)
    if len(told) > _MOST_NOTES:
        print(f"… {len(told) - _MOST_NOTES} more", file=terminal.stderr)


def _load_what_comes_later() -> None:
    """Modules needed once the text is read: the processes that scan a large file leave time for it."""
    from importlib import import_module

    for name in ("diagnosis", "rendering.documents", "rendering.output", "rendering.text"):
        import_module(f"gpuhelp.{name}")


def _refuse_misspelled_command(files: Sequence[str], words: Words) -> None:
    """`gpuhelp chekc`: the word is no file, and what was meant is told. Raises InputError."""
    if len(files) != 1 or not files[0].isalpha() or os.path.exists(files[0]):  # noqa: PTH110  no error for long names
        return
    from difflib import get_close_matches

    near = get_close_matches(files[0].lower(), COMMANDS, 1)
    if near:
        raise InputError(words("error.no_command", word=files[0], near=near[0]))


def exit_code(diagnosis: Diagnosis) -> ExitCode:
    """1 where a failure was found, known or not."""
    from gpuhelp.diagnosis import Status

    return ExitCode.NO_FAILURE if diagnosis.status is Status.HEALTHY else ExitCode.FAILURE_FOUND
