"""What the conditions and texts of one finding may look at: facts, captured values, and its GPU. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gpuhelp.kb.evaluation import Functions, Unknown
from gpuhelp.probes.facts import Facts

Gpu = Mapping[str, Any]
_SM = re.compile(r"(?:sm_|compute_)?\(?(\d{1,2})[., _]*(\d)\)?[af]?$")


@dataclass(frozen=True, slots=True)
class Scope:
    """A lookup for expressions. `values` are captured and derived values of the text, by name without a dot."""

    facts: Facts
    values: Mapping[str, object]
    gpu: Gpu
    functions: Functions

    def lookup(self, name: str) -> object:
        """The value of a name, or Unknown with that name. The signature that gpuhelp.kb.evaluation wants."""
        if name == "gpu":
            return self.gpu
        if name in self.values:
            return self.values[name]
        fact = self.facts.get(name)
        return Unknown([name]) if fact is None else fact.value


def scope_of(
    facts: Facts, captured: Mapping[str, str], derived: Mapping[str, object], functions: Functions
) -> Scope:
    """The scope of a finding: the GPU it speaks of is picked from the facts and completed from the text."""
    functions = _for_this_machine(functions, facts)
    gpus = facts.get("gpus")
    known = gpus.value if gpus is not None and isinstance(gpus.value, (list, tuple)) else ()
    gpu = {**_from_text(captured, functions), **_pick(known, captured, facts)}
    gpu = {**gpu, **_completed(gpu, functions)}
    gpu.update(_told(facts))
    return Scope(facts, {**derived, **captured, **_names(facts)}, gpu, functions)


def _for_this_machine(functions: Functions, facts: Facts) -> Functions:
    """The look-ups of wheels with what is known of this machine's Python and platform."""
    told = {"python_version": facts.get("python.version"), "platform": facts.get("os.platform")}
    known = {name: fact.value for name, fact in told.items() if fact is not None}
    if not known or "torch_index" not in functions:
        return functions
    return {**functions, "torch_index": lambda sm, api: functions["torch_index"](sm, api, **known)}


def _names(facts: Facts) -> dict[str, object]:
    """Names without a dot that are facts all the same."""
    gpus = facts.get("gpus")
    return {} if gpus is None else {"gpus": gpus.value}


def _told(facts: Facts) -> dict[str, Any]:
    """`gpu.sm` and its like when the text states them."""
    return {name[4:]: fact.value for name, fact in facts.items() if name.startswith("gpu.")}


def _pick(gpus: Any, captured: Mapping[str, str], facts: Facts) -> dict[str, Any]:
    """The GPU with the captured index; else what all GPUs have in common."""
    gpus = [gpu for gpu in gpus if isinstance(gpu, Mapping)]
    index = _physical_index(captured.get("gpu_index", ""), facts)
    for gpu in gpus:
        if index is not None and gpu.get("index") == index:
            return dict(gpu)
    first = gpus[0] if gpus else {}
    return {key: value for key, value in first.items() if all(gpu.get(key) == value for gpu in gpus)}


def _physical_index(index: str, facts: Facts) -> int | None:
    """Programs count the GPUs they see; CUDA_VISIBLE_DEVICES says which those are."""
    if not index.isdecimal():
        return None
    visible = facts.get("env.CUDA_VISIBLE_DEVICES")
    listed = str(visible.value).split(",") if visible is not None and visible.value else []
    number = int(index)
    if all(part.strip().isdecimal() for part in listed) and number < len(listed):
        return int(listed[number])
    return number


def _from_text(captured: Mapping[str, str], functions: Functions) -> dict[str, Any]:
    gpu: dict[str, Any] = {}
    if "gpu_name" in captured:
        gpu["name"] = captured["gpu_name"]
    found = _SM.search(captured.get("compute_capability", ""))
    if found:
        gpu["compute_capability"] = f"{found[1]}.{found[2]}"
    return gpu


def _completed(gpu: Gpu, functions: Functions) -> dict[str, Any]:
    """What follows from what is known: the capability from the name, sm_XY from the capability, and back."""
    more: dict[str, Any] = {}
    capability = gpu.get("compute_capability") or _capability_of_sm(gpu.get("sm"))
    if capability is None and gpu.get("name") and "compute_capability_of" in functions:
        capability = functions["compute_capability_of"](gpu["name"])
    if isinstance(capability, str):
        more["compute_capability"] = capability
        more["sm"] = gpu.get("sm") or "sm_" + capability.replace(".", "")
    return more


def _capability_of_sm(sm: object) -> str | None:
    found = _SM.fullmatch(sm) if isinstance(sm, str) else None
    return f"{found[1]}.{found[2]}" if found else None
