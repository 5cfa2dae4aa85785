"""Episodes of programs that are no Python: rows that say how each begins, goes on, and which line tells."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from gpuhelp.reading import kinds
from gpuhelp.reading.chains import Speaker
from gpuhelp.reading.evidence import Episode
from gpuhelp.reading.script import Script, says

_MOST_EPISODES = 200
"""Of one row in one document."""


_MOST_TRIED = 20
"""Of the needed lines after a beginning: other processes may say theirs first."""


class Row(NamedTuple):
    """How one kind of episode is printed.

    A line that holds one of `words` and where `begins` is found begins it; lines where `goes_on` is found
    belong to it, with at most `gap` other lines between two of them. `needs` must be found within `reach`
    lines, in one that holds `needed`. The first line where `tells` is found is the telling one (the last if
    `tells_last`), else the first of all. After a line where `ends` is found, nothing else may stand between.
    """

    kind: str
    words: tuple[str, ...]
    begins: str
    goes_on: str = r"\A\Z"
    tells: str = ""
    gap: int = 0
    needed: str = ""
    needs: str = ""
    reach: int = 40
    ends: str = ""
    tells_last: bool = False


_STACK = (
    r"^\s*(?:frame #\d+: |#\d{1,3} +(?:0x)?\w|@ +0x[0-9a-f]+|\[ ?\d{1,3}\] |\d{1,3} {1,3}\S{1,300} ?\[0x"
    r"|\d{1,3}: )"
)
ROWS = (
    Row(
        kinds.NATIVE_ABORT,
        ("terminate called", "libc++abi"),
        r"^terminate called (?:after throwing|without an active|recursively)|\blibc\+\+abi: +terminat",
        goes_on=r"^\s*what\(\): |^Exception raised from |^CUDA kernel errors might|^For debugging consider"
        r"|^Compile with `TORCH|^Search for `|^Device-side assertion|" + _STACK,
        tells=r"^\s*what\(\): |libc\+\+abi: ",
        gap=3,
    ),
    Row(
        kinds.NATIVE_ABORT,
        ("free(): ", "double free or", "malloc(): ", "corrupted size vs", "corrupted double-linked",
         "realloc(): ", "munmap_chunk(): ", "stack smashing detected", "*** Error in `"),
        r"^(?:free|malloc|realloc|munmap_chunk|malloc_consolidate)\(\): |^double free or corruption"
        r"|^corrupted (?:size vs|double-linked)|^\*\*\* stack smashing detected|^\*\*\* Error in `",
        goes_on=r"^======= (?:Backtrace|Memory map)|" + _STACK,
        gap=1,
    ),
    Row(
        kinds.NATIVE_ABORT,
        ("GGML_ASSERT(", "ggml_cuda_error", "ggml_abort"),
        r"GGML_ASSERT\(.{1,500}\) failed|^\S{1,400}: CUDA error(?:: |$)",
        goes_on=r"GGML_ASSERT\(|^\s+current device: |" + _STACK,
        gap=2,
    ),
    Row(
        kinds.NATIVE_ABORT,
        ("Caught signal ", "*** Process received signal ***", "*** Aborted at ", "*** SIG"),
        r"\bCaught signal \d+ \(|\*\*\* Process received signal \*\*\*|^\*\*\* Aborted at \d+"
        r"|^\*\*\* SIG(?:SEGV|ABRT|BUS|ILL|FPE) ",
        goes_on=r"^=+ ?(?:backtrace|$)|Signal(?: code)?: |Failing at address|\] \[ ?\d{1,3}\] |^PC: @ "
        r"|^\*\*\* SIG|\*\*\* End of error message \*\*\*|" + _STACK,
        tells=r"\bCaught signal |\bSignal: |^\*\*\* SIG",
        gap=1,
    ),
    Row(
        kinds.NATIVE_ABORT,
        (" failed.", "signal (", "signal "),
        r"^\S.{0,300}:\d+: .{1,400}: Assertion `.{1,400}' failed\.$"
        r"|^(?:\[\d+\] )?signal (?:\(\d+(?:\.\d+)?\)|\d+ \(\d+\)): ",
        goes_on=r"^in expression starting at |\(unknown line\)$|^unknown function \(ip: | at \S{1,300}:\d+"
        r"|^Allocations: ",
        gap=1,
    ),
    Row(
        kinds.DEVICE_ASSERT,
        (", thread: [", "Device-side assertion"),
        r"\bblock: \[\d+,\d+,\d+\], thread: \[\d+,\d+,\d+\].{0,20} Assertion "
        r"|\bDevice-side assertion [`'].{1,300}' failed",
        goes_on=r"\bblock: \[\d+,\d+,\d+\], thread: \[\d+,\d+,\d+\]|\bDevice-side assertion [`']",
        gap=2,
    ),
    Row(
        kinds.INTERPRETER_DEATH,
        ("Fatal Python error",),
        r"^Fatal Python error: ",
        goes_on=r"^(?:Current thread|Thread|Stack) |^\s+File \"|^\s+<|^\s+Binary file \"|^\s+\.\.\."
        r"|^Extension modules: |^Python runtime state: |^Current thread's C stack",
        gap=1,
    ),
    Row(
        kinds.GO_PANIC,
        ("panic: ", "fatal error: ", "SIGSEGV: ", "SIGABRT: ", "SIGBUS: ", "SIGFPE: ", "SIGILL: "),
        r"^panic: |^fatal error: |^SIG(?:SEGV|ABRT|BUS|FPE|ILL): ",
        needed="goroutine ",
        needs=r"^goroutine \d+ ",
        goes_on=r"^goroutine \d+ |^\t|^ {4,8}\S|^[\w./*()-]{1,300}\(.{0,600}\)$|^created by |^\[signal "
        r"|^PC=|^signal arrived|^exit status \d|^r\w{1,5} +0x",
        gap=2,
    ),
    Row(
        kinds.RUST_PANIC,
        ("panicked at",),
        r"^\s*thread '[^']{0,100}'(?: \(\d+\))? panicked at ",
        goes_on=r"^stack backtrace:|^note: |^\s+\d{1,3}: |^\s+at ",
        gap=3,
    ),
    Row(
        kinds.JULIA_ERROR,
        ("ERROR: ",),
        r"^ERROR: ",
        needed="Stacktrace:",
        needs=r"^\s*Stacktrace:",
        goes_on=r"^Stacktrace:|^\s+\[\d+\] |^\s+@ |^in expression starting at |^caused by: |^\s*--- the ",
        tells=r"^caused by: ",
        gap=10,
        tells_last=True,
    ),
    Row(
        kinds.NCCL_WARNING,
        ("NCCL WARN",),
        r"\bNCCL WARN\b",
        goes_on=r"\bNCCL WARN\b|\bNCCL INFO \S{1,200}:\d+ -> \d",
        gap=2,
    ),
    Row(
        kinds.XID,
        ("NVRM: Xid", " SXid "),
        r"\bNVRM: Xid\b|\bnvidia-nvswitch\S{0,20}: SXid\b",
        goes_on=r"\bNVRM: |\bnvidia-nvswitch",
        # 45 is the clean-up of other channels after a fault; see NVIDIA's list of Xid errors
        tells=r"Xid \([^)]{1,80}\): (?!45\b)\d",
        gap=3,
    ),
    Row(
        kinds.OOM_KILLER,
        ("invoked oom-killer",),
        r"\binvoked oom-killer\b",
        needed=" process ",
        needs=r"\bKill(?:ed)? process \d+",
        reach=3_000,
        goes_on=r"\boom_reaper: |\bKill(?:ed)? process \d+",
        tells=r"\bKill(?:ed)? process \d+",
        gap=3_000,
        ends=r"\boom_reaper: reaped process|\bKill(?:ed)? process \d+",
    ),
    Row(
        kinds.OOM_KILLER,
        ("ut of memory: Kill", "oom-kill:constraint"),
        r"\b[Oo]ut of memory: Kill(?:ed)? process \d|\boom-kill:constraint=",
        goes_on=r"\boom_reaper: |ut of memory: Kill",
        tells=r"\bKill(?:ed)? process \d+",
        gap=1,
    ),
    Row(
        kinds.CONTAINER,
        ("Error response from daemon", "OCI runtime", "nvidia-container-cli: ", "failed to create shim",
         "failed to create containerd task", "Cannot connect to the Docker daemon"),
        r"\bError response from daemon\b|\bOCI runtime (?:\w{1,12} failed|error)\b|^nvidia-container-cli: \w"
        r"|\bfailed to create (?:shim|containerd) task\b|\bCannot connect to the Docker daemon\b",
        goes_on=r"\bnvidia-container-cli: \w|^: unknown|\bOCI runtime\b|\bError response from daemon\b"
        r"|^(?:Run|See) 'docker",
        tells=r"\bnvidia-container-cli: \w",
        gap=1,
    ),
    Row(
        kinds.SCREEN,
        ("| NVIDIA-SMI ",),
        r"^\s*\| NVIDIA-SMI \S",
        goes_on=r"^\s*[|+]|^\s*$",
    ),
)  # fmt: skip


def native_episodes(script: Script) -> Iterator[Episode]:
    """The episodes of every row, row by row."""
    for row in ROWS:
        if script.holds(row.words):
            yield from islice(_of_row(row, script), _MOST_EPISODES)


def _of_row(row: Row, script: Script) -> Iterator[Episode]:
    last: dict[Speaker, int] = {}
    needed = (
        [line for line in script.lines_with((row.needed,)) if says(row.needs, script.head(line))]
        if row.needs
        else []
    )
    for index in script.lines_with(row.words):
        who = script.speaker(index)
        if index <= last.get(who, -1) or not says(row.begins, script.head(index)):
            continue
        if row.needs and not _near(script, index, needed, row.reach):
            continue
        members = _members(row, script, index)
        last[who] = members[-1]
        yield Episode(row.kind, members[0], members[-1], _telling(row, script, members))


def _near(script: Script, index: int, needed: list[int], reach: int) -> bool:
    """True if the same process says one of the needed lines soon after."""
    place = bisect_right(needed, index)
    return any(
        line - index <= reach and script.speaker(line) == script.speaker(index)
        for line in needed[place : place + _MOST_TRIED]
    )


def _members(row: Row, script: Script, index: int) -> list[int]:
    """The lines of the episode that begins here."""
    members, missed, gap = [index], 0, row.gap
    for following in script.after(index):
        text = script.head(following)
        if says(row.goes_on, text):
            members.append(following)
            missed = 0
            if row.ends and says(row.ends, text):
                gap = 0
        else:
            missed += 1
            if missed > gap:
                break
    return members


def _telling(row: Row, script: Script, members: list[int]) -> int:
    """The line that says what failed."""
    if row.kind == kinds.RUST_PANIC and not says(r"panicked at '", script.head(members[0])):
        return next((line for line in script.after(members[0]) if script.head(line).strip()), members[0])
    if not row.tells:
        return members[0]
    told = [line for line in members if says(row.tells, script.head(line))]
    if not told:
        return members[0]
    return told[-1] if row.tells_last else told[0]
