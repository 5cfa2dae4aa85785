"""A checkup as rows for the terminal and as data. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from gpuhelp.kb.load import KnowledgeBase
from gpuhelp.probes.facts import Facts
from gpuhelp.rendering.layout import BLANK, Row, Span, row, width_of
from gpuhelp.rendering.reasons import spell
from gpuhelp.reasoning.checkup import CUDA_VERSIONS, Checkup, Layer, Mark
from gpuhelp.words import Words

_MARKS = {
    Mark.GOOD: ("✔", "good"),
    Mark.TROUBLE: ("✘", "bad"),
    Mark.ABSENT: ("–", "dim"),
    Mark.UNKNOWN: ("?", "likely"),
}


def checkup_rows(checkup: Checkup, reports: Iterable[Any], words: Words, knowledge: KnowledgeBase) -> tuple[Row, ...]:
    """The picture of the stack, the three CUDA versions in a sentence each, and trouble with where to read on."""
    rows = [row(Span(words("check.title"), "title")), BLANK]
    width = max(width_of(words(f"layer.{layer.name}")) for layer in checkup.layers)
    for layer in checkup.layers:
        rows += _layer(layer, words, width)
    rows += [BLANK, row(Span(words("check.versions"), "heading"))]
    rows += [row("- ", version_sentence(kind, checkup, words), indent=2, hang=2) for kind in CUDA_VERSIONS]
    rows += _trouble(checkup, words, knowledge)
    rows += _failed(reports, words)
    return tuple(rows)


def version_sentence(kind: str, checkup: Checkup, words: Words) -> str:
    """What one of the three CUDA versions is, and that it is not the other two."""
    if kind not in checkup.cuda_versions:
        return words(f"check.{kind}.unknown")
    value = checkup.cuda_versions[kind]
    return words(f"check.{kind}.none") if value is None else words(f"check.{kind}", version=value)


def checkup_data(checkup: Checkup, facts: Facts, reports: Iterable[Any], words: Words, knowledge: KnowledgeBase) -> dict[str, Any]:
    """The checkup as plain data for JSON and Markdown."""
    return {
        "schema_version": 1,
        "status": "trouble" if checkup.troubles else "fine",
        "layers": [
            {"layer": layer.name, "mark": layer.mark.value, "facts": dict(layer.facts)} for layer in checkup.layers
        ],
        "cuda_versions": {
            kind: {"version": checkup.cuda_versions.get(kind), "means": version_sentence(kind, checkup, words)}
            for kind in CUDA_VERSIONS
        },
        "problems": [
            {
                "entry": trouble.entry,
                "layer": trouble.layer,
                "title": knowledge.entry(trouble.entry).title.of(words.language),
                "because": dict(_values(trouble.names, facts)),
            }
            for trouble in checkup.troubles
        ],
        "facts": {name: {"value": fact.value, "source": fact.source} for name, fact in facts.items()},
        "probes": [
            {"id": r.id, "status": r.status.value, "seconds": r.seconds, "detail": r.detail} for r in reports
        ],
    }


def _values(names: Iterable[str], facts: Facts) -> list[tuple[str, Any]]:
    return [(name, facts[name].value) for name in names if name in facts]


def _layer(layer: Layer, words: Words, width: int) -> list[Row]:
    mark, style = _MARKS[layer.mark]
    label = words(f"layer.{layer.name}")
    head = Span(f"{mark} ", style), Span(label + " " * (width - width_of(label) + 2), "name")
    shown = _gpu_texts(layer, words) if layer.name == "hardware" else [_facts_text(layer, words)]
    first, *others = shown or [words(f"mark.{layer.mark.value}")]
    hang = width + 4
    return [row(*head, first, indent=2, hang=hang), *(row(text, indent=2 + hang) for text in others)]


def _facts_text(layer: Layer, words: Words) -> str:
    told = [f"{_label(name)} {spell(name, value)}" for name, value in layer.facts if value is not None]
    return " · ".join(told) or words(f"mark.{layer.mark.value}")


def _label(name: str) -> str:
    """python.version -> version: the layer already says whose."""
    return name.rpartition(".")[2].removesuffix("_bytes").replace("_", " ")


def _gpu_texts(layer: Layer, words: Words) -> list[str]:
    gpus = dict(layer.facts).get("gpus")
    return [_gpu_text(gpu, words) for gpu in gpus if isinstance(gpu, Mapping)] if isinstance(gpus, (list, tuple)) else []


def _gpu_text(gpu: Mapping[str, Any], words: Words) -> str:
    parts = [f"{gpu.get('index', '?')}: {gpu.get('name', '?')}"]
    if gpu.get("error"):
        parts.append(str(gpu["error"]))
    if gpu.get("compute_capability"):
        parts.append(words("check.capability", capability=gpu["compute_capability"]))
    free, total = gpu.get("memory_free_bytes"), gpu.get("memory_total_bytes")
    if free is not None and total is not None:
        parts.append(words("check.memory", free=spell("_bytes", free), total=spell("_bytes", total)))
    return " · ".join(parts)


def _trouble(checkup: Checkup, words: Words, knowledge: KnowledgeBase) -> list[Row]:
    if not checkup.troubles:
        return [BLANK, row(Span(words("check.fine"), "good"))]
    rows = [BLANK, row(Span(words("check.trouble"), "heading"))]
    for trouble in checkup.troubles:
        title = knowledge.entry(trouble.entry).title.of(words.language)
        rows.append(row(Span("✘ ", "bad"), title, indent=2, hang=2))
        values = ", ".join(f"{name} = {spell(name, value)}" for name, value in _values(trouble.names, checkup.scope.facts))
        if values:
            rows.append(row(Span(values, "dim"), indent=4))
        rows.append(row(Span(f"gpuhelp explain {trouble.entry}", "command"), indent=4, whole=True))
    return rows


def _failed(reports: Iterable[Any], words: Words) -> list[Row]:
    failed = [report for report in reports if report.status.value in ("timeout", "error", "unavailable")]
    if not failed:
        return []
    rows = [BLANK, row(Span(words("not_looked"), "heading"))]
    for report in failed:
        state = words(f"probe.{report.status.value}")
        rows.append(row(Span(f"{report.id}  ", "name"), f"{state}: {report.detail}", indent=2, hang=2))
    return rows
