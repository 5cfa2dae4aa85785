"""GPUs of one machine in few lines: those that are alike together. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from gpuhelp.rendering.reasons import spell
from gpuhelp.words import Words

Gpu = Mapping[str, Any]


def gpu_lines(gpus: object, words: Words) -> list[str]:
    """A line for each kind of GPU, and one for each GPU that does not answer."""
    groups: dict[tuple[object, ...], list[Gpu]] = {}
    for gpu in gpus if isinstance(gpus, (list, tuple)) else ():
        if isinstance(gpu, Mapping):
            groups.setdefault(_kind(gpu), []).append(gpu)
    return [_line(group, words) for group in groups.values()]


def bus_lines(pci_gpus: object, words: Words) -> list[str]:
    """GPUs that stand on the PCI bus, where their driver shows none."""
    records = pci_gpus if isinstance(pci_gpus, (list, tuple)) else ()
    names = [
        str(each.get("name") or each.get("pci") or "GPU") for each in records if isinstance(each, Mapping)
    ]
    return [words("check.on_bus", name=name) for name in dict.fromkeys(names)]


def gpu_numbers(indices: Iterable[object]) -> str:
    """0–3, 5 of 0, 1, 2, 3 and 5."""
    runs: list[list[int]] = []
    for index in sorted(each for each in indices if isinstance(each, int)):
        if runs and index == runs[-1][-1] + 1:
            runs[-1].append(index)
        else:
            runs.append([index])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}–{run[-1]}" for run in runs)


def _kind(gpu: Gpu) -> tuple[object, ...]:
    if gpu.get("error"):
        return ("error", gpu.get("index"))
    return (gpu.get("name"), gpu.get("compute_capability"), gpu.get("memory_total_bytes"))


def _line(group: list[Gpu], words: Words) -> str:
    gpu = group[0]
    parts = [f"{gpu_numbers(each.get('index') for each in group) or '?'}: {_name(gpu)}"]
    if len(group) > 1:
        parts[0] = f"{len(group)} × {_name(gpu)} ({gpu_numbers(each.get('index') for each in group)})"
    if gpu.get("error"):
        parts.append(str(gpu["error"]))
    if gpu.get("compute_capability"):
        parts.append(words("check.capability", capability=gpu["compute_capability"]))
    return " · ".join([*parts, *_memory(group, words)])


def _name(gpu: Gpu) -> str:
    return str(gpu.get("name") or gpu.get("gfx") or "?")


def _memory(group: list[Gpu], words: Words) -> list[str]:
    """Free memory of the fullest of them: that is the one a job fails on."""
    total = group[0].get("memory_total_bytes")
    free = [each["memory_free_bytes"] for each in group if each.get("memory_free_bytes") is not None]
    if total is None or not free:
        return []
    key = "check.memory" if len(free) == 1 or min(free) == max(free) else "check.memory_least"
    return [words(key, free=spell("_bytes", min(free)), total=spell("_bytes", total))]
