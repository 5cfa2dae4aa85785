"""The tables in which torchelastic lists failed workers, and what stands in them.

Source: torch/distributed/elastic/multiprocessing/errors/__init__.py. Up to torch 1.9 the root cause comes
first, fields are `time: …` and the last is `msg`; from 1.10 on it comes last, and fields are `time      : …`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from gpuhelp.reading import kinds
from gpuhelp.reading.evidence import Document, Episode
from gpuhelp.reading.script import LONGEST_LINE, Script, says

_WORDS = ("Root Cause", " FAILED", "(local_rank: ", "Child process ")
_RULER = r"^\s*([=*-])\1{4,}\s*$"
_TITLE = r"^\s{0,80}\S.{0,300} FAILED\s*$"
_HEADING = (
    r"^\s*(?:Failures:|Other Failures:|Root Cause(?: \(first observed failure\))?:|<NO_OTHER_FAILURES>)\s*$"
)
_ROOT = r"^\s*Root Cause(?: \(first observed failure\))?:\s*$"
_INDEX = r"^\s*\[\d{1,6}\]:\s*$"
_FIELD = r"^\s*(?P<name>time|host|rank|exitcode|error_file|traceback|msg) {0,8}: ?(?P<value>.*)$"
_RANK = r"^(?P<rank>\d{1,7})(?: \(local_rank: (?P<local>\d{1,7})\))?"
_EXIT_CODE = r"^(?P<code>-?\d{1,5})(?: \(pid: (?P<pid>\d{1,9})\))?"
_CHILD = (
    r"^\s*Child process (?P<pid>\d{1,9}) \(local_rank (?P<local>\d{1,7})\)"
    r" FAILED \(exitcode (?P<code>-?\d{1,5})\)"
)
_LONGEST_TABLE = 20_000
_NOTHING = frozenset({"<N/A>", "<NONE>"})


class FailedWorker(NamedTuple):
    """One worker of a table: strings as they stand there, empty where it says nothing.

    `is_root` is true for the one that failed first, `line` is the index of the line that tells how it ended.
    """

    rank: str
    local_rank: str
    exit_code: str
    pid: str
    host: str
    time: str
    error_file: str
    message: str
    is_root: bool
    line: int


def failure_tables(script: Script) -> Iterator[Episode]:
    """The tables of failed workers; `telling` is the line that says how the first of them ended."""
    if not script.holds(_WORDS):
        return
    last = -1
    for index in script.lines_with(_WORDS):
        if index <= last or not _begins(script, index):
            continue
        first, last = _extent(script, index)
        found = workers_in(script, first, last)
        if found:
            telling = next((worker.line for worker in found if worker.is_root), found[0].line)
            yield Episode(kinds.FAILURE_TABLE, first, last, telling)


def failure_table(document: Document, episode: Episode) -> tuple[FailedWorker, ...]:
    """The workers of a table, in the order in which they stand; one of them at most is the root."""
    return workers_in(Script(document.lines, ()), episode.first, episode.last)


def _begins(script: Script, index: int) -> bool:
    text = script.head(index)
    if says(_TITLE, text):
        return any(says(_RULER, script.head(near)) for near in _next(script, index, 2))
    return says(_ROOT, text) or says(_CHILD, text) or says(r"^\s*rank {0,8}: \d", text)


def _next(script: Script, index: int, count: int) -> list[int]:
    return [line for line, _ in zip(script.after(index), range(count), strict=False)]


def _extent(script: Script, index: int) -> tuple[int, int]:
    """First and last line: from the fields that may stand above to the last field or ruler."""
    first = last = index
    for line, _ in zip(script.before(index), range(3), strict=False):
        if not (
            says(_FIELD, script.head(line))
            or says(_INDEX, script.head(line))
            or says(_RULER, script.head(line))
        ):
            break
        first = line
    in_traceback = False
    for line, _ in zip(script.after(index), range(_LONGEST_TABLE), strict=False):
        text = script.head(line)
        field = re.match(_FIELD, text)
        if field or says(_INDEX, text) or says(_HEADING, text) or says(_RULER, text):
            in_traceback = bool(field and field["name"] in ("traceback", "msg"))
            last = line
        elif in_traceback and (text.startswith("  ") or not text.strip()):
            last = line
        elif text.strip():
            break
    return first, last


def workers_in(script: Script, first: int, last: int) -> tuple[FailedWorker, ...]:
    """The workers that these lines list."""
    who = script.speaker(first)
    rows: list[dict[str, str]] = []
    ends: list[int] = []
    in_root = False
    roots: list[int] = []
    for line in range(first, last + 1):
        text = script.lines[line].text[:LONGEST_LINE]
        if script.speaker(line) != who:
            continue
        child, field = re.match(_CHILD, text), re.match(_FIELD, text)
        if says(_HEADING, text):
            in_root = says(_ROOT, text)
        elif says(_INDEX, text) or child or (field and (not rows or field["name"] in rows[-1])):
            rows.append({})
            ends.append(line)
            if in_root and not roots:
                roots.append(len(rows) - 1)
        if child:
            rows[-1].update(child.groupdict(""))
        if field:
            rows[-1].setdefault(field["name"], field["value"].strip())
            if field["name"] == "exitcode":
                ends[-1] = line
    told = [
        (number, row)
        for number, row in enumerate(rows)
        if "exitcode" in row or "rank" in row or "code" in row
    ]
    return tuple(_worker(row, ends[number], number in roots) for number, row in told)


def _worker(row: dict[str, str], line: int, is_root: bool) -> FailedWorker:
    rank = re.match(_RANK, row.get("rank", ""))
    code = re.match(_EXIT_CODE, row.get("exitcode", ""))
    file, message = row.get("error_file", ""), row.get("traceback", row.get("msg", "")).strip('"')
    return FailedWorker(
        rank=rank["rank"] if rank else "",
        local_rank=(rank["local"] or "") if rank else row.get("local", ""),
        exit_code=code["code"] if code else row.get("code", ""),
        pid=(code["pid"] or "") if code else row.get("pid", ""),
        host=row.get("host", ""),
        time=row.get("time", ""),
        error_file="" if file in _NOTHING else file,
        message="" if message in _NOTHING else message,
        is_root=is_root,
        line=line,
    )
