"""The stages strung together: the public API. Reads no machine and no file unless told to.

read -> match -> rank -> which facts are wanted -> judge
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

from gpuhelp.kb.load import KnowledgeBase
from gpuhelp.matching.failure import UnknownFailure, describe, failure_lines
from gpuhelp.matching.surroundings import enriched
from gpuhelp.matching.symptoms import Match, find_symptoms
from gpuhelp.matching.view import Row, View, together
from gpuhelp.probes.facts import Facts
from gpuhelp.probes.pasted import may_hold
from gpuhelp.reading.evidence import Evidence, Source
from gpuhelp.reading.pieces import RawText
from gpuhelp.reading.read import read
from gpuhelp.reasoning.elsewhere import Elsewhere, led_to, pointed_failure, root_elsewhere
from gpuhelp.reasoning.findings import Finding, finding_of, told_facts
from gpuhelp.reasoning.incidents import Candidate, rank
from gpuhelp.reasoning.judge import names_wanted
from gpuhelp.reasoning.scene import EvidenceScene
from gpuhelp.reasoning.table_functions import TableFunctions

if TYPE_CHECKING:
    from gpuhelp.matching.questions import Route
    from gpuhelp.probes.runner import Observation, ProbeReport
    from gpuhelp.reasoning.pasted import Pastes, Weighed

Observe = Callable[[Iterable[str], Evidence], "Observation"]
"""Looks at a machine: the facts wanted, and the evidence (its paths tell which interpreter ran)."""
_PROBED_FINDINGS = 3
_NEAREST = 3
_FLOOR_BESIDE_PASTE = 0.5
"""A question beside the output of a tool is plain: "Here is my setup:" is none."""
Places = tuple[tuple[int, int], ...]


class Status(Enum):
    """What a text shows: a failure an entry knows, one that none knows, or none."""

    KNOWN = "known"
    UNKNOWN = "unknown"
    HEALTHY = "healthy"


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The answer. `findings` are ordered: the first is the answer, and the root.

    `failure` describes a failure that no entry knows; `nearest` are then suggestions, not findings.
    `elsewhere` is the process whose own output holds the cause, where this text does not. `hosts` are the
    machines that the text names. `pastes` are outputs of tools in the text, `weighed` says which of their
    facts differ from those of this machine, and which were taken.
    """

    status: Status
    sources: tuple[Source, ...]
    findings: tuple[Finding, ...]
    facts: Facts
    probes: tuple[ProbeReport, ...] = ()
    failure: UnknownFailure | None = None
    nearest: tuple[Route, ...] = ()
    elsewhere: Elsewhere | None = None
    hosts: frozenset[str] = frozenset()
    pastes: Pastes | None = None
    weighed: Weighed | None = None


def diagnose(
    source: str | Iterable[str] | Iterable[Path],
    *,
    facts: Facts | Mapping[str, object] | None = None,
    probes: Observe | None = None,
    knowledge: KnowledgeBase | None = None,
) -> Diagnosis:
    """The diagnosis of a text, of lines, or of files.

    A str is the text itself; an iterable of str are lines; an iterable of Path are files of one incident.
    `facts` are known beforehand (a snapshot, answers). `probes` is asked for further facts that the findings
    want; without it no machine is looked at. Raises InputError for files that cannot be read and
    KnowledgeError for a knowledge base that cannot.
    """
    from gpuhelp.kb.load import load

    knowledge = knowledge or load()
    return diagnose_texts(_texts(source, knowledge), facts=facts, probes=probes, knowledge=knowledge)


