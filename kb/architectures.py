"""GPU architectures as programs write them (sm_86, compute_90, 8.6), and which code runs where. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

_SPELLING = re.compile(
    r"(?P<kind>sm_?|compute_?)?(?P<major>\d{1,2})\.?(?P<minor>\d)(?P<suffix>[af]?)", re.IGNORECASE | re.ASCII
)


@dataclass(frozen=True, slots=True)
class Architecture:
    """One NVIDIA architecture. suffix: "a" this one only, "f" its family; ptx: the driver compiles it."""

    major: int
    minor: int
    suffix: str = ""
    ptx: bool = False

    @property
    def capability(self) -> str:
        """The compute capability, "8.6"."""
        return f"{self.major}.{self.minor}"

    @property
    def sm(self) -> str:
        """The name of its machine code, "sm_86"."""
        return f"sm_{self.major}{self.minor}{self.suffix}"


def parse_architecture(text: str) -> Architecture | None:
    """The architecture that sm_86, compute_86, sm_90a or 8.6 names; None for anything else."""
    found = _SPELLING.fullmatch(text.strip()) if isinstance(text, str) else None
    if found is None:
        return None
    ptx = (found["kind"] or "").lower().startswith("compute")
    return Architecture(int(found["major"]), int(found["minor"]), found["suffix"].lower(), ptx)


def arch_runs_on(capabilities: Mapping[str, Any], sm: str, arch_list: Iterable[str]) -> bool | None:
    """Whether code built for arch_list (as torch.cuda.get_arch_list prints it) runs on architecture sm.

    Machine code runs on its own and on higher minors of the same major; PTX (compute_XX) on everything newer.
    Jetson and its kin stand apart; AMD gfx names must be equal. capabilities: block of the GPU table.
    None if sm is no architecture. Source: torch/cuda/__init__.py of 2.15.0.
    """
    if isinstance(sm, str) and sm.startswith("gfx"):
        return _target(sm) in {_target(name) for name in arch_list}
    device = parse_architecture(sm)
    if device is None:
        return None
    device = _renamed(capabilities, device)
    codes = (code for name in arch_list if (code := parse_architecture(name)))
    return any(_runs(capabilities, _renamed(capabilities, code), device) for code in codes)


def _target(name: str) -> str:
    """gfx90a of gfx90a:sramecc+:xnack-."""
    return name.split(":", 1)[0]


def _renamed(capabilities: Mapping[str, Any], one: Architecture) -> Architecture:
    same_as = capabilities.get(one.capability, {}).get("same_as")
    later = parse_architecture(same_as) if same_as else None
    return Architecture(later.major, later.minor, one.suffix, one.ptx) if later else one


def _runs(capabilities: Mapping[str, Any], code: Architecture, device: Architecture) -> bool:
    if code.capability == device.capability:
        return True
    if code.suffix == "a":
        return False
    if code.ptx and not code.suffix:
        return (device.major, device.minor) > (code.major, code.minor)
    apart = any(capabilities.get(one.capability, {}).get("integrated") for one in (code, device))
    return not apart and code.major == device.major and code.minor < device.minor
