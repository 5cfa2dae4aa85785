"""The judge stage: each cause confirmed, likely, possible, ruled out or unknown, and why. Pure."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from gpuhelp.kb.entry import Cause
from gpuhelp.kb.evaluation import Node, Unknown, evaluate, truth
from gpuhelp.kb.expressions import names_in
from gpuhelp.reasoning.scope import Scope

_COMMON_ENOUGH = 0.6
"""A cause without a condition that stands behind this share of cases is likely, if no hint denies it."""


class Verdict(Enum):
    """What facts say of a cause, in the order in which causes are told."""

    CONFIRMED = "confirmed"
    LIKELY = "likely"
    POSSIBLE = "possible"
    UNKNOWN = "unknown"
    RULED_OUT = "ruled_out"


_ORDER = {
    Verdict.CONFIRMED: 0, Verdict.LIKELY: 1, Verdict.POSSIBLE: 2, Verdict.UNKNOWN: 2, Verdict.RULED_OUT: 3,
}  # fmt: skip


class Used(NamedTuple):
    """One value a condition looked at: a fact with its source, or a value of the text."""

    name: str
    value: object
    source: str


class Judgement(NamedTuple):
    """One cause judged. `used` are the values its condition saw, `missing` the facts that would decide it."""

    cause: Cause
    verdict: Verdict
    used: tuple[Used, ...]
    missing: tuple[str, ...]


def judge(causes: tuple[Cause, ...], scope: Scope) -> tuple[Judgement, ...]:
    """Every cause judged, the best supported first; equal ones by weight, then as the entry lists them."""
    judged = [_judge(cause, scope) for cause in causes]
    return tuple(sorted(judged, key=lambda item: (_ORDER[item.verdict], -item.cause.weight)))


def names_wanted(causes: tuple[Cause, ...]) -> frozenset[str]:
    """Every fact that the conditions, texts and commands of these causes ask for."""
    trees: list[Node] = []
    for cause in causes:
        trees += [cause.when, cause.hint]
        texts = [cause.because, cause.refuted]
        for fix in cause.fixes:
            trees += [fix.when, fix.commands, fix.proof]
            texts += [fix.title, fix.explain, fix.undo, fix.expect]
        trees += [text.by_language for text in texts if text]
    found = names_in(trees)
    return frozenset(name for name in found if "." in name or name in ("gpu", "gpus"))


def _judge(cause: Cause, scope: Scope) -> Judgement:
    decided = None if cause.when is None else truth(cause.when, scope.lookup, scope.functions)
    if decided is True:
        return Judgement(cause, Verdict.CONFIRMED, _used(cause.when, scope), ())
    if decided is False:
        return Judgement(cause, Verdict.RULED_OUT, _used(cause.when, scope), ())
    missing = _facts_first(decided.names) if isinstance(decided, Unknown) else ()
    hinted = None if cause.hint is None else truth(cause.hint, scope.lookup, scope.functions)
    if hinted is True:
        return Judgement(cause, Verdict.LIKELY, _used(cause.hint, scope), missing)
    if isinstance(decided, Unknown):
        return Judgement(cause, Verdict.UNKNOWN, (), missing)
    is_likely = cause.weight >= _COMMON_ENOUGH and hinted is not False
    verdict = Verdict.LIKELY if is_likely else Verdict.POSSIBLE
    return Judgement(cause, verdict, (), missing)


def _facts_first(names: frozenset[str]) -> tuple[str, ...]:
    """The facts that would decide; where only the text could have told, the names of its values."""
    facts = sorted(name for name in names if "." in name or name in ("gpu", "gpus"))
    return tuple(facts or sorted(names))


def _used(condition: Node, scope: Scope) -> tuple[Used, ...]:
    return tuple(used for name in sorted(names_in(condition)) if (used := value_of(name, scope)) is not None)


def value_of(name: str, scope: Scope) -> Used | None:
    """What a condition sees under that name, and where it comes from; None where it is not known."""
    root, _, field = name.partition(".")
    if root == "gpu":
        value = scope.gpu.get(field, Unknown())
        gpus = scope.facts.get(name) or scope.facts.get("gpus")
        source = gpus.source if gpus else "text"
    else:
        value = evaluate(["name", name], scope.lookup)
        fact = scope.facts.get(name)
        source = fact.source if fact else "text"
    return None if isinstance(value, Unknown) else Used(name, value, source)
