"""The machine looked at without a log: one line a layer, the three CUDA versions, and trouble found. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from gpuhelp.kb.evaluation import Functions, truth
from gpuhelp.kb.expressions import names_in
from gpuhelp.probes.facts import Facts, FactValue
from gpuhelp.reasoning.fixes import tools_of
from gpuhelp.reasoning.scope import Scope, scope_of

Row = Mapping[str, Any]


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
class Trouble:
    """Something wrong: the entry that explains it, the layer it is in, the names that showed it."""

    entry: str
    layer: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Checkup:
    """The whole look: layers top to bottom, CUDA versions by kind (None: there is none), and trouble."""

    layers: tuple[Layer, ...]
    cuda_versions: Mapping[str, FactValue]
    troubles: tuple[Trouble, ...]
    scope: Scope


LAYER_FACTS: Mapping[str, tuple[str, ...]] = {
    "code": ("python.version", "python.manager", "python.executable"),
    "framework": ("torch.version", "torch.cuda_runtime_version", "torch.hip_version", "torch.path"),
    "library": (
        "torch.cudnn_version", "packages.nvidia_cudnn_cu12", "packages.nvidia_cudnn_cu13",
        "toolkit.nvcc_version", "toolkit.cuda_home",
    ),
    "driver": ("driver.version", "driver.cuda_api_version", "driver.kernel_module_version", "driver.error"),
    "hardware": ("gpus",),
    "container": ("container.kind", "host.shm_total_bytes", "host.shm_free_bytes"),
    "host": (
        "os.platform", "os.wsl", "host.ram_available_bytes", "scheduler.kind", "env.CUDA_VISIBLE_DEVICES",
    ),
}  # fmt: skip
CUDA_VERSIONS: Mapping[str, str] = {
    "driver_api": "driver.cuda_api_version",
    "runtime": "torch.cuda_runtime_version",
    "toolkit": "toolkit.nvcc_version",
}
_DECISIVE = {
    "code": "python.version", "framework": "torch.version", "driver": "driver.version", "hardware": "gpus",
}  # fmt: skip
"""The fact whose absence leaves a layer unknown, and whose being None means that there is none."""


def check(facts: Facts, rows: Iterable[Row], functions: Functions) -> Checkup:
    """The checkup of these facts; `rows` are kb/tables/checks.yaml with parsed conditions."""
    scope = scope_of(facts, {}, tools_of(facts), functions)
    troubles = tuple(
        Trouble(row["entry"], row["layer"], tuple(sorted(names_in(row["when"]))))
        for row in rows
        if truth(row["when"], scope.lookup, scope.functions) is True
    )
    layers = tuple(_layer(name, names, facts, troubles) for name, names in LAYER_FACTS.items())
    versions = {kind: facts[name].value for kind, name in CUDA_VERSIONS.items() if name in facts}
    return Checkup(layers, versions, troubles, scope)


def names_wanted(rows: Iterable[Row]) -> frozenset[str]:
    """Every fact that a checkup shows or decides by, but those that need PyTorch to be imported."""
    shown = {name for names in LAYER_FACTS.values() for name in names}
    decided = {name for row in rows for name in names_in(row["when"])}
    return frozenset((shown | decided) - {"torch.arch_list", "torch.cudnn_version"})


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
        missing = name in ("driver", "hardware") and error is not None and error.value is not None
        not_there = name == "framework" and _is_false(facts, "torch.installed")
        return Mark.ABSENT if missing or not_there else Mark.UNKNOWN
    return Mark.ABSENT if fact.value in (None, [], ()) else Mark.GOOD


def _is_false(facts: Facts, name: str) -> bool:
    fact = facts.get(name)
    return fact is not None and fact.value is False
