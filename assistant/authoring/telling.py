"""Which line of a pasted error a new entry should look for: one that only this failure prints. Pure.

A line is refused where its pattern stands in the log of a healthy run, or in an example of another entry:
then the next one is tried, those with the rarest words first.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from gpuhelp.authoring.generalize import Proposal, generalized, plain_words
from gpuhelp.kb import regexes
from gpuhelp.kb.load import KnowledgeBase
from gpuhelp.matching.failure import describe, failure_lines
from gpuhelp.matching.view import View
from gpuhelp.reading.pieces import from_text
from gpuhelp.reading.read import read

_LONGEST_LINE = 400
_SHORTEST_WORD = 4
_FEWEST_WORDS = 4
_MOST_TRIED = 40
_MOST_FURTHER = 2
_LONG_LINE = 200
_SOURCE_INDENT = "    "
"""Below the place of a frame stands the program's own code."""
_SHORTEST_TAIL = 20
_SAYS_NOTHING = re.compile(r"\b\w*(?:error|exception|failed|failure)\b", re.IGNORECASE)
"""Words that any failure prints; a line of little else is no name for this one."""
_FRAME = re.compile(r'^\s*(?:File "|at \S+\(|#\d+ |\[frame \d|Traceback \(most)|^[\s*=~^-]*$')

Logs = Iterable[tuple[str, str]]


class Refused(NamedTuple):
    """A line that cannot be looked for, since it stands in `where`: a healthy log, or an entry's example."""

    line: str
    where: str


class Proposed(NamedTuple):
    """The pattern to take (None if no line is fit), lines that were refused, and what else would do."""

    proposal: Proposal | None
    refused: tuple[Refused, ...] = ()
    others: tuple[Proposal, ...] = ()


class Example(NamedTuple):
    """An example of another entry."""

    entry: str
    text: str


def examples_of(knowledge: KnowledgeBase, without: str = "") -> tuple[Example, ...]:
    """Every example of every entry, but for one."""
    ids = (one for one in knowledge.ids if one != without)
    return tuple(Example(one, example.text) for one in ids for example in knowledge.entry(one).examples)


def propose(
    text: str, knowledge: KnowledgeBase, healthy: Logs = (), others: tuple[Example, ...] = ()
) -> Proposed:
    """A pattern for the line that tells the failure and stands nowhere else."""
    variables = knowledge.table("variables")["variables"]
    around = [
        (regexes.squash(shown), shown, where)
        for shown, where in (
            *((log, name) for name, log in healthy),
            *((example.text, example.entry) for example in others),
        )
    ]
    refused: list[Refused] = []
    taken: list[Proposal] = []
    for line in _candidates(text, knowledge, others):
        found = generalized(line, variables)
        if not _is_usable(found):
            continue
        where = _standing_in(found.regex, around)
        if not where:
            taken.append(found)
        elif not taken:
            refused.append(Refused(line, where))
        if len(taken) > _MOST_FURTHER:
            break
    return Proposed(taken[0] if taken else None, tuple(refused), tuple(taken[1:]))


def words_of(text: str) -> frozenset[str]:
    """The words of a text that say something, in lower case."""
    return frozenset(word for word in re.findall(r"[^\W\d_]+", text.lower()) if len(word) >= _SHORTEST_WORD)


def _candidates(text: str, knowledge: KnowledgeBase, others: tuple[Example, ...]) -> list[str]:
    """Lines worth trying: the message's own first, then lines of failures, then the rest, rare ones first."""
    views = tuple(View(document, knowledge.rows("advice")) for document in read([from_text(text, "text")]))
    failing = failure_lines(views, knowledge.rows("failure_signs"))
    lines = [
        line.text.strip()
        for view in views
        for line in view.document.lines
        if not line.text.startswith(_SOURCE_INDENT)
    ]
    common = Counter(word for example in others for word in words_of(example.text))

    def rarity(line: str) -> float:
        return sum(1 / (1 + common[word]) for word in words_of(line))

    def by_rarity(some: Iterable[str]) -> list[str]:
        return sorted(some, key=lambda line: -rarity(line))

    message = list(_message(views, failing))
    variables = knowledge.table("variables")["variables"]
    first = [one for one in message if _says_much(plain_words(one, variables))][:1]
    first += [tail for line in first if (tail := _tail(line))]
    shown = [views[document].document.lines[number].text.strip() for document, number in failing]
    ordered = [*first, *by_rarity(message), *by_rarity(shown), *by_rarity(lines)]
    fit = (line[:_LONGEST_LINE] for line in ordered if line and not _FRAME.search(line))
    return list(dict.fromkeys(fit))[:_MOST_TRIED]


def _says_much(words: list[str]) -> bool:
    """Whether enough is left of a line without what differs and what any failure prints."""
    return len(words_of(_SAYS_NOTHING.sub("", " ".join(words)))) >= _FEWEST_WORDS


def _tail(line: str) -> str:
    """What a long line says last, "" for others: libraries put their own words in front of the cause's."""
    begin = line.rfind(": ", 0, -_SHORTEST_TAIL) + 2
    return line[begin:] if len(line) > _LONG_LINE and begin > 1 else ""


def _message(views: tuple[View, ...], failing: tuple[tuple[int, int], ...]) -> Iterator[str]:
    """The lines of what the failure says, with its type in front of the first."""
    failure = describe(views, failing)
    if failure is None or not failure.message:
        return
    told = f"{failure.exception}: {failure.message}" if failure.exception else failure.message
    yield from (line.strip() for line in told.strip().splitlines())


def _is_usable(found: Proposal) -> bool:
    """Whether the expression finds its own line, by a literal long enough for the scan."""
    try:
        expression = regexes.ready(found.regex)
        anchored = bool(found.regex) and bool(regexes.anchors(found.regex))
    except regexes.RegexError:
        return False
    return anchored and regexes.regex(expression).search(found.line) is not None


def _standing_in(source: str, around: list[tuple[str, str, str]]) -> str:
    """The first text that the expression fits, by name; "" if there is none."""
    anchors, expression = regexes.anchors(source), regexes.regex(regexes.ready(source))
    for squashed, shown, where in around:
        if any(anchor in squashed for anchor in anchors) and expression.search(shown):
            return where
    return ""
