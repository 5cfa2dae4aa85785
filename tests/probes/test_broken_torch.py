"""A PyTorch that breaks as it is imported, an old interpreter, a locale that is not UTF-8, a read-only home.

Real processes with a made-up torch.py; the whole program where its own output is in question.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from gpuhelp.probes.machine import Machine
from gpuhelp.probes.registry import ProbeStatus
from gpuhelp.probes.runner import Observation, observe
from gpuhelp.probes.toolkit import toolkit

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and shell scripts are POSIX")

WORKS = """
class version: cuda = "12.4"; hip = None
class _C:
    _GLIBCXX_USE_CXX11_ABI = True
    @staticmethod
    def _cuda_getArchFlags(): return "sm_50 sm_90"
class cuda:
    @staticmethod
    def is_available(): return False
class backends:
    class cudnn:
        @staticmethod
        def version(): return 90100
"""
TOLD = {
    "torch.arch_list": ["sm_50", "sm_90"],
    "torch.cuda_available": False,
    "torch.cudnn_version": "9.1.0",
    "torch.cxx11_abi": True,
    "torch.import_error": None,
    "torch.nccl_version": None,
}
LIE = '{"torch.import_error": "a lie", "torch.arch_list": ["sm_1"]}'
PRINTS_GARBAGE = f"""
import os, sys
os.write(1, b"\\x00\\xff\\xfe\\r\\x1b[31m" * 1000 + b"\\n")
print('{LIE}')
os.write(1, b'{LIE}\\n')
sys.stdout.flush()
os.write(2, b"\\xb0\\xa1" * 3000000)
{WORKS}
"""
KOREAN = "[WinError 126] 지정된 모듈을 찾을 수 없습니다"
OLD_PYTHON = Path.home() / ".pyenv/versions/3.8.18/bin/python"


def ask(
    tmp_path: Path, torch: str, *, python: str = sys.executable, limit_s: float = 10.0, **environ: str
) -> Observation:
    (tmp_path / "torch.py").write_text(torch, encoding="utf-8")
    machine = Machine(environ={"PYTHONPATH": str(tmp_path), **environ}, python=python)
    return observe(["torch.arch_list"], machine, limit_s=limit_s)


def status(seen: Observation) -> ProbeStatus:
    (report,) = seen.reports
    return report.status


def test_one_that_raises_is_told_in_its_own_words(tmp_path: Path) -> None:
    seen = ask(tmp_path, "raise OSError('libcudart.so.12: cannot open shared object file')")
    assert seen.facts.values_by_name() == {
        "torch.import_error": "OSError: libcudart.so.12: cannot open shared object file"
    }
    assert status(seen) is ProbeStatus.OK


def test_one_that_hangs_costs_its_time_and_no_more(tmp_path: Path) -> None:
    started = time.monotonic()
    seen = ask(tmp_path, "import time\nwhile True: time.sleep(1)", limit_s=0.8)
    assert time.monotonic() - started < 1.6
    assert (status(seen), dict(seen.facts)) == (ProbeStatus.TIMEOUT, {})


def test_one_that_hangs_and_will_not_be_interrupted_is_ended_too(tmp_path: Path) -> None:
    ignores = "import os, signal, time\nfor each in (1, 2, 15): signal.signal(each, signal.SIG_IGN)\n"
    torch = f"{ignores}os.fork()\ntime.sleep(60)"
    started = time.monotonic()
    assert status(ask(tmp_path, torch, limit_s=0.8)) is ProbeStatus.TIMEOUT
    assert time.monotonic() - started < 1.6


def test_one_that_crashes_is_named_with_its_signal(tmp_path: Path) -> None:
    seen = ask(tmp_path, "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")
    assert seen.facts.values_by_name() == {
        "torch.import_error": "the interpreter was ended by SIGSEGV while it imported torch"
    }
    assert status(seen) is ProbeStatus.ERROR


def test_what_one_prints_is_no_answer(tmp_path: Path) -> None:
    seen = ask(tmp_path, PRINTS_GARBAGE)
    assert seen.facts.values_by_name() == TOLD
    assert status(seen) is ProbeStatus.OK


def test_one_that_is_not_there_is_an_import_error(tmp_path: Path) -> None:
    machine = Machine(
        environ={"PYTHONPATH": str(tmp_path), "PYTHONNOUSERSITE": "1"}, python="/usr/bin/python3"
    )
    if not machine.is_file("/usr/bin/python3") or list(Path("/usr/lib/python3/dist-packages").glob("torch")):
        pytest.skip("there is no /usr/bin/python3 without torch on this machine")
    seen = observe(["torch.import_error"], machine, limit_s=10.0)
    assert seen.facts["torch.import_error"].value == "ModuleNotFoundError: No module named 'torch'"


@pytest.mark.skipif(not OLD_PYTHON.is_file(), reason=f"there is no {OLD_PYTHON}")
@pytest.mark.parametrize(
    ("torch", "expected"), [(WORKS, TOLD), ("raise SystemExit(3)", {"torch.import_error": "SystemExit: 3"})]
)
def test_python_3_8_is_asked_like_any_other(tmp_path: Path, torch: str, expected: dict[str, object]) -> None:
    assert ask(tmp_path, torch, python=str(OLD_PYTHON)).facts.values_by_name() == expected


@pytest.mark.parametrize(
    "environ",
    [
        {"PYTHONIOENCODING": "cp949", "PYTHONUTF8": "0"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"LC_ALL": "ko_KR.CP949", "LANG": "ko_KR.CP949"},
    ],
    ids=["cp949", "C", "ko_KR.CP949"],
)
def test_a_korean_error_comes_through_in_any_locale(tmp_path: Path, environ: dict[str, str]) -> None:
    seen = ask(tmp_path, f"raise OSError({KOREAN!r})", **environ)
    assert seen.facts["torch.import_error"].value == f"OSError: {KOREAN}"


def test_a_program_that_writes_cp949_is_read_as_far_as_it_can_be(tmp_path: Path) -> None:
    nvcc = tmp_path / "root/opt/cuda/bin/nvcc"
    nvcc.parent.mkdir(parents=True)
    (tmp_path / "out").write_bytes(
        "컴파일러\n".encode("cp949") + b"Cuda compilation tools, release 12.4, V12.4.131\n"
    )
    nvcc.write_text(f"#!/bin/sh\ncat '{tmp_path / 'out'}'\n", encoding="utf-8")
    nvcc.chmod(0o755)
    machine = Machine(environ={"CUDA_HOME": "/opt/cuda", **os.environ}, root=tmp_path / "root")
    assert toolkit(machine)["toolkit.nvcc_version"] == "12.4"


def env_of_the_program(tmp_path: Path, **environ: str) -> tuple[int, bytes, bytes]:
    """Exit status, output and complaints of `gpuhelp env`, with a torch whose import fails in Korean."""
    folder = tmp_path / "modules"
    folder.mkdir(exist_ok=True)
    (folder / "torch.py").write_text(f"raise OSError({KOREAN!r})", encoding="utf-8")
    local = ("LC_", "LANG", "XDG_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(local)}
    command = (sys.executable, "-m", "gpuhelp", "env", "--format", "json", "--python", sys.executable)
    whole = {**kept, "PYTHONPATH": str(folder), **environ}
    done = subprocess.run(
        command, env=whole, capture_output=True, timeout=30, check=False,
        cwd=tmp_path,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


def facts_of(output: bytes, encoding: str) -> Mapping[str, object]:
    snapshot = json.loads(output.decode(encoding))
    assert isinstance(snapshot["facts"], dict)
    return snapshot["facts"]


def test_a_snapshot_is_written_in_cp949(tmp_path: Path) -> None:
    korean = {"PYTHONIOENCODING": "cp949", "PYTHONUTF8": "0"}
    code, output, complaints = env_of_the_program(tmp_path, HOME=str(tmp_path), **korean)
    assert (code, complaints) == (0, b"")
    assert facts_of(output, "cp949")["torch.import_error"] == f"OSError: {KOREAN}"


def test_a_snapshot_is_written_where_only_ascii_can_be(tmp_path: Path) -> None:
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"}
    code, output, complaints = env_of_the_program(tmp_path, HOME=str(tmp_path), **plain)
    assert (code, complaints) == (0, b"")
    told = facts_of(output, "ascii")
    assert told["python.executable"] == sys.executable
    assert str(told["torch.import_error"]).startswith("OSError: [WinError 126]")


def test_a_home_that_cannot_be_written_is_no_matter(tmp_path: Path) -> None:
    code, output, complaints = env_of_the_program(tmp_path, HOME="/proc/nowhere", PYTHONIOENCODING="utf-8")
    assert (code, complaints) == (0, b"")
    assert facts_of(output, "utf-8")["torch.import_error"] == f"OSError: {KOREAN}"


def test_nothing_is_left_in_a_home_that_can(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    code, _, _ = env_of_the_program(tmp_path, HOME=str(home), PYTHONIOENCODING="utf-8")
    assert (code, list(home.rglob("*"))) == (0, [])
