"""Facts of a list of packages, whichever tool made it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from gpuhelp.probes.facts import FactValue
from gpuhelp.probes.packages import GPU_PACKAGES, VENDOR_PREFIXES, normalized
from gpuhelp.probes.pasted.values import torch_facts

NAME = r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,80}[A-Za-z0-9])?"
VERSION = r"\d[\w.!+-]{0,60}"
_CONDA_NAMES = {
    "pytorch": "torch",
    "pytorch_gpu": "torch",
    "tensorflow_base": "tensorflow",
    "cupy_core": "cupy",
}


def package_facts(pairs: Iterable[tuple[str, str]]) -> dict[str, FactValue]:
    """`packages.<name>` of those that GPU failures turn on, and what the version of PyTorch says.

    Of a name that stands there twice the first version counts.
    """
    facts: dict[str, FactValue] = {}
    for name, version in pairs:
        known = _CONDA_NAMES.get(normalized(name), normalized(name))
        if known in GPU_PACKAGES or known.startswith(VENDOR_PREFIXES):
            facts.setdefault(f"packages.{known}", version)
    torch = facts.get("packages.torch")
    return {**facts, **torch_facts(torch)} if isinstance(torch, str) else facts


def without_gaps(names: Sequence[str]) -> dict[str, FactValue]:
    """The packages that are not installed, told as None: those that would stand between two listed names.

    A list is sorted by name, so that a name which is missing in its middle is not there; what comes before
    the first and after the last one may have been cut off.
    """
    listed = [normalized(name) for name in names]
    order = [name.lower() for name in names]
    if len(order) < 3 or order != sorted(order):
        return {}
    facts: dict[str, FactValue] = {}
    for package in GPU_PACKAGES:
        spellings = {package, package.replace("_", "-"), package.replace("_", ".")}
        inside = all(order[0] < spelling < order[-1] for spelling in spellings)
        if inside and package not in listed:
            facts[f"packages.{package}"] = None
    if "packages.torch" in facts:
        facts["torch.installed"] = False
    return facts


def build_facts(build: str) -> Mapping[str, FactValue]:
    """What the build of conda's PyTorch says: py3.10_cuda11.8_cudnn8.7.0_0, cuda126_mkl_py312h…, cpu_mkl."""
    if found := re.search(r"cuda(\d{1,2})\.(\d)", build) or re.search(r"cuda(\d{2})(\d)", build):
        return {"torch.cuda_runtime_version": f"{found[1]}.{found[2]}", "torch.hip_version": None}
    if re.search(r"(?:^|_)cpu(?:_|$)", build):
        return {"torch.cuda_runtime_version": None, "torch.hip_version": None}
    return {}
