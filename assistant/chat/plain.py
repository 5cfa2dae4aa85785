"""The chat line by line, for terminals that cannot do more (TERM=dumb) and for input that is no terminal.

A command is one line; any other text ends with an empty line or with the input.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from queue import Empty, Queue
from threading import Thread
from typing import BinaryIO

from gpuhelp.chat.commands import command_of
from gpuhelp.chat.conversation import Conversation
from gpuhelp.errors import ExitCode

_TOGETHER_S = 0.1
"""Lines that come this fast after an empty one belong to the same paste."""


def run_plain(conversation: Conversation, stdin: BinaryIO, prompt: Callable[[], None]) -> int:
    """Answer message after message until /quit or the end of the input.

    `prompt` says that a message may begin.
    """
    for message in messages(Lines(stdin), prompt):
        conversation.answer(message)
        if conversation.session.finished:
            break
    return ExitCode.NO_FAILURE


class Lines:
    """The lines of a stream, read on a thread, so that one can know whether another is waiting."""

    def __init__(self, stdin: BinaryIO) -> None:
        self._queue: Queue[str | None] = Queue()
        self._ahead: list[str | None] = []
        Thread(target=self._read, args=(stdin,), name="input", daemon=True).start()

    def next(self) -> str | None:
        """The next line without its end; None at the end of the stream."""
        return self._ahead.pop() if self._ahead else self._queue.get()

    def text_follows(self) -> bool:
        """True if a line that is no command is waiting, or comes at once."""
        if not self._ahead:
            try:
                self._ahead.append(self._queue.get(timeout=_TOGETHER_S))
            except Empty:
                return False
        return self._ahead[0] is not None and command_of(self._ahead[0]) is None

    def _read(self, stdin: BinaryIO) -> None:
        for line in iter(stdin.readline, b""):
            self._queue.put(line.decode("utf-8", "replace").rstrip("\r\n"))
        self._queue.put(None)


def messages(lines: Lines, prompt: Callable[[], None]) -> Iterator[str]:
    """Whole messages. An empty line within a paste (chained exceptions have them) does not end it."""
    held: list[str] = []
    prompt()
    while (line := lines.next()) is not None:
        if not held and command_of(line):
            yield line
            prompt()
        elif line.strip() or (held and lines.text_follows()):
            held.append(line)
        elif held:
            yield "\n".join(held)
            held = []
            prompt()
    if held:
        yield "\n".join(held)
