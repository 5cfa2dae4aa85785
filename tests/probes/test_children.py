"""Child processes that behave, and those that do not."""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path

import pytest

from gpuhelp.probes.children import MAX_OUTPUT_BYTES, Children, ChildStatus, stop_all

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and process groups are POSIX")

PYTHON = (sys.executable, "-I", "-S", "-c")


def test_a_child_that_ends_tells_its_output_and_status() -> None:
    result = Children().run(
        (*PYTHON, "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"), timeout_s=10
    )
    assert (result.status, result.returncode, result.ok) == (ChildStatus.EXITED, 3, False)
    assert (result.stdout, result.stderr) == ("out\n", "err\n")


def test_a_child_reads_its_input_and_gets_only_the_environment_it_is_given() -> None:
    code = "import os, sys; print(sys.stdin.read(), os.environ.get('HOME'), os.environ['GIVEN'])"
    result = Children().run((*PYTHON, code), timeout_s=10, input="in", env={"GIVEN": "yes"})
    assert result.ok
    assert result.stdout == "in None yes\n"


def test_a_child_that_hangs_is_ended_and_keeps_what_it_said() -> None:
    started = time.monotonic()
    result = Children().run(
        (*PYTHON, "import time; print('first', flush=True); time.sleep(60)"), timeout_s=0.7
    )
    assert result.status is ChildStatus.TIMEOUT
    assert result.stdout == "first\n"
    assert result.returncode is None
    assert time.monotonic() - started < 2


def test_the_children_of_a_child_end_with_it() -> None:
    code = (
        "import os, subprocess, sys, time; "
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)']); "
        "print(child.pid, flush=True); time.sleep(60)"
    )
    result = Children().run((*PYTHON, code), timeout_s=1.5)
    assert ends(int(result.stdout))


def test_a_grandchild_that_holds_the_output_does_not_keep_us_waiting() -> None:
    code = (
        "import subprocess, sys; "
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)']); print(child.pid)"
    )
    started = time.monotonic()
    result = Children().run((*PYTHON, code), timeout_s=20)
    assert result.status is ChildStatus.EXITED
    assert time.monotonic() - started < 5
    assert ends(int(result.stdout))


def test_a_signal_is_told_by_name() -> None:
    result = Children().run(
        (*PYTHON, "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"), timeout_s=10
    )
    assert result.signal_name == "SIGSEGV"
    assert not result.ok


def test_a_flood_of_output_is_cut() -> None:
    result = Children().run(
        (*PYTHON, f"import sys; sys.stdout.write('x' * {MAX_OUTPUT_BYTES + 1000})"), timeout_s=30
    )
    assert result.ok
    assert len(result.stdout) == MAX_OUTPUT_BYTES


def test_output_that_is_not_utf8_is_still_text() -> None:
    result = Children().run((*PYTHON, r"import os; os.write(1, b'\xff\xfe ok')"), timeout_s=10)
    assert result.stdout.endswith(" ok")


def test_a_program_that_is_not_there_is_not_started() -> None:
    result = Children().run(("/no/such/program",), timeout_s=1)
    assert result.status is ChildStatus.NOT_STARTED
    assert "No such file" in result.error


def test_a_deadline_bounds_whatever_time_a_child_is_given() -> None:
    children = Children().until(time.monotonic() + 0.3)
    result = children.run((*PYTHON, "import time; time.sleep(60)"), timeout_s=30)
    assert result.status is ChildStatus.TIMEOUT
    assert result.seconds < 2


def test_stop_ends_what_runs() -> None:
    children = Children()
    results = []
    thread = threading.Thread(
        target=lambda: results.append(children.run((*PYTHON, "import time; time.sleep(60)"), timeout_s=60))
    )
    thread.start()
    time.sleep(0.5)
    children.stop()
    thread.join(5)
    assert [result.signal_name for result in results] == ["SIGKILL"]


def ends(pid: int, within_s: float = 3.0) -> bool:
    """Whether a process is gone, or dead and only not yet collected by its new parent."""
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
            if Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()[0] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.02)
    return False


def test_whoever_leaves_ends_the_children_of_every_launcher(tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    code = f"import pathlib, time; pathlib.Path({str(begun)!r}).touch(); time.sleep(60)"
    threads = [
        threading.Thread(
            target=Children().run, args=((*PYTHON, code),), kwargs={"timeout_s": 50}, daemon=True
        )
        for _ in range(2)
    ]
    started = time.monotonic()
    for thread in threads:
        thread.start()
    while not begun.exists() and time.monotonic() - started < 20:
        time.sleep(0.01)
    while any(thread.is_alive() for thread in threads) and time.monotonic() - started < 20:
        stop_all()
        time.sleep(0.05)
    assert not any(thread.is_alive() for thread in threads)
