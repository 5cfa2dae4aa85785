"""What several commands need: the knowledge base of these options, and the way to look at the machine."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import replace
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
    return None if options.no_probes or options.env else look_of(options, terminal)


def look_of(options: argparse.Namespace, terminal: Terminal) -> Observe:
    """A look at this machine; with --no-probes or --env one that reports every probe as skipped."""

    def look(wanted: Iterable[str], evidence: Evidence) -> Observation:
        from gpuhelp.probes.runner import observe, skip

        if options.no_probes or options.env:
            return skip(wanted, "--no-probes" if options.no_probes else "--env")
        seen = observe(wanted, machine_of(options, terminal, evidence), limit_s=options.probe_timeout)
        return seen if options.python else _of_this_job(seen, evidence)

    return look


def _of_this_job(seen: Observation, evidence: Evidence) -> Observation:
    """Without what was read of an interpreter that cannot be the job's: the log shows PyTorch, and it has none."""
    installed = seen.facts.get("torch.installed")
    if installed is None or installed.value is not False or not any(map(_shows_torch, _paths_in(evidence))):
        return seen
    foreign = ("torch.", "packages.", "python.")
    kept = Facts({name: fact for name, fact in seen.facts.items() if not name.startswith(foreign)})
    return replace(seen, facts=kept)


def _shows_torch(path: str) -> bool:
    return "-packages/torch/" in path.replace("\\", "/")


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
