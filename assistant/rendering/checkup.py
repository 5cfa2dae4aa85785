"""A checkup as rows for the terminal and as data. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from gpuhelp.kb.load import KnowledgeBase
from gpuhelp.probes.facts import Facts
from gpuhelp.reasoning.checkup import CUDA_VERSIONS, Checkup, Layer, Mark, Trouble
from gpuhelp.rendering.labels import label
from gpuhelp.rendering.layout import BLANK, Row, Span, row, width_of
from gpuhelp.rendering.reasons import spell
from gpuhelp.rendering.text import probe_rows
from gpuhelp.words import Words

_MARKS = {
    Mark.GOOD: ("✔", "good"),
    Mark.TROUBLE: ("✘", "bad"),
    Mark.ABSENT: ("–", "dim"),
    Mark.UNKNOWN: ("?", "likely"),
}


def checkup_rows(
    checkup: Checkup, reports: Iterable[Any], words: Words, knowledge: KnowledgeBase
) -> tuple[Row, ...]:
    """The picture of the stack, a sentence on each of the three CUDA versions, and trouble."""
    rows = [row(Span(words("check.title"), "title")), BLANK]
    width = max(width_of(words(f"layer.{layer.name}")) for layer in checkup.layers)
    for layer in checkup.layers:
        rows += _layer(layer, words, width)
    rows += [BLANK, row(Span(words("check.versions"), "heading"))]
    rows += [row("- ", version_sentence(kind, checkup, words), indent=2, hang=2) for kind in CUDA_VERSIONS]
    rows += _trouble(checkup, words, knowledge)
    return (*rows, *probe_rows(reports, words))


def version_sentence(kind: str, checkup: Checkup, words: Words) -> str:
    """What one of the three CUDA versions is, and that it is not the other two."""
    if kind not in checkup.cuda_versions:
        return words(f"check.{kind}.unknown")
    value = checkup.cuda_versions[kind]
    return words(f"check.{kind}.none") if value is None else words(f"check.{kind}", version=value)


def checkup_data(
    checkup: Checkup, facts: Facts, reports: Iterable[Any], words: Words, knowledge: KnowledgeBase
) -> dict[str, Any]:
    """The checkup as plain data for JSON and Markdown; `told` and `shown` are for people."""
    return {
        "schema_version": 1,
        "status": "trouble" if checkup.troubles else "fine",
        "layers": [
            {
                "layer": layer.name,
                "mark": layer.mark.value,
                "facts": dict(layer.facts),
                "told": _told(layer, words),
            }
            for layer in checkup.layers
        ],
        "cuda_versions": {
            kind: {
                "version": checkup.cuda_versions.get(kind),
                "means": version_sentence(kind, checkup, words),
            }
            for kind in CUDA_VERSIONS
        },
        "problems": [
            {
                "entry": trouble.entry,
                "layer": trouble.layer,
                "title": knowledge.entry(trouble.entry).title.of(words.language),
                "because": dict(_values(trouble.names, facts)),
                "shown": _shown(trouble, checkup, words),
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
    name = words(f"layer.{layer.name}")
    head = Span(f"{mark} ", style), Span(name + " " * (width - width_of(name) + 2), "name")
    told = _told(layer, words)
    lines = told if layer.name == "hardware" else [" · ".join(told)]
    hang = width + 4
    return [row(*head, lines[0], indent=2, hang=hang), *(row(text, indent=2 + hang) for text in lines[1:])]


def _told(layer: Layer, words: Words) -> list[str]:
    """What the layer shows, in words; what it is marked with, where it shows nothing."""
    if layer.name == "hardware":
        told = _gpu_texts(layer, words)
    else:
        seen = [(name, value) for name, value in layer.facts if value is not None and value is not False]
        told = [f"{label(name, words)}: {spell(name, value, words)}" for name, value in seen]
    return told or [words(f"mark.{layer.mark.value}")]


def _gpu_texts(layer: Layer, words: Words) -> list[str]:
    gpus = dict(layer.facts).get("gpus")
    listed = gpus if isinstance(gpus, (list, tuple)) else ()
    return [_gpu_text(gpu, words) for gpu in listed if isinstance(gpu, Mapping)]


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
        shown = _shown(trouble, checkup, words)
        if shown:
            rows.append(row(Span(" · ".join(shown), "dim"), indent=4))
        rows.append(row(Span(f"gpuhelp explain {trouble.entry}", "command"), indent=4, whole=True))
    return rows


def _shown(trouble: Trouble, checkup: Checkup, words: Words) -> list[str]:
    """The values that showed the trouble; of GPUs those that do not answer."""
    shown = []
    gpu = {f"gpu.{name}": value for name, value in checkup.scope.gpu.items()}
    of_gpu = [(name, gpu[name]) for name in trouble.names if name in gpu]
    for name, value in [*of_gpu, *_values(trouble.names, checkup.scope.facts)]:
        if name == "gpus" and isinstance(value, (list, tuple)):
            shown += [_gpu_text(gpu, words) for gpu in value if isinstance(gpu, Mapping) and gpu.get("error")]
        else:
            shown.append(f"{label(name, words)}: {spell(name, value, words)}")
    return shown
