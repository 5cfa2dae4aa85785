"""Faults that the schema cannot see: unknown facts, missing translations, loose patterns, dead links between entries."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from gpuhelp.kb.compile import untranslated
from gpuhelp.kb.entry import CAPTURED_NAMES, Entry, Pattern, Signature
from gpuhelp.kb.expressions import names_in
from gpuhelp.kb.load import KnowledgeBase
from gpuhelp.kb.problems import Problem

IsFact = Callable[[str], bool]
_SHORTEST_LITERAL = 10
_TEMPLATE_NAMES = frozenset({"pip", "python", "gpu", "gpus"})
_GPU_FIELDS = "gpus"


def lint(knowledge: KnowledgeBase, ids: tuple[str, ...], is_fact: IsFact) -> tuple[Problem, ...]:
    """Every fault of these entries. `is_fact` knows the names of facts, which live outside this package."""
    signatures = {signature.id: signature for signature in knowledge.signatures}
    found: list[Problem] = []
    for entry_id in ids:
        entry = knowledge.entry(entry_id)
        faults = [
            *_patterns(signatures[entry_id]),
            *_names(entry, signatures[entry_id], is_fact),
            *_weights(entry),
            *_repeated_ids(entry),
            *_translations(knowledge, entry_id),
            *_proofs(entry),
        ]
        found += [Problem(entry.origin, 0, 0, key, message, hint) for key, message, hint in faults]
    return tuple(sorted(found))


Fault = tuple[str, str, str]


def _patterns(signature: Signature) -> Iterator[Fault]:
    for pattern in signature.patterns:
        if pattern.kind == "text" and len(pattern.needle) < _SHORTEST_LITERAL:
            yield "match", f"text {pattern.label!r} is too short to be unmistakable", "give a longer stretch"
        if pattern.kind == "regex" and not pattern.anchors:
            yield "match", f"regex {_short(pattern)!r} holds no literal of 4 characters", "every match must hold one"


def _names(entry: Entry, signature: Signature, is_fact: IsFact) -> Iterator[Fault]:
    derived = {name for pattern in signature.patterns for name, _ in pattern.let}
    for cause in entry.causes:
        trees = [cause.when, cause.hint, cause.because and cause.because.by_language]
        trees += [part for fix in cause.fixes for part in (fix.when, fix.commands, fix.proof, fix.explain and fix.explain.by_language)]
        for name in sorted(names_in(trees)):
            if not _is_known(name, derived, is_fact):
                yield f"causes.{cause.id}", f"{name!r} is neither a fact nor a captured value", "DESIGN lists the names"


def _is_known(name: str, derived: set[str], is_fact: IsFact) -> bool:
    if name in CAPTURED_NAMES or name in derived or name in _TEMPLATE_NAMES:
        return True
    return name.startswith("gpu.") or is_fact(name)


def _weights(entry: Entry) -> Iterator[Fault]:
    total = sum(cause.weight for cause in entry.causes)
    if not 0.8 <= total <= 1.2:
        yield "causes", f"weights sum to {total:.2f}", "they are shares of all cases and sum to about 1"


def _repeated_ids(entry: Entry) -> Iterator[Fault]:
    causes = [cause.id for cause in entry.causes]
    for cause_id in sorted({cause_id for cause_id in causes if causes.count(cause_id) > 1}):
        yield f"causes.{cause_id}", "id is used twice", "choose another"
    for cause in entry.causes:
        fixes = [fix.id for fix in cause.fixes]
        for fix_id in sorted({fix_id for fix_id in fixes if fixes.count(fix_id) > 1}):
            yield f"causes.{cause.id}.fixes.{fix_id}", "id is used twice", "choose another"


def _translations(knowledge: KnowledgeBase, entry_id: str) -> Iterator[Fault]:
    for key in untranslated(knowledge.record(entry_id)):
        yield key, "has no Korean text", f"add it to {entry_id}.ko.yaml"


def _proofs(entry: Entry) -> Iterator[Fault]:
    for cause in entry.causes:
        for fix in cause.fixes:
            texts = ["".join(str(part[1]) for part in command if part[0] == "text") for command in fix.commands]
            if any(text.lstrip().startswith("sudo ") for text in texts):
                yield f"causes.{cause.id}.fixes.{fix.id}", "a command begins with sudo", "say in `explain` what to ask the administrator"


def _short(pattern: Pattern) -> str:
    return pattern.label if len(pattern.label) <= 60 else pattern.label[:57] + "…"
