"""Arguments in, exit status out. The one place, with the chat's loop, where errors are caught and told."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from importlib import import_module

from gpuhelp.errors import ExitCode, GpuhelpError
from gpuhelp.kb.problems import KnowledgeError
from gpuhelp.options import language_asked, parse
from gpuhelp.terminal import Terminal, language_of
from gpuhelp.words import Words

_MOST_PROBLEMS = 20
_RARELY = 50_000
"""Objects between two rounds of the garbage collector; the default of 700 costs a short run a tenth of its time."""


def entrypoint() -> None:
    """The `gpuhelp` command. Leaves at once: nothing is left to write, and a look that hangs must not hold us."""
    gc.set_threshold(_RARELY)
    terminal = Terminal.here()
    status = main(sys.argv[1:], terminal)
    try:
        terminal.stdout.flush()
        terminal.stderr.flush()
    except OSError:
        status = status or ExitCode.NO_FAILURE
    os._exit(status)


def main(argv: Sequence[str], terminal: Terminal) -> int:
    """Run one command and give its exit status. Nothing escapes but SystemExit from --help."""
    language = language_asked(argv) or language_of(terminal.environ)
    words = Words(language if language in ("en", "ko") else "en")
    try:
        return _run(argv, terminal, words)
    except GpuhelpError as error:
        return _tell(terminal, error.lines, ExitCode.BAD_INPUT)
    except KnowledgeError as error:
        return _tell(terminal, [str(problem) for problem in error.problems], ExitCode.BAD_INPUT)
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        return _reader_left()
    except Exception as error:  # noqa: BLE001 - a defect of ours must end in a report, not in a traceback
        from gpuhelp.defect import report_defect

        return _tell(terminal, [words("defect", path=report_defect(error, argv))], ExitCode.DEFECT)


def _run(argv: Sequence[str], terminal: Terminal, words: Words) -> int:
    options = parse(argv, words)
    command = options.command
    if command == "diagnose" and not options.files and terminal.stdin_is_terminal:
        command = "chat"
    module = import_module(f"gpuhelp.commands.{'knowledge' if command == 'kb' else command}")
    status: int = module.run(options, terminal, words)
    terminal.stdout.flush()
    return status


def _tell(terminal: Terminal, lines: Sequence[str], status: ExitCode) -> int:
    for line in lines[:_MOST_PROBLEMS]:
        print(" ".join(line.split()), file=terminal.stderr)
    if len(lines) > _MOST_PROBLEMS:
        print(f"… {len(lines) - _MOST_PROBLEMS} more", file=terminal.stderr)
    return status


def _reader_left() -> int:
    """The reader of our output is gone (`gpuhelp … | head`): not an error of anybody."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return ExitCode.NO_FAILURE
