"""The chat on a real terminal: a thin loop around Conversation. The only module that knows prompt-toolkit."""

from __future__ import annotations

import os
import select
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from prompt_toolkit import PromptSession, print_formatted_text
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import CompleteEvent, Completer, Completion, get_common_complete_suffix
from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import ANSI
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.output import ColorDepth

from gpuhelp.chat.commands import command_of, completions
from gpuhelp.chat.conversation import Conversation, Outside
from gpuhelp.chat.screen import Screen, message_rows
from gpuhelp.chat.session import Session
from gpuhelp.chat.watch import Watch
from gpuhelp.errors import ExitCode
from gpuhelp.rendering.layout import BLANK, Row, row
from gpuhelp.rendering.text import numbered_fixes

_PASTE_GAP_S = 0.03
"""Bytes that follow Enter within this time were not typed; a terminal without bracketed paste is pasting."""
_LARGE_PASTE_GAP_S = 0.2
"""The same once a paste has begun: terminals and ssh hand over a large one piece by piece."""
_MENU_LINES = 6
_LONGEST_REMEMBERED = 10_000
"""Characters. A longer paste is a log, not something to type again; it stays in memory only."""
_LARGEST_HISTORY_BYTES = 64 << 20
_PSEUDO_KEYS = (Keys.CPRResponse, Keys.Ignore)


def run_repl(session: Session, screen: Screen, watch: Watch, report: Callable[[Exception], str]) -> int:
    """Talk until the person leaves. 0 always: what a text shows is told, not returned."""
    return _Repl(session, screen, watch, report).run()


class _Repl:
    def __init__(
        self, session: Session, screen: Screen, watch: Watch, report: Callable[[Exception], str]
    ) -> None:
        self._screen = screen
        self._watch = watch
        self._color_depth = None if screen.terminal.wants_color(screen.color) else ColorDepth.DEPTH_1_BIT
        self.conversation = Conversation(session, Outside(self.show, self._busy, report))
        self._prompt: PromptSession[str] = PromptSession(
            "> ",
            multiline=True,
            prompt_continuation="  ",
            key_bindings=_keys(),
            history=_history(),
            completer=_CommandCompleter(self),
            complete_while_typing=True,
            reserve_space_for_menu=_MENU_LINES,
            bottom_toolbar=self._bar,
            erase_when_done=True,
            color_depth=self._color_depth,
        )
        watch.changed = self._prompt.app.invalidate

    def run(self) -> int:
        words = self.conversation.session.words
        self.show((row(words("chat.welcome")), row(words("chat.welcome_help")), BLANK))
        self._watch.refresh()
        empty_interrupts = 0
        while not self.conversation.session.finished:
            try:
                message = self._prompt.prompt()
                empty_interrupts = 0
                self._answer(message)
            except KeyboardInterrupt:
                empty_interrupts = 0 if self._prompt.default_buffer.text else empty_interrupts + 1
                if empty_interrupts == 2:
                    self.show((row(self.conversation.session.words("chat.leave_hint")),))
            except EOFError:
                break
        return ExitCode.NO_FAILURE

    def _answer(self, message: str) -> None:
        if not message.strip():
            return
        echo = message_rows(message.strip("\n"), self.conversation.session.words, self._columns())
        self.show((*echo, BLANK))
        self.conversation.answer(message)
        self._watch.refresh()

    def show(self, rows: Iterable[Row]) -> None:
        """Write rows above the prompt."""
        text = self._screen.text(rows, self._columns())
        print_formatted_text(ANSI(text), end="", output=self._prompt.output, color_depth=self._color_depth)

    def _columns(self) -> int:
        return self._prompt.output.get_size().columns

    def _bar(self) -> str:
        return self._watch.text(self.conversation.session.words, self._columns())

    @contextmanager
    def _busy(self, text: str) -> Iterator[None]:
        """A line that is there while something takes its time, and gone afterwards."""
        output = self._prompt.output
        output.write(text)
        output.flush()
        try:
            yield
        finally:
            output.write_raw("\r")
            output.erase_end_of_line()
            output.flush()


