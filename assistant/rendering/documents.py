"""A diagnosis as data: the JSON of the contract. Markdown is made from the same data by a template. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gpuhelp import __version__
from gpuhelp.diagnosis import Diagnosis
from gpuhelp.kb.load import KnowledgeBase
from gpuhelp.matching.failure import UnknownFailure
from gpuhelp.reasoning.elsewhere import Elsewhere
from gpuhelp.reasoning.findings import Finding
from gpuhelp.reasoning.fixes import fitting, tell
from gpuhelp.reasoning.judge import Judgement
from gpuhelp.reasoning.scope import Scope
from gpuhelp.rendering.layout import escape_unprintable
from gpuhelp.rendering.memory import memory_data
from gpuhelp.rendering.pointing import pointing
from gpuhelp.rendering.reasons import reasons_of, was_asked
from gpuhelp.words import Words

if TYPE_CHECKING:
    from gpuhelp.reasoning.pasted import Pastes, Weighed

SCHEMA_VERSION = 1
_LONGEST_TEXT = 20_000
"""Characters of one line or value."""
Data = dict[str, Any]


def to_data(diagnosis: Diagnosis, language: str, knowledge: KnowledgeBase) -> Data:
    """The diagnosis as the contract's JSON object, its texts in that language."""
    words = Words(language)
    data: Data = {
        "schema_version": SCHEMA_VERSION,
        "gpuhelp_version": __version__,
        "sources": [
            {"name": source.name, "bytes": source.size_bytes, "lines": source.line_count}
            for source in diagnosis.sources
        ],
        "status": diagnosis.status.value,
        "findings": [_finding(finding, words) for finding in diagnosis.findings],
        "facts": {
            name: {"value": fact.value, "source": fact.source} for name, fact in diagnosis.facts.items()
        },
        "probes": [
            {"id": each.id, "status": each.status.value, "seconds": each.seconds, "detail": each.detail}
            for each in diagnosis.probes
        ],
    }
    if diagnosis.pastes is not None:
        data |= _pasted(diagnosis.pastes, diagnosis.weighed)
    if diagnosis.failure is not None:
        data["failure"] = _failure(diagnosis.failure)
    if diagnosis.elsewhere is not None:
        data["root_elsewhere"] = _elsewhere(diagnosis.elsewhere, words)
    if diagnosis.nearest:
        data["nearest"] = [
            {
                "entry": route.entry,
                "title": knowledge.entry(route.entry).title.of(language),
                "agreement": route.agreement,
            }
            for route in diagnosis.nearest
        ]
    return data


def to_json(data: Data) -> str:
    """The JSON text, one object, keys in the contract's order.

    Characters that could steer a terminal stand in it as escapes: a person may look at it with `cat`.
    """
    import json

    return escape_unprintable(json.dumps(data, ensure_ascii=False, indent=2)) + "\n"


def _bounded(text: str) -> str:
    """The text, cut where no person would read on: a line of a log may have any length."""
    return text if len(text) <= _LONGEST_TEXT else text[:_LONGEST_TEXT] + "…"


def _finding(finding: Finding, words: Words) -> Data:
    language = words.language
    data: Data = {
        "entry": finding.entry.id,
        "role": finding.role.value,
        "layer": finding.entry.layer,
        "title": finding.entry.title.of(language),
        "confidence": finding.confidence,
        "evidence": [_without_empty(evidence) for evidence in map(_evidence, finding.evidence)],
        "captured": {name: _bounded(value) for name, value in sorted(finding.captured.items())},
        "causes": [_cause(judgement, finding.scope, words) for judgement in finding.judgements],
        "references": [reference.url for reference in finding.entry.references],
        "summary": finding.entry.summary.of(language).strip(),
        "occurrences": finding.occurrences,
    }
    account = memory_data(finding)
    if account:
        data["memory"] = account
    if finding.ranks is not None:
        ranks, first = finding.ranks, finding.evidence[finding.ranks.place]
        data["ranks"] = {"count": ranks.on, "of": ranks.of, "first": ranks.first}
        data["ranks"] |= {"source": first.source, "line": first.line}
    if finding.entry.source:
        data["source"] = finding.entry.source
    if finding.follows:
        data["follows"] = finding.follows
    guess = words.find(f"guess.{finding.guess}") if finding.guess else None
    if guess:
        data["guess"] = guess
    return {**data, "asked": True} if was_asked(finding) else data


def _pasted(pastes: Pastes, weighed: Weighed | None) -> Data:
    """Which outputs of tools the text holds, what other facts state differently, and whose facts count."""
    data: Data = {
        "pasted": [
            {
                "tool": each.tool,
                "source": each.source,
                "first_line": each.first_line,
                "last_line": each.last_line,
            }
            for each in pastes.parts
        ]
    }
    if weighed is not None and weighed.contradictions:
        data["facts_of"] = weighed.whose.value
        data["contradictions"] = [
            {"name": each.name, **{side: fact._asdict() for side, fact in sides}}
            for each in weighed.contradictions
            for sides in [(("pasted", each.pasted), ("other", each.other))]
        ]
    return data


def _failure(failure: UnknownFailure) -> Data:
    return {
        "exception": failure.exception,
        "message": _bounded(failure.message),
        "user_frame": failure.user_frame,
        "source": failure.source,
        "line": failure.line,
        "text": _bounded(failure.text),
    }


def _elsewhere(elsewhere: Elsewhere, words: Words) -> Data:
    """What the text tells of the process that has the cause; null where it tells nothing."""
    told = pointing(elsewhere, words)
    return {
        "rank": elsewhere.rank or elsewhere.local_rank or None,
        "host": elsewhere.host or None,
        "pid": elsewhere.pid or None,
        "exit_code": elsewhere.exit_code or None,
        "log": elsewhere.log or None,
        "says": _bounded(elsewhere.says),
        "signal": elsewhere.signal or None,
        "program": elsewhere.program,
        "source": elsewhere.source,
        "line": elsewhere.line,
        "title": told.title,
        "where": told.where,
        "look": told.look,
    }


def _evidence(line: Any) -> Data:
    rank = int(line.rank) if line.rank.isdecimal() else None
    time = line.time or None
    return {"source": line.source, "line": line.line, "rank": rank, "time": time, "text": _bounded(line.text)}


def _without_empty(data: Mapping[str, Any]) -> Data:
    return {key: value for key, value in data.items() if value is not None}


def _cause(judgement: Judgement, scope: Scope, words: Words) -> Data:
    cause, language = judgement.cause, words.language
    data: Data = {
        "id": cause.id,
        "title": cause.title.of(language),
        "verdict": judgement.verdict.value,
        "because": list(reasons_of(judgement, scope, words)),
        "missing": list(judgement.missing),
        "fixes": [_fix(told) for told in (tell(fix, scope, language) for fix in fitting(cause, scope))],
    }
    if cause.ask is not None:
        data["ask"] = cause.ask.text.of(language)
    return data


def _fix(told: Any) -> Data:
    data: Data = {
        "title": told.title,
        "risk": told.risk,
        "commands": list(told.commands),
        "undo": told.undo,
        "proof": told.proof,
    }
    more = {"explain": told.explain, "code": told.code, "expect": told.expect}
    return {**data, **{key: value for key, value in more.items() if value}}
