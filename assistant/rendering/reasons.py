"""Why a cause got its verdict, in words: the entry's own sentence, and the values that decided. Pure."""

from __future__ import annotations

from gpuhelp.kb.evaluation import format_bytes, render_whole
from gpuhelp.reasoning.judge import Judgement, Used, Verdict
from gpuhelp.reasoning.scope import Scope

_LONGEST_VALUE = 120


def reasons_of(judgement: Judgement, scope: Scope, language: str) -> tuple[str, ...]:
    """The sentences for or against a cause; empty where nothing was looked at."""
    cause = judgement.cause
    text = {
        Verdict.CONFIRMED: cause.because,
        Verdict.LIKELY: cause.because,
        Verdict.RULED_OUT: cause.refuted,
    }.get(judgement.verdict)
    told = render_whole(text.of(language), scope.lookup, scope.functions) if text is not None else None
    sentences = (told.strip(),) if told else ()
    return (*sentences, *(shown(used) for used in judgement.used))


def shown(used: Used) -> str:
    """One value with its source: `driver.version = 550.54.15 (nvml)`."""
    return f"{used.name} = {spell(used.name, used.value)} ({used.source})"


def spell(name: str, value: object) -> str:
    """A fact's value for people: sizes in binary units, lists without brackets, nothing for "there is none"."""
    if value is None:
        return "none"
    if name.endswith("_bytes") and isinstance(value, (int, float)) and not isinstance(value, bool):
        return format_bytes(value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (list, tuple)):
        return _list(value)
    return _short(str(value))


def _list(items: list[object] | tuple[object, ...]) -> str:
    if any(isinstance(item, dict) for item in items):
        return str(len(items))
    return _short(" ".join(str(item) for item in items) or "none")


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 1] + "…"
