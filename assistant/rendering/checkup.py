"""A checkup as rows for the terminal and as data. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from gpuhelp.kb.drivers import version_numbers
from gpuhelp.kb.load import KnowledgeBase
from gpuhelp.probes.facts import Facts
from gpuhelp.reasoning.abilities import Model
from gpuhelp.reasoning.checkup import CUDA_VERSIONS, STACK, Checkup, Layer, Mark
from gpuhelp.rendering.abilities import ability_data, ability_rows
from gpuhelp.rendering.gpu_lines import bus_lines, gpu_lines
from gpuhelp.rendering.labels import label
from gpuhelp.rendering.layout import BLANK, Row, Span, row, width_of
from gpuhelp.rendering.probe_reports import probe_rows
from gpuhelp.rendering.reasons import spell
from gpuhelp.rendering.troubles import trouble_data, trouble_rows
from gpuhelp.words import Words

if TYPE_CHECKING:
    from gpuhelp.probes.runner import ProbeReport

_MARKS = {
    Mark.GOOD: ("✔", "good"),
    Mark.TROUBLE: ("✘", "bad"),
    Mark.ABSENT: ("–", "dim"),
    Mark.UNKNOWN: ("?", "likely"),
}


def checkup_rows(
    checkup: Checkup,
    reports: Iterable[ProbeReport],
    words: Words,
    knowledge: KnowledgeBase,
    models: Iterable[Model] = (),
) -> tuple[Row, ...]:
    """The picture of the stack, trouble, what the GPUs can do, and the three CUDA versions told apart."""
    rows = [row(Span(words("check.title"), "title")), BLANK]
    width = max(width_of(layer_name(layer, words)) for layer in checkup.layers)
    for layer in checkup.layers:
        rows += _layer(layer, words, width)
    rows += trouble_rows(checkup.troubles, words, knowledge)
    rows += ability_rows(models, words)
    rows += [BLANK, row(Span(words("check.versions"), "heading"))]
    rows += [row("- ", version_sentence(kind, checkup, words), indent=2, hang=2) for kind in CUDA_VERSIONS]
    return (*rows, *_not_looked(tuple(reports), words))


def layer_name(layer: Layer, words: Words) -> str:
    """What a layer of the picture is called: by what stands in it."""
    return words.find(f"check.layer.{layer.name}") or words(f"layer.{layer.name}")


def version_sentence(kind: str, checkup: Checkup, words: Words) -> str:
    """What one of the three CUDA versions is, and that it is not the other two."""
    if kind not in checkup.cuda_versions:
        return words(f"check.{kind}.unknown")
    value = checkup.cuda_versions[kind]
    if value is None:
        return words(f"check.{kind}.none")
    sentence = words(f"check.{kind}", version=value)
    if kind == "runtime" and _is_newer_minor(value, checkup.cuda_versions.get("driver_api")):
        return f"{sentence} {words('check.runtime.newer_minor')}"
    return sentence


def _is_newer_minor(runtime: object, driver_api: object) -> bool:
    """Whether it runs only by CUDA's minor-version compatibility."""
    one, other = version_numbers(str(runtime)), version_numbers(str(driver_api))
    return bool(one and other and one[0] == other[0] and one[:2] > other[:2])


def checkup_data(
    checkup: Checkup,
    facts: Facts,
    reports: Iterable[ProbeReport],
    words: Words,
    knowledge: KnowledgeBase,
    models: Iterable[Model] = (),
) -> dict[str, Any]:
    """The checkup as plain data for JSON and Markdown; `name`, `told` and `shown` are for people."""
    return {
        "schema_version": 1,
        "status": "trouble" if checkup.troubles else "fine",
        "layers": [
            {
                "layer": layer.name,
                "name": layer_name(layer, words),
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
        "problems": [trouble_data(each, words, knowledge) for each in checkup.troubles],
        "abilities": [ability_data(model, words) for model in models],
        "facts": {name: {"value": fact.value, "source": fact.source} for name, fact in facts.items()},
        "probes": [
            {"id": r.id, "status": r.status.value, "seconds": r.seconds, "detail": r.detail} for r in reports
        ],
    }


def _layer(layer: Layer, words: Words, width: int) -> list[Row]:
    mark, style = _MARKS[layer.mark]
    name = layer_name(layer, words)
    edge = _edge(layer.name)
    head = (
        Span(edge, "dim"),
        Span(f"{mark} ", style),
        Span(name + " " * (width - width_of(name) + 2), "name"),
    )
    told = _told(layer, words)
    lines = told if layer.name == "hardware" else [" · ".join(told)]
    indent, column = 4 - len(edge), width + 8
    return [
        row(*head, lines[0], indent=indent, hang=column - indent),
        *(row(text, indent=column) for text in lines[1:]),
    ]


def _edge(name: str) -> str:
    """The line that joins the layers of the stack; container and host stand beside it."""
    if name not in STACK:
        return ""
    return {STACK[0]: "┌ ", STACK[-1]: "└ "}.get(name, "├ ")


def _told(layer: Layer, words: Words) -> list[str]:
    """What the layer shows, in words; what it is marked with, where it shows nothing."""
    if layer.name == "hardware":
        facts = dict(layer.facts)
        told = gpu_lines(facts.get("gpus"), words) or bus_lines(facts.get("host.pci_gpus"), words)
    else:
        told = [text for name, value in layer.facts if (text := _fact(name, value, words))]
    return told or [words(f"mark.{layer.mark.value}")]


def _fact(name: str, value: object, words: Words) -> str:
    """A value as short as it can stand in its layer; empty where there is nothing to say."""
    if value is None or value is False:
        return words.find(f"check.none.{name}") or ""
    short = words.find(f"check.fact.{name}")
    return (short or label(name, words) + ": {value}").replace("{value}", spell(name, value, words))


def _not_looked(reports: tuple[ProbeReport, ...], words: Words) -> tuple[Row, ...]:
    """Looks that broke with what they came to; those for which there is nothing here by name only."""
    broken = tuple(report for report in reports if report.status.value in ("timeout", "error"))
    rows = list(probe_rows(broken, words))
    absent = [report.id for report in reports if report.status.value == "unavailable"]
    if absent:
        told = words("check.unavailable", probes=", ".join(absent))
        rows += [BLANK, row(Span(told, "dim"), hang=2)]
    return tuple(rows)
