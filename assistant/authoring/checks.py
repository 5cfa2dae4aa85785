"""Whether entries hold: their examples and near misses, beside all others, and on logs of healthy runs.

Used by `kb test`, by the test suite, and by packages that ship entries (see gpuhelp.authoring.testing).
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files

from gpuhelp.diagnosis import Diagnosis, diagnose
from gpuhelp.kb.entry import Entry, Example, Signature
from gpuhelp.kb.load import KnowledgeBase
from gpuhelp.matching.questions import looks_like_question
from gpuhelp.matching.symptoms import find_symptoms
from gpuhelp.matching.view import View
from gpuhelp.probes.facts import Facts
from gpuhelp.reading.pieces import from_text
from gpuhelp.reading.read import read
from gpuhelp.reasoning.findings import Finding
from gpuhelp.reasoning.judge import Verdict


def failures(knowledge: KnowledgeBase, ids: tuple[str, ...]) -> tuple[str, ...]:
    """One line for each example that does not hold, and for each text that is not these entries' to take."""
    own = (fault for entry_id in ids for fault in failures_of(knowledge.entry(entry_id), knowledge))
    return (*own, *_taken(knowledge, frozenset(ids)), *_healthy(knowledge, frozenset(ids)))


def failures_of(entry: Entry, knowledge: KnowledgeBase) -> Iterator[str]:
    """The faults of one entry's examples: not matched, not first, not captured so, another cause first."""
    for number, example in enumerate(entry.examples, 1):
        for fault in _faults(entry, example, knowledge):
            yield f"{entry.id}: example {number}: {fault}"
    for number, example in enumerate(entry.not_examples, 1):
        found = [finding.entry.id for finding in _diagnosed(example, knowledge).findings]
        if entry.id in found:
            yield f"{entry.id}: near miss {number}: matches, and must not ({example.because})"


def _taken(knowledge: KnowledgeBase, ids: frozenset[str]) -> Iterator[str]:
    """Examples of other entries that one of these takes. Their own were tested before."""
    signatures = tuple(signature for signature in knowledge.signatures if signature.id in ids)
    for other in (entry_id for entry_id in knowledge.ids if entry_id not in ids):
        for number, example in enumerate(knowledge.entry(other).examples, 1):
            if not _may_take(example.text, signatures, knowledge):
                continue
            found = _diagnosed(example, knowledge).findings
            if found and found[0].entry.id in ids:
                yield f"{found[0].entry.id}: takes example {number} of {other}"


def _may_take(text: str, signatures: tuple[Signature, ...], knowledge: KnowledgeBase) -> bool:
    """False if none of these entries can be the answer: no pattern fits, and nobody asks in words."""
    views = tuple(View(document, knowledge.rows("advice")) for document in read([from_text(text, "text")]))
    return bool(find_symptoms(views, signatures)) or looks_like_question(text)


def healthy_logs() -> tuple[tuple[str, str], ...]:
    """Name and text of each shipped log of a run in which nothing went wrong."""
    folder = files("gpuhelp.kb").joinpath("healthy")
    logs = sorted((log for log in folder.iterdir() if log.name.endswith(".log")), key=lambda log: log.name)
    return tuple((log.name, log.read_text("utf-8")) for log in logs)


def _healthy(knowledge: KnowledgeBase, ids: frozenset[str]) -> Iterator[str]:
    for name, text in healthy_logs():
        for finding in diagnose(text, knowledge=knowledge).findings:
            if finding.entry.id in ids:
                place = finding.evidence[0]
                where = f"the healthy log {name}, line {place.line}: {place.text.strip()}"
                yield f"{finding.entry.id}: matches {where}"


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
