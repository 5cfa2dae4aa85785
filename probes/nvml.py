"""Asks the NVIDIA driver through NVML, in a child process: driver versions, each GPU, who uses it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpuhelp.probes.child_lines import json_lines, last_line
from gpuhelp.probes.children import ChildResult, ChildStatus
from gpuhelp.probes.facts import FactValue
from gpuhelp.probes.machine import Machine
from gpuhelp.probes.processes import Owners
from gpuhelp.probes.registry import ProbeFailed, ProbeTimeout, ProbeUnavailable, probe

TIMEOUT_S = 3.0
NVML_ERROR_LIBRARY_NOT_FOUND = 12

Part = Mapping[str, Any]


@probe(
    "nvml.driver",
    facts=("driver.version", "driver.cuda_api_version", "driver.error", "gpus"),
    timeout_s=TIMEOUT_S,
    source="nvml",
)
def nvml_driver(machine: Machine) -> Mapping[str, FactValue]:
    """Driver versions and GPUs.

    Errors: unavailable when NVML does not start (`driver.error` says why), timeout or error when the child
    hangs or dies; what it had told by then is kept, and a GPU it did not come to has an `error`.
    Source: NVML API reference.
    """
    result = machine.children.run(child_argv(), timeout_s=TIMEOUT_S, env=machine.environ)
    parts = json_lines(result.stdout)
    if parts and "error" in parts[0]:
        raise ProbeUnavailable(parts[0]["error"], not_started(parts[0]))
    silence = (
        "the driver did not answer" if result.status is ChildStatus.TIMEOUT else "the driver library crashed"
    )
    facts = facts_of(parts, Owners.of(machine), silence)
    raise_if_broken(result, facts)
    return facts


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
    return (sys.executable, "-I", "-S", "-B", str(Path(__file__).with_name("nvml_child.py")), str(directory))


def not_started(part: Part) -> dict[str, FactValue]:
    """Facts of an NVML that did not start. Without its library there is no driver for programs to use."""
    facts: dict[str, FactValue] = {"driver.error": part["error"]}
    if part.get("code") == NVML_ERROR_LIBRARY_NOT_FOUND:
        facts.update({"driver.version": None, "driver.cuda_api_version": None})
    return facts


def facts_of(parts: tuple[Part, ...], owners: Owners, silence: str) -> dict[str, FactValue]:
    """Facts of what the child told. GPUs it counted but did not come to get `silence` as their error."""
    if not parts or "driver" not in parts[0]:
        return {}
    facts: dict[str, FactValue] = {"driver.error": None}
    facts.update({f"driver.{name}": value for name, value in parts[0]["driver"].items()})
    if "count" in parts[0]:
        told = {part["gpu"]["index"]: part["gpu"] for part in parts if "gpu" in part}
        silent = {index: {"index": index, "error": silence} for index in range(parts[0]["count"])}
        facts["gpus"] = [with_owners(gpu, owners) for _, gpu in sorted({**silent, **told}.items())]
    return facts


def with_owners(gpu: Part, owners: Owners) -> dict[str, FactValue]:
    """The GPU's record with name and user of its processes, as far as this machine shows them."""
    record = dict(gpu)
    if "processes" in record:
        record["processes"] = [owners.describe(process) for process in record["processes"]]
    return record


def raise_if_broken(result: ChildResult, facts: Mapping[str, FactValue]) -> None:
    """Raise what kept the child from its end, with the facts it had told."""
    if result.status is ChildStatus.TIMEOUT:
        raise ProbeTimeout(f"the NVIDIA driver did not answer within {result.seconds:.1f} s", facts)
    if result.status is ChildStatus.NOT_STARTED:
        raise ProbeFailed(f"a child process could not be started: {result.error}", facts)
    if result.signal_name:
        raise ProbeFailed(f"the NVIDIA driver library ended the child process ({result.signal_name})", facts)
    if not result.ok or not facts:
        raise ProbeFailed(last_line(result.stderr) or "the child process told nothing", facts)
    if "gpus" not in facts:
        raise ProbeFailed("the NVIDIA driver does not tell how many GPUs there are", facts)
