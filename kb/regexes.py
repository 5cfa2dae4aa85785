"""Patterns made ready for the scan: literals without white space, RE2 with elastic spaces, anchors.

Logs wrap lines, so white space never counts: a literal is squashed (no white space, lower case) and looked
for in squashed text; in a regular expression a space stands for any run of white space. An anchor is a
squashed literal that every match must hold; patterns whose anchors are absent are never run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

SHORTEST_ANCHOR, _SHORTEST_FURTHER = 4, 3
"""In bytes: a Korean syllable says as much as three letters. What must stand there as well may be shorter."""
_FLAGS = "(?im)"
_FLAGS_WITH_CASE = "(?m)"


class RegexError(ValueError):
    """A regular expression that cannot be used; the message says what would be right."""


def squash(text: str) -> str:
    """The text without white space, in lower case; the form in which literals are compared."""
    return lower("".join(text.split()))


def lower(text: str) -> str:
    """Lower case that never changes the length, so that positions stay valid."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


def ready(source: str, *, case: bool = False) -> str:
    """The RE2 expression to run: elastic spaces, line anchors, and no regard to case unless asked."""
    expression = (_FLAGS_WITH_CASE if case else _FLAGS) + _elastic(source)
    _check(expression)
    return expression


def escaped(text: str) -> str:
    """The expression that finds a literal; its spaces stay elastic."""
    return re.sub(r"([^\w\s])", r"\\\1", " ".join(text.split()))


def escaped_part(text: str) -> str:
    """The same for a part of an expression that people read: outer spaces count, only operators escaped."""
    return re.sub(r"([.^$*+?{}\[\]\\|()])", r"\\\1", text)


@lru_cache(maxsize=4096)
def regex(expression: str) -> Any:
    """The compiled RE2 expression, linear in time on any text. Kept here since re2's own cache is slow."""
    import re2

    options = re2.Options()
    options.log_errors = False  # a hostile pattern or text must not make the library write on standard error
    return re2.compile(expression, options)


def group_names(source: str) -> tuple[str, ...]:
    """The names of the groups, in order."""
    plain = "".join(part if len(part) == 1 else " " for part in parts(source))
    return tuple(re.findall(r"\(\?P<(\w+)>", plain))


def anchors(source: str) -> tuple[str, ...]:
    """Squashed literals of which every match holds at least one; empty if there is no such set."""
    found = _best(parse_tree(source))
    return tuple(sorted(found)) if found else ()


def further_anchors(source: str) -> tuple[tuple[str, ...], ...]:
    """More such sets, all of which a match needs as well: most patterns are not even compiled for a text."""
    candidates = {tuple(sorted(group)) for group in _candidates(parse_tree(source), _SHORTEST_FURTHER)}
    return tuple(sorted(candidates - {anchors(source)}))


def _check(expression: str) -> None:
    import re2

    options = re2.Options()
    options.log_errors = False  # the author is told by us, not by a line of the library on standard error
    try:
        re2.compile(expression, options)
    except re2.error as error:
        detail = error.args[0] if error.args else error
        text = detail.decode("utf-8", "replace") if isinstance(detail, bytes) else str(detail)
        raise RegexError(f"not an RE2 expression: {text}") from error


def _elastic(source: str) -> str:
    """Each run of spaces outside a character class becomes white space of any length."""
    return "".join(_elastic_part(part) for part in parts(source))


def _elastic_part(part: str) -> str:
    if not part.startswith(" "):
        return part
    quantifier = part.lstrip(" ")
    if not quantifier:
        return r"\s+"
    # the quantifier belongs to the last space only
    before = r"\s+" if len(part) - len(quantifier) > 1 else ""
    return before + r"\s" + quantifier


_PART = r"""(?sx)
    \\ .                                        # an escaped character
    | \[ \^? \]? (?: \\ . | [^\]\\] )* \]         # a character class; a bracket that comes first is one of it
    | [ ]+ (?: [*+?] | \{ \d+ (?: , \d* )? \} )?  # spaces, and the quantifier of the last one
    | .
"""
_POSIX_CLASS = r"\[:\^?[a-z]+:\]"
"""Python's parser, which finds the anchors, would read it as something else."""


def parts(source: str) -> list[str]:
    """The expression cut into escapes, classes, runs of spaces and single characters."""
    cut: list[str] = re.findall(_PART, source)
    if any(part.startswith("[") and re.search(_POSIX_CLASS, part) for part in cut):
        raise RegexError(r"classes such as [:alpha:] are not allowed; write \w, \d, \s or [a-z]")
    return cut


def parse_tree(source: str) -> Any:
    """Python's syntax tree of the expression. Raises RegexError for what is none."""
    try:
        from re import _parser  # type: ignore[attr-defined]
    except ImportError:
        import sre_parse as _parser
    try:
        return _parser.parse(source)
    except Exception as error:  # whatever the parser dislikes is the author's to mend
        raise RegexError(f"not a regular expression: {error}") from error


def _best(items: Iterable[Any], shortest: int = SHORTEST_ANCHOR) -> frozenset[str] | None:
    """The most selective anchor set of a sequence."""
    return max(_candidates(items, shortest), key=lambda group: min(map(len, group)), default=None)


def _candidates(items: Iterable[Any], shortest: int = SHORTEST_ANCHOR) -> list[frozenset[str]]:
    """Every anchor set of a sequence: runs of so many bytes, and what all branches of a choice hold."""
    candidates: list[frozenset[str]] = []
    run: list[str] = []
    for operation, argument in items:
        name = str(operation)
        if name == "LITERAL":
            run.append(chr(argument))
            continue
        inner = _inner(name, argument, shortest)
        if name == "SUBPATTERN" and _is_literal(argument[-1]):
            run += [chr(value) for _, value in argument[-1]]
            continue
        candidates += _finish(run, shortest)
        run = []
        if inner:
            candidates.append(inner)
    return candidates + _finish(run, shortest)


def _finish(run: list[str], shortest: int) -> list[frozenset[str]]:
    literal = squash("".join(run))
    return [frozenset({literal})] if len(literal.encode("utf-8", "surrogatepass")) >= shortest else []


def _is_literal(items: Iterable[Any]) -> bool:
    return all(str(operation) == "LITERAL" for operation, _ in items)


def _inner(name: str, argument: Any, shortest: int) -> frozenset[str] | None:
    if name == "SUBPATTERN":
        return _best(argument[-1], shortest)
    if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        least, _, body = argument
        return _best(body, shortest) if least > 0 else None
    if name == "BRANCH":
        sets = [_best(branch, shortest) for branch in argument[1]]
        if all(sets):
            return frozenset().union(*(group for group in sets if group))
    return None
