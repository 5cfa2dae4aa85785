"""Literals that every match of a regular expression holds, as they stand in a log: for the first, fast look.

A set of literals is a choice: a match holds at least one of them. An expression has several such sets, one
after the other; short choices next to each other are multiplied out ("NCCL timeout", "NCCL time out", ...),
so that the literals get long and rare. White space between words counts as one space.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gpuhelp.kb.regexes import lower, parse_tree

_MOST_CHOICES = 24
_LARGEST_CLASS = 8
_SHORTEST = 3

Choice = frozenset[str]


def literal_choices(source: str) -> tuple[Choice, ...]:
    """Every set of literals of which each match holds one, in lower case; none where there is no such set.

    Raises RegexError for what is no regular expression.
    """
    return tuple(_required(parse_tree(source)))


def _required(items: Iterable[Any]) -> list[Choice]:
    """The choices of a sequence: neighbours whose strings are all known are multiplied, others part them."""
    found: list[Choice] = []
    run: Choice = frozenset({""})
    for operation, argument in items:
        strings = _strings(str(operation), argument)
        if strings is not None and len(run) * len(strings) <= _MOST_CHOICES:
            run = frozenset(one + other for one in run for other in strings)
            continue
        found += _usable(run)
        run = strings or frozenset({""})
        if strings is None:
            found += _inside(str(operation), argument)
    return found + _usable(run)


def _usable(run: Choice) -> list[Choice]:
    literals = {" ".join(text.split()) for text in run}
    return [_least(literals)] if all(len(text) >= _SHORTEST for text in literals) else []


def _least(literals: Iterable[str]) -> Choice:
    """Without those that hold another one: where they stand, the other stands too."""
    kept: list[str] = []
    for literal in sorted(literals, key=lambda text: (len(text), text)):
        if not any(shorter in literal for shorter in kept):
            kept.append(literal)
    return frozenset(kept)


def _strings(name: str, argument: Any) -> Choice | None:
    """Every string that this part can be, if there are few; None if there are many."""
    if name == "LITERAL":
        return frozenset({lower(chr(argument))})
    if name == "AT":
        return frozenset({""})
    if name == "IN":
        return _members(argument)
    if name == "SUBPATTERN":
        return _of_sequence(argument[-1])
    if name == "BRANCH":
        return _united(_of_sequence(branch) for branch in argument[1])
    if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        return _repeated(*argument)
    return None


def _of_sequence(items: Iterable[Any]) -> Choice | None:
    run: Choice = frozenset({""})
    for operation, argument in items:
        strings = _strings(str(operation), argument)
        if strings is None or len(run) * len(strings) > _MOST_CHOICES:
            return None
        run = frozenset(one + other for one in run for other in strings)
    return run


def _united(choices: Iterable[Choice | None]) -> Choice | None:
    united: Choice = frozenset()
    for choice in choices:
        if choice is None or len(united := united | choice) > _MOST_CHOICES:
            return None
    return united


def _members(argument: Iterable[Any]) -> Choice | None:
    """The characters of a class, if they are few; white space of any kind is one space."""
    found: set[str] = set()
    for operation, value in argument:
        name = str(operation)
        if name == "LITERAL":
            found.add(lower(chr(value)))
        elif name == "CATEGORY" and str(value) == "CATEGORY_SPACE":
            found.add(" ")
        else:
            return None
    return frozenset(found) if len(found) <= _LARGEST_CLASS else None


def _repeated(least: int, most: Any, body: Any) -> Choice | None:
    strings = _of_sequence(body)
    if strings is None:
        return None
    if strings == {" "}:
        return frozenset({" "} if least else {"", " "})
    if (least, most) == (1, 1):
        return strings
    return strings | {""} if (least, most) == (0, 1) else None


def _inside(name: str, argument: Any) -> list[Choice]:
    """The choices within a part that is not fully known."""
    if name == "SUBPATTERN":
        return _required(argument[-1])
    if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        least, _, body = argument
        return _required(body) if least else []
    if name == "BRANCH":
        branches = [_required(branch) for branch in argument[1]]
        united = _united(max(choices, key=_shortest, default=None) for choices in branches)
        return [_least(united)] if united else []
    return []


def _shortest(choice: Choice) -> int:
    return min(map(len, choice))
