"""What the chat says: the sections of rendering.text in the order of a conversation. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from gpuhelp.chat.known import facts_here_rows
from gpuhelp.diagnosis import Diagnosis, Status
from gpuhelp.kb.load import KnowledgeBase
from gpuhelp.matching.questions import looks_like_question
from gpuhelp.reasoning.fixes import tell
from gpuhelp.rendering.layout import BLANK, Row, Span, clip, row
from gpuhelp.rendering.memory import memory_rows
from gpuhelp.rendering.reasons import was_asked
from gpuhelp.rendering.text import (
    captured_rows,
    cause_rows,
    elsewhere_rows,
    evidence_rows,
    fix_rows,
    headline_rows,
    machine_rows,
    nearest_rows,
    numbered_fixes,
    others_rows,
    pasted_differences,
    pasted_reading,
    question_rows,
    reference_rows,
    unknown_rows,
)
from gpuhelp.words import Words

if TYPE_CHECKING:
    from gpuhelp.reasoning.findings import Finding

_LONGEST_PATTERN = 120
"""Columns; a longer regular expression says nothing to a person."""


def named(diagnosis: Diagnosis, name: str) -> Diagnosis:
    """The same diagnosis, its one source called `name`."""
    findings = tuple(
        replace(finding, evidence=tuple(line._replace(source=name) for line in finding.evidence))
        for finding in diagnosis.findings
    )
    failure = diagnosis.failure._replace(source=name) if diagnosis.failure is not None else None
    elsewhere = diagnosis.elsewhere._replace(source=name) if diagnosis.elsewhere is not None else None
    sources = tuple(source._replace(name=name) for source in diagnosis.sources)
    told = replace(diagnosis, sources=sources, findings=findings, failure=failure, elsewhere=elsewhere)
    return replace(told, pastes=diagnosis.pastes.named(name) if diagnosis.pastes else None)


def answer_rows(diagnosis: Diagnosis, words: Words, knowledge: KnowledgeBase, text: str) -> tuple[Row, ...]:
    """The whole first answer."""
    opening = opening_rows(diagnosis, words, knowledge, text)
    return (*opening, *closing_rows(diagnosis, words, knowledge))


def opening_rows(diagnosis: Diagnosis, words: Words, knowledge: KnowledgeBase, text: str) -> tuple[Row, ...]:
    """What it is and where it shows: all that can be said before the machine is looked at."""
    if diagnosis.findings:
        finding = diagnosis.findings[0]
        where = () if was_asked(finding) else evidence_rows(finding, words)
        pointed = elsewhere_rows(diagnosis, words)
        held = memory_rows(finding, words)
        return (*headline_rows(finding, words), *pointed, *where, *captured_rows(finding, words), *held)
    if diagnosis.status is Status.UNKNOWN:
        return (*unknown_rows(diagnosis, words), *_nearest(diagnosis, words, knowledge))
    if looks_like_question(text):
        near = _nearest(diagnosis, words, knowledge)
        return (row(words("chat.not_understood")), *near, *pasted_reading(diagnosis, words, knowledge))
    healthy = row(words("healthy", lines=sum(source.read_lines for source in diagnosis.sources)))
    return (healthy, *pasted_reading(diagnosis, words, knowledge))


def closing_rows(diagnosis: Diagnosis, words: Words, knowledge: KnowledgeBase) -> tuple[Row, ...]:
    """What the machine shows, the causes judged, and the first fix in full."""
    if not diagnosis.findings:
        return ()
    finding, *others = diagnosis.findings
    rows = [
        *facts_here_rows(finding, diagnosis.facts, words),
        *machine_rows(diagnosis, words),
        *pasted_differences(diagnosis, words),
        *cause_rows(finding, words, folded="chat.ruled_out_folded"),
        *_first_fix(finding, words),
        *question_rows(finding, words),
    ]
    if others:
        rows += [BLANK, row(Span(words("chat.more_findings", count=len(others)), "dim"), indent=2)]
    if was_asked(finding):
        rows += _nearest(diagnosis, words, knowledge)
    return tuple(rows)


def _first_fix(finding: Finding, words: Words) -> tuple[Row, ...]:
    numbered = numbered_fixes(finding)
    if not numbered:
        return ()
    rows = [BLANK, heading(words("chat.first_fix")), *fix_rows(numbered[0], finding, words)]
    if len(numbered) > 1:
        key = "chat.more_fixes" if len(numbered) > 2 else "chat.one_more_fix"
        rows.append(row(Span(words(key, count=len(numbered) - 1, last=len(numbered)), "dim"), indent=2))
    return tuple(rows)


def why_rows(diagnosis: Diagnosis, words: Words, knowledge: KnowledgeBase) -> tuple[Row, ...]:
    """Why this entry: what matched, where, and for every cause what speaks for and against it."""
    if not diagnosis.findings:
        return opening_rows(diagnosis, words, knowledge, "")
    finding = diagnosis.findings[0]
    rows = [row(Span("■ ", "mark"), Span(finding.entry.title.of(words.language), "title"), hang=2)]
    rows += [BLANK, heading(words("chat.why_entry"))]
    for kind, label in finding.reasons:
        reason = words(f"chat.reason.{kind}", label=clip(label, _LONGEST_PATTERN))
        rows.append(row("- ", reason, indent=2, hang=2))
    if not was_asked(finding):
        rows += [*evidence_rows(finding, words), *captured_rows(finding, words)]
    return (*rows, *machine_rows(diagnosis, words), *cause_rows(finding, words, everything=True))


def more_rows(diagnosis: Diagnosis, words: Words, knowledge: KnowledgeBase) -> tuple[Row, ...]:
    """Everything there is: all causes, all fixes by title, the other findings, what to ask, where to read."""
    if not diagnosis.findings:
        return opening_rows(diagnosis, words, knowledge, "")
    finding, *others = diagnosis.findings
    rows = [row(Span("■ ", "mark"), Span(finding.entry.title.of(words.language), "title"), hang=2)]
    rows += [*cause_rows(finding, words, everything=True), BLANK, *fix_list_rows(diagnosis, words)]
    if others:
        rows += others_rows(others, words)
    rows += _nearest(diagnosis, words, knowledge)
    return (*rows, *question_rows(finding, words), *reference_rows(finding, words))


def fix_list_rows(diagnosis: Diagnosis, words: Words) -> tuple[Row, ...]:
    """Every fix of the first finding by title."""
    finding = diagnosis.findings[0]
    rows = [heading(words("chat.fix_list"))]
    for number, _, fix in numbered_fixes(finding):
        told = tell(fix, finding.scope, words.language)
        risk = Span(f"  [{words('risk.' + told.risk)}]", "dim", unbroken=True)
        rows.append(row(Span(f"{number}  ", "name"), told.title, risk, indent=2, hang=4))
    return tuple(rows)


def suggestion_rows(ids: Iterable[str], words: Words, knowledge: KnowledgeBase) -> tuple[Row, ...]:
    """Entries by id and title."""
    titles = ((entry_id, knowledge.entry(entry_id).title.of(words.language)) for entry_id in ids)
    return tuple(row(Span(f"{entry_id}  ", "name"), title, indent=2, hang=2) for entry_id, title in titles)


def help_rows(words: Words, commands: Mapping[str, str]) -> tuple[Row, ...]:
    """What can be typed."""
    width = max(len(f"/{name} {takes}") for name, takes in commands.items()) + 2
    rows = [row(words("chat.help.text")), BLANK]
    for name, takes in commands.items():
        usage = f"/{name} {takes}".ljust(width)
        rows.append(row(Span(usage, "name"), words(f"chat.help.{name}"), indent=2, hang=width))
    return (*rows, BLANK, row(words("chat.help.keys")))


def heading(text: str) -> Row:
    return row(Span(text, "heading"))


def _nearest(diagnosis: Diagnosis, words: Words, knowledge: KnowledgeBase) -> tuple[Row, ...]:
    rows = nearest_rows(diagnosis, words, knowledge)
    return (*rows, row(Span(words("chat.nearest_hint"), "dim"), indent=2)) if rows else ()
