"""Child processes: started apart from us, watched, killed as a group, left behind if they cannot be killed.

The only place that starts processes. `subprocess.run(timeout=)` is no choice here: after the kill it waits
for ever, and a process stuck in a driver call cannot be killed.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from subprocess import Popen

MAX_OUTPUT_BYTES = 8 << 20  # per stream; more is not an answer to anything probes ask
KILL_WAIT_S = 0.2  # a killed process that is not stuck in the kernel ends far sooner
DRAIN_S = 0.1  # after the end of a child; what is left in a pipe is read far sooner
POLL_S = 0.05


class ChildStatus(Enum):
    """How a child ended."""

    EXITED = "exited"
    TIMEOUT = "timeout"
    NOT_STARTED = "not started"


@dataclass(frozen=True, slots=True)
class ChildResult:
    """What a child left: also after a timeout, whatever it had written by then.

    `returncode` is None unless it exited, and minus the signal number if a signal ended it (POSIX). `error`
    says why it could not be started.
    """

    status: ChildStatus
    stdout: str
    stderr: str
    seconds: float
    returncode: int | None = None
    error: str = ""

    @property
    def ok(self) -> bool:
        """It ran to its end and reported success."""
        return self.status is ChildStatus.EXITED and self.returncode == 0

    @property
    def signal_name(self) -> str | None:
        """The signal that ended it, e.g. SIGSEGV."""
        if self.returncode is None or self.returncode >= 0:
            return None
        from signal import Signals

        try:
            return Signals(-self.returncode).name
        except ValueError:
            return f"signal {-self.returncode}"


class Children:
    """Starts children. Safe to use from several threads at once.

    `deadline` (monotonic clock) bounds each of them.
    """

    def __init__(self, deadline: float = float("inf")) -> None:
        self._deadline = deadline
        self._running: set[Popen[bytes]] = set()
        self._lock = threading.Lock()

    def until(self, deadline: float) -> Children:
        """A launcher whose children end by `deadline` (monotonic clock) whatever time they are given."""
        return type(self)(min(deadline, self._deadline))

    def run(
        self,
        argv: Sequence[str],
        *,
        timeout_s: float,
        input: str | None = None,
        env: Mapping[str, str] | None = None,
    ) -> ChildResult:
        """What `argv` printed, at most `MAX_OUTPUT_BYTES` of each stream, and how it ended.

        Comes back at most half a second after `timeout_s` seconds. `env` replaces the environment. Nothing is
        raised: a program that is missing is NOT_STARTED.
        """
        started = time.monotonic()
        try:
            process = _start(argv, env, with_input=input is not None)
        except (OSError, ValueError) as problem:
            why = getattr(problem, "strerror", None) or str(problem)
            return ChildResult(ChildStatus.NOT_STARTED, "", "", time.monotonic() - started, error=why)
        with self._lock:
            self._running.add(process)
        _everywhere.add(process)
        try:
            return _attend(process, input, started, min(started + timeout_s, self._deadline))
        finally:
            if process.returncode is None:
                _kill_group(process)
            with self._lock:
                self._running.discard(process)
            _everywhere.discard(process)

    def stop(self) -> None:
        """Kill every child of this launcher that still runs. For the one who gives up waiting."""
        with self._lock:
            running = tuple(self._running)
        _end(running)


_everywhere: set[Popen[bytes]] = set()
"""The running children of all launchers."""


def stop_all() -> None:
    """Kill every child there is. For a program that leaves without waiting for its threads."""
    _end(_everywhere.copy())


def _end(running: Iterable[Popen[bytes]]) -> None:
    for process in running:
        if process.poll() is None:
            _kill_group(process)


class _Collector:
    """Reads a stream to its end on its own thread, keeps the first `MAX_OUTPUT_BYTES`, drops the rest."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._kept = bytearray()
        self._thread = threading.Thread(target=self._collect, daemon=True)
        self._thread.start()

    def _collect(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            while chunk := os.read(self._stream.fileno(), 1 << 16):
                self._kept += chunk[: MAX_OUTPUT_BYTES - len(self._kept)]

    def ended(self, within_s: float) -> bool:
        """Whether the stream closed; waits for that at most `within_s`."""
        self._thread.join(max(within_s, 0.0))
        return not self._thread.is_alive()

    def text(self, deadline: float) -> str:
        """What came until the stream closed or `deadline` passed."""
        if self.ended(deadline - time.monotonic()):  # else the thread still reads from it: leave both behind
            self._stream.close()
        return bytes(self._kept).decode("utf-8", "replace")


def _start(argv: Sequence[str], env: Mapping[str, str] | None, *, with_input: bool) -> Popen[bytes]:
    import subprocess

    apart: dict[str, Any] = {"start_new_session": True}
    if sys.platform == "win32":
        apart = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW}
    return subprocess.Popen(
        list(argv),
        stdin=subprocess.PIPE if with_input else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=None if env is None else dict(env),
        **apart,
    )


def _attend(process: Popen[bytes], input: str | None, started: float, deadline: float) -> ChildResult:
    """Feed the child, collect what it prints, and end it at the deadline (on the monotonic clock)."""
    assert process.stdout is not None
    assert process.stderr is not None
    stdout, stderr = _Collector(process.stdout), _Collector(process.stderr)
    if input is not None:
        threading.Thread(target=_feed, args=(process, input.encode()), daemon=True).start()
    status = ChildStatus.EXITED if _wait(process, stdout, deadline) else ChildStatus.TIMEOUT
    if status is ChildStatus.TIMEOUT or not (stdout.ended(DRAIN_S) and stderr.ended(DRAIN_S)):
        _kill_group(process)  # also after a good end, if a grandchild holds the streams
    given_up = time.monotonic() + KILL_WAIT_S
    texts = stdout.text(given_up), stderr.text(given_up)
    process.poll()
    returncode = process.returncode if status is ChildStatus.EXITED else None
    return ChildResult(status, *texts, time.monotonic() - started, returncode)


def _wait(process: Popen[bytes], stdout: _Collector, deadline: float) -> bool:
    """Whether the child ended by the deadline.

    Its closed output is the early sign; a grandchild may keep it open.
    """
    while process.poll() is None:
        left = deadline - time.monotonic()
        if left <= 0:
            return False
        if stdout.ended(min(left, POLL_S)):
            time.sleep(min(left, 0.001))
    return True


def _feed(process: Popen[bytes], data: bytes) -> None:
    assert process.stdin is not None
    with contextlib.suppress(OSError, ValueError):  # the child need not read what it is given
        process.stdin.write(data)
        process.stdin.close()


def _kill_group(process: Popen[bytes]) -> None:
    with contextlib.suppress(OSError):  # it is gone already
        if sys.platform == "win32":
            process.kill()
        else:
            import signal

            os.killpg(process.pid, signal.SIGKILL)
