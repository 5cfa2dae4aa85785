"""Why these entries and not others: every pattern that fits a text, and what became of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from gpuhelp.diagnosis import Diagnosis, diagnose_texts
from gpuhelp.kb.load import KnowledgeBase
from gpuhelp.matching.questions import Route, route
from gpuhelp.matching.trials import Refusal, Trial, trials
from gpuhelp.matching.view import View, together
from gpuhelp.reading.evidence import Evidence
from gpuhelp.reading.pieces import RawText
from gpuhelp.reading.read import read

MATCHED, ANSWERED_FOR = "matched", "answered_for"
_NEAREST = 5


class Reason(NamedTuple):
    """One pattern that fits: where, and what became of it.

    outcome: matched | answered_for (a more specific entry stands on these lines: `by`) | guard | condition |
    guard_anywhere.
    """

    entry: str
    kind: str
    pattern: str
    source: str
    line: int
    text: str
    outcome: str
    by: str = ""


@dataclass(frozen=True, slots=True)
class Reasons:
    """The diagnosis, every pattern that fits, and the entries nearest in words."""

    diagnosis: Diagnosis
    reasons: tuple[Reason, ...]
    nearest: tuple[Route, ...]


def explain_match(texts: Iterable[RawText], knowledge: KnowledgeBase, only: Iterable[str] = ()) -> Reasons:
    """The reasons for these texts, of all entries or `only` of these."""
    texts = tuple(texts)
    wanted = frozenset(only)
    diagnosis = diagnose_texts(texts, knowledge=knowledge)
    evidence = read(texts)
    views = tuple(View(document, knowledge.rows("advice")) for document in evidence)
    everything = together(views)
    near = knowledge.signatures_near(everything.text, everything.holds)
    chosen = [signature for signature in near if not wanted or signature.id in wanted]
    found = {finding.entry.id for finding in diagnosis.findings}
    tried = tuple(trials(views, chosen))
    reasons = tuple(_reason(trial, found, tried, evidence) for trial in tried)
    asked = "\n".join(line.text for document in evidence for line in document.lines[:40])
    return Reasons(diagnosis, reasons, route(asked, knowledge.questions)[:_NEAREST])


def _reason(trial: Trial, found: set[str], tried: tuple[Trial, ...], evidence: Evidence) -> Reason:
    document = evidence[trial.document]
    line = document.lines[trial.first]
    outcome, by = MATCHED, ""
    if trial.refusal is not None:
        outcome, by = trial.refusal.value, _spoken_by(trial)
    elif trial.entry not in found:
        outcome, by = ANSWERED_FOR, ", ".join(_over(trial, found, tried))
    return Reason(
        trial.entry,
        trial.pattern.kind,
        trial.pattern.label,
        document.source.name,
        line.number,
        line.text.strip(),
        outcome,
        by,
    )


def _spoken_by(trial: Trial) -> str:
    return trial.by if trial.refusal is not Refusal.CONDITION else "where"


def _over(trial: Trial, found: set[str], tried: tuple[Trial, ...]) -> list[str]:
    """The findings that stand on the same lines."""
    return sorted(
        {
            other.entry
            for other in tried
            if other.refusal is None
            and other.entry in found
            and other.document == trial.document
            and other.first <= trial.last
            and trial.first <= other.last
        }
    )
