"""The machine looked at without a log: one line a layer, the three CUDA versions, and trouble found. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum

from gpuhelp.kb.entry import Entry
from gpuhelp.kb.evaluation import Functions
from gpuhelp.kb.expressions import names_in
from gpuhelp.probes.facts import Facts, FactValue
from gpuhelp.reasoning.derived import NEEDED, derived
from gpuhelp.reasoning.fixes import tools_of
from gpuhelp.reasoning.judge import names_wanted as wanted_by
from gpuhelp.reasoning.scope import Scope, scope_of
from gpuhelp.reasoning.troubles import Row, Trouble, find_troubles


class Mark(Enum):
    """What a layer looks like: not having looked is never fine."""

    GOOD = "good"
    TROUBLE = "trouble"
    ABSENT = "absent"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer of the stack. `facts` are the values to show, by fact name, in order."""

    name: str
    mark: Mark
    facts: tuple[tuple[str, FactValue], ...]


@dataclass(frozen=True, slots=True)
class Checkup:
    """The whole look: layers top to bottom, CUDA versions by kind (None: there is none), and trouble."""

    layers: tuple[Layer, ...]
    cuda_versions: Mapping[str, FactValue]
    troubles: tuple[Trouble, ...]
    scope: Scope


LAYER_FACTS: Mapping[str, tuple[str, ...]] = {
    "code": ("python.version", "python.manager", "python.executable"),
    "framework": ("torch.version", "torch.cuda_runtime_version", "torch.hip_version"),
    "library": (
        "torch.cudnn_version", "packages.nvidia_cudnn_cu12", "packages.nvidia_cudnn_cu13",
        "packages.nvidia_nccl_cu12", "packages.nvidia_nccl_cu13", "toolkit.nvcc_version", "toolkit.cuda_home",
    ),
    "driver": ("driver.version", "driver.cuda_api_version", "driver.error"),
    "hardware": ("gpus", "host.pci_gpus"),
    "container": ("container.kind", "host.shm_total_bytes", "host.shm_free_bytes"),
    "host": (
        "os.platform", "os.wsl", "host.ram_available_bytes", "scheduler.kind", "env.CUDA_VISIBLE_DEVICES",
    ),
}  # fmt: skip
STACK = ("code", "framework", "library", "driver", "hardware")
"""The layers that stand on each other; the others stand beside them."""
CUDA_VERSIONS: Mapping[str, str] = {
    "driver_api": "driver.cuda_api_version",
    "runtime": "torch.cuda_runtime_version",
    "toolkit": "toolkit.nvcc_version",
}
_NEED_TORCH = {
    "torch.arch_list", "torch.cudnn_version", "torch.nccl_version", "torch.cuda_available",
    "torch.import_error",
}  # fmt: skip
_DECISIVE = {
    "code": "python.version", "framework": "torch.version", "driver": "driver.version", "hardware": "gpus",
}  # fmt: skip
"""The fact whose absence leaves a layer unknown, and whose being None means that there is none."""


def check(facts: Facts, rows: Iterable[Row], functions: Functions) -> Checkup:
    """The checkup of these facts; `rows` are kb/tables/checks.yaml with parsed conditions."""
    scope = scope_of(facts, {}, {**tools_of(facts), **derived(facts)}, functions)
    troubles = find_troubles(rows, scope)
    layers = tuple(_layer(name, names, facts, troubles) for name, names in LAYER_FACTS.items())
    versions = {kind: facts[name].value for kind, name in CUDA_VERSIONS.items() if name in facts}
    return Checkup(layers, versions, troubles, scope)


def names_wanted(rows: Iterable[Row]) -> frozenset[str]:
    """Every fact that a checkup shows or decides by, but those that need PyTorch to be imported."""
    shown = {name for names in LAYER_FACTS.values() for name in names}
    decided = {name for row in rows for name in (*names_in(row["when"]), row.get("each", ""))}
    made_of = {name for each in decided for name in NEEDED.get(each, ())}
    return frozenset(name for name in shown | decided | made_of if _can_be_asked(name)) - _NEED_TORCH


def names_of_causes(entries: Iterable[Entry]) -> frozenset[str]:
    """The facts that decide between the causes of these entries, likewise."""
    causes = tuple(cause for entry in entries for cause in entry.causes)
    return frozenset(filter(_can_be_asked, wanted_by(causes))) - _NEED_TORCH


def _can_be_asked(name: str) -> bool:
    return "." in name or name == "gpus"


def _layer(name: str, names: tuple[str, ...], facts: Facts, troubles: tuple[Trouble, ...]) -> Layer:
    values = tuple((fact, facts[fact].value) for fact in names if fact in facts)
    return Layer(name, _mark(name, facts, troubles), values)


def _mark(name: str, facts: Facts, troubles: tuple[Trouble, ...]) -> Mark:
    if any(trouble.layer == name for trouble in troubles):
        return Mark.TROUBLE
    decisive = _DECISIVE.get(name)
    if decisive is None:
        return Mark.GOOD if any(fact in facts for fact in LAYER_FACTS[name]) else Mark.UNKNOWN
    fact = facts.get(decisive)
    if fact is None:
        error = facts.get("driver.error")
        if name == "hardware" and _has_records(facts, "host.pci_gpus"):
            return Mark.UNKNOWN
        missing = name in ("driver", "hardware") and error is not None and error.value is not None
        not_there = name == "framework" and _is_false(facts, "torch.installed")
        return Mark.ABSENT if missing or not_there else Mark.UNKNOWN
    if fact.value not in (None, [], ()):
        return Mark.GOOD
    return Mark.UNKNOWN if name == "hardware" and _has_records(facts, "host.pci_gpus") else Mark.ABSENT


def _has_records(facts: Facts, name: str) -> bool:
    fact = facts.get(name)
    return fact is not None and bool(fact.value)


def _is_false(facts: Facts, name: str) -> bool:
    fact = facts.get(name)
    return fact is not None and fact.value is False
