"""The search index: a script that sets one variable, so that pages opened from a folder can read it. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from gpuhelp.kb.entry import Entry, Signature
from gpuhelp.kb.load import KnowledgeBase
from gpuhelp.rendering.layout import escape_unprintable
from gpuhelp.site.code_tables import CodeTable
from gpuhelp.site.symptoms import wordings_of

_LANGUAGES = ("en", "ko")
_WORD = re.compile(r"[a-z0-9_]+|[^\W0-9_a-z]+")
_NUMBERS = re.compile(r"(?:0x)?[0-9a-f]{5,}|\d+")
_SHORTEST_WORD = 3
_LONGEST_WORD = 48


def search_index(knowledge: KnowledgeBase, tables: Mapping[str, tuple[CodeTable, ...]]) -> str:
    """The script. `tables` holds the tables of codes by language.

    Of an entry: id, layer, titles and questions by language, texts that programs print, and the further words
    of its examples. Of a table: its space, what a code is called by language, and rows of number, name,
    text, entry. Short keys keep it small.
    """
    signatures = {one.id: one for one in knowledge.signatures}
    entries = (knowledge.entry(entry_id) for entry_id in knowledge.ids)
    index = {
        "entries": [_entry(one, signatures[one.id]) for one in entries],
        "codes": [_table(same) for same in zip(*(tables[language] for language in _LANGUAGES), strict=True)],
    }
    text = escape_unprintable(json.dumps(index, ensure_ascii=False, separators=(",", ":")))
    return "var SEARCH_INDEX = " + text.replace("<", "\\u003c") + ";\n"


def words_in(text: str) -> list[str]:
    """The words of a text, as search.js cuts them: Latin letters, digits, underscores; or other letters."""
    return _WORD.findall(text.lower())


def _entry(entry: Entry, signature: Signature) -> dict[str, Any]:
    titles = [_line(entry.title.of(language)) for language in _LANGUAGES]
    questions = [list(map(_line, entry.questions.of(language) or ())) for language in _LANGUAGES]
    texts = [_line(text) for text in wordings_of(signature)]
    known = set(words_in(" ".join([entry.id, *titles, *questions[0], *questions[1], *texts])))
    further = _telling((example.text for example in entry.examples), known)
    return {
        "i": entry.id,
        "l": entry.layer,
        "t": titles,
        "q": questions,
        "x": texts,
        "w": " ".join(further),
    }


def _telling(texts: Iterable[str], known: set[str]) -> list[str]:
    """Words of the examples that are not known yet, without numbers and very short or long ones."""
    found = {word for text in texts for word in words_in(text)} - known
    return sorted(
        word
        for word in found
        if _SHORTEST_WORD <= len(word) <= _LONGEST_WORD and not _NUMBERS.fullmatch(word)
    )


def _table(same: tuple[CodeTable, ...]) -> dict[str, Any]:
    table = same[0]
    rows = [[row.number, list(row.names), row.text, row.entry.id if row.entry else ""] for row in table.rows]
    return {"s": table.space, "t": [one.label for one in same], "r": rows}


def _line(text: str) -> str:
    return " ".join(text.split())
