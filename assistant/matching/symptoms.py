"""The match stage: which entries a document speaks for, with the captured values and the reason. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from functools import lru_cache
from itertools import chain, islice
from typing import Any, NamedTuple

from gpuhelp.kb.entry import CAPTURED_NAMES, Guard, Pattern, Signature
from gpuhelp.kb.evaluation import Unknown, evaluate, truth
from gpuhelp.kb.regexes import regex, squash
from gpuhelp.matching.view import View, together
from gpuhelp.reading.evidence import PythonError

_MOST_OCCURRENCES = 2000
"""Of one pattern in one document: as many as a large job has ranks; a flood of equal lines says no more."""


class Match(NamedTuple):
    """One place where one entry shows.

    `first` and `last` are line indexes of document number `document`. `captured` holds strings as they stand
    in the text, `derived` what the pattern's `let` made of them, `tells` the facts the text states.
    """

    entry: str
    document: int
    first: int
    last: int
    kind: str
    label: str
    captured: Mapping[str, str] = {}
    derived: Mapping[str, object] = {}
    tells: Mapping[str, object] = {}
    strength: float = 1.0
    warning: bool = False


class Hit(NamedTuple):
    """A stretch of lines that a pattern fits, its groups, and for exceptions what they say."""

    first: int
    last: int
    groups: Mapping[str, str]
    said: str


def find_symptoms(views: Iterable[View], signatures: Iterable[Signature]) -> tuple[Match, ...]:
    """Every exact match, in the order of signatures, documents and places."""
    views = tuple(views)
    everything = together(views)
    found: list[Match] = []
    for signature in signatures:
        patterns = [p for p in signature.patterns if all(map(everything.may_match, (p.anchors, *p.further)))]
        matches = [
            match
            for number, view in enumerate(views if patterns else ())
            for match in _of_signature(signature, patterns, number, view)
        ]
        if matches and not ruled_out(signature, views):
            found += matches
    return tuple(found)


def ruled_out(signature: Signature, views: Iterable[View]) -> bool:
    """True if one of the entry's guards stands anywhere in the documents."""
    return any(_guarded(guard, view) for view in views for guard in signature.unless)


def _of_signature(
    signature: Signature, patterns: Iterable[Pattern], number: int, view: View
) -> Iterator[Match]:
    for pattern in patterns:
        for hit in islice(hits(pattern, view), _MOST_OCCURRENCES):
            match = judged(signature, pattern, number, hit, view)
            if match is not None:
                yield match


def hits(pattern: Pattern, view: View) -> Iterator[Hit]:
    """Where the pattern stands, whatever speaks against it there."""
    if not all(map(view.may_match, (pattern.anchors, *pattern.further))):
        return
    if pattern.kind == "text":
        for span in view.find(pattern.needle, case=pattern.case):
            yield Hit(*view.lines_of(span), {}, "")
    elif pattern.kind == "regex":
        for found in regex(pattern.needle).finditer(view.text):
            if found.end() > found.start():
                yield Hit(*view.lines_of(found.span()), _groups(found), "")
    elif pattern.kind == "exception":
        yield from _exceptions(pattern, view)


def _exceptions(pattern: Pattern, view: View) -> Iterator[Hit]:
    for error in _named(pattern.needle, view):
        found = _said(pattern.says, error.message) if pattern.says else None
        if found or not pattern.says:
            yield Hit(*error.said, _groups(found) if found else {}, f"{error.type}: {error.message}")


def _named(glob: str, view: View) -> Iterable[PythonError]:
    """The errors whose name fits, in order."""
    fitting = [errors for name, errors in view.errors_by_name.items() if _is_named(name, glob)]
    if len(fitting) < 2:
        return fitting[0] if fitting else ()
    return sorted(chain.from_iterable(fitting), key=lambda error: (error.first, error.last))


@lru_cache(maxsize=8)
def _said(expression: str, message: str) -> Any:
    """What the expression finds in a message. Kept, since a flood repeats one message."""
    return regex(expression).search(message)


def _is_named(name: str, glob: str) -> bool:
    """Whether an exception's name fits; most globs are plain names, which need no expression compiled."""
    return name == glob or (any(sign in glob for sign in "*?[") and fnmatchcase(name, glob))


def _groups(found: Any) -> dict[str, str]:
    return {name: value for name, value in found.groupdict().items() if value is not None}


def judged(signature: Signature, pattern: Pattern, number: int, hit: Hit, view: View) -> Match | None:
    """The match, unless a guard or the pattern's `where` speaks against it."""
    around = hit.said or view.said(hit.first, hit.last)
    if any(speaks_against(guard, around) for guard in pattern.unless):
        return None
    values: dict[str, object] = dict(hit.groups)
    for name, node in pattern.let:
        value = evaluate(node, _lookup(values))
        if not isinstance(value, Unknown):
            values[name] = value
    if pattern.where is not None and truth(pattern.where, _lookup(values)) is not True:
        return None
    told = {name: evaluate(node, _lookup(values)) for name, node in pattern.tells}
    return Match(
        entry=signature.id,
        document=number,
        first=hit.first,
        last=hit.last,
        kind=pattern.kind,
        label=pattern.label,
        captured={
            n: " ".join(v.split()) for n, v in values.items() if n in CAPTURED_NAMES and isinstance(v, str)
        },
        derived={name: value for name, value in values.items() if name not in CAPTURED_NAMES},
        tells={name: value for name, value in told.items() if not isinstance(value, Unknown)},
        warning=pattern.warning,
    )


def _lookup(values: Mapping[str, object]) -> Any:
    return lambda name: values.get(name, Unknown([name]))


def _guarded(guard: Guard, view: View) -> bool:
    """True if a guard stands anywhere in the document."""
    if guard.literal:
        return view.holds(guard.literal)
    return regex(guard.regex).search(view.text) is not None


def speaks_against(guard: Guard, text: str) -> bool:
    """True if the guard stands in these lines."""
    if guard.literal:
        return guard.literal in squash(text)
    return regex(guard.regex).search(text) is not None
