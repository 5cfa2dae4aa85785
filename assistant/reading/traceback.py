"""Finds Python errors in lines: plain, chained, grouped, IPython and debugger forms, whole or cut off.

A small machine reads line by line. What it knows of Python is how tracebacks are printed; what is a library
and what is the person's own code is told by the path.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from gpuhelp.reading.evidence import Frame, Line, PythonError

_HEADER = re.compile(r"^\s*(?:[|+] ?)*(?:Exception Group )?Traceback \(most recent call (?:last|first)\)")
_NOTEBOOK_HEADER = re.compile(r"^(?P<type>[A-Za-z_][\w.]*) +Traceback \(most recent call last\)")
_DEBUGGER_HEADER = re.compile(r"^Exception has occurred: (?P<type>[A-Za-z_][\w.]*)")
_FRAME = re.compile(
    r'^[\s|]*(?:\S.{0,60}?)?File "(?P<file>[^"\n]{1,500})", line (?P<line>\d{1,7})(?:, in (?P<function>.{1,200}))?'
)
_CUT_FRAME = re.compile(
    r'^(?P<file>[^"\n]{1,500}\.pyx?)", line (?P<line>\d{1,7})(?:, in (?P<function>.{1,200}))?'
)
_NOTEBOOK_FRAME = re.compile(
    r"^(?:File )?(?P<file>(?:[A-Za-z]:)?[^\s:()\"'<>]{1,400}\.pyx?|<ipython-input-[\w-]{1,80}>|Cell In ?\[\d+\])"
    r"(?::(?P<line>\d{1,7})|, line (?P<other>\d{1,7}))?(?:,)? in (?P<function>[^\n]{1,200})$"
)
_ARROW = re.compile(r"^-{2,}> ?(?P<line>\d{1,7})\b")
_MARKERS = re.compile(r"^\s*[\^~]+\s*$")
_REPEATED = re.compile(r"^\s*\[Previous line repeated \d+ more times?\]")
_ERROR = re.compile(
    r"^(?:[|+] ?|\s{0,4}\| )*(?P<type>(?:[A-Za-z_]\w*\.){0,8}[A-Za-z_]\w*)(?:: ?(?P<message>.*))?$"
)
_KNOWN_ENDINGS = (
    "Error", "Exception", "Interrupt", "Exit", "ExceptionGroup", "Failure", "Fault", "Timeout", "StopIteration",
    "MemoryLimitExceeded", "Warning", "Killed",
)  # fmt: skip
_BARE_ENDINGS = ("Error", "Exception", "ExceptionGroup", "Interrupt")
_CHAINS = (
    "The above exception was the direct cause of the following exception:",
    "During handling of the above exception, another exception occurred:",
)
_LONGEST_MESSAGE_LINES = 40

_LIBRARY = re.compile(
    r"site-packages|dist-packages|[\\/]lib(?:64)?[\\/]python\d|^lib/python\d|^<(?!ipython|stdin)"
    r"|(?:python[\d.]*|conda\d*|envs[\\/][^\\/]+|\.?v?env)[\\/]lib[\\/]|[\\/]s?bin[\\/][^\\/.]+$|^/usr/lib/",
    re.I,
)


def is_library(file: str) -> bool:
    """True for code that the person did not write: installed packages, the standard library, launchers."""
    return bool(_LIBRARY.search(file))


def find_errors(lines: tuple[Line, ...]) -> tuple[tuple[PythonError, ...], frozenset[int]]:
    """The Python errors in order, and the indexes of lines that echo source code (evidence of nothing)."""
    machine = _Machine()
    for index, line in enumerate(lines):
        machine.read(index, line.text)
    return machine.finish()


@dataclass(slots=True)
class _Open:
    """A traceback that is being read."""

    first: int
    type: str = ""
    message: list[str] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    echo_expected: bool = False
    innermost_first: bool = False
    notebook: bool = False


class _Machine:
    def __init__(self) -> None:
        self.errors: list[PythonError] = []
        self.echoes: set[int] = set()
        self.open: _Open | None = None
        self.message_from = -1
        self.message_lines: list[str] = []

    def read(self, index: int, text: str) -> None:
        if self._starts(index, text) or self._continues_message(index, text):
            return
        if self.open is None:
            self._outside(index, text)
        else:
            self._inside(self.open, index, text)

    def finish(self) -> tuple[tuple[PythonError, ...], frozenset[int]]:
        self._end_message()
        self._close(None)
        return tuple(self.errors), frozenset(self.echoes)

    def _starts(self, index: int, text: str) -> bool:
        """True if the line is a header, or says that the next error hangs together with the last."""
        if text.strip() in _CHAINS:
            self._end_message()
            self._close(None)
            if self.errors:
                self.errors[-1] = _chained(self.errors[-1])
            return True
        if "Traceback (most recent call" in text:
            notebook = _NOTEBOOK_HEADER.match(text)
            if notebook or _HEADER.match(text) or text.endswith("(most recent call last):"):
                self._begin(_Open(index, notebook=bool(notebook), type=notebook["type"] if notebook else ""))
                return True
        if text.startswith("Exception has occurred"):
            debugger = _DEBUGGER_HEADER.match(text)
            if debugger:
                self._begin(_Open(index, type=debugger["type"], innermost_first=True))
                return True
        return False

    def _begin(self, opened: _Open) -> None:
        self._end_message()
        self._close(None)
        self.open = opened

    def _outside(self, index: int, text: str) -> None:
        frame = _frame_of(text)
        if frame is not None:
            self.open = _Open(index, frames=[frame], echo_expected=True)
            return
        found = _ERROR.match(text) if _may_be_error(text, _BARE_ENDINGS) else None
        if found and _is_error_name(found["type"], _BARE_ENDINGS):
            self.errors.append(PythonError(found["type"], found["message"] or "", (), index, index))
            self._await_message(index, found["message"] or "")

    def _inside(self, opened: _Open, index: int, text: str) -> None:
        frame = _frame_of(text) or _notebook_frame_of(text)
        if frame is not None:
            opened.frames.append(frame)
            opened.echo_expected = True
            return
        if _MARKERS.match(text) or _REPEATED.match(text):
            self.echoes.add(index)
            return
        if self._is_echo(opened, index, text):
            return
        self._inside_text(opened, index, text)

    def _is_echo(self, opened: _Open, index: int, text: str) -> bool:
        arrow = _ARROW.match(text)
        if arrow and opened.frames and not opened.frames[-1].line:
            last = opened.frames[-1]
            opened.frames[-1] = Frame(last.file, arrow["line"], last.function, last.is_library)
        numbered = opened.notebook and re.match(r"^\s*\d+\b", text)
        indented = opened.echo_expected and text.startswith(("    ", "\t", "  |"))
        if not (arrow or numbered or indented):
            return False
        if not text.lstrip().startswith("raise "):
            self.echoes.add(index)
        opened.echo_expected = opened.notebook or not indented
        return True

    def _inside_text(self, opened: _Open, index: int, text: str) -> None:
        if opened.innermost_first:
            if not opened.frames and text.strip():
                opened.message.append(text)
            elif text.strip():
                self._close(index - 1)
                self._outside(index, text)
            return
        found = _ERROR.match(text)
        if found and opened.frames and _is_error_name(found["type"], _KNOWN_ENDINGS, after_frames=True):
            opened.type = found["type"]
            opened.message = [found["message"] or ""]
            self._close(index)
            self._await_message(index, found["message"] or "")
        elif not text.strip():
            opened.echo_expected = False
        elif not text.startswith((" ", "\t")) and opened.frames and not opened.notebook and not opened.echo_expected:
            self._close(index - 1)
            self._outside(index, text)
        else:
            opened.echo_expected = False

    # messages that run over several lines

    def _await_message(self, index: int, message: str) -> None:
        self.message_from = index
        self.message_lines = [message]

    def _continues_message(self, index: int, text: str) -> bool:
        """True while the lines after an exception line still belong to its message."""
        if self.message_from < 0:
            return False
        too_long = index - self.message_from > _LONGEST_MESSAGE_LINES
        new_error = _ERROR.match(text) if _may_be_error(text, _BARE_ENDINGS) else None
        if too_long or not text.strip() or 'File "' in text or (new_error and _is_error_name(new_error["type"], _BARE_ENDINGS)):
            self._end_message()
            return False
        self.message_lines.append(text)
        return True

    def _end_message(self) -> None:
        if self.message_from >= 0 and self.errors:
            last = self.errors[-1]
            end = self.message_from + len(self.message_lines) - 1
            message = "\n".join(self.message_lines)
            self.errors[-1] = PythonError(last.type, message, last.frames, last.first, end, last.chained)
        self.message_from = -1

    def _close(self, last: int | None) -> None:
        opened, self.open = self.open, None
        if opened is None or not (opened.frames or opened.type):
            return
        frames = reversed(opened.frames) if opened.innermost_first else opened.frames
        end = opened.first + len(opened.frames) if last is None else last
        message = "\n".join(opened.message)
        self.errors.append(PythonError(opened.type, message, tuple(frames), opened.first, end))


def _chained(error: PythonError) -> PythonError:
    return PythonError(error.type, error.message, error.frames, error.first, error.last, chained=True)


def _frame_of(text: str) -> Frame | None:
    found = _FRAME.match(text) if 'File "' in text else _CUT_FRAME.match(text) if '", line ' in text else None
    if found is None:
        return None
    return Frame(found["file"].strip(), found["line"], (found["function"] or "").strip(), is_library(found["file"]))


def _notebook_frame_of(text: str) -> Frame | None:
    found = _NOTEBOOK_FRAME.match(text) if " in " in text else None
    if found is None:
        return None
    line = found["line"] or found["other"] or ""
    return Frame(found["file"], line, found["function"].strip(), is_library(found["file"]))


def _may_be_error(text: str, endings: Iterable[str]) -> bool:
    """A cheap look before the expression runs: one of the endings stands before the first colon."""
    head = text[:160].partition(":")[0].rstrip()
    return head.endswith(tuple(endings))


def _is_error_name(name: str, endings: tuple[str, ...], *, after_frames: bool = False) -> bool:
    last = name.rpartition(".")[2]
    if last.endswith(endings) and (last[:1].isupper() or last.endswith(("error", "Error"))):
        return True
    return after_frames and last[:1].isupper() and not last.isupper() and len(last) > 3
