"""`gpuhelp kb new ID`: writes the file of a new entry from a pasted error and a few answers."""

from __future__ import annotations

import argparse
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

from gpuhelp.authoring.draft import Answers, already_known, draft, propose
from gpuhelp.authoring.yaml_text import to_yaml
from gpuhelp.commands.common import knowledge_of
from gpuhelp.errors import ExitCode, InputError
from gpuhelp.kb.entry import LAYERS
from gpuhelp.kb.files import SHIPPED
from gpuhelp.kb.origins import user_folder
from gpuhelp.terminal import Terminal
from gpuhelp.words import Words

_ID = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


def write_new_entry(options: argparse.Namespace, terminal: Terminal, words: Words) -> int:
    """Writes the file and says what to do next. Raises InputError for a bad id or a file that exists."""
    entry_id = _entry_id(options, words)
    if options.layer and options.layer not in LAYERS:
        raise InputError(words("error.kb_layer", layer=options.layer, known=", ".join(LAYERS)))
    path = _place(options) / f"{entry_id}.yaml"
    if path.exists():
        raise InputError(words("error.kb_exists", path=path))
    knowledge = knowledge_of(options, terminal)
    if entry_id in knowledge.ids:
        raise InputError(words("error.kb_taken", id=entry_id))
    text = _pasted(options, terminal, words)
    asker = _Asker(terminal, words, asks=terminal.stdin_is_terminal)
    proposal = propose(text, knowledge) if text.strip() else None
    layer = options.layer or asker("layer", known=", ".join(LAYERS)) or "code"
    answers = Answers(**{one.name: asker(one.name) for one in fields(Answers)})
    data = draft(entry_id, layer if layer in LAYERS else "code", text, proposal, answers, knowledge)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(to_yaml(data, _schema_from(path)), "utf-8")
    known = already_known(text, knowledge) if text.strip() else ""
    _tell(terminal, words, path, proposal.regex if proposal else "", known)
    return ExitCode.NO_FAILURE


def _entry_id(options: argparse.Namespace, words: Words) -> str:
    given = options.what[0] if len(options.what) == 1 else ""
    if not _ID.fullmatch(given):
        raise InputError(words("error.kb_id", id=" ".join(options.what) or "''"))
    return str(given)


def _place(options: argparse.Namespace) -> Path:
    """The folder to write to: --to, else the tree that gpuhelp runs from, else the person's own."""
    family = options.family or "not-gpu"
    if options.to:
        return Path(options.to)
    tree = Path(SHIPPED)
    is_tree = (tree.parent / "pyproject.toml").is_file()
    return tree / "entries" / family if is_tree else user_folder() / family


def _schema_from(path: Path) -> str:
    """How the file names the schema: relative within our tree, else by its place."""
    tree = Path(SHIPPED) / "entries"
    return "../../schema.json" if tree in path.resolve().parents else str(Path(SHIPPED) / "schema.json")


def _pasted(options: argparse.Namespace, terminal: Terminal, words: Words) -> str:
    """The error text: of --from, of a pipe, or pasted at the terminal up to an empty line."""
    if options.pasted and options.pasted != "-":
        try:
            return Path(options.pasted).read_text("utf-8", errors="replace")
        except OSError as error:
            raise InputError(
                words("error.unreadable", path=options.pasted, reason=error.strerror or error)
            ) from None
    if not terminal.stdin_is_terminal:
        return terminal.stdin.read().decode("utf-8", errors="replace")
    print(words("kb.new.paste"), file=terminal.stdout, flush=True)
    lines: list[str] = []
    while (line := terminal.stdin.readline().decode("utf-8", errors="replace")).strip():
        lines.append(line)
    return "".join(lines)


class _Asker:
    """Asks one question a line; an empty answer leaves the place to be filled in later."""

    def __init__(self, terminal: Terminal, words: Words, *, asks: bool) -> None:
        self._terminal, self._words, self._asks = terminal, words, asks

    def __call__(self, name: str, **values: Any) -> str:
        if not self._asks:
            return ""
        print(self._words(f"kb.new.ask.{name}", **values), end=" ", file=self._terminal.stdout, flush=True)
        return self._terminal.stdin.readline().decode("utf-8", errors="replace").strip()


def _tell(terminal: Terminal, words: Words, path: Path, regex: str, known: str) -> None:
    lines = [words("kb.new.written", path=path)]
    if regex:
        lines.append(words("kb.new.proposed", regex=regex))
    if known:
        lines.append(words("kb.new.known", id=known))
    lines.append(words("kb.new.next", path=path))
    print("\n".join(lines), file=terminal.stdout)
