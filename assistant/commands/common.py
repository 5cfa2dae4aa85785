"""What several commands need: the knowledge base of these options, and the way to look at the machine."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from gpuhelp.errors import InputError
from gpuhelp.kb.load import KnowledgeBase, load
from gpuhelp.probes.facts import Facts
from gpuhelp.reading.evidence import Evidence
from gpuhelp.terminal import Terminal
from gpuhelp.words import Words

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpuhelp.diagnosis import Observe
    from gpuhelp.probes.machine import Machine
    from gpuhelp.probes.runner import Observation

    # None asks for every fact there is.
    Look = Callable[[Iterable[str] | None, Evidence], Observation]


def words_of(options: argparse.Namespace) -> Words:
    """The sentences in the language of these options."""
    return Words(getattr(options, "language", "en"))


def knowledge_of(
    options: argparse.Namespace, terminal: Terminal, *, tell_skipped: bool = True
) -> KnowledgeBase:
    """All entries: shipped, the person's, of packages, of --kb. What had to be left out is told once."""
    knowledge = load((Path(folder) for folder in options.kb), further=True)
    if knowledge.skipped and tell_skipped:
        _tell_skipped(knowledge, words_of(options), terminal.stderr)
    return knowledge


def _tell_skipped(knowledge: KnowledgeBase, words: Words, stream: TextIO) -> None:
    """One line a file: its first fault is enough to begin with, `gpuhelp kb lint` tells the others."""
    from gpuhelp.rendering.layout import printable

    first = {problem.path: problem for problem in reversed(knowledge.skipped)}
    for problem in sorted(first.values()):
        print(printable(" ".join(words("kb.skipped", problem=problem).split())), file=stream)


def given_facts(options: argparse.Namespace) -> Facts:
    """The facts of --env, none without it. Raises InputError for a snapshot that cannot be read."""
    if not options.env:
        return Facts()
    from gpuhelp.probes.snapshot import SnapshotError, read_snapshot

    path, words = Path(options.env), words_of(options)
    try:
        return read_snapshot(path.read_text("utf-8-sig"))
    except FileNotFoundError:
        raise InputError(words("error.no_snapshot", path=path, name=path.name)) from None
    except (OSError, ValueError) as error:
        if isinstance(error, SnapshotError):
            raise InputError(f"{path}: {error}") from None
        reason = getattr(error, "strerror", None) or error
        raise InputError(words("error.unreadable", path=path, reason=reason)) from None


def observer_of(options: argparse.Namespace, terminal: Terminal) -> Observe | None:
    """How findings get their facts: from this machine, or not at all with --no-probes or --env.

    Raises InputError for a --python that does not exist, even where nobody would ask it.
    """
    python_of(options)
    return None if options.no_probes or options.env else look_of(options, terminal)


def look_of(options: argparse.Namespace, terminal: Terminal) -> Look:
    """A look at this machine; with --no-probes or --env one that reports every probe as skipped."""

    python_of(options)

    def look(wanted: Iterable[str] | None, evidence: Evidence) -> Observation:
        from gpuhelp.probes.runner import observe, skip

        if options.no_probes or options.env:
            return skip(wanted, "--no-probes" if options.no_probes else "--env")
        seen = observe(wanted, machine_of(options, terminal, evidence), limit_s=options.probe_timeout)
        return seen if options.python else _of_this_job(seen, evidence)

    return look


def _of_this_job(seen: Observation, evidence: Evidence) -> Observation:
    """Without what was read of an interpreter that cannot be the job's: the log has PyTorch, it has not."""
    installed = seen.facts.get("torch.installed")
    if installed is None or installed.value is not False or not any(map(_shows_torch, _paths_in(evidence))):
        return seen
    foreign = ("torch.", "packages.", "python.")
    kept = Facts({name: fact for name, fact in seen.facts.items() if not name.startswith(foreign)})
    return replace(seen, facts=kept)


def _shows_torch(path: str) -> bool:
    return "-packages/torch/" in path.replace("\\", "/")


def host_of(terminal: Terminal) -> str:
    """What this machine is called; empty where nobody says."""
    told = terminal.environ.get("HOSTNAME") or terminal.environ.get("COMPUTERNAME")
    return told or (os.uname().nodename if hasattr(os, "uname") else "")


def machine_of(options: argparse.Namespace, terminal: Terminal, evidence: Evidence = ()) -> Machine:
    """This machine, with the interpreter that ran the job: --python, else as evidence and environment say."""
    from gpuhelp.probes.interpreter import find_python
    from gpuhelp.probes.machine import Machine

    python = python_of(options)
    if python is None:
        found = find_python(_paths_in(evidence), terminal.environ, Path("/"))
        python = found.path if found else None
    return Machine(environ=dict(terminal.environ), python=python)


def no_such_entry(asked: str, entry_id: str, knowledge: KnowledgeBase, words: Words) -> str:
    """The line about an entry that does not exist, with the nearest ones."""
    from difflib import get_close_matches

    near = get_close_matches(entry_id, knowledge.ids, 3, 0.5)
    if near:
        return words("error.no_entry.near", asked=asked, near=", ".join(near))
    return words("error.no_entry", asked=asked)


def python_of(options: argparse.Namespace) -> str | None:
    """The path that --python names; None without it. Raises InputError where there is no such file."""
    if options.python is None:
        return None
    with suppress(OSError):  # a working folder that was deleted
        path = Path(options.python).absolute()  # not resolved: the link is what makes a virtual environment
        if path.is_file():
            return str(path)
    raise InputError(words_of(options)("error.no_python", path=options.python))


def _paths_in(evidence: Evidence) -> tuple[str, ...]:
    files = (frame.file for document in evidence for error in document.errors for frame in error.frames)
    return tuple(dict.fromkeys(files))
