"""Finds Python errors in lines: plain, chained, grouped, notebook, boxed, debugger forms, whole or cut off.

A small machine reads line by line, one for each process that writes into the text, so that interleaved ranks
do not mix. What it knows of Python is how tracebacks are printed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from gpuhelp.reading.evidence import PLAIN, Frame, Line, PythonError, Wrapping
from gpuhelp.reading.frames import frame_of, notebook_frame_of

# Rare forms are compiled when a text first looks like one.
_NOTEBOOK_HEADER = r"^(?P<type>[A-Za-z_][\w.]*) +Traceback \(most recent call last\)"
_DEBUGGER_HEADER = r"^(?:Exception has occurred|예외가 발생했습니다|发生异常): (?P<type>[A-Za-z_][\w.]*)"
_DEBUGGERS = ("Exception has occurred", "예외가 발생", "发生异常")
_STACK_HEADER = r"^(?:Current thread|Thread|Stack) .{0,80}\(most recent call first\)"
_CELLS = ("<ipython-input", "Cell In", "Input In")
_BAR = r"^\s{0,60}(?:\| ?|\+ (?=Exception Group )|\+-[-+]*(?: (?:\d+|\.\.\.) -+)?\s*$)"
_ARROW = re.compile(r"^\s{0,8}(?:-+>|❱) ?(?P<line>\d{1,7})\b")
_NUMBERED = r"^\s*\d+\b"
_MARKERS = re.compile(r"^\s*[\^~]+\s*$")
_REPEATED = re.compile(r"^\s*\[Previous line repeated \d+ more times?\]")
_ERROR = re.compile(
    r"^(?P<type>(?:[A-Za-z_<][\w<>]{0,80}\.){0,8}[A-Za-z_]\w{0,120})(?:: ?(?P<message>.*))?\s*$"
)
_KNOWN_ENDINGS = (
    "Error", "Exception", "Interrupt", "Exit", "ExceptionGroup", "Failure", "Fault", "Timeout",
    "StopIteration", "MemoryLimitExceeded", "Warning", "Killed", "error", "timeout",
)  # fmt: skip
_BARE_ENDINGS = ("Error", "Exception", "ExceptionGroup", "Interrupt")
_CHAINS = (
    "The above exception was the direct cause of the following exception:",
    "During handling of the above exception, another exception occurred:",
)
_LONGEST_MESSAGE_LINES = 40
_OTHER_SPEAKER = (
    r"^(?:(?:srun|slurmstepd|mpirun|mpiexec|make(?:\[\d+\])?|bash|sh|zsh|wandb): "
    r"|\+ |>>> |(?:In|Out) ?\[\d+\]:|[-=*]{20,}$|\s*\d{1,3}%\|"
    r"|(?:\([\w.-]{1,40}\) ?)?[\w.-]{1,40}@[\w.-]{1,60}[:~ ][^$#]{0,80}[$#])"
)
"""Lines of shells and launchers, which follow an error and are no part of its message."""


def find_errors(lines: tuple[Line, ...]) -> tuple[tuple[PythonError, ...], frozenset[int]]:
    """The Python errors in order, and the indexes of lines that echo source code (evidence of nothing)."""
    speakers = _Speakers()
    for index, line in enumerate(lines):
        speakers.of(line.wrapping).read(index, line)
    return speakers.finish()


class _Speakers:
    """The machines, one for each process that the wrappers name."""

    def __init__(self) -> None:
        self._plain = self._last = _Machine()
        self._named: dict[tuple[str, str, str], _Machine] = {}

    def of(self, wrapping: Wrapping) -> _Machine:
        """The machine for a line; a line without a name goes on with what is being said."""
        if wrapping is not PLAIN and (wrapping.rank or wrapping.pid or wrapping.host):
            name = wrapping.rank, wrapping.pid, wrapping.host
            if name not in self._named:
                self._named[name] = _Machine()
            self._last = self._named[name]
            return self._last
        return self._last if self._last.takes_plain and not self._plain.takes_plain else self._plain

    def finish(self) -> tuple[tuple[PythonError, ...], frozenset[int]]:
        machines = (self._plain, *self._named.values())
        errors = [error for machine in machines for error in machine.finish()]
        echoes = frozenset().union(*(machine.echoes for machine in machines))
        return tuple(sorted(errors, key=lambda error: (error.first, error.last))), echoes


@dataclass(slots=True)
class _Open:
    """A traceback that is being read; `last` is the last line that belongs to it."""

    first: int
    last: int
    type: str = ""
    message: list[str] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    indent: str = ""
    echo_expected: bool = False
    innermost_first: bool = False
    notebook: bool = False
    message_first: bool = False


class _Machine:
    def __init__(self) -> None:
        self.errors: list[PythonError] = []
        self.echoes: set[int] = set()
        self.open: _Open | None = None
        self.grouped = False
        self.boxed = False
        self.wrapping = PLAIN
        self.awaits_message = False

    @property
    def takes_plain(self) -> bool:
        """True while a line that names no process would go on with what is being read."""
        return self.open is not None or (self.awaits_message and not self.wrapping.rank)

    def read(self, index: int, line: Line) -> None:
        text = line.text
        if self.grouped or self.boxed or self.open:
            text = self._bared(text)
        if self._starts(index, text) or self._continues_message(index, text, line.wrapping):
            return
        self.wrapping = line.wrapping
        if self.open is None:
            self._outside(index, text)
        else:
            self._inside(self.open, index, text)

    def finish(self) -> list[PythonError]:
        self._close()
        return self.errors

    def _bared(self, text: str) -> str:
        """The text without the bars of a group, the walls of a box, and the indentation of a whole paste."""
        if self.grouped:
            found = re.match(_BAR, text)
            self.grouped = bool(found) or not text.strip()
            text = text[found.end() :] if found else text
        elif self.boxed:
            self.boxed = text.startswith("│") or not text.strip()
            text = "" if text.startswith("╰") else text.removeprefix("│ ").rstrip().removesuffix("│").rstrip()
        if self.open and self.open.indent and text.startswith(self.open.indent):
            text = text[len(self.open.indent) :]
        return text

    # beginnings

    def _starts(self, index: int, text: str) -> bool:
        """True if the line is a header, or says that the next error hangs together with the last."""
        if text.strip() in _CHAINS:
            self._close()
            if self.errors:
                self.errors[-1] = self.errors[-1]._replace(chained=True)
            return True
        opened = _header_of(index, text)
        if opened is None:
            return False
        self._close()
        self.open = opened
        self.grouped = self.grouped or "Exception Group Traceback" in text
        self.boxed = "╭" in text
        return True

    def _outside(self, index: int, text: str) -> None:
        frame = frame_of(text)
        cell = notebook_frame_of(text) if text.startswith(_CELLS) else None
        if frame or cell:
            frames = [found for found in (frame, cell) if found]
            self.open = _Open(index, index, frames=frames, echo_expected=True, notebook=frame is None)
            return
        found = _ERROR.match(text) if _may_be_error(text, _BARE_ENDINGS) else None
        if found and _is_error_name(found["type"], _BARE_ENDINGS):
            self._said(index, index, found, ())

    # a traceback

    def _inside(self, opened: _Open, index: int, text: str) -> None:
        frame = frame_of(text)
        if frame is None and (frame := notebook_frame_of(text)):
            opened.notebook = True
        if frame is not None and (not self.boxed or frame.file[:1] in "/~<." or frame.file[1:2] == ":"):
            opened.frames.append(frame)
            opened.echo_expected = True
        elif _MARKERS.match(text) or _REPEATED.match(text):
            self.echoes.add(index)
        elif not self._is_echo(opened, index, text):
            self._inside_text(opened, index, text)
            return
        opened.last = index

    def _is_echo(self, opened: _Open, index: int, text: str) -> bool:
        arrow = _ARROW.match(text)
        if arrow and opened.frames and not opened.frames[-1].line:
            opened.frames[-1] = opened.frames[-1]._replace(line=arrow["line"])
        numbered = opened.notebook and re.match(_NUMBERED, text)
        indented = opened.echo_expected and text.startswith(("    ", "\t"))
        if not (arrow or numbered or indented):
            return False
        if not text.lstrip().startswith("raise "):
            self.echoes.add(index)
        return True

    def _inside_text(self, opened: _Open, index: int, text: str) -> None:
        found = _ERROR.match(text)
        if opened.message_first and not opened.frames:
            if text.strip():
                opened.message.append(text)
                opened.last = index
        elif found and _ends(opened, found["type"]):
            opened.last = index
            if opened.message_first:
                self._close()
            else:
                self.open = None
                self._said(opened.first, index, found, opened.frames, reverse=opened.innermost_first)
        elif not text.strip():
            opened.echo_expected = False
        elif (
            not text.startswith((" ", "\t"))
            and opened.frames
            and not (opened.notebook or opened.echo_expected)
        ):
            self._close()
            self._outside(index, text)
        else:
            opened.echo_expected = False

    # errors, and messages that run over several lines

    def _said(
        self, first: int, index: int, found: re.Match[str], frames: Iterable[Frame], *, reverse: bool = False
    ) -> None:
        calls = tuple(frames)[::-1] if reverse else tuple(frames)
        self.errors.append(
            PythonError(found["type"], found["message"] or "", calls, first, index, (index, index))
        )
        self.awaits_message = True

    def _continues_message(self, index: int, text: str, wrapping: Wrapping) -> bool:
        """True while the lines after an exception line still belong to its message."""
        if not self.awaits_message:
            return False
        error = self.errors[-1]
        if (
            not text.strip()
            or error.message.count("\n") >= _LONGEST_MESSAGE_LINES
            or 'File "' in text
            or _is_other_record(wrapping, self.wrapping)
            or re.match(_OTHER_SPEAKER, text)
            or _is_bare_error(text)
        ):
            self.awaits_message = False
            return False
        message = f"{error.message}\n{text}"
        self.errors[-1] = error._replace(message=message, last=index, said=(error.said[0], index))
        return True

    def _close(self) -> None:
        """End what is being read, whether its exception line came or not."""
        self.awaits_message = False
        opened, self.open = self.open, None
        if opened is None or not (opened.frames or opened.type):
            return
        frames = tuple(reversed(opened.frames) if opened.innermost_first else opened.frames)
        said = (
            (opened.first, opened.first + len(opened.message)) if opened.type else (opened.last, opened.last)
        )
        message = "\n".join(opened.message)
        self.errors.append(PythonError(opened.type, message, frames, opened.first, opened.last, said))


def _header_of(index: int, text: str) -> _Open | None:
    """The traceback that this line begins."""
    if "(most recent call" in text:
        if "Traceback (most recent call" in text:
            notebook = re.match(_NOTEBOOK_HEADER, text)
            if notebook:
                return _Open(index, index, notebook=True, type=notebook["type"])
            if text.startswith("╭"):
                return _Open(index, index, notebook=True)
            if text.rstrip().endswith(("last):", "first):", "last)")) or text.lstrip().startswith(
                "Traceback"
            ):
                indent = text[: len(text) - len(text.lstrip())]
                indent = indent if text.startswith("Traceback", len(indent)) else ""
                return _Open(index, index, indent=indent, innermost_first="call first" in text)
        elif re.match(_STACK_HEADER, text):
            return _Open(index, index, innermost_first=True)
    elif text.startswith(_DEBUGGERS):
        debugger = re.match(_DEBUGGER_HEADER, text)
        if debugger:
            return _Open(index, index, type=debugger["type"], innermost_first=True, message_first=True)
    return None


def _ends(opened: _Open, name: str) -> bool:
    """True if an exception of this name ends the open traceback."""
    if opened.type and opened.type.rpartition(".")[2] == name.rpartition(".")[2]:
        return True
    if opened.message_first:
        return False
    return _is_error_name(name, _KNOWN_ENDINGS, after_frames=bool(opened.frames))


def _is_other_record(new: Wrapping, old: Wrapping) -> bool:
    """True if the wrappers say that a line is a new record of a log, not more of the last one."""
    if new == old:
        return False
    return (
        bool(new.level and new.level != old.level) or bool(new.time and not old.time) or new.rank != old.rank
    )


def _is_bare_error(text: str) -> bool:
    found = _ERROR.match(text) if _may_be_error(text, _BARE_ENDINGS) else None
    return bool(found and _is_error_name(found["type"], _BARE_ENDINGS))


def _may_be_error(text: str, endings: Iterable[str]) -> bool:
    """A cheap look before the expression runs: one of the endings stands before the first colon."""
    head = text[:160].partition(":")[0].rstrip()
    return head.endswith(tuple(endings))


def _is_error_name(name: str, endings: tuple[str, ...], *, after_frames: bool = False) -> bool:
    last = name.rpartition(".")[2]
    if last.endswith(endings) and (last[:1].isupper() or last.endswith(("error", "Error", "timeout"))):
        return True
    return after_frames and last[:1].isupper() and not last.isupper() and len(last) > 3
