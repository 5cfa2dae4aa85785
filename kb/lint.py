"""Faults that the schema cannot see: unknown names and ids, gaps in translations, loose patterns.

Each rule looks at one entry and yields faults by the ids on the way to them; their line and column are
looked up in the file only where there is a fault.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from gpuhelp.kb.compile import is_capture, untranslated
from gpuhelp.kb.entry import Entry, Localized, Pattern, Signature
from gpuhelp.kb.evaluation import Node
from gpuhelp.kb.expressions import names_in
from gpuhelp.kb.files import SHIPPED
from gpuhelp.kb.load import KnowledgeBase
from gpuhelp.kb.problems import Problem
from gpuhelp.kb.regexes import SHORTEST_ANCHOR, regex, squash
from gpuhelp.kb.yaml_source import Document, Path, read_document, spell

IsFact = Callable[[str], bool]
Logs = Iterable[tuple[str, str]]
_SHORTEST_LITERAL = 10
_TEMPLATE_NAMES = frozenset({"pip", "python", "gpu", "gpus"})
_SUDO = re.compile(r"(?:^|[;&|(])\s*sudo\s")
_UNWRITTEN = "FILL-IN"
_SHOWN_KEYS = 4


class Fault(NamedTuple):
    """What is wrong, and where: keys, ids of list items, or numbers on the way to it."""

    where: tuple[str | int, ...]
    message: str
    hint: str


@dataclass(frozen=True, slots=True)
class _Around:
    """What an entry is held against: all ids, who asks which question, facts, logs of healthy runs."""

    ids: frozenset[str]
    asked: dict[str, str]
    is_fact: IsFact
    healthy: tuple[tuple[str, str, str], ...]


def lint(
    knowledge: KnowledgeBase, ids: tuple[str, ...], is_fact: IsFact, healthy: Logs = ()
) -> tuple[Problem, ...]:
    """Every fault of these entries. `is_fact` knows the names of facts, which live outside this package.

    `healthy` are names and texts of logs in which nothing went wrong.
    """
    signatures = {signature.id: signature for signature in knowledge.signatures}
    logs = tuple((name, text, squash(text)) for name, text in healthy)
    around = _Around(frozenset(knowledge.ids), _asked(knowledge), is_fact, logs)
    found: list[Problem] = []
    for entry_id in ids:
        entry = knowledge.entry(entry_id)
        faults = [
            *_patterns(signatures[entry_id], around),
            *_names(entry, signatures[entry_id], is_fact),
            *_links(signatures[entry_id], around.ids),
            *_questions(entry, around.asked),
            *_weights(entry),
            *_repeated_ids(entry),
            *_translations(knowledge, entry_id),
            *_commands(entry),
            *_references(entry),
        ]
        path = _path_of(entry)
        found += [_placed(entry.origin, path, fault) for fault in faults]
        found += _unwritten(entry.origin, path)
        found += _unwritten(_translation_of(entry.origin), _translation_of(path))
    return tuple(sorted(set(found)))


# where a fault stands


def _path_of(entry: Entry) -> str:
    """Where its file lies: shipped files are named from this package's folder."""
    return entry.origin if entry.source else os.path.join(SHIPPED, entry.origin)  # noqa: PTH118


def _placed(origin: str, path: str, fault: Fault) -> Problem:
    document = _document(path)
    if document is None:
        return Problem(origin, 0, 0, spell(fault.where), fault.message, fault.hint)
    problem = document.problem(_way(document, fault.where), fault.message, fault.hint)
    return problem._replace(path=origin, key=spell(fault.where))


def _way(document: Document, where: tuple[str | int, ...]) -> Path:
    """By keys and numbers: ids of list items become their number."""
    path: Path = ()
    value = document.data
    for step in where:
        if isinstance(value, list) and isinstance(step, str):
            numbers = [n for n, item in enumerate(value) if isinstance(item, dict) and item.get("id") == step]
            if not numbers:
                return path
            step = numbers[0]
        path = (*path, step)
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return path[:-1]
    return path


