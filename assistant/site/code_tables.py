"""The tables of codes as pages show them: one table for each space, one row for each code. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from gpuhelp.kb.codes import CODE_TABLES, SPACES, Code, CodeBook
from gpuhelp.kb.load import KnowledgeBase
from gpuhelp.rendering.code_rows import Asked, codes_data
from gpuhelp.site.model import Link
from gpuhelp.words import Words

_ANCHOR = re.compile(r"[A-Za-z][\w.-]*")


class CodeRow(NamedTuple):
    """One code. `anchors`: first by number, then by name; details: label and value."""

    anchors: tuple[str, ...]
    number: str
    names: tuple[str, ...]
    text: str
    meaning: str
    details: tuple[tuple[str, str], ...]
    entry: Link | None


class CodeTable(NamedTuple):
    """The codes of one space; `title` names the space, `label` one code of it, with {number} to fill in."""

    space: str
    title: str
    label: str
    rows: tuple[CodeRow, ...]


def code_tables(knowledge: KnowledgeBase, known: Mapping[str, Link], words: Words) -> tuple[CodeTable, ...]:
    """Every table that has rows, in the order of the spaces."""
    tables = {name: knowledge.table(name) for name in knowledge.table_names if name in CODE_TABLES}
    book = CodeBook(tables)
    actions: dict[str, Any] = {
        name: tables.get(space.table, {}).get("actions", {}) for name, space in SPACES.items()
    }
    made = (
        CodeTable(
            space,
            words(f"site.codes.{space}"),
            words(f"code.space.{space}"),
            tuple(_rows(space, book, actions, known, words)),
        )
        for space in SPACES
    )
    return tuple(table for table in made if table.rows)


def _rows(
    space: str, book: CodeBook, actions: dict[str, Any], known: Mapping[str, Link], words: Words
) -> Iterator[CodeRow]:
    codes = sorted(book.of(space), key=lambda code: code.number)
    told = codes_data(Asked("", tuple(codes), lambda _: None, actions), words)["codes"]
    taken: set[str] = set()
    for code, data in zip(codes, told, strict=True):
        number = f"0x{code.number:08X}" if space == "windows" else str(code.number)
        anchors = tuple(one for one in _anchors(space, number, code) if one not in taken)
        taken.update(anchors)
        yield CodeRow(
            anchors=anchors,
            number=number,
            names=code.names,
            text=code.text or "",
            meaning=data["meaning"] or "",
            details=tuple(_details(data, words)),
            entry=known.get(code.entry or ""),
        )


def _anchors(space: str, number: str, code: Code) -> Iterator[str]:
    yield f"{space}-{number}"
    yield from dict.fromkeys(name for name in code.names if _ANCHOR.fullmatch(name))


def _details(data: Mapping[str, Any], words: Words) -> Iterator[tuple[str, str]]:
    """What the table says beyond name, text and meaning; the text has a place of its own."""
    for detail in data["details"]:
        if detail["value"] != data["text"]:
            yield detail["label"], detail["value"]
    if data["parts"]:
        named = "; ".join(f"{part['name']}: {part['meaning']}" for part in data["parts"])
        yield words("code.subcodes"), named
