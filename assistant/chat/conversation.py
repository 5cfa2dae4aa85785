"""One conversation as it goes on: each message answered, and whatever goes wrong told in one line.

With cli the one place where errors are caught. Knows no terminal: repl and plain say how rows are shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace

from gpuhelp.chat.session import Answer, Session, look, step, without_look
from gpuhelp.errors import GpuhelpError
from gpuhelp.rendering.layout import BLANK, Row, row


@dataclass(frozen=True, slots=True)
class Outside:
    """What a conversation needs from outside: to show rows, and to show that it is busy for a while.

    `report` writes the report of a defect and gives its place.
    """

    show: Callable[[Iterable[Row]], None]
    busy: Callable[[str], AbstractContextManager[None]]
    report: Callable[[Exception], str]


class Conversation:
    """Keeps the session between messages. A message that fails leaves the session as it was."""

    def __init__(self, session: Session, outside: Outside) -> None:
        self.session = session
        self._outside = outside

    def answer(self, message: str) -> None:
        """Show the answer to one message, in two parts where the machine is looked at."""
        self._try(lambda: step(self.session, message), interrupted="chat.interrupted")
        if self.session.pending:
            with self._outside.busy(self.session.words("chat.looking")):
                rows = self._looked()
            self._outside.show(rows)
        if self.session.pending:
            self._try(lambda: without_look(self.session), interrupted="chat.interrupted")
            self.session = replace(self.session, pending=False)
        if message.strip() and not self.session.finished:
            self._outside.show((BLANK,))

    def _looked(self) -> tuple[Row, ...]:
        """The second part; while the answer stays pending, only what went wrong."""
        try:
            self.session, rows = look(self.session)
        except KeyboardInterrupt:
            return ()
        except Exception as error:  # noqa: BLE001 - as in _try
            return self._told(error)
        return rows

    def _try(self, work: Callable[[], Answer], *, interrupted: str) -> None:
        try:
            session, rows = work()
            self._outside.show(rows)
            self.session = session
        except KeyboardInterrupt:
            self._outside.show((row(self.session.words(interrupted)),))
        except Exception as error:  # noqa: BLE001 - a defect must not end the conversation
            self._outside.show(self._told(error))

    def _told(self, error: Exception) -> tuple[Row, ...]:
        if isinstance(error, GpuhelpError):
            return tuple(row(line) for line in error.told(self.session.words))
        return (row(self.session.words("defect", path=self._outside.report(error))),)