@lru_cache(maxsize=4)
def _document(path: str) -> Document | None:
    text = _text(path)
    document = read_document(text, path) if text else None
    return document if document is not None and document.data is not None else None


def _text(path: str) -> str:
    """The file's text, empty if it is gone."""
    try:
        with open(path, encoding="utf-8") as file:  # noqa: PTH123
            return file.read()
    except (OSError, UnicodeDecodeError):
        return ""


def _translation_of(path: str) -> str:
    return path.removesuffix(".yaml") + ".ko.yaml"


def _unwritten(origin: str, path: str) -> Iterator[Problem]:
    """Places that `kb new` left for the author."""
    for number, line in enumerate(_text(path).splitlines(), 1):
        column = line.find(_UNWRITTEN)
        if column >= 0 and not line.lstrip().startswith("#"):
            hint = "write it, or remove the line"
            yield Problem(origin, number, column + 1, "", f"still to be written: {line.strip()[:80]}", hint)


# the rules


def _patterns(signature: Signature, around: _Around) -> Iterator[Fault]:
    for number, pattern in enumerate(signature.patterns):
        where = ("match", number)
        if pattern.kind == "text" and len(pattern.needle) < _SHORTEST_LITERAL:
            message = f"text {pattern.label!r} is too short to be unmistakable"
            yield Fault(where, message, "give a longer stretch")
        if pattern.kind == "regex" and not pattern.anchors:
            message = f"regex {_short(pattern)!r} holds no literal of {SHORTEST_ANCHOR} characters"
            yield Fault(where, message, "every match must hold one")
        for name, text, squashed in around.healthy:
            if _stands_in(pattern, text, squashed):
                message = f"{pattern.kind} {_short(pattern)!r} stands in the healthy log {name}"
                yield Fault(where, message, "look for words that only a failure has")
                break


def _stands_in(pattern: Pattern, text: str, squashed: str) -> bool:
    """True if the pattern fits a healthy log and nothing of its own speaks against it."""
    if pattern.unless or pattern.where is not None:
        return False
    if pattern.kind == "text":
        return pattern.needle.lower() in squashed
    if pattern.kind != "regex" or not any(anchor in squashed for anchor in pattern.anchors):
        return False
    return regex(pattern.needle).search(text) is not None


def _names(entry: Entry, signature: Signature, is_fact: IsFact) -> Iterator[Fault]:
    derived = {name for pattern in signature.patterns for name, _ in pattern.let}
    for where, tree in _trees(entry, signature):
        for name in sorted(names_in(tree)):
            if not _is_known(name, derived, is_fact):
                hint = "`gpuhelp env` shows the names of facts; the patterns name the captured values"
                yield Fault(where, f"{name!r} is neither a fact nor a captured value", hint)
    asked = [(("causes", cause.id, "ask"), cause.ask.fact) for cause in entry.causes if cause.ask]
    told = [(("match",), name) for pattern in signature.patterns for name, _ in pattern.tells]
    for place, name in sorted({*asked, *told}):
        if not is_fact(name):
            yield Fault(
                place, f"{name!r} is no fact", "an answer that no machine gives is called answers.<id>"
            )


def _trees(entry: Entry, signature: Signature) -> Iterator[tuple[tuple[str | int, ...], object]]:
    """Every parsed condition and text, with the way to it."""
    for pattern in signature.patterns:
        yield ("match",), [pattern.where, [node for _, node in (*pattern.let, *pattern.tells)]]
    for cause in entry.causes:
        where = ("causes", cause.id)
        yield where, [cause.when, cause.hint, *_texts(cause.because, cause.refuted)]
        for fix in cause.fixes:
            texts = _texts(fix.title, fix.explain, fix.undo, fix.expect)
            yield (*where, "fixes", fix.id), [fix.when, fix.commands, fix.proof, *texts]


