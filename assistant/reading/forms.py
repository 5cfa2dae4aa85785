"""How tracebacks are printed: what begins one, what names an exception, and what ends a message."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from gpuhelp.reading.evidence import Frame, Wrapping

# Rare forms are compiled when a text first looks like one.
_NOTEBOOK_HEADER = r"^(?P<type>[A-Za-z_][\w.]*) +Traceback \(most recent call last\)"
_DEBUGGER_HEADER = r"^(?:Exception has occurred|예외가 발생했습니다|发生异常): (?P<type>[A-Za-z_][\w.]*)"
_DEBUGGERS = ("Exception has occurred", "예외가 발생", "发生异常")
_STACK_HEADER = r"^(?:Current thread|Thread|Stack) .{0,80}\(most recent call first\)"
_STACK_OF_A_CALL = ("Call stack:", "Stack (most recent call last):")
"""What logging prints to tell where it was called from: the calls of no error."""

BAR = r"^\s{0,60}(?:\| ?|\+ (?=Exception Group )|\+-[-+]*(?: (?:\d+|\.\.\.) -+)?\s*$)"
NUMBERED = r"^\s*\d+\b"
ARROW = re.compile(r"^\s{0,8}(?:-+>|❱) ?(?P<line>\d{1,7})\b")
MARKERS = re.compile(r"^\s*[\^~]+\s*$")
REPEATED = re.compile(r"^\s*\[Previous line repeated \d+ more times?\]")
ERROR = re.compile(
    r"^(?P<type>(?:[A-Za-z_<][\w<>]{0,80}\.){0,8}[A-Za-z_]\w{0,120}(?:(?<=RayTaskError)\(\w{1,120}\))?)"
    r"(?:: ?(?P<message>.*))?\s*$"
)
_KNOWN_ENDINGS = (
    "Error", "Exception", "Interrupt", "Exit", "ExceptionGroup", "Failure", "Fault", "Timeout",
    "StopIteration", "MemoryLimitExceeded", "Warning", "Killed", "error", "timeout",
)  # fmt: skip
_BARE_ENDINGS = ("Error", "Exception", "ExceptionGroup", "Interrupt")
_ERROR_MODULES = ("exc.", "exceptions.", "exception.", "errors.", "error.")
"""Modules that hold nothing but exceptions: a dotted name of theirs needs no ending to be known."""
_TELLING_PARTS = (*_ERROR_MODULES, "RayTaskError(")
CAUSE = "The above exception was the direct cause of the following exception:"
CONTEXT = "During handling of the above exception, another exception occurred:"
CHAINS = (CAUSE, CONTEXT)
_SUB_EXCEPTION = "Sub-exception #"
_OTHER_SPEAKER = (
    r"^(?:(?:srun|slurmstepd|mpirun|mpiexec|make(?:\[\d+\])?|bash|sh|zsh|wandb): "
    r"|\+ |>>> |(?:In|Out) ?\[\d+\]:|[-=*]{20,}$|\s*\d{1,3}%\|"
    r"|(?:\([\w.-]{1,40}\) ?)?[\w.-]{1,40}@[\w.-]{1,60}[:~ ][^$#]{0,80}[$#]"
    r"|(?:\"\"\"|''')$|Exception ignored (?:in|on|while)\b|Exception in thread |Process [\w-]{1,60}:$"
    r"|Error in (?:atexit\._run_exitfuncs|sys\.\w{1,30}):|--- Logging error ---|Original exception was:"
    r"|Fatal Python error: |terminate called |(?:Current thread|Thread) 0x|╭|\s{0,12}\[end of output\]$"
    r"|(?:Segmentation fault|Aborted|Killed|Bus error|Illegal instruction)(?: \(core dumped\))?\s*$)"
)
"""Lines of shells, launchers and the interpreter, which follow an error and are no part of its message."""


@dataclass(slots=True)
class Open:
    """A traceback that is being read; `last` is the last line that belongs to it.

    `of_no_error` is true for the calls that a logger prints to tell where it stood.
    """

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
    of_no_error: bool = False


def header_of(index: int, text: str) -> Open | None:
    """The traceback that this line begins."""
    if "(most recent call" in text:
        if "Traceback (most recent call" in text:
            return _traceback_of(index, text)
        if text.strip() in _STACK_OF_A_CALL:
            return Open(index, index, of_no_error=True)
        if re.match(_STACK_HEADER, text):
            return Open(index, index, innermost_first=True)
    elif text.startswith(_DEBUGGERS):
        debugger = re.match(_DEBUGGER_HEADER, text)
        if debugger:
            return Open(index, index, type=debugger["type"], innermost_first=True, message_first=True)
    elif text.startswith(_STACK_OF_A_CALL[0]) and text.strip() in _STACK_OF_A_CALL:
        return Open(index, index, of_no_error=True)
    return None


def _traceback_of(index: int, text: str) -> Open | None:
    notebook = re.match(_NOTEBOOK_HEADER, text)
    if notebook:
        return Open(index, index, notebook=True, type=notebook["type"])
    if text.startswith("╭"):
        return Open(index, index, notebook=True)
    begun = text.lstrip()
    if not (text.rstrip().endswith(("last):", "first):", "last)")) or begun.startswith("Traceback")):
        return None
    indent = text[: len(text) - len(begun)] if begun.startswith("Traceback") else ""
    return Open(index, index, indent=indent, innermost_first="call first" in text)


def begins_sub_exception(text: str) -> bool:
    """True for the upper wall of the box in which rich prints one exception of a group."""
    return text.startswith("╭") and _SUB_EXCEPTION in text


def ends(opened: Open, name: str) -> bool:
    """True if an exception of this name ends the open traceback."""
    if opened.type and opened.type.rpartition(".")[2] == name.rpartition(".")[2]:
        return True
    if opened.message_first:
        return False
    return _is_error_name(name, _KNOWN_ENDINGS, after_frames=bool(opened.frames))


def bare_error(text: str) -> re.Match[str] | None:
    """The exception line that stands without a traceback: it must be named as exceptions are."""
    head = text[:160].partition(":")[0].rstrip()
    if " " in head or not (head.endswith(_BARE_ENDINGS) or any(part in head for part in _TELLING_PARTS)):
        return None
    found = ERROR.match(text)
    return found if found and _is_bare_name(found["type"]) else None


def _is_bare_name(name: str) -> bool:
    module, _, last = name.rpartition(".")
    if _is_error_name(name, _BARE_ENDINGS):
        return True
    of_errors = (
        f"{module}.".endswith(tuple(f".{part}" for part in _ERROR_MODULES)) or f"{module}." in _ERROR_MODULES
    )
    return of_errors and last[:1].isupper() and not last.isupper()


def _is_error_name(name: str, endings: tuple[str, ...], *, after_frames: bool = False) -> bool:
    last = name.partition("(")[0].rpartition(".")[2]
    if last.endswith(endings) and (last[:1].isupper() or last.endswith(("error", "Error", "timeout"))):
        return True
    return after_frames and last[:1].isupper() and not last.isupper() and len(last) > 3


def is_other_record(new: Wrapping, old: Wrapping) -> bool:
    """True if the wrappers say that a line is a new record of a log, not more of the last one."""
    if new == old:
        return False
    return (
        bool(new.level and new.level != old.level) or bool(new.time and not old.time) or new.rank != old.rank
    )


def is_other_speaker(text: str) -> bool:
    """True for a line of a shell, a launcher or the interpreter, and for the next exception."""
    return bool(re.match(_OTHER_SPEAKER, text)) or bare_error(text) is not None


def reordered(frames: Iterable[Frame], *, innermost_first: bool) -> tuple[Frame, ...]:
    """Frames from the outermost call to the innermost."""
    calls = tuple(frames)
    return calls[::-1] if innermost_first else calls
