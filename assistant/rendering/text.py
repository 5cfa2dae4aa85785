"""A diagnosis as rows for a terminal, section by section; the chat tells the same sections. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gpuhelp.diagnosis import Diagnosis, Status
from gpuhelp.kb.entry import Fix
from gpuhelp.kb.load import KnowledgeBase
from gpuhelp.reasoning.findings import Finding
from gpuhelp.reasoning.fixes import fitting, tell
from gpuhelp.reasoning.incidents import Role
from gpuhelp.reasoning.judge import Judgement, Verdict
from gpuhelp.rendering.labels import entry_label, known_label, label, labels, place_label, ranks_label
from gpuhelp.rendering.layout import BLANK, Row, Span, row
from gpuhelp.rendering.memory import memory_rows
from gpuhelp.rendering.pointing import pointing
from gpuhelp.rendering.privacy import cut
from gpuhelp.rendering.probe_reports import probe_rows
from gpuhelp.rendering.reasons import reasons_of, was_asked
from gpuhelp.rendering.stack import stack_row
from gpuhelp.words import Words

_MARKS = {
    Verdict.CONFIRMED: ("✔", "good"),
    Verdict.LIKELY: ("●", "likely"),
    Verdict.POSSIBLE: ("○", ""),
    Verdict.UNKNOWN: ("?", ""),
    Verdict.RULED_OUT: ("✘", "dim"),
}
_SHOWN_EVIDENCE = 3
_SHOWN_FIXES = 3
_LONGEST_REASON = 200


def diagnosis_rows(
    diagnosis: Diagnosis, words: Words, knowledge: KnowledgeBase, *, everything: bool = False
) -> tuple[Row, ...]:
    """The whole answer."""
    if diagnosis.status is Status.HEALTHY:
        lines = sum(source.read_lines for source in diagnosis.sources)
        return (row(words("healthy", lines=lines)), *pasted_reading(diagnosis, words, knowledge))
    if not diagnosis.findings:
        return (*unknown_rows(diagnosis, words), *nearest_rows(diagnosis, words, knowledge))
    first, *others = diagnosis.findings
    rows = [
        *headline_rows(first, words),
        *elsewhere_rows(diagnosis, words),
        *(() if was_asked(first) else evidence_rows(first, words)),
        *captured_rows(first, words),
        *memory_rows(first, words),
        *machine_rows(diagnosis, words),
        *pasted_differences(diagnosis, words),
        *cause_rows(first, words, everything=everything),
        *fixes_rows(first, words, everything=everything),
    ]
    if others:
        rows += others_rows(others, words, everything=everything)
    rows += question_rows(first, words)
    rows += nearest_rows(diagnosis, words, knowledge)
    rows += reference_rows(first, words)
    return tuple(rows)


def pasted_reading(diagnosis: Diagnosis, words: Words, knowledge: KnowledgeBase) -> tuple[Row, ...]:
    """What outputs of tools tell, in a text without a failure."""
    if diagnosis.pastes is None:
        return ()
    from gpuhelp.rendering.pasted import reading_rows

    return reading_rows(diagnosis, words, knowledge)


def pasted_differences(diagnosis: Diagnosis, words: Words) -> tuple[Row, ...]:
    """Where outputs of tools in the text and this machine differ."""
    if diagnosis.pastes is None:
        return ()
    from gpuhelp.rendering.pasted import difference_rows

    return difference_rows(diagnosis, words)


def headline_rows(finding: Finding, words: Words) -> tuple[Row, ...]:
    """What it is, in which layer, how sure, and what it means."""
    language = words.language
    sure = words("confidence", percent=round(finding.confidence * 100))
    return (
        row(Span("■ ", "mark"), Span(finding.entry.title.of(language), "title"), hang=2),
        row(Span(entry_label(finding.entry, words, sure), "dim"), indent=2),
        stack_row(finding.entry.layer, words),
        BLANK,
        *(row(paragraph, indent=2) for paragraph in _paragraphs(finding.entry.summary.of(language))),
        *guess_rows(finding, words),
    )


def guess_rows(finding: Finding, words: Words) -> tuple[Row, ...]:
    """That it is a guess, and what would tell."""
    text = words.find(f"guess.{finding.guess}") if finding.guess else None
    return (BLANK, _heading(words("guess")), row(text, indent=2)) if text else ()


def elsewhere_rows(diagnosis: Diagnosis, words: Words) -> tuple[Row, ...]:
    """Whose output holds the cause, where this text does not."""
    elsewhere = diagnosis.elsewhere
    if elsewhere is None:
        return ()
    told = pointing(elsewhere, words)
    rows = [BLANK, _heading(told.title), row(told.where, indent=2), row(told.look, indent=2)]
    failure = diagnosis.failure
    if failure is None or (failure.source, failure.line) != (elsewhere.source, elsewhere.line):
        place = Span(f"{place_label(elsewhere.source, elsewhere.line, words)}  ", "dim")
        label = Span(f"{words('elsewhere.says')}  ", "dim")
        rows.append(row(label, place, Span(cut(elsewhere.says), "quote"), indent=2, hang=2))
    return tuple(rows)


def evidence_rows(finding: Finding, words: Words) -> tuple[Row, ...]:
    """The lines that show it."""
    rows = [BLANK, _heading(words("evidence"))]
    ranks = finding.ranks
    if ranks is not None:
        first = finding.evidence[ranks.place]
        where = place_label(first.source, first.line, words)
        rows.append(row(ranks_label(ranks.on, ranks.of, ranks.first, where, words), indent=2))
    for line in finding.evidence[:_SHOWN_EVIDENCE]:
        rank = f" {words('rank', rank=line.rank)}" if line.rank else ""
        place = Span(f"{place_label(line.source, line.line, words)}{rank}  ", "dim")
        rows.append(row(place, Span(cut(line.text), "quote"), indent=2, hang=2))
    more = finding.occurrences - min(len(finding.evidence), _SHOWN_EVIDENCE)
    if more > 0:
        rows.append(row(Span(words("more_places", count=more), "dim"), indent=2))
    return tuple(rows)


def captured_rows(finding: Finding, words: Words) -> tuple[Row, ...]:
    """The values that stand in the text."""
    if not finding.captured:
        return ()
    values = (f"{label(name, words)}: {cut(value, 80)}" for name, value in sorted(finding.captured.items()))
    return (row(Span(words("in_the_text") + "  ", "dim"), " · ".join(values), indent=2, hang=2),)


def machine_rows(diagnosis: Diagnosis, words: Words) -> tuple[Row, ...]:
    """Which looks at the machine failed, and why: not having looked is not the same as being fine.

    Not of a machine that does not count, as the text is of another one.
    """
    if diagnosis.weighed is not None and diagnosis.weighed.is_elsewhere:
        return ()
    return probe_rows(diagnosis.probes, words)


def cause_rows(
    finding: Finding, words: Words, *, everything: bool = False, folded: str = "ruled_out_folded"
) -> tuple[Row, ...]:
    """Every cause with its verdict and why; those ruled out fold into one line unless all are asked for.

    `folded` is the key of that line: it says how to see them.
    """
    rows = [BLANK, _heading(words("causes"))]
    hidden = 0
    for judgement in finding.judgements:
        if judgement.verdict is Verdict.RULED_OUT and not everything:
            hidden += 1
            continue
        rows += _cause(finding, judgement, words)
    if hidden:
        rows.append(row(Span(words(folded, count=hidden), "dim"), indent=2))
    return tuple(rows)


def _cause(finding: Finding, judgement: Judgement, words: Words) -> Iterator[Row]:
    mark, style = _MARKS[judgement.verdict]
    verdict = words(f"verdict.{judgement.verdict.value}")
    title = judgement.cause.title.of(words.language)
    yield row(Span(f"{mark} {verdict}  ", style), title, indent=2, hang=4)
    for reason in reasons_of(judgement, finding.scope, words):
        yield row(Span(cut(reason, _LONGEST_REASON), "dim"), indent=6)
    if judgement.missing and judgement.verdict is not Verdict.CONFIRMED:
        yield row(Span(words("would_decide", names=_missing(judgement, words)), "dim"), indent=6)


def _missing(judgement: Judgement, words: Words) -> str:
    """The facts that would decide, in words, without what an entry works out of the text for itself."""
    named = [name for name in judgement.missing if "." in name or known_label(name, words)]
    return labels(named or judgement.missing, words)


Numbered = tuple[int, Judgement, Fix]


def numbered_fixes(finding: Finding) -> tuple[Numbered, ...]:
    """The fixes of every cause that is not ruled out, best supported first, each once, counted from 1."""
    seen: set[str] = set()
    found: list[tuple[Judgement, Fix]] = []
    for judgement in finding.judgements:
        if judgement.verdict is Verdict.RULED_OUT:
            continue
        for fix in fitting(judgement.cause, finding.scope):
            if fix.id not in seen:
                seen.add(fix.id)
                found.append((judgement, fix))
    return tuple((number, *pair) for number, pair in enumerate(found, 1))


def fixes_rows(finding: Finding, words: Words, *, everything: bool = False) -> tuple[Row, ...]:
    """The first fixes in full, the rest by title."""
    numbered = numbered_fixes(finding)
    if not numbered:
        return ()
    full = len(numbered) if everything else _SHOWN_FIXES
    rows = [BLANK, _heading(words("fixes"))]
    for one in numbered[:full]:
        rows += fix_rows(one, finding, words)
    for number, _, fix in numbered[full:]:
        title = tell(fix, finding.scope, words.language).title
        rows.append(row(Span(f"{number}  ", "name"), title, indent=2, hang=4))
    return tuple(rows)


def fix_rows(numbered: Numbered, finding: Finding, words: Words) -> tuple[Row, ...]:
    """One fix: what, how risky, the commands, how to undo it, and what shows that it worked."""
    number, _, fix = numbered
    told = tell(fix, finding.scope, words.language)
    risk = Span(f"  [{words('risk.' + told.risk)}]", "dim", unbroken=True)
    rows = [row(Span(f"{number}  ", "name"), Span(told.title, "title"), risk, indent=2, hang=4)]
    if told.explain:
        rows += [row(paragraph, indent=6) for paragraph in _paragraphs(told.explain)]
    rows += [row(Span(f"$ {command}", "command"), indent=6, whole=True) for command in told.commands]
    if told.code:
        rows += [row(Span(line, "command"), indent=6, whole=True) for line in told.code.split("\n")]
    rows.append(_labelled(words("undo"), told.undo))
    rows.append(row(Span(f"{words('proof')}  ", "dim"), Span(told.proof), indent=6, whole=True))
    rows.append(_labelled(words("expect"), told.expect))
    return tuple(rows)


def others_rows(findings: Iterable[Finding], words: Words, *, everything: bool = False) -> tuple[Row, ...]:
    """The other findings, one line each, what followed from the first before the rest; in full if wanted."""
    findings = tuple(findings)
    apart = {finding.entry.id for finding in findings if finding.role is not Role.CONSEQUENCE}
    followed = [each for each in findings if each.entry.id not in apart and each.follows not in apart]
    rest = [each for each in findings if each not in followed]
    rows: list[Row] = []
    for heading, part in (("followed", followed), ("also", rest)):
        if part:
            rows += [BLANK, _heading(words(heading))]
            rows += [one for each in part for one in _other(each, words, heading, everything=everything)]
    return tuple(rows)


def _other(finding: Finding, words: Words, heading: str, *, everything: bool) -> Iterator[Row]:
    where = finding.evidence[0]
    told = [finding.entry.id, place_label(where.source, where.line, words), *_count(finding, words)]
    role = f"{words('role.' + finding.role.value)}  " if heading == "also" else ""
    yield row(
        Span(role, "dim"),
        Span(finding.entry.title.of(words.language)),
        Span(f"  {', '.join(told)}", "dim", unbroken=True),
        indent=2,
        hang=2,
    )
    if everything:
        yield from cause_rows(finding, words, everything=True)
        yield from fixes_rows(finding, words, everything=True)


def _count(finding: Finding, words: Words) -> tuple[str, ...]:
    """On how many ranks it shows, else at how many places."""
    if finding.ranks is not None:
        key = "ranks.short_one" if finding.ranks.on == 1 else "ranks.short"
        return (words(key, count=finding.ranks.on, of=finding.ranks.of, first=finding.ranks.first),)
    return (words("places.short", count=finding.occurrences),) if finding.occurrences > 1 else ()


def question_rows(finding: Finding, words: Words) -> tuple[Row, ...]:
    """What the person could tell that would decide between causes."""
    asks = [
        judgement.cause.ask.text.of(words.language)
        for judgement in finding.judgements
        if judgement.cause.ask is not None and judgement.verdict not in (Verdict.CONFIRMED, Verdict.RULED_OUT)
    ]
    if not asks:
        return ()
    return (BLANK, _heading(words("ask")), *(row("- ", ask, indent=2, hang=2) for ask in dict.fromkeys(asks)))


def reference_rows(finding: Finding, words: Words) -> tuple[Row, ...]:
    """Where the statements can be checked."""
    urls = [reference.url for reference in finding.entry.references]
    rows = (row(Span(url, "dim"), indent=2, whole=True) for url in urls)
    return (BLANK, _heading(words("references")), *rows)


def unknown_rows(diagnosis: Diagnosis, words: Words) -> tuple[Row, ...]:
    """A failure that no entry knows: what stands in the text, and nothing made up."""
    rows = [row(Span("■ ", "mark"), Span(words("unknown.title"), "title"))]
    failure = diagnosis.failure
    if failure is not None:
        if failure.exception:
            text = f"{failure.exception}: {failure.message}" if failure.message else failure.exception
            rows.append(_labelled(words("unknown.exception"), cut(" ".join(text.split())), indent=2))
        if failure.user_frame:
            rows.append(_labelled(words("unknown.frame"), failure.user_frame, indent=2))
        line = f"{place_label(failure.source, failure.line, words)}  {cut(failure.text)}"
        rows.append(_labelled(words("unknown.line"), line, indent=2))
    if diagnosis.elsewhere is not None:
        return (*rows, *elsewhere_rows(diagnosis, words))
    return (*rows, BLANK, row(words("unknown.what_now"), indent=2))


def nearest_rows(diagnosis: Diagnosis, words: Words, knowledge: KnowledgeBase) -> tuple[Row, ...]:
    """The entries that come nearest, as suggestions."""
    if not diagnosis.nearest:
        return ()
    rows = [BLANK, _heading(words("nearest"))]
    for route in diagnosis.nearest:
        title = knowledge.entry(route.entry).title.of(words.language)
        rows.append(row(Span(f"{route.entry}  ", "name"), title, indent=2, hang=2))
    return tuple(rows)


def _heading(text: str) -> Row:
    return row(Span(text, "heading"))


def _labelled(label: str, text: str, indent: int = 6) -> Row:
    return row(Span(f"{label}  ", "dim"), text, indent=indent, hang=2)


def _paragraphs(text: str) -> Iterator[str]:
    """Paragraphs with their line breaks taken out: the terminal decides where lines end."""
    for paragraph in text.strip().split("\n\n"):
        yield " ".join(paragraph.split())
