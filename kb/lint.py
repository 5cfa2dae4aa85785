"""Faults that the schema cannot see: unknown facts, missing translations, loose patterns."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from gpuhelp.kb.compile import is_capture, untranslated
from gpuhelp.kb.entry import Entry, Localized, Pattern, Signature
from gpuhelp.kb.evaluation import Node
from gpuhelp.kb.expressions import names_in
from gpuhelp.kb.load import KnowledgeBase
from gpuhelp.kb.problems import Problem
from gpuhelp.kb.regexes import SHORTEST_ANCHOR

IsFact = Callable[[str], bool]
_SHORTEST_LITERAL = 10
_TEMPLATE_NAMES = frozenset({"pip", "python", "gpu", "gpus"})
_SUDO = re.compile(r"(?:^|[;&|(])\s*sudo\s")

_SHOWN_KEYS = 4


def lint(knowledge: KnowledgeBase, ids: tuple[str, ...], is_fact: IsFact) -> tuple[Problem, ...]:
    """Every fault of these entries. `is_fact` knows the names of facts, which live outside this package."""
    signatures = {signature.id: signature for signature in knowledge.signatures}
    found: list[Problem] = []
    for entry_id in ids:
        entry = knowledge.entry(entry_id)
        faults = [
            *_patterns(signatures[entry_id]),
            *_names(entry, signatures[entry_id], is_fact),
            *_links(signatures[entry_id]),
            *_weights(entry),
            *_repeated_ids(entry),
            *_translations(knowledge, entry_id),
            *_commands(entry),
        ]
        found += [Problem(entry.origin, 0, 0, key, message, hint) for key, message, hint in faults]
    return tuple(sorted(found))


Fault = tuple[str, str, str]


def _patterns(signature: Signature) -> Iterator[Fault]:
    for pattern in signature.patterns:
        if pattern.kind == "text" and len(pattern.needle) < _SHORTEST_LITERAL:
            yield "match", f"text {pattern.label!r} is too short to be unmistakable", "give a longer stretch"
        if pattern.kind == "regex" and not pattern.anchors:
            message = f"regex {_short(pattern)!r} holds no literal of {SHORTEST_ANCHOR} characters"
            yield "match", message, "every match must hold one"


def _names(entry: Entry, signature: Signature, is_fact: IsFact) -> Iterator[Fault]:
    derived = {name for pattern in signature.patterns for name, _ in pattern.let}
    for key, tree in _trees(entry, signature):
        for name in sorted(names_in(tree)):
            if not _is_known(name, derived, is_fact):
                hint = "`gpuhelp env` shows the names of facts; the patterns name the captured values"
                yield key, f"{name!r} is neither a fact nor a captured value", hint
    asked = [(f"causes.{cause.id}.ask", cause.ask.fact) for cause in entry.causes if cause.ask]
    told = [("match", name) for pattern in signature.patterns for name, _ in pattern.tells]
    for key, name in sorted({*asked, *told}):
        if not is_fact(name):
            yield key, f"{name!r} is no fact", "an answer that no machine gives is called answers.<id>"


def _trees(entry: Entry, signature: Signature) -> Iterator[tuple[str, object]]:
    """Every parsed condition and text, with the key it stands under."""
    for pattern in signature.patterns:
        yield "match", [pattern.where, [node for _, node in (*pattern.let, *pattern.tells)]]
    for cause in entry.causes:
        yield f"causes.{cause.id}", [cause.when, cause.hint, *_texts(cause.because, cause.refuted)]
        for fix in cause.fixes:
            texts = _texts(fix.title, fix.explain, fix.undo, fix.expect)
            yield f"causes.{cause.id}.fixes.{fix.id}", [fix.when, fix.commands, fix.proof, *texts]


def _texts(*texts: Localized | None) -> list[object]:
    return [list(text.by_language.values()) for text in texts if text is not None]


def _is_known(name: str, derived: set[str], is_fact: IsFact) -> bool:
    return is_capture(name) or name in derived or name in _TEMPLATE_NAMES or is_fact(name)


def _links(signature: Signature) -> Iterator[Fault]:
    """Only this: both lists may name classes that nobody has written yet."""
    for key, others in (("refines", signature.refines), ("leads_to", signature.leads_to)):
        if signature.id in others:
            yield key, "names the entry itself", "remove it"


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
    lacking = untranslated(knowledge.record(entry_id))
    if lacking:
        shown = ", ".join(lacking[:_SHOWN_KEYS]) + (" …" if len(lacking) > _SHOWN_KEYS else "")
        yield "", f"{len(lacking)} texts have no Korean: {shown}", f"add them to {entry_id}.ko.yaml"


def _commands(entry: Entry) -> Iterator[Fault]:
    for cause in entry.causes:
        for fix in cause.fixes:
            texts = ["".join(_plain(part) for part in line) for line in (*fix.commands, fix.proof)]
            if any(_SUDO.search(text) for text in texts):
                key = f"causes.{cause.id}.fixes.{fix.id}"
                yield key, "a command uses sudo", "say in `explain` what to ask the administrator for"


def _plain(segment: Node) -> str:
    return str(segment[1]) if segment[0] == "text" else "<value>"


def _short(pattern: Pattern) -> str:
    return pattern.label if len(pattern.label) <= 60 else pattern.label[:57] + "…"