def diagnose_texts(
    texts: Iterable[RawText],
    *,
    facts: Facts | Mapping[str, object] | None = None,
    probes: Observe | None = None,
    knowledge: KnowledgeBase | None = None,
    host: str = "",
) -> Diagnosis:
    """Like diagnose, for texts that are already read. `host` is what the machine is called that is probed."""
    from gpuhelp.kb.load import load

    knowledge, texts = knowledge or load(), tuple(texts)
    evidence, pastes = read(texts), _pasted_in(texts)
    views = tuple(View(document, knowledge.rows("advice")) for document in evidence)
    failing = failure_lines(views, knowledge.rows("failure_signs"))
    scene = EvidenceScene(views, knowledge.rows)
    candidates, nearest = _candidates(views, failing, knowledge, scene, pastes)
    failure = _better_than_reports(candidates, views, failing)
    candidates = () if failure is not None else candidates
    live, reports = _observe(candidates, evidence, pastes, probes, knowledge)
    hosts = _hosts(evidence) | (pastes.hosts if pastes else frozenset())
    weighed = _weighed(pastes, live, _given(facts), hosts, host)
    known = weighed.facts if weighed else live.merged(_given(facts))
    findings = _findings(candidates, evidence, known, knowledge)
    failure = None if findings else failure or describe(views, failing)
    elsewhere = root_elsewhere(candidates, failure, views, scene, lambda: led_to(knowledge.signatures))
    failure = failure or (pointed_failure(elsewhere) if elsewhere and not findings else None)
    return Diagnosis(
        status=_status(findings, failing, elsewhere),
        sources=tuple(document.source for document in evidence),
        findings=findings,
        facts=told_facts(findings).merged(known),
        probes=reports,
        failure=failure,
        nearest=nearest,
        elsewhere=elsewhere,
        hosts=hosts | ({elsewhere.host} - {""} if elsewhere else frozenset()),
        pastes=pastes,
        weighed=weighed,
    )


def _given(facts: Facts | Mapping[str, object] | None) -> Facts:
    return facts if isinstance(facts, Facts) else Facts.of(facts or {}, "given")  # type: ignore[arg-type]


def _pasted_in(texts: tuple[RawText, ...]) -> Pastes | None:
    """The outputs of tools in the texts: all that reads them is imported only where there may be one."""
    if not any(may_hold(piece.text) for raw in texts for piece in raw.pieces):
        return None
    from gpuhelp.reasoning.pasted import pasted_in

    return pasted_in(texts)


def _weighed(
    pastes: Pastes | None, live: Facts, given: Facts, hosts: frozenset[str], host: str
) -> Weighed | None:
    if pastes is None:
        return None
    from gpuhelp.reasoning.pasted import is_other_host, weigh

    other_host = pastes.show_a_machine and is_other_host(hosts, host)
    return weigh(pastes.facts, live, given, other_host=other_host)


def _findings(
    candidates: tuple[Candidate, ...], evidence: Evidence, facts: Facts, knowledge: KnowledgeBase
) -> tuple[Finding, ...]:
    functions = TableFunctions(knowledge)
    return tuple(
        finding_of(item, evidence, knowledge.entry(item.signature.id), facts, functions)
        for item in candidates
    )


def _hosts(evidence: Evidence) -> frozenset[str]:
    return frozenset({line.wrapping.host for document in evidence for line in document.lines} - {""})


def _texts(source: str | Iterable[str] | Iterable[Path], knowledge: KnowledgeBase) -> tuple[RawText, ...]:
    from gpuhelp.scanning.gather import gather, gather_text

    if isinstance(source, str):
        return (gather_text(source, "text", knowledge),)
    parts = list(source)
    if parts and all(isinstance(part, Path) for part in parts):
        from io import BytesIO

        from gpuhelp.reading.sources import check

        paths = [str(part) for part in parts]
        check(paths)
        return gather(paths, BytesIO(), knowledge).texts
    return (gather_text("\n".join(str(part).rstrip("\n") for part in parts), "text", knowledge),)


def _candidates(
    views: tuple[View, ...],
    failing: Places,
    knowledge: KnowledgeBase,
    scene: EvidenceScene,
    pastes: Pastes | None,
) -> tuple[tuple[Candidate, ...], tuple[Route, ...]]:
    """Candidates by exact patterns, else by fuzzy ones, else by the question; and the nearest entries."""
    everything = together(views)
    signatures = knowledge.signatures_near(everything.text, everything.holds)
    fallbacks = {signature.id for signature in signatures if signature.fallback}
    matches = find_symptoms(views, signatures)
    nearest: tuple[Route, ...] = ()
    if all(match.entry in fallbacks for match in matches):
        if failing:
            from gpuhelp.matching.fuzzy import find_fuzzy

            signatures = knowledge.signatures
            matches += find_fuzzy(views, signatures, failing)
        if not matches:
            signatures = knowledge.signatures
            matches, nearest = _asked(views, failing, knowledge, pastes)
    captures = knowledge.rows("captures")
    ranked = rank(matches, signatures, scene)
    return tuple(_enriched(candidate, views, captures) for candidate in ranked), nearest


