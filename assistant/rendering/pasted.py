"""What was read from pasted outputs of tools, as rows: a paste without a failure, and what differs. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from gpuhelp.diagnosis import Diagnosis
from gpuhelp.kb.load import KnowledgeBase
from gpuhelp.probes.facts import FactValue
from gpuhelp.reasoning.checkup import check
from gpuhelp.reasoning.pasted import Contradiction, Pastes, Whose
from gpuhelp.reasoning.table_functions import TableFunctions
from gpuhelp.rendering.labels import label, place_label, source_label
from gpuhelp.rendering.layout import BLANK, Row, Span, row
from gpuhelp.rendering.reasons import spell
from gpuhelp.words import Words

_FIRST = (
    "driver.version", "driver.cuda_api_version", "driver.error", "gpus", "torch.version",
    "torch.cuda_runtime_version", "torch.hip_version", "torch.cuda_available", "toolkit.nvcc_version",
    "python.version", "os.distribution", "container.daemon", "host.shm_total_bytes", "host.memlock_bytes",
    "host.ram_total_bytes", "host.pci_gpus", "kernel.xids", "topology.links",
)  # fmt: skip
"""The facts that say most, in the order of telling."""
_SHOWN_FACTS = 10
_SHOWN_DIFFERENCES = 6


def reading_rows(diagnosis: Diagnosis, words: Words, knowledge: KnowledgeBase) -> tuple[Row, ...]:
    """A paste without a failure: the tools, the facts, what they point to, and what is missing."""
    pastes = diagnosis.pastes
    if pastes is None:
        return ()
    return (
        BLANK,
        row(Span(words("pasted.heading"), "heading")),
        *_parts(pastes, words),
        *_facts(pastes, words),
        *_pointers(diagnosis, words, knowledge),
        *difference_rows(diagnosis, words),
        BLANK,
        row(words("pasted.what_now")),
    )


def difference_rows(diagnosis: Diagnosis, words: Words) -> tuple[Row, ...]:
    """What the text and this machine (or --env) state differently, with both values, and which one counts.

    What only one of them has is no difference to be told: that this machine has no GPU is no news.
    """
    weighed = diagnosis.weighed
    if weighed is None or not (weighed.contradictions or weighed.is_elsewhere):
        return ()
    differing = [each for each in weighed.contradictions if each.both_have]
    shown = differing[:_SHOWN_DIFFERENCES]
    heading = "pasted.differ.given" if weighed.whose is Whose.GIVEN else "pasted.differ"
    rows = [BLANK, row(Span(words(heading), "heading"))]
    rows += [_difference(each, words) for each in shown]
    if hidden := len(differing) - len(shown):
        rows.append(row(Span(words("pasted.more", count=hidden), "dim"), indent=2))
    return (*rows, row(words(f"pasted.counts.{weighed.whose.value}"), indent=2))


def _difference(each: Contradiction, words: Words) -> Row:
    sides = (
        f"{told_value(each.name, fact.value, words)} ({source_label(fact.source, words)})"
        for fact in (each.pasted, each.other)
    )
    return row(Span(f"{label(each.name, words)}  ", "name"), " · ".join(sides), indent=2, hang=2)


def _parts(pastes: Pastes, words: Words) -> Iterator[Row]:
    told: set[str] = set()
    for part in pastes.parts:
        if part.tool not in told:
            place = place_label(part.source, part.first_line, words)
            yield row(Span(f"{part.tool}  ", "name"), Span(place, "dim"), indent=2, hang=2)
        told.add(part.tool)


def _facts(pastes: Pastes, words: Words) -> tuple[Row, ...]:
    facts = pastes.facts
    known = [name for name in (*_FIRST, *facts) if name in facts and facts[name].value is not None]
    names = [
        name for name in dict.fromkeys(known) if name != "torch.installed" or "torch.version" not in facts
    ]
    rows = [
        row(
            Span(f"{label(name, words)}  ", "dim"),
            told_value(name, facts[name].value, words),
            indent=2,
            hang=2,
        )
        for name in names[:_SHOWN_FACTS]
    ]
    hidden = len(names) - len(rows)
    more = [row(Span(words("pasted.more", count=hidden), "dim"), indent=2)] if hidden > 0 else []
    return (BLANK, *rows, *more) if rows else ()


def _pointers(diagnosis: Diagnosis, words: Words, knowledge: KnowledgeBase) -> tuple[Row, ...]:
    """What would be wrong on a machine with these facts: no finding, for nothing has failed in the text."""
    checkup = check(diagnosis.facts, knowledge.table("checks"), TableFunctions(knowledge))
    if not checkup.troubles:
        return ()
    rows = [BLANK, row(Span(words("pasted.point_to"), "heading"))]
    for trouble in checkup.troubles:
        title = knowledge.entry(trouble.entry).title.of(words.language)
        rows.append(row("- ", title, indent=2, hang=2))
        rows.append(row(Span(f"gpuhelp explain {trouble.entry}", "command"), indent=4, whole=True))
    return tuple(rows)


def told_value(name: str, value: FactValue, words: Words) -> str:
    """A value in words; GPUs by their names, each kind once with how many there are."""
    if name not in ("gpus", "host.pci_gpus") or not isinstance(value, (list, tuple)):
        return spell(name, value, words)
    counted = Counter(_name(each) for each in value)
    told = (f"{count} × {name}" if count > 1 else name for name, count in counted.items())
    return ", ".join(told) or words("mark.absent")


def _name(gpu: Any) -> str:
    if isinstance(gpu, Mapping):
        return str(gpu.get("name") or gpu.get("error") or gpu.get("gfx") or "GPU")
    return str(gpu) or "GPU"
