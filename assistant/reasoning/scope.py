"""What the conditions and texts of one finding may look at: facts, captured values, and its GPU. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from gpuhelp.kb.evaluation import Functions, Unknown
from gpuhelp.probes.facts import Facts

Gpu = Mapping[str, Any]
_SM = re.compile(r"(?:sm_|compute_)?\(?(\d{1,2})[., _]*(\d)\)?[af]?$")


class Scope(NamedTuple):
    """A lookup for expressions. `values` are captured and derived values of the text, named without a dot."""

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

    def functions_in(self, language: str) -> Functions:
        """The functions for a text in that language: what they say is in it too."""
        return _Here(self.functions, {"language": language})


def scope_of(
    facts: Facts, captured: Mapping[str, str], derived: Mapping[str, object], functions: Functions
) -> Scope:
    """The scope of a finding: the GPU it speaks of is picked from the facts and completed from the text."""
    functions = _for_this_machine(functions, facts)
    gpus = facts.get("gpus")
    known = gpus.value if gpus is not None and isinstance(gpus.value, (list, tuple)) else ()
    gpu: dict[str, Any] = {}
    for part in (_from_text(captured), _pick(known, captured, facts), _told(facts)):
        gpu.update({**part, **_completed(part, functions)})
    gpu.update(_completed(gpu, functions))
    return Scope(facts, {**derived, **captured, **_names(facts)}, gpu, functions)


def _for_this_machine(functions: Functions, facts: Facts) -> Functions:
    """The look-ups of wheels with what is known of this machine's Python and platform."""
    told = {"python_version": facts.get("python.version"), "platform": facts.get("os.platform")}
    known = {name: fact.value for name, fact in told.items() if fact is not None}
    return _Here(functions, known) if known else functions


_TAKEN = {
    "torch_index": ("python_version", "platform"),
    "wheel_archs": ("platform",),
    "code_meaning": ("language",),
}
"""What of it each look-up takes."""


class _Here(Mapping[str, Callable[..., object]]):
    """The look-ups with what is known where they are called; none is fetched before it is called for."""

    def __init__(self, functions: Functions, known: Mapping[str, object]) -> None:
        self._functions, self._known = functions, known

    def __getitem__(self, name: str) -> Callable[..., object]:
        function = self._functions[name]
        taken = {key: self._known[key] for key in _TAKEN.get(name, ()) if key in self._known}
        return partial(function, **taken) if taken else function

    def __iter__(self) -> Iterator[str]:
        return iter(self._functions)

    def __contains__(self, name: object) -> bool:
        return name in self._functions

    def __len__(self) -> int:
        return len(self._functions)


def _names(facts: Facts) -> dict[str, object]:
    """Names without a dot that are facts all the same."""
    gpus = facts.get("gpus")
    return {} if gpus is None else {"gpus": gpus.value}


def _told(facts: Facts) -> dict[str, Any]:
    """`gpu.sm` and its like when the text states them."""
    return {name[4:]: fact.value for name, fact in facts.items() if name.startswith("gpu.")}


def _pick(gpus: Any, captured: Mapping[str, str], facts: Facts) -> dict[str, Any]:
    """The GPU of the captured index, else that of the captured name, else what all GPUs have in common."""
    gpus = [gpu for gpu in gpus if isinstance(gpu, Mapping)]
    index = captured.get("gpu_index", "")
    if index.isdecimal():
        gpus = [gpu for gpu in gpus if _is_device(gpu, int(index), facts)] or gpus
    elif "gpu_name" in captured:
        gpus = [gpu for gpu in gpus if gpu.get("name") == captured["gpu_name"]] or gpus
    first = gpus[0] if gpus else {}
    return {key: value for key, value in first.items() if all(gpu.get(key) == value for gpu in gpus)}


def _is_device(gpu: Gpu, number: int, facts: Facts) -> bool:
    """True if programs call this GPU so: they count those they see, which CUDA_VISIBLE_DEVICES lists."""
    visible = facts.get("env.CUDA_VISIBLE_DEVICES")
    if visible is None or not visible.value:
        return bool(gpu.get("index") == number)
    listed = [part.strip() for part in str(visible.value).split(",")]
    if number >= len(listed):
        return False
    wanted = listed[number]
    if wanted.isdecimal():
        return bool(gpu.get("index") == int(wanted))
    return wanted.startswith("GPU-") and str(gpu.get("uuid", "")).startswith(wanted)


def _from_text(captured: Mapping[str, str]) -> dict[str, Any]:
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
    if capability is None and isinstance(gpu.get("name"), str) and "compute_capability_of" in functions:
        capability = functions["compute_capability_of"](gpu["name"])
    if isinstance(capability, str):
        more["compute_capability"] = capability
        more["sm"] = gpu.get("sm") or "sm_" + capability.replace(".", "")
    return more


def _capability_of_sm(sm: object) -> str | None:
    found = _SM.fullmatch(sm) if isinstance(sm, str) else None
    return f"{found[1]}.{found[2]}" if found else None
