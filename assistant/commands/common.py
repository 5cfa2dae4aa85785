"""What several commands need: the knowledge base of these options, and the way to look at the machine."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from gpuhelp.errors import InputError
from gpuhelp.kb.load import KnowledgeBase, load
from gpuhelp.probes.facts import Facts
from gpuhelp.reading.evidence import Evidence
from gpuhelp.terminal import Terminal

if TYPE_CHECKING:
    from gpuhelp.diagnosis import Observe
    from gpuhelp.probes.machine import Machine
    from gpuhelp.probes.runner import Observation


def knowledge_of(options: argparse.Namespace) -> KnowledgeBase:
    """The shipped entries and those of --kb."""
    return load(Path(folder) for folder in options.kb)


def given_facts(options: argparse.Namespace) -> Facts:
    """The facts of --env, none without it. Raises InputError for a snapshot that cannot be read."""
    if not options.env:
        return Facts()
    from gpuhelp.probes.snapshot import SnapshotError, read_snapshot

    path = Path(options.env)
    try:
        return read_snapshot(path.read_text("utf-8-sig"))
    except FileNotFoundError:
        raise InputError(f"{path}: no such snapshot; make one with `gpuhelp env > {path.name}`") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    except SnapshotError as error:
        raise InputError(f"{path}: {error}") from None


def observer_of(options: argparse.Namespace, terminal: Terminal) -> Observe | None:
    """How findings get their facts: from this machine, or not at all with --no-probes or --env."""
    if options.no_probes or options.env:
        return None

    def look(wanted: Iterable[str], evidence: Evidence) -> Observation:
        from gpuhelp.probes.runner import observe

        return observe(wanted, machine_of(options, terminal, evidence), limit_s=options.probe_timeout)

    return look


def machine_of(options: argparse.Namespace, terminal: Terminal, evidence: Evidence = ()) -> Machine:
    """This machine, with the interpreter that ran the job: --python, else as the evidence and environment say."""
    from gpuhelp.probes.interpreter import find_python
    from gpuhelp.probes.machine import Machine

    python = options.python
    if python is None:
        found = find_python(_paths_in(evidence), terminal.environ, Path("/"))
        python = found.path if found else None
    elif not Path(python).is_file():
        raise InputError(f"{python}: no such interpreter; give --python the path of the python that ran the job")
    return Machine(environ=dict(terminal.environ), python=python)


def _paths_in(evidence: Evidence) -> tuple[str, ...]:
    files = (frame.file for document in evidence for error in document.errors for frame in error.frames)
    return tuple(dict.fromkeys(files))
