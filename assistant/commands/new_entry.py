"""`gpuhelp kb new ID`: writes the file of a new entry from a pasted error and a few answers."""

from __future__ import annotations

import argparse
import re
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from gpuhelp.authoring.checks import healthy_logs
from gpuhelp.authoring.draft import UNWRITTEN, Answers, Material, by_language, draft, korean_draft, remarks
from gpuhelp.authoring.neighbours import already_known, near_misses
from gpuhelp.authoring.telling import Proposed, examples_of, propose
from gpuhelp.authoring.yaml_text import to_yaml
from gpuhelp.commands.common import knowledge_of
from gpuhelp.commands.new_files import check_place, folder_of, schema_from, write_whole
from gpuhelp.commands.new_input import Asker, checked_layer, pasted
from gpuhelp.errors import ExitCode, InputError
from gpuhelp.kb.load import KnowledgeBase
from gpuhelp.rendering.layout import printable
from gpuhelp.terminal import Terminal
from gpuhelp.words import Words

_ID = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_LONGEST_ID = 60
_MOST_REFUSED_TOLD = 3


class _Written(NamedTuple):
    """What there is to tell: the files, the places left to fill in, and how the pattern was found."""

    paths: tuple[Path, ...]
    unwritten: int
    proposed: Proposed
    log: str


def write_new_entry(options: argparse.Namespace, terminal: Terminal, words: Words) -> int:
    """Writes the file and says what to do next. Raises InputError where nothing can be written.

    A Ctrl-C at the questions keeps what was answered so far; before them it leaves nothing behind.
    """
    entry_id, layer = _entry_id(options, words), checked_layer(options, words)
    if options.family and not _ID.fullmatch(options.family):
        raise InputError(words("error.kb_family", family=options.family))
    path = folder_of(options) / f"{entry_id}.yaml"
    check_place(path, words, may_replace=options.force)
    knowledge = knowledge_of(options, terminal)
    if entry_id in knowledge.ids and not path.exists():
        raise InputError(words("error.kb_taken", id=entry_id))
    try:
        text = pasted(options, terminal, knowledge, words)
    except KeyboardInterrupt:
        print(f"\n{words('kb.new.nothing')}", file=terminal.stderr)
        return ExitCode.INTERRUPTED
    found, proposed = _found(entry_id, text, knowledge)
    if found.known:
        _show(terminal, [words("kb.new.known", id=found.known, path=path)])
    asker = Asker(terminal, words)
    layer = layer or asker.layer()
    english, korean = by_language(asker.answers())
    material = replace(found, layer=layer, answers=english)
    files = {path: to_yaml(draft(material, knowledge), schema_from(path), remarks(material))}
    if options.korean or words.language == "ko" or korean != Answers():
        files[path.with_suffix(".ko.yaml")] = to_yaml(korean_draft(korean), "")
    written = _write(files, options, words, proposed)
    if asker.interrupted:
        print(words("kb.new.interrupted"), file=terminal.stderr)
    _tell(terminal, words, written)
    return ExitCode.INTERRUPTED if asker.interrupted else ExitCode.NO_FAILURE


def _found(entry_id: str, text: str, knowledge: KnowledgeBase) -> tuple[Material, Proposed]:
    """What the text gives a draft before anybody was asked, and how its pattern was found."""
    others = examples_of(knowledge, without=entry_id)
    proposed = propose(text, knowledge, healthy_logs(), others)
    known = already_known(text, knowledge)
    known = "" if known == entry_id else known
    line = proposed.proposal.line if proposed.proposal else text
    near = near_misses(line, proposed.proposal, others, without=known)
    return Material(entry_id, "", text, proposed.proposal, Answers(), near, known), proposed


def _entry_id(options: argparse.Namespace, words: Words) -> str:
    given = " ".join(options.what)
    if _ID.fullmatch(given) and len(given) <= _LONGEST_ID:
        return given
    words_of_it = re.findall(r"[a-z0-9]+", given.lower())
    near = "-".join(words_of_it)[:_LONGEST_ID].strip("-") or "my-library-failed"
    raise InputError(words("error.kb_id", id=given or "''", near=near))


def _write(files: dict[Path, str], options: argparse.Namespace, words: Words, proposed: Proposed) -> _Written:
    for path in files:
        check_place(path, words, may_replace=options.force)
    for path, text in files.items():
        write_whole(path, text, words, may_replace=options.force)
    log = options.pasted if options.pasted and options.pasted != "-" else "ERROR.txt"
    unwritten = sum(UNWRITTEN in line for text in files.values() for line in text.splitlines())
    return _Written(tuple(files), unwritten, proposed, log)


def _tell(terminal: Terminal, words: Words, written: _Written) -> None:
    path, proposed = written.paths[0], written.proposed
    lines = [words("kb.new.written", path=one) for one in written.paths]
    for line, where in proposed.refused[:_MOST_REFUSED_TOLD]:
        lines.append(words("kb.new.refused", line=line, where=where))
    if proposed.proposal:
        lines.append(words("kb.new.proposed", regex=proposed.proposal.regex))
    else:
        lines.append(words("kb.new.no_pattern"))
    lines += [words("kb.new.or", regex=one.regex) for one in proposed.others]
    lines.append(words("kb.new.next", path=_quoted(path), places=written.unwritten, log=_quoted(written.log)))
    _show(terminal, lines)


def _show(terminal: Terminal, lines: list[str]) -> None:
    """The lines as they may be shown: what stands in a pasted text steers no terminal."""
    shown = [printable(part) for line in lines for part in line.split("\n")]
    print("\n".join(shown), file=terminal.stdout, flush=True)


def _quoted(path: Path | str) -> str:
    import shlex

    return shlex.quote(str(path))
