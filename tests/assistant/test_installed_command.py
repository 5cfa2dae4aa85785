"""The installed command in a process of its own: pipes, closed streams, signals."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

RunCommand = Callable[..., Any]
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
OOM = EXAMPLES / "ddp-oom.log"
LIMIT_S = 60
on_posix = pytest.mark.skipif(os.name != "posix", reason="needs a shell and signals")


def shell(program: str, script: str) -> subprocess.CompletedProcess[str]:
    """A shell line in which $GPUHELP and $LOG are set."""
    environ = {**os.environ, "GPUHELP": program, "LOG": str(OOM), "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"}
    return subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, timeout=LIMIT_S, check=False, env=environ
    )


def test_a_file_is_diagnosed(installed: RunCommand) -> None:
    ran = installed(OOM, "--no-probes")
    assert (ran.status, ran.err) == (1, "")
    assert "cuda-oom" in ran.out


def test_a_pipe_is_diagnosed(installed: RunCommand) -> None:
    ran = installed("--no-probes", "--format", "json", stdin=OOM.read_bytes())
    assert ran.status == 1
    assert json.loads(ran.out)["sources"][0]["name"] == "standard input"


def test_a_healthy_log_ends_with_0_and_a_missing_one_with_2(installed: RunCommand, tmp_path: Path) -> None:
    healthy = tmp_path / "healthy.log"
    healthy.write_text("epoch 1\n", encoding="utf-8")
    assert installed(healthy, "--no-probes").status == 0
    missing = installed(tmp_path / "missing.log")
    assert (missing.status, missing.out, missing.err.count("\n")) == (2, "", 1)


def test_version_and_help_come_from_the_command_itself(installed: RunCommand) -> None:
    assert installed("--version").out.startswith("gpuhelp ")
    assert installed("--help", "--lang", "ko").out.startswith("사용법: gpuhelp")


def test_an_odd_locale_and_an_odd_encoding_cost_nothing(installed: RunCommand) -> None:
    ran = installed(
        OOM, "--no-probes", "--lang", "ko", environ={"LC_ALL": "xx_XX.nonsense", "PYTHONIOENCODING": "ascii"}
    )
    assert (ran.status, ran.err) == (1, "")
    assert "cuda-oom" in ran.out


@on_posix
def test_a_reader_that_leaves_early_sees_no_complaint(program: str) -> None:
    for argv in ('"$LOG" --no-probes', "--help", "kb list", '"$LOG" --no-probes --format json'):
        done = shell(
            program, f'set -o pipefail; "$GPUHELP" {argv} | head -n 1; echo "${{PIPESTATUS[0]}}" >&2'
        )
        assert done.stdout.count("\n") == 1, argv
        assert done.stderr in ("0\n", "1\n"), argv


@on_posix
def test_a_disk_that_is_full_is_told(program: str) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full here")
    done = shell(program, '"$GPUHELP" "$LOG" --no-probes > /dev/full; echo $?')
    assert done.stdout == "2\n"
    assert done.stderr == "gpuhelp: the answer cannot be written: No space left on device\n"


@on_posix
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-"])
def test_a_stream_that_was_closed_costs_no_traceback(program: str, closed: str) -> None:
    done = shell(program, f'"$GPUHELP" "$LOG" --no-probes {closed}; echo "status $?"')
    assert "Traceback" not in done.stderr
    assert done.stdout.endswith("status 1\n")


@on_posix
def test_a_file_name_that_is_no_utf8_is_told(program: str) -> None:
    done = shell(program, "\"$GPUHELP\" $'/nowhere/\\xff\\xfe.log'; echo $?")
    assert done.stdout == "2\n"
    assert "no such file" in done.stderr


@on_posix
def test_ctrl_c_ends_with_130_and_says_nothing(program: str) -> None:
    process = subprocess.Popen(
        [program, "--no-probes"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    time.sleep(1.5)  # it waits for its input by then
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=LIMIT_S)
    assert (process.returncode, out, err) == (130, b"", b"")


def test_the_module_runs_as_the_command_does() -> None:
    argv = [sys.executable, "-Im", "gpuhelp", str(OOM), "--no-probes", "--lang", "en"]
    done = subprocess.run(argv, capture_output=True, timeout=LIMIT_S, check=False)
    assert done.returncode == 1
    assert b"cuda-oom" in done.stdout


@on_posix
def test_what_env_tells_is_what_env_reads(program: str, tmp_path: Path) -> None:
    script = f'cd "{tmp_path}" && "$GPUHELP" env > e.json && "$GPUHELP" "$LOG" --env e.json --format json'
    done = shell(program, script)
    assert done.returncode == 1, done.stderr
    assert json.loads(done.stdout)["facts"]["os.platform"]["source"] == "snapshot"
