"""Runs the examples and near misses that entries carry. Used by `kb test` and by the test suite."""

from __future__ import annotations

from collections.abc import Iterator

from gpuhelp.diagnosis import Diagnosis, diagnose
from gpuhelp.kb.entry import Entry, Example
from gpuhelp.kb.load import KnowledgeBase
from gpuhelp.probes.facts import Facts
from gpuhelp.reasoning.findings import Finding
from gpuhelp.reasoning.judge import Verdict


def failures(knowledge: KnowledgeBase, ids: tuple[str, ...]) -> tuple[str, ...]:
    """One line for each example that does not hold."""
    return tuple(fault for entry_id in ids for fault in failures_of(knowledge.entry(entry_id), knowledge))


def failures_of(entry: Entry, knowledge: KnowledgeBase) -> Iterator[str]:
    """The faults of one entry's examples: not matched, not first, not captured so, another cause first."""
    for number, example in enumerate(entry.examples, 1):
        for fault in _faults(entry, example, knowledge):
            yield f"{entry.id}: example {number}: {fault}"
    for number, example in enumerate(entry.not_examples, 1):
        found = [finding.entry.id for finding in _diagnosed(example, knowledge).findings]
        if entry.id in found:
            yield f"{entry.id}: near miss {number}: matches, and must not ({example.because})"


def _diagnosed(example: Example, knowledge: KnowledgeBase) -> Diagnosis:
    facts = Facts.of(example.facts or {}, "example")  # type: ignore[arg-type]
    return diagnose(example.text, facts=facts, knowledge=knowledge)


def _faults(entry: Entry, example: Example, knowledge: KnowledgeBase) -> Iterator[str]:
    diagnosis = _diagnosed(example, knowledge)
    found = [finding.entry.id for finding in diagnosis.findings]
    if not found or found[0] != entry.id:
        yield f"the first finding is {found[0] if found else diagnosis.status.value}, not {entry.id}"
        return
    finding = diagnosis.findings[0]
    for name, wanted in example.captured.items():
        if finding.captured.get(name) != wanted:
            yield f"{name} is {finding.captured.get(name)!r}, not {wanted!r}"
    yield from _verdict_faults(finding, example)


def _verdict_faults(finding: Finding, example: Example) -> Iterator[str]:
    by_id = {judgement.cause.id: judgement for judgement in finding.judgements}
    for cause in (example.cause, *example.ruled_out):
        if cause and cause not in by_id:
            yield f"there is no cause {cause!r}"
            return
    first = finding.judgements[0]
    if example.cause and (
        first.cause.id != example.cause or first.verdict not in (Verdict.CONFIRMED, Verdict.LIKELY)
    ):
        told = f"{first.cause.id} is {first.verdict.value}"
        wanted = by_id[example.cause]
        missing = f", missing {', '.join(wanted.missing)}" if wanted.missing else ""
        yield f"first cause: {told}; {example.cause} is {wanted.verdict.value}{missing}"
    for cause in example.ruled_out:
        if by_id[cause].verdict is not Verdict.RULED_OUT:
            yield f"{cause} is {by_id[cause].verdict.value}, not ruled_out"
