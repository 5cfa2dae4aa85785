"""`gpuhelp explain ID|CODE`: one class of failure, or what a number, a name or a text of a library means."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from gpuhelp.commands.common import knowledge_of, no_such_entry
from gpuhelp.errors import ExitCode, InputError
from gpuhelp.kb.load import KnowledgeBase
from gpuhelp.rendering.explanation import explanation_data, explanation_rows
from gpuhelp.rendering.output import write_data, write_rows
from gpuhelp.rendering.privacy import Privacy
from gpuhelp.terminal import Terminal
from gpuhelp.words import Words

if TYPE_CHECKING:
    from gpuhelp.kb.entry import Entry
    from gpuhelp.rendering.code_rows import Asked

_LONGEST_SHOWN = 60


def run(options: argparse.Namespace, terminal: Terminal, words: Words) -> int:
    """0 explained. Raises InputError for what is neither an entry nor a code, with the nearest ones."""
    knowledge = knowledge_of(options, terminal)
    asked = " ".join(options.what)
    entry_id = _id_of(asked)
    if entry_id in knowledge.ids:
        _write_entry(knowledge.entry(entry_id), options, terminal, words)
    else:
        _write_codes(codes_asked(asked, knowledge, words), options, terminal, words)
    return ExitCode.NO_FAILURE


def codes_asked(asked: str, knowledge: KnowledgeBase, words: Words) -> Asked:
    """The codes meant. Raises InputError where there is none."""
    from gpuhelp.kb.code_words import find_codes, names_near
    from gpuhelp.kb.codes import CODE_TABLES, SPACES, CodeBook
    from gpuhelp.rendering.code_rows import Asked

    tables = {name: knowledge.table(name) for name in knowledge.table_names if name in CODE_TABLES}
    book = CodeBook(tables)
    found = find_codes(book, asked)
    if not found:
        raise InputError(_unknown(asked, names_near(book, asked), knowledge, words))
    actions: dict[str, Any] = {
        name: tables.get(space.table, {}).get("actions", {}) for name, space in SPACES.items()
    }
    return Asked(asked, found, lambda one: knowledge.entry(one) if one in knowledge.ids else None, actions)


def _id_of(asked: str) -> str:
    """The id meant: `cuda oom` and `CUDA_OOM` are cuda-oom."""
    return "-".join(asked.lower().replace("_", " ").replace("-", " ").split())


def _unknown(asked: str, names: tuple[str, ...], knowledge: KnowledgeBase, words: Words) -> str:
    from difflib import get_close_matches

    from gpuhelp.rendering.layout import clip, one_line

    shown, entry_id = clip(one_line(asked), _LONGEST_SHOWN), _id_of(asked)[:_LONGEST_SHOWN]
    if names:
        near = (*names, *get_close_matches(entry_id, knowledge.ids, 2, 0.6))
        return words("error.no_code.near", asked=shown, near=", ".join(near))
    if any(map(str.isdigit, asked)):
        return words("error.no_code", asked=shown)
    return no_such_entry(shown, entry_id, knowledge, words)


def _write_entry(entry: Entry, options: argparse.Namespace, terminal: Terminal, words: Words) -> None:
    if options.format == "text":
        rows, privacy = explanation_rows(entry, words), Privacy(terminal.environ, share=False)
        write_rows(rows, options.color, terminal, privacy)
    else:
        write_data(explanation_data(entry, words.language), "explanation.md.j2", options, terminal, words)


def _write_codes(asked: Asked, options: argparse.Namespace, terminal: Terminal, words: Words) -> None:
    from gpuhelp.rendering.code_rows import code_rows, codes_data

    privacy = Privacy(terminal.environ, share=options.redact or options.format == "markdown")
    if options.format == "text":
        write_rows(code_rows(asked, words), options.color, terminal, privacy)
    else:
        write_data(privacy.data(codes_data(asked, words)), "codes.md.j2", options, terminal, words)
