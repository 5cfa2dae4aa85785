"""Asks the person's PyTorch in the person's own interpreter what its files do not tell."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from gpuhelp.probes.child_lines import json_lines, last_line
from gpuhelp.probes.children import ChildResult, ChildStatus
from gpuhelp.probes.facts import FactValue
from gpuhelp.probes.machine import Machine
from gpuhelp.probes.registry import ProbeFailed, ProbeTimeout, ProbeUnavailable, probe

TIMEOUT_S = 4.0  # importing torch takes one to three seconds from a cold disk cache


@probe(
    "torch.ask",
    facts=(
        "torch.arch_list",
        "torch.cuda_available",
        "torch.cudnn_version",
        "torch.nccl_version",
        "torch.import_error",
    ),
    timeout_s=TIMEOUT_S,
    source="the job's PyTorch",
)
def torch_ask(machine: Machine) -> Mapping[str, FactValue]:
    """What PyTorch tells once it is imported; `torch.import_error` when that fails.

    Errors: unavailable without an interpreter, timeout and error with the facts told by then.
    """
    if machine.python is None:
        raise ProbeUnavailable("no Python interpreter was found")
    script = Path(__file__).with_name("torch_child.py")
    result = machine.children.run(
        (str(machine.path(machine.python)), str(script)),
        timeout_s=TIMEOUT_S,
        env=child_environ(machine.environ),
    )
    facts = facts_of(result)
    raise_if_broken(result, facts)
    return facts


def child_environ(environ: Mapping[str, str]) -> dict[str, str]:
    """The person's environment, so that the same libraries are found; and no file is left behind."""
    quiet = {
        "PYTORCH_NVML_BASED_CUDA_CHECK": "1",  # is_available() asks NVML and does not start CUDA
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONIOENCODING": "utf-8",
    }
    return {**environ, **quiet}


def facts_of(result: ChildResult) -> dict[str, FactValue]:
    """The facts in the child's lines. One that died before its first line died of the import."""
    facts: dict[str, FactValue] = {}
    for part in json_lines(result.stdout):
        facts.update({name: value for name, value in part.items() if name.startswith("torch.")})
    if not facts and result.signal_name:
        facts["torch.import_error"] = (
            f"the interpreter was ended by {result.signal_name} while it imported torch"
        )
    return facts


def raise_if_broken(result: ChildResult, facts: Mapping[str, FactValue]) -> None:
    """Raise what kept the child from its end, with the facts it had told."""
    if result.status is ChildStatus.TIMEOUT:
        raise ProbeTimeout(f"PyTorch did not answer within {result.seconds:.1f} s", facts)
    if result.status is ChildStatus.NOT_STARTED:
        raise ProbeUnavailable(f"the interpreter could not be started: {result.error}", facts)
    if result.signal_name:
        raise ProbeFailed(f"PyTorch ended its interpreter ({result.signal_name})", facts)
    if not result.ok or not facts:
        raise ProbeFailed(last_line(result.stderr) or "the interpreter told nothing", facts)