def _texts(*texts: Localized | None) -> list[object]:
    return [list(text.by_language.values()) for text in texts if text is not None]


def _is_known(name: str, derived: set[str], is_fact: IsFact) -> bool:
    return is_capture(name) or name in derived or name in _TEMPLATE_NAMES or is_fact(name)


def _links(signature: Signature, ids: frozenset[str]) -> Iterator[Fault]:
    for key, others in (("refines", signature.refines), ("leads_to", signature.leads_to)):
        if signature.id in others:
            yield Fault((key,), "names the entry itself", "remove it")
        for other in others:
            if other not in ids:
                yield Fault((key,), f"there is no entry {other!r}", "`gpuhelp kb list` shows the ids")


def _asked(knowledge: KnowledgeBase) -> dict[str, str]:
    """Who asks each question; of several the first by id."""
    asked: dict[str, str] = {}
    for entry_id, by_language in knowledge.questions.items():
        for language in ("en", "ko"):
            for question in by_language.get(language, ())[1:]:  # the first one is the title
                asked.setdefault(squash(question), entry_id)
    return asked


def _questions(entry: Entry, asked: dict[str, str]) -> Iterator[Fault]:
    for questions in entry.questions.by_language.values():
        for question in questions:
            other = asked.get(squash(question), entry.id)
            if other != entry.id:
                message = f"{question!r} is asked by {other} as well"
                yield Fault(("questions",), message, "one of them cannot be answered; reword it")


def _weights(entry: Entry) -> Iterator[Fault]:
    total = sum(cause.weight for cause in entry.causes)
    if not 0.8 <= total <= 1.2:
        message, hint = f"weights sum to {total:.2f}", "they are shares of all cases and sum to about 1"
        yield Fault(("causes",), message, hint)


def _repeated_ids(entry: Entry) -> Iterator[Fault]:
    causes = [cause.id for cause in entry.causes]
    for cause_id in sorted({cause_id for cause_id in causes if causes.count(cause_id) > 1}):
        yield Fault(("causes", cause_id), "id is used twice", "choose another")
    for cause in entry.causes:
        fixes = [fix.id for fix in cause.fixes]
        for fix_id in sorted({fix_id for fix_id in fixes if fixes.count(fix_id) > 1}):
            yield Fault(("causes", cause.id, "fixes", fix_id), "id is used twice", "choose another")


def _translations(knowledge: KnowledgeBase, entry_id: str) -> Iterator[Fault]:
    """A translation must be whole; an entry without any is no fault: its author need not know Korean."""
    record = knowledge.record(entry_id)
    lacking = untranslated(record) if "ko" in record["title"] else ()
    if lacking:
        shown = ", ".join(lacking[:_SHOWN_KEYS]) + (" …" if len(lacking) > _SHOWN_KEYS else "")
        message = f"{len(lacking)} texts have no Korean: {shown}"
        yield Fault((), message, f"add them to {entry_id}.ko.yaml")


def _commands(entry: Entry) -> Iterator[Fault]:
    for cause in entry.causes:
        for fix in cause.fixes:
            texts = ["".join(_plain(part) for part in line) for line in (*fix.commands, fix.proof)]
            if any(_SUDO.search(text) for text in texts):
                hint = "say in `explain` what to ask the administrator for"
                yield Fault(("causes", cause.id, "fixes", fix.id), "a command uses sudo", hint)


def _references(entry: Entry) -> Iterator[Fault]:
    urls = [reference.url for reference in entry.references]
    for url in sorted({url for url in urls if urls.count(url) > 1}):
        yield Fault(("references",), f"{url} is given twice", "join their claims")


def _plain(segment: Node) -> str:
    return str(segment[1]) if segment[0] == "text" else "<value>"


def _short(pattern: Pattern) -> str:
    return pattern.label if len(pattern.label) <= 60 else pattern.label[:57] + "…"
