"""What a GPU's name tells: compute capability, architecture, memory. Pure look-ups in kb/tables/gpus.yaml."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_GIB = 2**30
_LONGEST_NAME = 100
_VENDOR = re.compile(r"(?:(?:NVIDIA|AMD|ATI)(?:\(R\)|\(TM\))? )+", re.I)
_MIG = re.compile(r" MIG \d.*", re.I)
_AMD_LINE = re.compile(r"\b(?:Radeon|Instinct)(?:\(TM\))? |\(TM\)| Graphics$| ?[/(\[].*$", re.I)


@dataclass(frozen=True, slots=True)
class GpuModel:
    """One NVIDIA model. memory_bytes: sizes it was sold with (tools print a little less); may be empty."""

    name: str
    compute_capability: str
    architecture: str
    memory_bytes: tuple[int, ...]
    bf16: bool
    fp8: bool
    last_driver_branch: str | None


def gpu_model(gpus: Mapping[str, Any], gpu_name: str) -> GpuModel | None:
    """The model that nvidia-smi, torch or a person calls so; None if unknown or the name leaves it open."""
    name = _plain(gpu_name)
    if not name:
        return None
    for capability, row in _models(gpus):
        if _is(row, name):
            return None if row.get("sure") == "low" else _model(gpus, capability, row)
    for row in gpus.get("families", ()):
        if re.fullmatch(row["pattern"], name, re.I):
            return _model(gpus, row["compute_capability"], {"name": name})
    return None


def compute_capability_of(gpus: Mapping[str, Any], gpu_name: str) -> str | None:
    """The compute capability, "8.6", of the GPU of this name; None if not known."""
    model = gpu_model(gpus, gpu_name)
    return model.compute_capability if model else None


def gfx_of(gpus: Mapping[str, Any], gpu_name: str) -> str | None:
    """The gfx name, "gfx1100", of the AMD GPU of this name; None if not known."""
    name = _amd_key(_plain(gpu_name))
    for gfx, row in gpus.get("amd", {}).items():
        if name and any(_amd_key(model) == name for model in row["names"]):
            return str(gfx)
    return None


def _plain(gpu_name: str) -> str:
    """The name without vendor, MIG profile and stray white space; empty for what cannot be a GPU's name."""
    if not isinstance(gpu_name, str) or len(gpu_name) > _LONGEST_NAME:
        return ""
    return _MIG.sub("", _VENDOR.sub("", " ".join(gpu_name.split()), count=1))


def _amd_key(name: str) -> str:
    return " ".join(_AMD_LINE.sub("", name).split()).casefold()


def _models(gpus: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for capability, rows in gpus.get("nvidia", {}).items():
        for row in rows:
            yield capability, row


def _is(row: Mapping[str, Any], name: str) -> bool:
    if row["name"].casefold() == name.casefold():
        return True
    return "pattern" in row and re.fullmatch(row["pattern"], name, re.I) is not None


def _model(gpus: Mapping[str, Any], capability: str, row: Mapping[str, Any]) -> GpuModel:
    features = gpus["capabilities"][capability]
    return GpuModel(
        name=row["name"],
        compute_capability=capability,
        architecture=features["architecture"],
        memory_bytes=tuple(int(size * _GIB) for size in row.get("memory_gib", ())),
        bf16=features["bf16"],
        fp8=features["fp8"],
        last_driver_branch=features.get("last_driver"),
    )
