"""What is known of the machine, as rows, and as the one line under the prompt. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import TYPE_CHECKING, Any

from gpuhelp.diagnosis import Diagnosis
from gpuhelp.kb.evaluation import format_bytes
from gpuhelp.probes.facts import Fact, Facts
from gpuhelp.reasoning.judge import names_wanted
from gpuhelp.rendering.labels import label, source_label
from gpuhelp.rendering.layout import BLANK, Row, Span, clip, row
from gpuhelp.rendering.reasons import spell
from gpuhelp.rendering.text import machine_rows
from gpuhelp.words import Words

if TYPE_CHECKING:
    from gpuhelp.reasoning.findings import Finding

_SHOWN_HERE = 8
_SHOWN_ITEMS = 16
_LONGEST_ERROR = 60
_SHORTEST_NAME = 12


def facts_here_rows(finding: Finding, facts: Facts, words: Words) -> tuple[Row, ...]:
    """The facts that the finding's causes ask for and that did not come from the text."""
    wanted = names_wanted(finding.entry.causes)
    rows = []
    if any(name.partition(".")[0] in ("gpu", "gpus") for name in wanted):
        rows += [row(gpu_line(gpu, words), indent=2, hang=2) for gpu in gpus_of(facts)]
    for name, fact in facts.items():
        if name in wanted and name != "gpus" and not fact.source.startswith("text"):
            rows.append(_fact_row(label(name, words), name, fact, words))
    if not rows:
        return ()
    hidden = len(rows) - _SHOWN_HERE
    more = [row(Span(words("chat.more_facts", count=hidden), "dim"), indent=2)] if hidden > 0 else []
    return (BLANK, row(Span(words("chat.facts_here"), "heading")), *rows[:_SHOWN_HERE], *more)


def facts_rows(facts: Facts, diagnosis: Diagnosis | None, words: Words) -> tuple[Row, ...]:
    """Every fact with its source, grouped by what it is about, and the looks of the diagnosis that failed."""
    rows: list[Row] = []
    for group, members in groupby(facts.items(), key=lambda item: item[0].partition(".")[0]):
        rows += [*([BLANK] if rows else []), row(Span(group, "heading"))]
        for name, fact in members:
            rows += _told_in_full(name, fact, words)
    if not rows:
        rows = [row(words("chat.no_facts"))]
    return (*rows, *(machine_rows(diagnosis, words) if diagnosis is not None else ()))


def gpus_of(facts: Facts) -> tuple[Mapping[str, Any], ...]:
    """The GPUs that are known."""
    fact = facts.get("gpus")
    listed = fact.value if fact is not None and isinstance(fact.value, (list, tuple)) else ()
    return tuple(gpu for gpu in listed if isinstance(gpu, Mapping))


def gpu_line(gpu: Mapping[str, Any], words: Words) -> str:
    """One GPU: index, name, free memory; or why it could not be asked."""
    name = f"GPU {gpu.get('index', '?')}  {gpu.get('name', '')}".rstrip()
    if "error" in gpu:
        return f"{name}  {gpu['error']}"
    free, total = gpu.get("memory_free_bytes"), gpu.get("memory_total_bytes")
    if free is None or total is None:
        return name
    return name + " · " + words("chat.gpu_memory", free=format_bytes(free), total=format_bytes(total))


def bar_text(facts: Facts | None, words: Words, width: int) -> str:
    """The line under the prompt: GPU, free memory, driver version, in at most `width` columns.

    None stands for a look that has not come back.
    """
    if facts is None:
        return clip(words("chat.bar.looking"), width)
    version, error, gpus = _value(facts, "driver.version"), _value(facts, "driver.error"), gpus_of(facts)
    if gpus:
        return _gpus_in_bar(gpus, version, words, width)
    if "gpus" in facts or ("driver.version" in facts and version is None):
        return clip(words("chat.bar.none"), width)
    if error:
        return clip(words("chat.bar.driver_error", error=clip(str(error), _LONGEST_ERROR)), width)
    return clip(words("chat.bar.not_known"), width)


def _gpus_in_bar(gpus: tuple[Mapping[str, Any], ...], version: object, words: Words, width: int) -> str:
    free = [gpu["memory_free_bytes"] for gpu in gpus if gpu.get("memory_free_bytes") is not None]
    parts = []
    if free:
        key = "chat.bar.free" if len(gpus) == 1 else "chat.bar.least_free"
        parts.append(words(key, free=format_bytes(min(free))))
    if version:
        parts.append(words("chat.bar.driver", version=version))
    rest = "".join(f" · {part}" for part in parts)
    times = f"{len(gpus)} × " if len(gpus) > 1 else ""
    names = list(dict.fromkeys(str(gpu.get("name") or gpu.get("error") or "GPU") for gpu in gpus))
    name = f"{times}{' / '.join(names)}"
    return clip(clip(name, max(_SHORTEST_NAME, width - len(rest) - 4)) + rest, width)


def _value(facts: Facts, name: str) -> object:
    fact = facts.get(name)
    return None if fact is None else fact.value


def _fact_row(called: str, name: str, fact: Fact, words: Words) -> Row:
    source = Span(f"  ({source_label(fact.source, words)})", "dim")
    return row(Span(f"{called}  ", "name"), spell(name, fact.value, words), source, indent=2, hang=2)


def _told_in_full(name: str, fact: Fact, words: Words) -> Iterable[Row]:
    """One row; for a list of records one row each."""
    items = fact.value if isinstance(fact.value, (list, tuple)) else ()
    records = [item for item in items if isinstance(item, Mapping)]
    if not records:
        yield _fact_row(name, name, fact, words)
        return
    for number, record in enumerate(records[:_SHOWN_ITEMS]):
        text = " · ".join(f"{key} {spell(key, value, words)}" for key, value in record.items())
        yield _fact_row(f"{name}[{number}]", name, Fact(text, fact.source), words)
    if len(records) > _SHOWN_ITEMS:
        yield row(Span(words("chat.more_records", count=len(records) - _SHOWN_ITEMS), "dim"), indent=2)
