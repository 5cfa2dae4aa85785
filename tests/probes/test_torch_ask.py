"""Asking PyTorch in the person's interpreter: a made-up torch that works, breaks, crashes, hangs."""

from __future__ import annotations

import ast
import sys
import time
from pathlib import Path

import pytest

import gpuhelp.probes.torch_child
from gpuhelp.probes.machine import Machine
from gpuhelp.probes.registry import ProbeStatus
from gpuhelp.probes.runner import Observation, observe
from gpuhelp.probes.torch_child import dotted

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")

CUDA_BUILD = """
import os, sys, types
print("a plugin prints to standard output")
class version: cuda = "12.4"; hip = None
class _C:
    _GLIBCXX_USE_CXX11_ABI = False
    @staticmethod
    def _cuda_getArchFlags(): return "sm_50 sm_80 sm_90"
    @staticmethod
    def _nccl_version(): return (2, 21, 5)
class cuda:
    @staticmethod
    def is_available():
        assert os.environ["PYTORCH_NVML_BASED_CUDA_CHECK"] == "1"
        return True
    class nccl:
        @staticmethod
        def version(): return (2, 21, 5)
class backends:
    class cudnn:
        @staticmethod
        def version(): return 90100
"""


def ask(tmp_path: Path, torch: str, *, limit_s: float = 10.0) -> Observation:
    """What observing gives when `import torch` runs this text."""
    (tmp_path / "torch.py").write_text(torch, encoding="utf-8")
    machine = Machine(environ={"PYTHONPATH": str(tmp_path)}, python=sys.executable)
    return observe(["torch.arch_list"], machine, limit_s=limit_s)


def test_a_cuda_build_tells_what_its_files_do_not(tmp_path: Path) -> None:
    seen = ask(tmp_path, CUDA_BUILD)
    assert seen.facts.values_by_name() == {
        "torch.arch_list": ["sm_50", "sm_80", "sm_90"],
        "torch.cuda_available": True,
        "torch.cudnn_version": "9.1.0",
        "torch.cxx11_abi": False,
        "torch.import_error": None,
        "torch.nccl_version": "2.21.5",
    }
    assert [(each.id, each.status) for each in seen.reports] == [("torch.ask", ProbeStatus.OK)]


def test_a_cpu_build_holds_no_gpu_code(tmp_path: Path) -> None:
    torch = CUDA_BUILD.replace('"12.4"', "None").replace("_cuda_getArchFlags", "_absent")
    assert ask(tmp_path, torch).facts["torch.arch_list"].value == []


def test_a_question_the_build_cannot_answer_costs_only_itself(tmp_path: Path) -> None:
    seen = ask(tmp_path, CUDA_BUILD.replace("class backends:", "class nothing:"))
    assert "torch.cudnn_version" not in seen.facts
    assert seen.facts["torch.nccl_version"].value == "2.21.5"


def test_a_failed_import_is_told_as_the_person_saw_it(tmp_path: Path) -> None:
    seen = ask(tmp_path, "raise ImportError('libcudnn.so.9: cannot open shared object file')")
    assert (
        seen.facts["torch.import_error"].value == "ImportError: libcudnn.so.9: cannot open shared object file"
    )
    assert "torch.arch_list" not in seen.facts
    assert seen.reports[0].status is ProbeStatus.OK


def test_an_import_that_exits_is_an_import_error(tmp_path: Path) -> None:
    assert ask(tmp_path, "raise SystemExit(3)").facts["torch.import_error"].value == "SystemExit: 3"


def test_an_import_that_crashes_is_an_import_error_and_a_failed_probe(tmp_path: Path) -> None:
    seen = ask(tmp_path, "import os, signal; os.kill(os.getpid(), signal.SIGILL)")
    assert "SIGILL" in str(seen.facts["torch.import_error"].value)
    assert seen.reports[0].status is ProbeStatus.ERROR


def test_a_crash_after_the_import_keeps_the_answers_before_it(tmp_path: Path) -> None:
    crash = "import signal; os.kill(os.getpid(), signal.SIGSEGV)"
    seen = ask(
        tmp_path,
        CUDA_BUILD.replace("def version(): return 90100", f"def version():\n                {crash}"),
    )
    assert seen.facts["torch.arch_list"].value == ["sm_50", "sm_80", "sm_90"]
    assert seen.facts["torch.import_error"].value is None
    assert "torch.cuda_available" not in seen.facts
    assert (seen.reports[0].status, "SIGSEGV" in seen.reports[0].detail) == (ProbeStatus.ERROR, True)


def test_an_import_that_hangs_is_a_timeout(tmp_path: Path) -> None:
    started = time.monotonic()
    seen = ask(tmp_path, "import time; time.sleep(60)", limit_s=1.0)
    assert time.monotonic() - started < 2.0
    assert seen.reports[0].status is ProbeStatus.TIMEOUT
    assert len(seen.facts) == 0


def test_the_scripts_neighbours_do_not_hide_packages_of_the_person(tmp_path: Path) -> None:
    (tmp_path / "registry.py").write_text("HERE = True\n", encoding="utf-8")
    seen = ask(tmp_path, "import registry; assert registry.HERE\n" + CUDA_BUILD)
    assert seen.facts["torch.import_error"].value is None


def test_an_interpreter_that_is_none_is_unavailable() -> None:
    seen = observe(["torch.arch_list"], Machine(environ={}, python="/no/such/python"))
    assert seen.reports[0].status is ProbeStatus.UNAVAILABLE


def test_the_script_is_written_in_python_3_8() -> None:
    source = Path(gpuhelp.probes.torch_child.__file__).read_text(encoding="utf-8")
    tree = ast.parse(source, feature_version=(3, 8))
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    assert imported == {"importlib", "json", "os", "signal", "sys"}


@pytest.mark.parametrize(
    ("number", "long_from", "expected"),
    [
        (8902, 90000, "8.9.2"),
        (7605, 90000, "7.6.5"),
        (90100, 90000, "9.1.0"),
        (91002, 90000, "9.10.2"),
        (2708, 10000, "2.7.8"),
        (21805, 10000, "2.18.5"),
        (None, 90000, None),
    ],
)
def test_version_numbers_are_spelled_with_dots(
    number: int | None, long_from: int, expected: str | None
) -> None:
    assert dotted(number, long_from) == expected
