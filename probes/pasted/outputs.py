"""Finds the outputs of tools in a text: each tool's reader knows where one begins and what it states."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from itertools import islice
from typing import NamedTuple

from gpuhelp.probes.facts import FactValue
from gpuhelp.probes.pasted import MARKS, is_marked

LONGEST_LINE = 2_000
"""Characters of a line that are read: no tool writes longer ones that matter."""
MOST_LINES = 50_000
_DAMAGED = str.maketrans(
    dict.fromkeys("│┃║｜¦", "|")
    | dict.fromkeys("─━═", "-")
    | dict.fromkeys("┌┐└┘├┤┬┴┼╔╗╚╝╠╣╦╩╬╒╕╘╛╞╡╤╧╪", "+")
    | dict.fromkeys("\u00a0\u2007\u202f\u3000", " ")
    | dict.fromkeys("\ufeff\u200b\u200c\u200d\u2060")
)
"""What chats and editors make of the lines of a table and of its spaces, and what it was."""
MOST_BLOCKS = 64
"""Outputs of one tool that are read."""


class Tool(NamedTuple):
    """One row of the marks."""

    name: str
    module: str
    marks: tuple[str, ...]
    also: tuple[str, ...]

    @property
    def tells_failure(self) -> bool:
        """What it prints is a failure by itself: an error, or a message of the kernel."""
        return self.module in ("smi_failures", "kernel_messages")


class Pasted(NamedTuple):
    """The output of one tool: its place in the text (lines counted from 1), and the facts it states.

    `host` is the machine that the prompt above it, or the tool itself, names; empty where none does.
    """

    tool: str
    first_line: int
    last_line: int
    facts: Mapping[str, FactValue]
    tells_failure: bool = False
    host: str = ""


TOOLS = tuple(Tool(*row) for row in MARKS)


def read_pasted(text: str) -> tuple[Pasted, ...]:
    """Every output that is recognised, in the order of the text. What only looks like one is passed over."""
    tools = [tool for tool in TOOLS if is_marked(text, tool.marks, tool.also)]
    if not tools:
        return ()
    lines = [_cleaned(line) for line in text.split("\n")[:MOST_LINES]]
    found: dict[tuple[str, int], Pasted] = {}
    for tool in tools:
        for pasted in _of_tool(tool, lines):
            found.setdefault((tool.module, pasted.first_line), pasted)
    return tuple(sorted(found.values(), key=_place))


def hosts_of(pasted: Iterable[Pasted]) -> frozenset[str]:
    """The machines that the outputs name themselves."""
    return frozenset(each.host for each in pasted if each.host)


def _of_tool(tool: Tool, lines: Sequence[str]) -> list[Pasted]:
    reader = import_module(f"gpuhelp.probes.pasted.{tool.module}")
    found = []
    for first, last in islice(reader.blocks(lines), MOST_BLOCKS):
        block = lines[first : last + 1]
        if not any(mark in line for line in block for mark in tool.marks):
            continue  # another tool's, of those that the same module reads
        facts = reader.read("\n".join(block))
        if facts:
            host = _host(lines[max(0, first - 1) : first + 1])
            found.append(Pasted(tool.name, first + 1, last + 1, facts, tool.tells_failure, host))
    return found


def _host(lines: Sequence[str]) -> str:
    """The machine that a prompt (`me@node7:~$ nvidia-smi`) or uname names; that of a container is none."""
    for line in lines:
        found = re.match(
            r"(?:\([\w.-]{1,40}\) ?){0,2}\[?[\w.-]{1,40}@([\w.-]{1,63})[: ][^$#%\n]{0,100}[$#%] ?\S", line
        ) or re.match(r"Linux ([\w.-]{1,63}) \d{1,2}\.\d", line)
        if found and found[1] != "localhost" and not re.fullmatch(r"[0-9a-f]{12}", found[1]):
            return found[1]
    return ""


def _cleaned(line: str) -> str:
    """The line without what a quotation and a terminal put around it."""
    line = line[:LONGEST_LINE].rstrip()
    if not line.isascii():
        line = line.translate(_DAMAGED)
    if "\x1b" in line:
        line = re.sub(r"\x1b\[[0-9;?]{0,30}[A-Za-z]", "", line)
    while line.startswith("> ") or line == ">":
        line = line[2:]
    return line


def _place(pasted: Pasted) -> tuple[int, int]:
    return pasted.first_line, pasted.last_line
