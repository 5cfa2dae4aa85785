"""`gpuhelp check --deep`: PyTorch imported and one small kernel run, in the person's own interpreter.

No probe: it is never asked for facts, and only run when the person asks for it by name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpuhelp.probes.child_lines import json_lines, last_line
from gpuhelp.probes.children import ChildResult, ChildStatus
from gpuhelp.probes.machine import Machine

LIMIT_S = 60.0


@dataclass(frozen=True, slots=True)
class KernelRun:
    """The kernel on one GPU, as PyTorch numbers it. `error` is a traceback, empty where it ran."""

    device: int
    name: str = ""
    right: bool = False
    got: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class Attempt:
    """What came of it. `ended` says how the child ended: "", no python, timeout, killed, broken.

    `step` is the last one begun (import, start, kernel), `detail` belongs to `ended`, `error` is the
    traceback of a step before the kernels, `missing` the module that an import did not find.
    """

    python: str
    ended: str = ""
    step: str = ""
    device: int | None = None
    detail: str = ""
    error: str = ""
    missing: str = ""
    runs: tuple[KernelRun, ...] = ()


def try_torch(machine: Machine, *, limit_s: float = LIMIT_S) -> Attempt:
    """Import PyTorch and run the kernel on each GPU it sees, within `limit_s` seconds. Raises nothing."""
    if machine.python is None:
        return Attempt("", ended="no python")
    script = Path(__file__).with_name("trial_child.py")
    command = (str(machine.path(machine.python)), str(script))
    quiet = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONIOENCODING": "utf-8"}
    result = machine.children.run(command, timeout_s=limit_s, env={**machine.environ, **quiet})
    return attempt_of(machine.python, result)


def attempt_of(python: str, result: ChildResult) -> Attempt:
    """The attempt that a child's lines tell of."""
    parts = list(json_lines(result.stdout))
    steps = [part for part in parts if "step" in part]
    last: Mapping[str, Any] = steps[-1] if steps else {}
    early = next((part for part in parts if "error" in part and "device" not in part), {})
    ended, detail = _ended(result, bool(steps))
    return Attempt(
        python=python,
        ended=ended,
        step=str(last.get("step", "")),
        device=last.get("device"),
        detail=detail,
        error=str(early.get("error", "")),
        missing=str(early.get("missing", "")),
        runs=tuple(_runs(parts)),
    )


def _runs(parts: Iterable[Mapping[str, Any]]) -> Iterable[KernelRun]:
    for part in parts:
        if "step" in part or "device" not in part:
            continue
        got = part.get("sum")
        yield KernelRun(
            device=int(part["device"]),
            name=str(part.get("name", "")),
            right=got is not None and got == part.get("expected"),
            got="" if got is None else f"{got:g}",
            error=str(part.get("error", "")),
        )


def _ended(result: ChildResult, began: bool) -> tuple[str, str]:
    if result.status is ChildStatus.TIMEOUT:
        return "timeout", f"{result.seconds:.0f}"
    if result.status is ChildStatus.NOT_STARTED:
        return "broken", result.error
    if result.signal_name:
        return "killed", result.signal_name
    if not began:
        return "broken", last_line(result.stderr) or f"exit status {result.returncode}"
    return "", ""
