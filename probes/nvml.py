"""Asks the NVIDIA driver through NVML, in child processes: driver versions, each GPU, its links.

Where NVML cannot be loaded, `nvidia-smi` is asked instead.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

from gpuhelp.probes.child_lines import json_lines, last_line
from gpuhelp.probes.children import ChildResult, ChildStatus
from gpuhelp.probes.facts import FactValue
from gpuhelp.probes.machine import Machine
from gpuhelp.probes.nvml_account import CRASHED, NO_ANSWER, Account, Part
from gpuhelp.probes.nvml_asking import NVML_ERROR_FUNCTION_NOT_FOUND, NVML_ERROR_LIBRARY_NOT_FOUND, STUCK
from gpuhelp.probes.processes import Owners
from gpuhelp.probes.registry import ProbeFailed, ProbeProblem, ProbeTimeout, ProbeUnavailable, Told, probe

TIMEOUT_S = 3.0
PATIENCE_S = 1.0  # for one call, once NVML has started; a start may take long on a machine of many GPUs
MAX_CHILDREN = 5
LEAST_S = 0.25  # a child that has less will tell nothing


@probe(
    "nvml.driver",
    facts=(
        "driver.version", "driver.cuda_api_version", "driver.error", "gpus", "topology.links", "fabric.state",
    ),
    timeout_s=TIMEOUT_S,
    source="nvml",
)  # fmt: skip
def nvml_driver(machine: Machine) -> Told:
    """Driver versions, GPUs and their links.

    Errors: unavailable when NVML does not start (`driver.error` says why) and nvidia-smi cannot help; timeout
    or error when a call hangs or crashes. What else there is to know is told all the same; a GPU that does
    not answer has an `error`. The detail names each call that failed. Source: NVML API reference.
    """
    started = time.monotonic()
    try:
        account, result = interview(machine, child_argv())
    except ProbeUnavailable as no_bindings:
        return by_nvidia_smi(machine, no_bindings, started)
    if account.start_error is not None:
        problem = ProbeUnavailable(account.start_error["error"], not_started(account.start_error))
        if cannot_be_loaded(account.start_error):
            return by_nvidia_smi(machine, problem, started)
        raise problem
    if not account.started and result.status is ChildStatus.EXITED and result.signal_name is None:
        why = last_line(result.stderr) or "the child process told nothing"
        return by_nvidia_smi(machine, ProbeFailed(why), started)
    facts = account.facts(Owners.of(machine))
    raise_if_broken(account, result, facts)
    return Told(facts, account.detail())


def child_argv() -> tuple[str, ...]:
    """The command that runs the child: isolated, without site-packages, leaving no compiled files behind.

    Raises ProbeUnavailable where the bindings or this interpreter cannot be named.
    """
    import sys
    from importlib.util import find_spec
    from pathlib import Path

    spec = find_spec("pynvml")
    if spec is None or spec.origin is None or not sys.executable:
        raise ProbeUnavailable("the NVML bindings (nvidia-ml-py) are not installed")
    bindings = Path(spec.origin)
    directory = bindings.parent.parent if bindings.name == "__init__.py" else bindings.parent
    script = Path(__file__).with_name("nvml_child.py")
    if not script.is_file():
        raise ProbeUnavailable("gpuhelp was not installed as files, so that its NVML script cannot be run")
    return (sys.executable, "-I", "-S", "-B", str(script), str(directory), str(PATIENCE_S))


def interview(machine: Machine, argv: tuple[str, ...]) -> tuple[Account, ChildResult]:
    """What NVML tells, and how the last child ended.

    A child that is lost in a call is followed by one that leaves this call out, as long as there is time.
    """
    account, started = Account(), time.monotonic()
    for _ in range(MAX_CHILDREN):
        left_s = TIMEOUT_S - (time.monotonic() - started)
        result = machine.children.run((*argv, *account.skip), timeout_s=left_s, env=machine.environ)
        account.add(json_lines(result.stdout))
        lost = how_lost(result)
        if lost is None or account.ended or account.start_error is not None or not account.started:
            break
        account.stopped(lost)
        out_of_time = result.status is ChildStatus.TIMEOUT or time.monotonic() - started > TIMEOUT_S - LEAST_S
        if out_of_time or account.asked is None:
            break
    return account, result


def how_lost(result: ChildResult) -> str | None:
    """NO_ANSWER, or CRASHED and by what, if the child did not come to its end."""
    if result.status is ChildStatus.TIMEOUT or result.returncode == STUCK:
        return NO_ANSWER
    if result.returncode is None:
        return None
    return f"{CRASHED} ({result.signal_name or f'exit status {result.returncode}'})"


def not_started(part: Part) -> dict[str, FactValue]:
    """Facts of an NVML that did not start. Without its library there is no driver for programs to use."""
    facts: dict[str, FactValue] = {"driver.error": part["error"]}
    if part.get("code") == NVML_ERROR_LIBRARY_NOT_FOUND:
        facts.update({"driver.version": None, "driver.cuda_api_version": None})
    return facts


def cannot_be_loaded(start_error: Part) -> bool:
    """NVML itself is at fault, not the driver behind it: nvidia-smi may find another one."""
    return start_error.get("code") in (NVML_ERROR_LIBRARY_NOT_FOUND, NVML_ERROR_FUNCTION_NOT_FOUND)


def by_nvidia_smi(machine: Machine, problem: ProbeProblem, started: float) -> Told:
    """The answer of nvidia-smi in the time that is left. Raises `problem` where it has none."""
    from gpuhelp.probes.nvidia_smi import ask_nvidia_smi

    return ask_nvidia_smi(machine, problem, TIMEOUT_S - (time.monotonic() - started))


def raise_if_broken(account: Account, result: ChildResult, facts: Mapping[str, FactValue]) -> None:
    """Raise what kept the children from telling everything, with the facts they had told."""
    detail, troubles = account.detail(), account.troubles.values()
    if result.status is ChildStatus.NOT_STARTED:
        raise ProbeFailed(f"a child process could not be started: {result.error}", facts)
    if NO_ANSWER in troubles or result.status is ChildStatus.TIMEOUT:
        silence = f"the NVIDIA driver did not answer within {result.seconds:.1f} s"
        raise ProbeTimeout(detail if NO_ANSWER in troubles else silence, facts)
    if troubles or result.signal_name:
        crash = f"the NVIDIA driver library ended the child process ({result.signal_name})"
        raise ProbeFailed(detail if troubles else crash, facts)
    if not account.ended:
        raise ProbeFailed(last_line(result.stderr) or "the child process told nothing", facts)
    if "gpus" not in facts:
        uncounted = "the NVIDIA driver does not tell how many GPUs there are"
        raise ProbeFailed("; ".join(filter(None, (uncounted, detail))), facts)
