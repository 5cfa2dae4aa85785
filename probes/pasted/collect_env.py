"""`python -m torch.utils.collect_env`, old and new, and `vllm collect-env`, which is made from it.

Source: torch/utils/collect_env.py and vllm/collect_env.py. Its `CUDA runtime version` is what nvcc says, and
its `CUDA used to build PyTorch` is the CUDA runtime version of the build.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from gpuhelp.probes.environment import is_allowed
from gpuhelp.probes.facts import FactValue
from gpuhelp.probes.pasted.packages_listed import package_facts
from gpuhelp.probes.pasted.values import (
    Record,
    Span,
    distribution_facts,
    major_minor,
    platform_facts,
    stretch,
    torch_facts,
    version,
)

_START = re.compile(r"\s{0,8}PyTorch version\s{0,40}: ?\S")
_END = re.compile(r"Traceback \(most|```|\[rank\d|### ")
_PAIR = re.compile(r"\s{0,8}(?:\[\w{1,12}\] )?([A-Za-z][A-Za-z0-9_ ]{1,40}?)\s{0,40}:(?: (.{0,300}))?$")
_GPU = re.compile(r"\s{0,8}(?:GPU models and configuration\s{0,20}: ?)?GPU (\d{1,3}): (\S.{0,80}?)\s{0,8}$")
_PIP = re.compile(r"\[pip3?\] ([\w.-]{1,80})==(\S{1,60})$")
_PIP_OLD = re.compile(r"\[pip3?\] ([\w.-]{1,80}) \(?(\d[\w.+]{0,40})\)?$")
_CONDA = re.compile(r"\[conda\] ([\w.-]{1,80})\s{1,60}(\d\S{0,60})(?:\s{1,40}(\S{1,80}))?")
_VARIABLE = re.compile(r"([A-Z][A-Z0-9_]{1,60})=(.{0,300})$")
_MOST_LINES = 1_500
_YES = {"True": True, "Yes": True, "False": False, "No": False}


def blocks(lines: Sequence[str]) -> Iterator[Span]:
    """From each line of PyTorch's version to where the report ends."""
    starts = [index for index, line in enumerate(lines) if _START.match(line)]
    for start, following in zip(starts, [*starts[1:], len(lines)], strict=False):
        first = start
        while first and (set(lines[first - 1].strip()) == {"="} or lines[first - 1].strip().endswith("Info")):
            first -= 1
        last = stretch(lines[:following], start, _MOST_LINES, _END)
        yield first, _last_of_report(lines, start, last)


def _last_of_report(lines: Sequence[str], start: int, last: int) -> int:
    """The report ends with its packages, that of vLLM with variables; what a person wrote below is theirs."""
    report = range(start, last + 1)
    packages = [index for index in report if lines[index].lstrip().startswith(("[pip", "[conda]"))]
    vllm = [index for index in report if lines[index].lstrip().startswith(("vLLM Version", "vLLM Build"))]
    more = [index for index in range(vllm[-1], last + 1) if _VARIABLE.match(lines[index])] if vllm else []
    pairs = [index for index in report if _PAIR.match(lines[index])]
    ends = [*packages[-1:], *vllm[-1:], *more[-1:]]
    return max(ends) if ends else max([start, *pairs])


def read(text: str) -> Mapping[str, FactValue]:
    """Facts of one report."""
    lines = [line.rstrip() for line in text.split("\n")]
    told: dict[str, str] = {}
    for line in lines:
        if found := _PAIR.match(line):
            told.setdefault(found[1], (found[2] or "").strip())
    if "Is debug build" not in told and "CUDA used to build PyTorch" not in told:
        return {}
    facts = {**_packages(lines), **torch_facts(told.get("PyTorch version", "")), **_built_for(told)}
    facts |= {**platform_facts(told.get("Python platform", "")), **distribution_facts(told.get("OS", ""))}
    facts |= _versions(told)
    gpus = [found for line in lines if (found := _GPU.match(line))]
    if gpus:
        facts["gpus"] = [{"index": int(gpu[1]), "name": gpu[2]} for gpu in gpus]
    if "vLLM Version" in told:
        vllm = version(told["vLLM Version"])
        facts |= {"packages.vllm": vllm} if vllm else {}
        facts |= _variables(lines)
    return facts


def _versions(told: Mapping[str, str]) -> Record:
    facts: Record = {}
    if (available := _YES.get(told.get("Is CUDA available", ""))) is not None:
        facts["torch.cuda_available"] = available
    if python := version(told.get("Python version", "")):
        facts["python.version"] = python
    if nvcc := major_minor(told.get("CUDA runtime version", "")):
        facts["toolkit.nvcc_version"] = nvcc
    if driver := version(told.get("Nvidia driver version", "")):
        facts |= {"driver.version": driver, "driver.error": None}
    return facts


def _built_for(told: Mapping[str, str]) -> Record:
    """`N/A` stands for the vendor that a build is not for, `None` for a build without either."""
    cuda, rocm = told.get("CUDA used to build PyTorch", ""), told.get("ROCM used to build PyTorch", "")
    facts: Record = {}
    if cuda == "None" or (cuda == "N/A" and version(rocm)):
        facts["torch.cuda_runtime_version"] = None
    elif built := major_minor(cuda):
        facts["torch.cuda_runtime_version"] = built
    if hip := version(rocm):
        facts["torch.hip_version"] = hip
    elif rocm == "N/A" and "torch.cuda_runtime_version" in facts:
        facts["torch.hip_version"] = None
    return facts


def _packages(lines: Sequence[str]) -> dict[str, FactValue]:
    listed = [line.strip() for line in lines if "[pip" in line or "[conda]" in line]
    pip = [found for line in listed if (found := _PIP.match(line) or _PIP_OLD.match(line))]
    conda = [found for line in listed if (found := _CONDA.match(line))]
    facts = package_facts((row[1], row[2]) for row in (*pip, *conda))
    return {name: value for name, value in facts.items() if name.startswith("packages.")}


def _variables(lines: Sequence[str]) -> Record:
    """Environment variables, which vLLM lists at the end."""
    start = next(
        (place for place, line in enumerate(lines) if line.lstrip().startswith("vLLM Version")), len(lines)
    )
    found = (_VARIABLE.match(line.strip()) for line in lines[start:])
    return {f"env.{each[1]}": each[2] for each in found if each and is_allowed(each[1])}
