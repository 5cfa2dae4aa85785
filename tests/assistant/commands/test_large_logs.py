"""`gpuhelp` with many and large logs: parts of them, folders, a bar while they are read, and a Ctrl-C."""

from __future__ import annotations

import gzip
import io
import json
import os
import signal
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

RunCommand = Callable[..., Any]
FILLER = "2026-03-01 10:{:02}:{:02},000 - trainer - INFO - step {} loss=2.3151 lr=3.000e-04 tokens/s=101234\n"
OOM = "RuntimeError: CUDA out of memory. Tried to allocate 640.00 MiB (GPU 2; 7.93 GiB total capacity)\n"
TIMEOUT = (
    "[Rank {}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=9, OpType=ALLREDUCE, "
    "Timeout(ms)=1800000) ran for 1800301 milliseconds before timing out.\n"
)
NO_PROBES = ("--no-probes", "--format", "json")


def filler(lines: int) -> str:
    return "".join(FILLER.format(n // 60 % 60, n % 60, n) for n in range(lines))


def answer(ran: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(ran.out)
    return found


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """A log of 2 MB whose failure stands in the middle."""
    path = tmp_path / "train.log"
    path.write_text(filler(10_000) + OOM + filler(10_000))
    return path


def test_a_large_log_is_answered_with_the_line_of_its_failure(gpuhelp: RunCommand, large: Path) -> None:
    found = answer(gpuhelp(large, *NO_PROBES))
    assert found["findings"][0]["entry"] == "cuda-oom"
    assert found["findings"][0]["evidence"][0]["line"] == 10_001
    assert found["sources"] == [{"name": str(large), "bytes": large.stat().st_size, "lines": 20_001}]


def test_without_hyperscan_the_answer_is_the_same(
    gpuhelp: RunCommand, large: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_it = answer(gpuhelp(large, *NO_PROBES))
    monkeypatch.setitem(sys.modules, "hyperscan", None)
    assert answer(gpuhelp(large, *NO_PROBES)) == with_it


def test_a_large_log_is_answered_like_the_lines_around_its_failure(gpuhelp: RunCommand, large: Path) -> None:
    lines = large.read_text().splitlines(keepends=True)
    small = large.with_name("small.log")
    small.write_text("".join(lines[9_950:10_050]))
    first, alone = (answer(gpuhelp(path, *NO_PROBES))["findings"][0] for path in (large, small))
    assert (first["entry"], first["captured"], first["causes"]) == (
        alone["entry"],
        alone["captured"],
        alone["causes"],
    )


def test_a_large_healthy_log_is_healthy(gpuhelp: RunCommand, tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text(filler(20_000))
    ran = gpuhelp(path, *NO_PROBES)
    assert (ran.status, answer(ran)["status"], ran.err) == (0, "healthy", "")


def test_a_large_log_from_standard_input_is_read_as_well(gpuhelp: RunCommand, large: Path) -> None:
    found = answer(gpuhelp("-", *NO_PROBES, stdin=large.read_bytes()))
    assert found["findings"][0]["evidence"][0]["line"] == 10_001


def test_a_packed_large_log_gives_the_same_answer(gpuhelp: RunCommand, large: Path, tmp_path: Path) -> None:
    packed = tmp_path / "train.log.gz"
    packed.write_bytes(gzip.compress(large.read_bytes(), 1))
    assert answer(gpuhelp(packed, *NO_PROBES))["findings"] == [
        {**finding, "evidence": [{**line, "source": str(packed)} for line in finding["evidence"]]}
        for finding in answer(gpuhelp(large, *NO_PROBES))["findings"]
    ]


def test_last_reads_only_the_end_and_keeps_line_numbers(gpuhelp: RunCommand, large: Path) -> None:
    ran = gpuhelp(large, *NO_PROBES, "--last", "5000lines")
    assert (ran.status, answer(ran)["status"]) == (0, "healthy")
    found = answer(gpuhelp(large, *NO_PROBES, "--last", "10001"))
    assert found["findings"][0]["evidence"][0]["line"] == 10_001
    assert answer(gpuhelp(large, *NO_PROBES, "--last", "500KB"))["status"] == "healthy"


def test_since_reads_only_what_was_logged_since(gpuhelp: RunCommand, tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    lines = filler(1200).splitlines(keepends=True)
    path.write_text("".join([*lines[:600], OOM, *lines[600:]]))
    found = answer(gpuhelp(path, *NO_PROBES, "--since", "2026-03-01T10:05"))
    assert found["findings"][0]["evidence"][0]["line"] == 601
    assert answer(gpuhelp(path, *NO_PROBES, "--since", "10:15"))["status"] == "healthy"


@pytest.mark.parametrize("option", [("--last", "much"), ("--since", "yesterday"), ("--last", "0")])
def test_an_amount_or_time_that_is_none_is_told_in_one_line(
    gpuhelp: RunCommand, large: Path, option: tuple[str, str]
) -> None:
    ran = gpuhelp(large, *option)
    assert (ran.status, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert option[1] in ran.err


def test_a_folder_of_rank_logs_is_one_incident(gpuhelp: RunCommand, tmp_path: Path) -> None:
    for rank in range(12):
        said = OOM if rank == 5 else TIMEOUT.format(rank)
        (tmp_path / f"rank{rank}.log").write_text(filler(20) + said)
    found = answer(gpuhelp(tmp_path, *NO_PROBES))
    root, consequence = found["findings"]
    assert (root["entry"], root["role"]) == ("cuda-oom", "root")
    assert Path(root["evidence"][0]["source"]).name == "rank5.log"
    assert (consequence["entry"], consequence["role"]) == ("nccl-timeout", "consequence")
    assert consequence["ranks"]["count"] == 11


def test_an_archive_of_rank_logs_gives_the_same_answer(gpuhelp: RunCommand, tmp_path: Path) -> None:
    archive = tmp_path / "logs.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        for rank in range(4):
            path = tmp_path / f"rank{rank}.log"
            path.write_text(filler(20) + (OOM if rank == 2 else TIMEOUT.format(rank)))
            tar.add(path, path.name)
    root = answer(gpuhelp(archive, *NO_PROBES))["findings"][0]
    assert root["entry"] == "cuda-oom"
    assert root["evidence"][0]["source"].endswith("rank2.log")


def test_what_is_left_out_of_a_folder_is_told(gpuhelp: RunCommand, tmp_path: Path) -> None:
    (tmp_path / "train.log").write_text(OOM)
    (tmp_path / "core").write_bytes(bytes(range(256)) * 40)
    ran = gpuhelp(tmp_path, *NO_PROBES)
    assert answer(ran)["findings"][0]["entry"] == "cuda-oom"
    assert "core" in ran.err


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_ctrl_c_while_a_pipe_is_open_prints_what_is_known(program: str) -> None:
    environ = {**{k: v for k, v in os.environ.items() if k.startswith("XDG_")}, "LANG": "en_US.UTF-8"}
    process = subprocess.Popen(
        [program, *NO_PROBES, "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environ,
        start_new_session=True,
    )
    assert process.stdin is not None
    process.stdin.write(filler(20).encode() + OOM.encode())
    process.stdin.flush()
    time.sleep(2.0)  # until it waits for more
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert json.loads(out)["findings"][0]["entry"] == "cuda-oom"
    assert err.decode().strip() == "gpuhelp: stopped; the answer is about what was read until then"


@pytest.mark.skipif(sys.platform == "win32", reason="no such names there")
def test_names_in_notes_steer_no_terminal_and_stay_on_their_line(gpuhelp: RunCommand, tmp_path: Path) -> None:
    (tmp_path / "\x1b[31mev\nil\x9b.log.gz").write_bytes(gzip.compress(OOM.encode() * 99)[:-9])
    ran = gpuhelp(tmp_path, "--no-probes")
    assert ran.status == 1
    assert ran.err.count("\n") == 1
    assert "ev il.log.gz" in ran.err
    assert "\x1b" not in ran.err + ran.out
    assert "\x9b" not in ran.err + ran.out


def test_of_very_many_broken_members_the_first_are_told(gpuhelp: RunCommand, tmp_path: Path) -> None:
    path = tmp_path / "job.tar"
    with tarfile.open(path, "w") as archive:
        for number in range(100):
            member = tarfile.TarInfo(f"rank{number}.log.gz")
            member.size = 4
            archive.addfile(member, io.BytesIO(b"\x1f\x8b\x08\0"))
        member = tarfile.TarInfo("ok.log")
        member.size = len(OOM)
        archive.addfile(member, io.BytesIO(OOM.encode()))
    ran = gpuhelp(path, "--no-probes")
    assert ran.status == 1
    assert len(ran.err.splitlines()) == 21
    assert ran.err.endswith("… 80 more\n")
