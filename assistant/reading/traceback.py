"""Finds Python errors in lines: plain, chained, grouped, notebook, boxed, debugger forms, whole or cut off.

A small machine reads line by line, one for each process that writes into the text, so that interleaved ranks
do not mix. What it knows of Python is how tracebacks are printed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from gpuhelp.reading.evidence import PLAIN, Frame, Line, PythonError, Wrapping
from gpuhelp.reading.forms import (
    ARROW,
    BAR,
    CHAINS,
    ERROR,
    MARKERS,
    NUMBERED,
    REPEATED,
    Open,
    bare_error,
    begins_sub_exception,
    ends,
    header_of,
    is_other_record,
    is_other_speaker,
    reordered,
)
from gpuhelp.reading.frames import frame_of, notebook_frame_of

_CELLS = ("<ipython-input", "Cell In", "Input In")
_LONGEST_MESSAGE_LINES = 40


def find_errors(lines: tuple[Line, ...]) -> tuple[tuple[PythonError, ...], frozenset[int]]:
    """The Python errors in order, and the indexes of lines that echo source code (evidence of nothing)."""
    speakers = _Speakers()
    for index, line in enumerate(lines):
        if line.number:
            speakers.of(line.wrapping).read(index, line)
        else:  # BREAK: what was open may go on in lines that are not here
            speakers.pause()
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

    def pause(self) -> None:
        """Everybody stops: nothing that comes later is joined to what was said."""
        for machine in (self._plain, *self._named.values()):
            machine.stop()
        self._last = self._plain

    def finish(self) -> tuple[tuple[PythonError, ...], frozenset[int]]:
        machines = (self._plain, *self._named.values())
        errors = [error for machine in machines for error in machine.finish()]
        echoes = frozenset().union(*(machine.echoes for machine in machines))
        return tuple(sorted(errors, key=lambda error: (error.first, error.last))), echoes


class _Machine:
    def __init__(self) -> None:
        self.errors: list[PythonError] = []
        self.echoes: set[int] = set()
        self.open: Open | None = None
        self.grouped = False
        self.boxed = False
        self.wrapping = PLAIN
        self.awaits_message = False
        self.message_begun = True

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

    def stop(self) -> None:
        self._close()
        self.grouped = self.boxed = False

    def finish(self) -> list[PythonError]:
        self._close()
        return self.errors

    def _bared(self, text: str) -> str:
        """The text without the bars of a group, the walls of a box, and the indentation of a whole paste."""
        if self.grouped:
            found = re.match(BAR, text)
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
        if text.strip() in CHAINS:
            self._close()
            if self.errors:
                self.errors[-1] = self.errors[-1]._replace(chained=True)
            return True
        if begins_sub_exception(text):
            self._close()
            self.boxed = True
            return True
        opened = header_of(index, text)
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
            self.open = Open(index, index, frames=frames, echo_expected=True, notebook=frame is None)
            return
        found = bare_error(text)
        if found:
            self._said(index, index, found, ())

    # a traceback

    def _inside(self, opened: Open, index: int, text: str) -> None:
        frame = frame_of(text)
        if frame is None and (frame := notebook_frame_of(text)):
            opened.notebook = True
        elif frame is not None and not (opened.frames or opened.indent):
            # the header had something in front: how far all was moved in shows in the first call
            opened.indent = text[: max(0, len(text) - len(text.lstrip()) - 2)]
        if frame is not None and (not self.boxed or frame.file[:1] in "/~<." or frame.file[1:2] == ":"):
            opened.frames.append(frame)
            opened.echo_expected = True
        elif MARKERS.match(text) or REPEATED.match(text):
            self.echoes.add(index)
        elif not self._is_echo(opened, index, text):
            self._inside_text(opened, index, text)
            return
        opened.last = index

    def _is_echo(self, opened: Open, index: int, text: str) -> bool:
        arrow = ARROW.match(text)
        if arrow and opened.frames and not opened.frames[-1].line:
            opened.frames[-1] = opened.frames[-1]._replace(line=arrow["line"])
        numbered = opened.notebook and re.match(NUMBERED, text)
        indented = opened.echo_expected and text.startswith(("    ", "\t"))
        if not (arrow or numbered or indented):
            return False
        if not text.lstrip().startswith("raise "):
            self.echoes.add(index)
        return True

    def _inside_text(self, opened: Open, index: int, text: str) -> None:
        found = ERROR.match(text)
        if opened.of_no_error and text.strip():
            self._close()
            self._outside(index, text)
        elif opened.message_first and not opened.frames:
            if text.strip():
                opened.message.append(text)
                opened.last = index
        elif found and ends(opened, found["type"]):
            self._ended(opened, index, found)
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

    def _ended(self, opened: Open, index: int, found: re.Match[str]) -> None:
        opened.last = index
        if opened.message_first:
            self._close()
        else:
            self.open = None
            self._said(opened.first, index, found, opened.frames, reverse=opened.innermost_first)

    # errors, and messages that run over several lines

    def _said(
        self, first: int, index: int, found: re.Match[str], frames: Iterable[Frame], *, reverse: bool = False
    ) -> None:
        calls = reordered(frames, innermost_first=reverse)
        self.errors.append(
            PythonError(found["type"], found["message"] or "", calls, first, index, (index, index))
        )
        # a message that is there and empty began with a line break, and blank lines may follow
        self.message_begun = bool(found["message"]) or found["message"] is None
        self.awaits_message = True

    def _continues_message(self, index: int, text: str, wrapping: Wrapping) -> bool:
        """True while the lines after an exception line still belong to its message."""
        if not self.awaits_message:
            return False
        error = self.errors[-1]
        blank = not text.strip()
        if (
            (blank and self.message_begun)
            or error.message.count("\n") >= _LONGEST_MESSAGE_LINES
            or 'File "' in text
            or is_other_record(wrapping, self.wrapping)
            or is_other_speaker(text)
        ):
            self.awaits_message = False
            return False
        if blank or MARKERS.match(text):
            return True
        self.message_begun = True
        message = f"{error.message}\n{text}"
        self.errors[-1] = error._replace(message=message, last=index, said=(error.said[0], index))
        return True

    def _close(self) -> None:
        """End what is being read, whether its exception line came or not."""
        self.awaits_message = False
        opened, self.open = self.open, None
        if opened is None or opened.of_no_error or not (opened.frames or opened.type):
            return
        frames = reordered(opened.frames, innermost_first=opened.innermost_first)
        said = (
            (opened.first, opened.first + len(opened.message)) if opened.type else (opened.last, opened.last)
        )
        message = "\n".join(opened.message)
        self.errors.append(PythonError(opened.type, message, frames, opened.first, opened.last, said))
