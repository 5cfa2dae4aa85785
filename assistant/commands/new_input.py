"""What the author of a new entry gives: the pasted error, and answers to a few questions."""

from __future__ import annotations

import argparse
import select
from collections.abc import Callable, Collection, Iterator
from dataclasses import fields
from io import BytesIO
from typing import BinaryIO

from gpuhelp.authoring.draft import RISKS, Answers
from gpuhelp.errors import InputError
from gpuhelp.kb.entry import LAYERS
from gpuhelp.kb.load import KnowledgeBase
from gpuhelp.rendering.privacy import without_secrets
from gpuhelp.terminal import Terminal
from gpuhelp.words import Words

_PASTE_GOES_ON_S = 0.2
"""A terminal hands over the next line of a paste at once; nobody types one so fast."""


def pasted(options: argparse.Namespace, terminal: Terminal, knowledge: KnowledgeBase, words: Words) -> str:
    """The error text, without tokens and keys: of --from, of a pipe, or pasted at the terminal.

    It is read as logs are, in any encoding, packed or not. Raises InputError, and KeyboardInterrupt.
    """
    if options.pasted and options.pasted != "-":
        return _read(options.pasted, BytesIO(), knowledge)
    if not terminal.stdin_is_terminal:
        return _read("-", terminal.stdin, knowledge)
    print(words("kb.new.paste"), file=terminal.stdout, flush=True)
    return _read("-", BytesIO(b"".join(_paste(terminal.stdin))), knowledge)


def _read(name: str, stdin: BinaryIO, knowledge: KnowledgeBase) -> str:
    from gpuhelp.reading.sources import check
    from gpuhelp.scanning.gather import gather

    check([name])
    gathered = gather([name], stdin, knowledge)
    if gathered.interrupted:
        raise KeyboardInterrupt
    return without_secrets("\n".join(raw.text for raw in gathered.texts)).replace("\r\n", "\n")


def _paste(stdin: BinaryIO) -> Iterator[bytes]:
    """The lines up to an empty one behind which nothing comes at once: errors hold empty lines too."""
    while line := stdin.readline():
        if not line.strip() and not _has_more(stdin):
            return
        yield line


def _has_more(stdin: BinaryIO) -> bool:
    """Whether another line of a paste waits; unknown counts as no."""
    try:
        return bool(select.select([stdin.fileno()], [], [], _PASTE_GOES_ON_S)[0])
    except (OSError, ValueError):
        return False


class Asker:
    """Asks one question a line; an empty answer leaves the place to be filled in later.

    After the end of the input, or a Ctrl-C, nothing more is asked; `interrupted` tells of the latter.
    """

    def __init__(self, terminal: Terminal, words: Words) -> None:
        self._terminal, self._words = terminal, words
        self._asks = terminal.stdin_is_terminal
        self.interrupted = False

    def answers(self) -> Answers:
        """All that the draft needs besides the error."""
        given = {one.name: self(one.name) for one in fields(Answers) if one.name != "risk"}
        return Answers(**given, risk=self("risk", RISKS) if given["fix"] or given["command"] else "")

    def layer(self) -> str:
        """The layer where the fault lives, "" if it was not told."""
        return self("layer", LAYERS)

    def __call__(self, name: str, known: Collection[str] = ()) -> str:
        """The answer, asked for again while it is none of those known."""
        while self._asks:
            said = self._line(self._words(f"kb.new.ask.{name}", known=", ".join(known)))
            if not said or not known or said in known:
                return said
        return ""

    def _line(self, question: str) -> str:
        print(question, end=" ", file=self._terminal.stdout, flush=True)
        line = self._interruptible(self._terminal.stdin.readline)
        self._asks = self._asks and line.endswith(b"\n")
        if not line.endswith(b"\n"):
            print(file=self._terminal.stdout)
        return without_secrets(line.decode("utf-8", errors="replace").strip())

    def _interruptible(self, read: Callable[[], bytes]) -> bytes:
        try:
            return read()
        except KeyboardInterrupt:
            self.interrupted, self._asks = True, False
            return b""


def checked_layer(options: argparse.Namespace, words: Words) -> str:
    """The layer of --layer, "" without it. Raises InputError for one that does not exist."""
    if options.layer and options.layer not in LAYERS:
        raise InputError(words("error.kb_layer", layer=options.layer, known=", ".join(LAYERS)))
    return options.layer or ""
