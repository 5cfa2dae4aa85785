"""Trouble that a checkup found: what shows it, its best supported cause, the first fix that fits. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from gpuhelp.kb.load import KnowledgeBase
from gpuhelp.reasoning.fixes import ToldFix, fitting, tell
from gpuhelp.reasoning.judge import Judgement, Used, Verdict
from gpuhelp.reasoning.troubles import Trouble, judged, used_values
from gpuhelp.rendering.gpu_lines import gpu_numbers
from gpuhelp.rendering.labels import label
from gpuhelp.rendering.layout import BLANK, Row, Span, row
from gpuhelp.rendering.reasons import reasons_of, shown, spell
from gpuhelp.words import Words

_SHOWN_COMMANDS = 2
_STYLES = {Verdict.CONFIRMED: "good", Verdict.LIKELY: "likely"}


def trouble_rows(troubles: Iterable[Trouble], words: Words, knowledge: KnowledgeBase) -> list[Row]:
    """Each trouble in a few rows; a sentence where there is none."""
    troubles = tuple(troubles)
    if not troubles:
        return [BLANK, row(Span(words("check.fine"), "good"))]
    rows = [BLANK, row(Span(words("check.trouble"), "heading"))]
    for trouble in troubles:
        rows += _trouble(trouble, words, knowledge)
    return rows


def trouble_data(trouble: Trouble, words: Words, knowledge: KnowledgeBase) -> dict[str, Any]:
    """The same for programs, with every cause and every fix that fits."""
    entry = knowledge.entry(trouble.entry)
    return {
        "entry": trouble.entry,
        "layer": trouble.layer,
        "title": entry.title.of(words.language),
        "gpus": list(trouble.gpus),
        "because": {used.name: used.value for used in used_values(trouble)},
        "shown": shown_values(trouble, words),
        "causes": [_cause_data(each, trouble, words) for each in judged(trouble, entry)],
    }


def shown_values(trouble: Trouble, words: Words) -> list[str]:
    """The GPUs that have it, and the values that showed it."""
    return [*_gpus(trouble, words), *(_value(used, words) for used in used_values(trouble) if _tells(used))]


def _trouble(trouble: Trouble, words: Words, knowledge: KnowledgeBase) -> Iterator[Row]:
    entry = knowledge.entry(trouble.entry)
    yield row(Span("✘ ", "bad"), Span(entry.title.of(words.language), "title"), indent=2, hang=2)
    values = shown_values(trouble, words)
    if values:
        yield row(Span(" · ".join(values), "dim"), indent=4)
    best = judged(trouble, entry)[0] if entry.causes else None
    if best is not None and best.verdict is not Verdict.RULED_OUT:
        yield from _cause(best, trouble, words)
    yield row(Span(f"gpuhelp explain {trouble.entry}", "command"), indent=4, whole=True)


def _cause(judgement: Judgement, trouble: Trouble, words: Words) -> Iterator[Row]:
    verdict = Span(f"{words(f'verdict.{_said(judgement)}')}  ", _STYLES.get(judgement.verdict, "dim"))
    yield row(verdict, judgement.cause.title.of(words.language), indent=4, hang=2)
    reason = _reason(judgement, trouble, words)
    if reason:
        yield row(Span(reason, "dim"), indent=6)
    fix = _first_fix(judgement, trouble, words)
    if fix is None:
        return
    risk = Span(f"  [{words('risk.' + fix.risk)}]", "dim", unbroken=True)
    yield row(Span("→ ", "name"), fix.title, risk, indent=4, hang=2)
    for command in fix.commands[:_SHOWN_COMMANDS]:
        yield row(Span(f"$ {command}", "command"), indent=6, whole=True)


def _said(judgement: Judgement) -> str:
    """A cause that facts cannot decide is a possible one: what would decide it stands in the JSON."""
    verdict = Verdict.POSSIBLE if judgement.verdict is Verdict.UNKNOWN else judgement.verdict
    return str(verdict.value)


def _reason(judgement: Judgement, trouble: Trouble, words: Words) -> str:
    """The entry's own sentence; not where a row proved the cause, for then the values have said it."""
    if judgement.cause.id == trouble.cause or judgement.cause.because is None:
        return ""
    reasons = reasons_of(judgement, trouble.scope, words)
    values = {shown(used, words) for used in judgement.used}
    return reasons[0] if reasons and reasons[0] not in values else ""


def _first_fix(judgement: Judgement, trouble: Trouble, words: Words) -> ToldFix | None:
    fixes = fitting(judgement.cause, trouble.scope)
    return tell(fixes[0], trouble.scope, words.language) if fixes else None


def _cause_data(judgement: Judgement, trouble: Trouble, words: Words) -> dict[str, Any]:
    """A cause as the JSON of a diagnosis has it."""
    cause, scope = judgement.cause, trouble.scope
    proven = cause.id == trouble.cause
    because = (
        [shown(used, words) for used in judgement.used] if proven else reasons_of(judgement, scope, words)
    )
    fixes = [tell(fix, scope, words.language) for fix in fitting(cause, scope)]
    return {
        "id": cause.id,
        "title": cause.title.of(words.language),
        "verdict": judgement.verdict.value,
        "because": list(because),
        "missing": list(judgement.missing),
        "fixes": [
            {
                "title": fix.title,
                "risk": fix.risk,
                "commands": list(fix.commands),
                "undo": fix.undo,
                "proof": fix.proof,
            }
            for fix in fixes
        ],
    }


def _gpus(trouble: Trouble, words: Words) -> list[str]:
    if not trouble.gpus:
        return []
    key = "check.gpu" if len(trouble.gpus) == 1 else "check.gpus"
    return [words(key, numbers=gpu_numbers(trouble.gpus))]


def _tells(used: Used) -> bool:
    """Not the flags and lists that a condition needs and a person does not."""
    if used.name in ("torch.installed", "first_device_beyond", "os.platform", "os.wsl", "gpu.sm"):
        return False
    return used.value is not None or used.name in _NONE_TELLS


_NONE_TELLS = frozenset({"torch.cuda_runtime_version"})
"""What it tells that there is none of it; that of other things there is none is how it should be."""


def _value(used: Used, words: Words) -> str:
    return f"{label(used.name, words)}: {spell(used.name, used.value, words)}"
