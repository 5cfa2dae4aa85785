"""Why a cause got its verdict, in words: the entry's own sentence, and the values that decided. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from gpuhelp.kb.evaluation import format_bytes, render_whole
from gpuhelp.reasoning.judge import Judgement, Used, Verdict
from gpuhelp.reasoning.scope import Scope
from gpuhelp.rendering.labels import known_label, label, source_label
from gpuhelp.rendering.privacy import without_secrets
from gpuhelp.words import Words

if TYPE_CHECKING:
    from gpuhelp.reasoning.findings import Finding

_LONGEST_VALUE = 120


def reasons_of(judgement: Judgement, scope: Scope, words: Words) -> tuple[str, ...]:
    """The sentences for or against a cause; empty where nothing was looked at."""
    cause = judgement.cause
    is_hinted = cause.hint is None or bool(judgement.used)
    text = {
        Verdict.CONFIRMED: cause.because,
        Verdict.LIKELY: cause.because if is_hinted else None,
        Verdict.RULED_OUT: cause.refuted,
    }.get(judgement.verdict)
    functions = scope.functions_in(words.language)
    told = render_whole(text.of(words.language), scope.lookup, functions) if text is not None else None
    sentences = (told.strip(),) if told else ()
    values = (shown(used, words) for used in judgement.used if not sentences or _says_something(used, words))
    return (*sentences, *dict.fromkeys(values))


def was_asked(finding: Finding) -> bool:
    """True if a question led here: the person's own words are no evidence of a failure."""
    return all(kind == "question" for kind, _ in finding.reasons)


def shown(used: Used, words: Words) -> str:
    """One value with its source: `driver version: 550.54.15 (NVML)`."""
    source = source_label(used.source, words)
    return f"{label(used.name, words)}: {spell(used.name, used.value, words)} ({source})"


def spell(name: str, value: object, words: Words | None = None) -> str:
    """A fact's value for people: sizes in binary units, lists without brackets, "none" if there is none."""
    words = words or Words("en")
    if value is None:
        return words("mark.absent")
    if name.endswith("_bytes") and isinstance(value, (int, float)) and not isinstance(value, bool):
        return format_bytes(value)
    if isinstance(value, bool):
        return words("yes" if value else "no")
    if isinstance(value, (list, tuple)):
        return _list(value, words)
    return _short(str(value))


def _says_something(used: Used, words: Words) -> bool:
    """False for values that an entry works out of the text for itself: beside its sentence they are noise."""
    return "." in used.name or known_label(used.name, words) is not None


def _list(items: list[object] | tuple[object, ...], words: Words) -> str:
    if any(isinstance(item, Mapping) for item in items):
        return str(len(items))
    return _short(" ".join(str(item) for item in items) or words("mark.absent"))


def _short(text: str) -> str:
    """Cut only after secrets are out: half a token is still a part of one."""
    text = without_secrets(text)
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 1] + "…"
