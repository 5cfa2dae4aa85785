"""Which probes exist and which facts each can tell. Probe modules register here; the runner asks here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

from gpuhelp.probes.facts import FactValue
from gpuhelp.probes.machine import Machine

__all__ = [
    "Machine",
    "Probe",
    "ProbeFailed",
    "ProbeProblem",
    "ProbeStatus",
    "ProbeTimeout",
    "ProbeUnavailable",
    "Told",
    "all_probes",
    "probe",
    "probes_for",
]

PROBE_MODULES = (
    "gpuhelp.probes.amd_gpus",
    "gpuhelp.probes.container",
    "gpuhelp.probes.container_daemon",
    "gpuhelp.probes.disks",
    "gpuhelp.probes.driver_module",
    "gpuhelp.probes.environment",
    "gpuhelp.probes.extensions",
    "gpuhelp.probes.fabric_manager",
    "gpuhelp.probes.host",
    "gpuhelp.probes.interpreter",
    "gpuhelp.probes.kernel_log",
    "gpuhelp.probes.libraries",
    "gpuhelp.probes.module_on_disk",
    "gpuhelp.probes.network",
    "gpuhelp.probes.nvml",
    "gpuhelp.probes.packages",
    "gpuhelp.probes.pci",
    "gpuhelp.probes.scheduler",
    "gpuhelp.probes.shm_files",
    "gpuhelp.probes.toolkit",
    "gpuhelp.probes.torch_ask",
    "gpuhelp.probes.torch_files",
)


@dataclass(frozen=True, slots=True)
class Told:
    """What a probe tells where bare facts do not say it all.

    `detail` goes into its report; `source`, if any, is named instead of the probe's own.
    """

    facts: Mapping[str, FactValue]
    detail: str = ""
    source: str = ""


Look = Callable[[Machine], Mapping[str, FactValue] | Told]


class ProbeStatus(str, Enum):
    """How a probe ended. Only `ok` means that it looked at everything it promises."""

    OK = "ok"
    UNAVAILABLE = "unavailable"
    TIMEOUT = "timeout"
    ERROR = "error"
    SKIPPED = "skipped"


class ProbeProblem(Exception):
    """A probe did not come to its end.

    `detail` says why in plain words; `facts` is what it had learned by then.
    """

    status: ClassVar[ProbeStatus] = ProbeStatus.ERROR

    def __init__(self, detail: str, facts: Mapping[str, FactValue] | None = None) -> None:
        super().__init__(detail)
        self.detail = detail
        self.facts: Mapping[str, FactValue] = facts or {}


class ProbeUnavailable(ProbeProblem):
    """There is nothing to look at here, or no way to look."""

    status = ProbeStatus.UNAVAILABLE


class ProbeTimeout(ProbeProblem):
    """What the probe asked did not answer in time."""

    status = ProbeStatus.TIMEOUT


class ProbeFailed(ProbeProblem):
    """What the probe asked broke: a crash, or an answer that is none."""

    status = ProbeStatus.ERROR


@dataclass(frozen=True, slots=True)
class Probe:
    """One way to look. `source` names it to the reader of a fact; `timeout_s` bounds it alone, in seconds."""

    id: str
    facts: tuple[str, ...]
    timeout_s: float
    source: str
    look: Look


_registered: dict[str, Probe] = {}


def probe(
    id: str, *, facts: tuple[str, ...], timeout_s: float = 3.0, source: str = ""
) -> Callable[[Look], Look]:
    """Register the decorated function as the probe `id`.

    A second probe of that name is refused with ValueError.
    """

    def register(look: Look) -> Look:
        if id in _registered:
            raise ValueError(f"there is already a probe named {id!r}")
        _registered[id] = Probe(id, facts, timeout_s, source or id.partition(".")[0], look)
        return look

    return register


def all_probes() -> tuple[Probe, ...]:
    """Every probe, by id. Imports the probe modules on first use."""
    from importlib import import_module

    for module in PROBE_MODULES:
        import_module(module)
    return tuple(_registered[id] for id in sorted(_registered))


def probes_for(names: Iterable[str]) -> tuple[Probe, ...]:
    """The probes that can tell at least one of these facts, by id.

    A name may hold wildcards (`packages.*`); `gpu`, `gpu.sm` and `gpus` ask for the GPUs.
    """
    wanted = tuple(_as_pattern(name) for name in names)
    return tuple(
        each
        for each in all_probes()
        if any(_meet(want, _as_pattern(fact)) for want in wanted for fact in each.facts)
    )


def _as_pattern(name: str) -> str:
    """`packages.<name>` as `packages.*`; each spelling of the GPUs as `gpus`."""
    if name == "gpu" or name.startswith(("gpu.", "gpus.", "gpus[", "gpu[")):
        return "gpus"
    head, opening, _ = name.partition("<")
    return f"{head}*" if opening else name


def _meet(one: str, other: str) -> bool:
    from fnmatch import fnmatchcase

    return fnmatchcase(one, other) or fnmatchcase(other, one)