def _better_than_reports(
    candidates: tuple[Candidate, ...], views: tuple[View, ...], failing: Places
) -> UnknownFailure | None:
    """The failure that no entry knows, where all that entries know is that something failed."""
    if not candidates or not all(candidate.signature.reports for candidate in candidates):
        return None
    failure = describe(views, failing)
    if failure is None or not failure.by_itself:
        return None
    told = (match for candidate in candidates for match in candidate.matches)
    is_told = any(_holds(match, failure, views) for match in told)
    return None if is_told else failure


def _holds(match: Match, failure: UnknownFailure, views: tuple[View, ...]) -> bool:
    document = views[match.document].document
    first, last = document.lines[match.first].number, document.lines[match.last].number
    return document.source.name == failure.source and first <= failure.line <= last


def _enriched(candidate: Candidate, views: tuple[View, ...], captures: tuple[Row, ...]) -> Candidate:
    """The candidate with what stands around its first place; the others say what they say themselves."""
    first, *others = candidate.matches
    return candidate._replace(matches=(enriched(first, views[first.document], captures), *others))


def _asked(
    views: tuple[View, ...], failing: Places, knowledge: KnowledgeBase, pastes: Pastes | None
) -> tuple[tuple[Match, ...], tuple[Route, ...]]:
    """The entry a question is about, and the next ones; for an unknown failure only the nearest entries."""
    from gpuhelp.matching.questions import FLOOR, looks_like_question, route

    text = _typed(views, pastes)
    is_question = looks_like_question(text) and not any(view.document.errors for view in views)
    if not (is_question or failing):
        return (), ()
    routes = route(text if is_question else _failing_text(views, failing), knowledge.questions)[
        : _NEAREST + 1
    ]
    floor = _FLOOR_BESIDE_PASTE if pastes else FLOOR
    if is_question and routes and routes[0].agreement >= floor:
        best = routes[0]
        match = Match(best.entry, 0, 0, 0, "question", best.question, strength=best.agreement)
        return (match,), routes[1:]
    return (), routes[:_NEAREST]


def _typed(views: tuple[View, ...], pastes: Pastes | None) -> str:
    """What the person wrote: the text without the outputs of tools in it, their commands and headings."""
    told = [(view.document.source.name, line) for view in views for line in view.document.lines]
    return "\n".join(
        line.raw for source, line in told if not (pastes and pastes.hold(source, line.number, line.text))
    )


def _failing_text(views: tuple[View, ...], failing: Places) -> str:
    return " ".join(views[number].stretch(index, index) for number, index in failing[:10])


def _observe(
    candidates: tuple[Candidate, ...],
    evidence: Evidence,
    pastes: Pastes | None,
    probes: Observe | None,
    knowledge: KnowledgeBase,
) -> tuple[Facts, tuple[ProbeReport, ...]]:
    """What the probes tell of the facts that the findings want, and whether the text is of this machine."""
    if probes is None:
        return Facts(), ()
    first = [knowledge.entry(item.signature.id) for item in candidates[:_PROBED_FINDINGS]]
    wanted = names_wanted(tuple(cause for entry in first for cause in entry.causes))
    if not wanted:
        return Facts(), ()
    telling = pastes.names_to_compare if pastes else frozenset()
    observation = probes(sorted(wanted | _ALWAYS_WANTED | telling), evidence)
    return observation.facts, observation.reports


_ALWAYS_WANTED = frozenset({"os.platform", "python.executable", "python.manager", "python.version"})
"""Commands are spelled by these."""


def _status(findings: tuple[Finding, ...], failing: Places, elsewhere: Elsewhere | None) -> Status:
    if findings:
        return Status.KNOWN
    return Status.UNKNOWN if failing or elsewhere else Status.HEALTHY