def _keys() -> KeyBindings:
    keys = KeyBindings()

    @keys.add("enter")
    def _(event: KeyPressEvent) -> None:
        """Send; but an Enter in the middle of a paste is part of the text."""
        if _is_pasting(event):
            event.current_buffer.insert_text("\n")
        else:
            _send(event.current_buffer)

    @keys.add("c-j")
    def _(event: KeyPressEvent) -> None:
        """A line feed: like Enter, but the second half of a pasted CR LF adds no line of its own."""
        before = event.previous_key_sequence
        ends_crlf = bool(before) and before[-1].key == Keys.ControlM
        if not _is_pasting(event):
            _send(event.current_buffer)
        elif not ends_crlf:
            event.current_buffer.insert_text("\n")

    @keys.add("escape", "enter")
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    @keys.add("tab")
    def _(event: KeyPressEvent) -> None:
        """Complete a command; in any other text a tab is a tab."""
        buffer = event.current_buffer
        if not buffer.text.startswith("/") or "\n" in buffer.text:
            buffer.insert_text("    ")
        elif buffer.complete_state:
            buffer.complete_next()
        else:
            _complete(buffer)

    return keys


def _send(buffer: Buffer) -> None:
    """Send what is in the buffer, without the line ends after it."""
    if buffer.text.endswith("\n"):
        buffer.text = buffer.text.rstrip("\n")
    buffer.validate_and_handle()


def _complete(buffer: Buffer) -> None:
    """Complete as far as it is clear, at once: the completion that typing started may still be running."""
    asked = CompleteEvent(completion_requested=True)
    offered = list(buffer.completer.get_completions(buffer.document, asked))
    if len(offered) == 1:
        buffer.apply_completion(offered[0])
    elif offered:
        buffer.insert_text(get_common_complete_suffix(buffer.document, offered))
        buffer.start_completion()


def _is_pasting(event: KeyPressEvent) -> bool:
    """True if more input is waiting behind this key. A command never waits: it may have been typed ahead."""
    if any(press.key not in _PSEUDO_KEYS for press in event.key_processor.input_queue):
        return True
    text = event.current_buffer.text
    if command_of(text) is not None or event.app.renderer.waiting_for_cpr:
        return False  # what waits may be the terminal's own answer about the cursor
    with suppress(OSError, ValueError, NotImplementedError):
        gap = _LARGE_PASTE_GAP_S if "\n" in text else _PASTE_GAP_S
        return bool(select.select([event.app.input.fileno()], [], [], gap)[0])
    return False


class _CommandCompleter(Completer):
    """Commands, entry ids after /explain, numbers after /fix."""

    def __init__(self, repl: _Repl) -> None:
        self._repl = repl

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
        session = self._repl.conversation.session
        findings = session.diagnosis.findings if session.diagnosis is not None else ()
        fix_count = len(numbered_fixes(findings[0])) if findings else 0
        typed, ids = document.text_before_cursor, session.tools.knowledge.ids
        for text, replaced in completions(typed, ids, fix_count):
            yield Completion(text, start_position=-len(replaced))


class _PrivateHistory(FileHistory):
    """A history file without secrets and without whole logs. A full disk costs the history, not the chat."""

    def store_string(self, string: str) -> None:
        from gpuhelp.probes.redaction import redact_secrets

        if len(string) <= _LONGEST_REMEMBERED and string.strip():
            with suppress(OSError):
                super().store_string(redact_secrets(string))


def _history() -> History:
    """The person's history file, readable by them alone; in memory where it cannot be written."""
    from platformdirs import user_state_dir

    path = Path(user_state_dir("gpuhelp", appauthor=False)) / "history"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        size_bytes = path.stat().st_size
    except OSError:
        return InMemoryHistory()
    usable = path.is_file() and size_bytes <= _LARGEST_HISTORY_BYTES  # reading a pipe would never end
    return _PrivateHistory(str(path)) if usable else InMemoryHistory()
