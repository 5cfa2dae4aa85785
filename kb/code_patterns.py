"""Patterns for every code of a library that belongs to an entry, made from the rows of its table. Pure.

`- codes: cuda` in an entry stands for all of them; tables/code_spaces.yaml says how programs print codes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from gpuhelp.kb import regexes

Table = Mapping[str, Any]
_SHORTEST_TEXT = 8


class CodeError(ValueError):
    """No such space of codes, or none of its codes belongs to the entry; the message says which."""


class CodePattern(NamedTuple):
    """One regular expression; with `numbers`, only where the code it captured as `group` is one of them.

    `anchors` are squashed literals of which a match holds one; empty where the expression tells them.
    `unless` is an expression that speaks against a match beside it.
    """

    regex: str
    numbers: tuple[str, ...] = ()
    anchors: tuple[str, ...] = ()
    group: str = "error_code"
    unless: str = ""


def code_patterns(space_name: str, entry_id: str, tables: Mapping[str, Table]) -> tuple[CodePattern, ...]:
    """The patterns for the codes of one space whose rows name the entry. Raises CodeError."""
    spaces = tables.get("code_spaces", {})
    space = spaces.get("spaces", {}).get(space_name)
    if space is None:
        raise CodeError(f"no space of codes {space_name!r}")
    table = tables.get(space["table"], {})
    rows = [row for row in table.get(space.get("rows", "codes"), ()) if row.get("entry") == entry_id]
    found = tuple(_patterns(space, spaces, rows))
    if not found:
        raise CodeError(f"no code of {space['table']}.yaml names {entry_id!r}")
    return found


def _patterns(space: Table, spaces: Table, rows: list[Table]) -> Iterator[CodePattern]:
    numbers = sorted({str(row["code"]) for row in rows if row.get("code") is not None})
    for form in space.get("forms", ()) if numbers else ():
        expression = form.replace("{number}", "|".join(numbers))
        yield CodePattern(expression, unless=space.get("forms_unless", ""))
    if numbers and space.get("numbers"):
        yield _number(space, spaces["number"], numbers)
    names = _values(rows, space.get("names", ()))
    if names:
        yield CodePattern(rf"\b(?P<error_code>{'|'.join(map(regexes.escaped, names))})\b")
    texts = [text for text in _values(rows, [space.get("text")]) if len(text) >= _SHORTEST_TEXT]
    if texts:
        said = "|".join(map(regexes.escaped, texts))
        yield CodePattern(_form(space, spaces["text"]).replace("{said}", said))


def _number(space: Table, number: Table, numbers: list[str]) -> CodePattern:
    """One expression for all entries, compiled once; each number's literals tell whose it can be."""
    words = [word + sign for word in space["numbers"] for sign in number["signs"]]
    literals = {regexes.squash(word + code) for word in words for code in numbers}
    literals.update(map(regexes.squash, space.get("also", ())))
    form = space.get("number_form") or _form(space, number["form"])
    return CodePattern(
        form.replace("{words}", "|".join(space["numbers"])),
        numbers=tuple(numbers),
        anchors=tuple(sorted(literals)),
        group=space.get("group", "error_code"),
        unless=space.get("unless", ""),
    )


def _form(space: Table, form: str) -> str:
    return form.replace("{speakers}", space.get("speakers", ""))


def _values(rows: Iterable[Table], columns: Iterable[str | None]) -> list[str]:
    known = [column for column in columns if column]
    found = {str(row[column]): None for row in rows for column in known if row.get(column)}
    return [value for value in found if re.search(r"\w", value)]
