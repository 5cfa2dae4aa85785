"""`ds_report`: what DeepSpeed was built with, and the size of /dev/shm. Source: deepspeed/env_report.py."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from gpuhelp.probes.facts import FactValue
from gpuhelp.probes.pasted.values import Span, major_minor, size_bytes, torch_facts, version

_MARK = "DeepSpeed general environment info"
_ROW = re.compile(r"([a-z][\w ()/.-]{2,60}?) \.{2,60} ?(.{0,300})$")
_OPERATORS = re.compile(r"DeepSpeed C\+\+/CUDA extension op report|op name \.{2,60} installed")
_MOST_OPERATOR_LINES = 80


def blocks(lines: Sequence[str]) -> Iterator[Span]:
    """From the report of operators, if it stands there, to the last row of the environment."""
    for start, line in enumerate(lines):
        if _MARK in line:
            last = start
            while last + 1 < len(lines) and _ROW.match(lines[last + 1].strip()):
                last += 1
            above = range(start, max(-1, start - _MOST_OPERATOR_LINES), -1)
            heads = [index for index in above if _OPERATORS.search(lines[index])]
            yield (max(0, heads[-1] - 1) if heads else start), last


def read(text: str) -> Mapping[str, FactValue]:
    """Facts of one report."""
    rows = text[text.index(_MARK) :].split("\n") if _MARK in text else []
    told = {found[1]: found[2].strip() for row in rows if (found := _ROW.match(row.strip()))}
    facts: dict[str, FactValue] = dict(torch_facts(told.get("torch version", "")))
    if cuda := major_minor(told.get("torch cuda version", "")):
        facts["torch.cuda_runtime_version"] = cuda
    if hip := version(told.get("torch hip version", "")):
        facts |= {"torch.hip_version": hip, "torch.cuda_runtime_version": None}
    elif told.get("torch hip version") == "None" and "torch.cuda_runtime_version" in facts:
        facts["torch.hip_version"] = None
    if nvcc := major_minor(told.get("nvcc version", "")):
        facts["toolkit.nvcc_version"] = nvcc
    if deepspeed := version(told.get("deepspeed info", "").split(",")[0]):
        facts["packages.deepspeed"] = deepspeed
    if path := re.search(r"'(/[^']{1,300})'", told.get("torch install path", "")):
        facts["torch.path"] = path[1]
    if (shm := size_bytes(told.get("shared memory (/dev/shm) size", ""))) is not None:
        facts["host.shm_total_bytes"] = shm
    return facts
