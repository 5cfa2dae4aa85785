"""`accelerate env`, `transformers env` (also transformers-cli) and `diffusers-cli env`: a list for an issue.

Source: accelerate/commands/env.py, transformers/commands/env.py, diffusers/commands/env.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from gpuhelp.probes.facts import FactValue
from gpuhelp.probes.pasted.values import (
    Record,
    Span,
    platform_facts,
    size_bytes,
    stretch,
    torch_facts,
    version,
)

_START = re.compile(
    r"\s{0,8}[-*•]? ?(?:`(?:Accelerate|transformers|diffusers)` version|(?:🤗 )?Diffusers version): ?\S"
)
_END = re.compile(r"Traceback \(most|```|### ")
_PAIR = re.compile(
    r"\s{0,12}[-*•]? ?(?:🤗 )?`?([A-Za-z][\w ]{1,40}?)`?( \([\w/?]{2,40}\))?( [\w ]{1,30}?)?"
    r"(?: \([\w/?]{2,40}\))?: {0,8}(.{0,200})$"
)
_ROW = re.compile(r"\s{0,12}[-*•] |\s{1,12}\S")
_MOST_LINES = 60
_PACKAGES = {
    "Accelerate version": "accelerate",
    "accelerate version": "accelerate",
    "transformers version": "transformers",
    "Transformers version": "transformers",
    "diffusers version": "diffusers",
    "Diffusers version": "diffusers",
    "Numpy version": "numpy",
    "Huggingface_hub version": "huggingface_hub",
    "huggingface_hub version": "huggingface_hub",
    "Safetensors version": "safetensors",
    "safetensors version": "safetensors",
    "DeepSpeed version": "deepspeed",
    "PEFT version": "peft",
    "Bitsandbytes version": "bitsandbytes",
    "xFormers version": "xformers",
    "Tensorflow version": "tensorflow",
    "Jax version": "jax",
    "JaxLib version": "jaxlib",
}
_ACCELERATORS = {"True": True, "False": False, "CUDA": True, "N/A": False, "CPU": False}


def blocks(lines: Sequence[str]) -> Iterator[Span]:
    """From each first line to where the list ends."""
    for start, line in enumerate(lines):
        if _START.match(line):
            last = stretch(lines, start, _MOST_LINES, _END)
            rows = range(start, last + 1)
            yield start, max(index for index in rows if index == start or _ROW.match(lines[index]))


def read(text: str) -> Mapping[str, FactValue]:
    """Facts of one list; a package that it says is not installed is None."""
    told: dict[str, str] = {}
    for line in text.split("\n"):
        if found := _PAIR.match(line):
            name = f"{found[1]}{found[3] or ''}".replace("`", "").strip()
            told.setdefault(name, found[4].strip().strip("`"))
    facts: Record = {}
    for name, package in _PACKAGES.items():
        value = told.get(name, "")
        if number := version(value):
            facts[f"packages.{package}"] = number
        elif value.lower().startswith("not installed"):
            facts.setdefault(f"packages.{package}", None)
    if not facts:
        return {}
    facts |= platform_facts(told.get("Platform", ""))
    facts |= {"python.version": number} if (number := version(told.get("Python version", ""))) else {}
    return {**facts, **_torch(told), **_machine(told)}


def _torch(told: Mapping[str, str]) -> Record:
    """`2.1.0+rocm5.6 (True)`, `2.9.1+cu128 (CUDA)`, or the accelerator in a line of its own."""
    value = told.get("PyTorch version", "")
    facts = torch_facts(value)
    if not facts:
        return {"torch.installed": False} if value.lower().startswith("not installed") else {}
    facts["packages.torch"] = facts["torch.version"]
    state = re.search(r" \((True|False|CUDA|NA|CPU)\)$", value)
    seen = state[1] if state else told.get("PyTorch accelerator", "")
    if seen in _ACCELERATORS:
        facts["torch.cuda_available"] = _ACCELERATORS[seen]
    return facts


def _machine(told: Mapping[str, str]) -> Record:
    facts: Record = {}
    if ram := size_bytes(told.get("System RAM", "")):
        facts["host.ram_total_bytes"] = ram
    gpu = told.get("GPU type", "")
    if gpu and gpu != "N/A":
        facts["gpus"] = [{"name": gpu}]
    if driver := version(told.get("NVIDIA driver version", "")):
        facts |= {"driver.version": driver, "driver.error": None}
    return facts
