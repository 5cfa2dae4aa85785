"""The small kernel of `gpuhelp check --deep`, against made-up PyTorches: right, wrong, broken, hanging."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from gpuhelp.probes.machine import Machine
from gpuhelp.probes.trial import Attempt, KernelRun, try_torch

FAKE = """
__version__ = "2.6.0+cu124"

class Product:
    def __init__(self, total):
        self.total = total
    def __matmul__(self, other):
        return self
    def sum(self):
        return self
    def item(self):
        return self.total

def ones(rows, columns, device):
    fail(device)
    return Product(totals[device])

class cuda:
    is_available = staticmethod(lambda: bool(totals))
    device_count = staticmethod(lambda: len(totals))
    get_device_name = staticmethod(lambda index: "NVIDIA L4")
    synchronize = staticmethod(lambda index: None)
    @staticmethod
    def init():
        raise RuntimeError("No CUDA GPUs are available")

def fail(device):
    pass

totals = {"cuda:0": 262144.0, "cuda:1": 262144.0}
"""


def tried(folder: Path, more: str = "", *, limit_s: float = 20.0) -> Attempt:
    """An attempt with a PyTorch that behaves as `more` says."""
    (folder / "torch.py").write_text(FAKE + more, encoding="utf-8")
    environ = {"PYTHONPATH": str(folder), "PATH": os.environ.get("PATH", "")}
    return try_torch(Machine(environ=environ, python=sys.executable), limit_s=limit_s)


def test_a_kernel_runs_on_every_gpu(tmp_path: Path) -> None:
    attempt = tried(tmp_path)
    right = [KernelRun(index, "NVIDIA L4", True, "262144") for index in (0, 1)]
    assert (attempt.ended, attempt.error, list(attempt.runs)) == ("", "", right)


def test_a_wrong_result_is_not_right(tmp_path: Path) -> None:
    runs = tried(tmp_path, 'totals["cuda:1"] = 5.0').runs
    assert [(run.right, run.got) for run in runs] == [(True, "262144"), (False, "5")]


def test_a_kernel_that_fails_on_one_gpu_leaves_the_others_tried(tmp_path: Path) -> None:
    runs = tried(
        tmp_path,
        """
def fail(device):
    if device == "cuda:0":
        raise RuntimeError("CUDA error: no kernel image is available for execution on the device")
""",
    ).runs
    assert [run.right for run in runs] == [False, True]
    assert "no kernel image" in runs[0].error


def test_no_gpu_says_what_pytorch_says(tmp_path: Path) -> None:
    attempt = tried(tmp_path, "totals = {}")
    assert attempt.runs == ()
    assert (attempt.step, "No CUDA GPUs are available" in attempt.error) == ("start", True)


@pytest.mark.parametrize(
    "problem", ["raise ImportError('libcudart.so.12: cannot open')", "raise SystemExit(3)"]
)
def test_an_import_that_fails_is_told(tmp_path: Path, problem: str) -> None:
    attempt = tried(tmp_path, problem)
    assert attempt.step == "import"
    assert problem.partition("(")[0].removeprefix("raise ") in attempt.error


def test_a_crash_and_a_hang_name_the_step(tmp_path: Path) -> None:
    crash = tried(tmp_path, "import os\ndef fail(device): os.kill(os.getpid(), 11)")
    assert (crash.ended, crash.detail, crash.step, crash.device) == ("killed", "SIGSEGV", "kernel", 0)
    hang = tried(tmp_path, "import time\ntime.sleep(60)", limit_s=1.0)
    assert (hang.ended, hang.step) == ("timeout", "import")


def test_what_pytorch_prints_is_no_answer(tmp_path: Path) -> None:
    assert tried(tmp_path, """print('{"device": 9, "sum": 1}')""").runs[0].device == 0


def test_without_an_interpreter_or_a_pytorch_that_is_said(tmp_path: Path) -> None:
    assert try_torch(Machine(environ={}, python=None)).ended == "no python"
    assert try_torch(Machine(environ={}, python=str(tmp_path / "nothing"))).ended == "broken"
