"""Finds entries by words: in ids, titles, questions, causes, patterns and the entry's own sentences. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gpuhelp.kb.entry import Entry
from gpuhelp.kb.load import KnowledgeBase
from gpuhelp.kb.regexes import squash
from gpuhelp.matching.questions import route


class Found(NamedTuple):
    """One entry; `where` is the text that holds the words, or the question that comes nearest."""

    entry: str
    title: str
    where: str


def search(asked: str, knowledge: KnowledgeBase, language: str) -> tuple[Found, ...]:
    """Entries with a text that holds all the words, the id and title first; then those nearest in meaning."""
    wanted = [squash(word) for word in asked.split()]
    exact: list[tuple[int, Found]] = []
    for entry_id in knowledge.ids:
        entry = knowledge.entry(entry_id)
        holding = next(
            ((rank, text) for rank, text in _texts(entry) if all(word in squash(text) for word in wanted)),
            None,
        )
        if holding:
            exact.append(
                (holding[0], Found(entry_id, entry.title.of(language), " ".join(holding[1].split())))
            )
    exact.sort(key=lambda found: (found[0], found[1].entry))
    names = {found.entry for _, found in exact}
    near = [
        Found(one.entry, knowledge.entry(one.entry).title.of(language), one.question)
        for one in route(asked, knowledge.questions)
        if one.entry not in names
    ]
    return (*(found for _, found in exact), *near)


def _texts(entry: Entry) -> Iterator[tuple[int, str]]:
    """Every text of an entry with its weight, the weightiest first."""
    yield 0, entry.id
    yield from ((1, text) for text in entry.title.by_language.values())
    yield from ((2, text) for asked in entry.questions.by_language.values() for text in asked)
    yield from ((3, text) for cause in entry.causes for text in cause.title.by_language.values())
    yield from ((4, example.text) for example in entry.examples)
    yield from ((5, text) for text in entry.summary.by_language.values())
