"""Arguments in, exit status out. The one place, with the chat's loop, where errors are caught and told."""

from __future__ import annotations

import errno
import gc
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module

from gpuhelp.errors import ExitCode, GpuhelpError
from gpuhelp.kb.problems import KnowledgeError
from gpuhelp.options import Shown, language_asked, parse
from gpuhelp.terminal import Terminal, language_of
from gpuhelp.words import Words

_MOST_PROBLEMS = 20
_NO_ROOM = frozenset({errno.ENOSPC, errno.EFBIG, errno.EIO, getattr(errno, "EDQUOT", errno.ENOSPC)})
"""What writing the answer fails with when the disk is at fault."""
_RARELY = 50_000
"""Objects between two rounds of garbage collection; the default, 700, costs a tenth of a short run."""


def entrypoint() -> None:
    """The `gpuhelp` command. Leaves at once: all is written, and a look that hangs must not hold us."""
    gc.set_threshold(_RARELY)
    terminal = Terminal.here()
    status = main(sys.argv[1:], terminal)
    for stream in (terminal.stdout, terminal.stderr):
        with suppress(OSError):
            stream.flush()
    _end_children()
    os._exit(status)


def _end_children() -> None:
    """A look still under way when the person leaves would outlive us where a driver hangs."""
    children = sys.modules.get("gpuhelp.probes.children")
    if children is not None:
        children.stop_all()


def main(argv: Sequence[str], terminal: Terminal) -> int:
    """Run one command and give its exit status. Nothing escapes."""
    language = language_asked(argv) or language_of(terminal.environ)
    words = Words(language if language in ("en", "ko") else "en")
    try:
        return _run(argv, terminal, words)
    except GpuhelpError as error:
        return _tell(terminal, error.told(words), ExitCode.BAD_INPUT)
    except KnowledgeError as error:
        return _tell(terminal, [str(problem) for problem in error.problems], ExitCode.BAD_INPUT)
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except BrokenPipeError:  # the reader has what it wanted (`gpuhelp … | head`): an error of nobody
        return ExitCode.NO_FAILURE
    except OSError as error:
        if error.errno not in _NO_ROOM or error.filename is not None:
            return _tell_defect(error, argv, terminal, words)
        return _tell(terminal, [words("error.output", reason=error.strerror)], ExitCode.BAD_INPUT)
    except Exception as error:  # noqa: BLE001 - a defect of ours must end in a report, not in a traceback
        return _tell_defect(error, argv, terminal, words)


def _run(argv: Sequence[str], terminal: Terminal, words: Words) -> int:
    try:
        options = parse(argv, words)
    except Shown as page:
        terminal.stdout.write(page.text)
        terminal.stdout.flush()
        return ExitCode.NO_FAILURE
    command = options.command
    if command == "diagnose" and not options.files and terminal.stdin_is_terminal:
        command = "chat"
    module = import_module(f"gpuhelp.commands.{'knowledge' if command == 'kb' else command}")
    status: int = module.run(options, terminal, words)
    terminal.stdout.flush()
    return status


def _tell(terminal: Terminal, lines: Sequence[str], status: ExitCode) -> int:
    """Each line on standard error, and the status. A name or a text in them steers no terminal."""
    from gpuhelp.rendering.layout import printable
    from gpuhelp.rendering.privacy import without_secrets

    with suppress(OSError):
        for line in lines[:_MOST_PROBLEMS]:
            print(without_secrets(printable(" ".join(line.split()))), file=terminal.stderr)
        if len(lines) > _MOST_PROBLEMS:
            print(f"… {len(lines) - _MOST_PROBLEMS} more", file=terminal.stderr)
    return status


def _tell_defect(error: Exception, argv: Sequence[str], terminal: Terminal, words: Words) -> int:
    from gpuhelp.defect import report_defect

    return _tell(terminal, [words("defect", path=report_defect(error, argv))], ExitCode.DEFECT)
