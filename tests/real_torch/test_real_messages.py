"""Real PyTorch prints its real messages, and gpuhelp reads them. Without torch: `pip install '.[torch]'`.

PyTorch runs in processes of its own; nothing here imports it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(find_spec("torch") is None, reason="needs PyTorch: pip install '.[torch]'")
LIMIT_S = 180
FakeNvml = Callable[..., dict[str, str]]
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="the fake NVML library is built for Linux")
GPU_LAYERS = {"library", "runtime", "driver", "hardware"}


@dataclass(frozen=True)
class Build:
    """What the installed PyTorch is, as it says itself."""

    version: str
    cuda: str | None
    cuda_available: bool


@pytest.fixture(scope="session")
def build() -> Build:
    told = "[torch.__version__, torch.version.cuda, torch.cuda.is_available()]"
    code = f"import json, torch; print(json.dumps({told}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=LIMIT_S, check=True)
    return Build(*json.loads(done.stdout))


@pytest.fixture
def log_of(tmp_path: Path) -> Callable[[str], Path]:
    """`log_of(code)`: what a program of this code prints before it fails, as a log file."""

    def run(code: str) -> Path:
        script = tmp_path / "train_model.py"
        script.write_text(code, encoding="utf-8")
        done = subprocess.run(
            [sys.executable, str(script)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=LIMIT_S,
            check=False,
        )
        assert done.returncode != 0, "the program was meant to fail"
        log = tmp_path / "train.log"
        log.write_bytes(done.stdout)
        return log

    return run


@pytest.fixture
def diagnose(tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """`diagnose(log, "--no-probes", environ={})`: the JSON of the installed command."""
    program = shutil.which("gpuhelp", path=str(Path(sys.executable).parent))
    if program is None:
        pytest.skip("the command gpuhelp is not installed beside this interpreter")

    def run(*argv: str | Path, environ: Mapping[str, str] | None = None) -> dict[str, Any]:
        # No VIRTUAL_ENV and nothing on PATH: only the traceback tells which interpreter ran.
        kept = {
            "PATH": str(tmp_path / "nothing"),
            "HOME": str(tmp_path),
            "XDG_CACHE_HOME": str(tmp_path / "cache"),
        }
        command = [program, *map(str, argv), "--format", "json", "--lang", "en", "--probe-timeout", "60"]
        done = subprocess.run(
            command, capture_output=True, timeout=LIMIT_S, check=False, env={**kept, **(environ or {})}
        )
        assert done.stderr == b""
        data: dict[str, Any] = json.loads(done.stdout)
        return data

    return run


def verdicts(data: dict[str, Any]) -> dict[str, str]:
    return {cause["id"]: cause["verdict"] for cause in data["findings"][0]["causes"]}


MODEL_TO_GPU = """\
import torch

def main():
    model = torch.nn.Linear(4, 4)
    model.cuda()

main()
"""


def test_cuda_on_a_cpu_build_is_known_without_a_look(
    build: Build, log_of: Callable[[str], Path], diagnose: Callable[..., dict[str, Any]]
) -> None:
    if build.cuda is not None:
        pytest.skip("needs a CPU build of PyTorch")
    data = diagnose(log_of(MODEL_TO_GPU), "--no-probes")
    first = data["findings"][0]
    assert first["entry"] == "torch-cpu-only-build"
    assert first["captured"]["user_frame"].endswith("train_model.py:5")
    assert first["confidence"] > 0.9


@LINUX
def test_a_look_at_the_interpreter_of_the_traceback_confirms_the_cpu_build(
    build: Build, log_of: Callable[[str], Path], diagnose: Callable[..., dict[str, Any]], fake_nvml: FakeNvml
) -> None:
    if build.cuda is not None:
        pytest.skip("needs a CPU build of PyTorch")
    data = diagnose(log_of(MODEL_TO_GPU), environ=fake_nvml("two-healthy-gpus"))
    facts = {name: fact["value"] for name, fact in data["facts"].items()}
    assert data["findings"][0]["entry"] == "torch-cpu-only-build"
    assert verdicts(data)["cpu-wheel"] == "confirmed"
    assert verdicts(data)["no-nvidia-gpu"] == "ruled_out"
    assert verdicts(data)["other-environment"] == "ruled_out"
    assert facts["torch.version"] == build.version
    assert facts["torch.cuda_runtime_version"] is None
    assert Path(facts["python.prefix"]).samefile(sys.prefix)
    assert any(
        sys.prefix in command
        for fix in data["findings"][0]["causes"][0]["fixes"]
        for command in fix["commands"]
    )


@LINUX
def test_without_a_driver_the_cpu_build_is_not_called_confirmed(
    build: Build, log_of: Callable[[str], Path], diagnose: Callable[..., dict[str, Any]], fake_nvml: FakeNvml
) -> None:
    if build.cuda is not None:
        pytest.skip("needs a CPU build of PyTorch")
    data = diagnose(log_of(MODEL_TO_GPU), environ=fake_nvml("no-driver"))
    assert data["findings"][0]["entry"] == "torch-cpu-only-build"
    assert verdicts(data)["cpu-wheel"] != "confirmed"


def test_a_generator_of_another_device_is_no_fault_of_the_gpu(
    build: Build, log_of: Callable[[str], Path], diagnose: Callable[..., dict[str, Any]]
) -> None:
    if not build.cuda_available:
        pytest.skip("PyTorch makes this message only where it can use a GPU")
    code = "import torch\ntorch.randn(3, device='cuda', generator=torch.Generator('cpu'))\n"
    data = diagnose(log_of(code), "--no-probes")
    assert data["status"] in ("known", "unknown")
    assert all(finding["layer"] not in GPU_LAYERS for finding in data["findings"])


def test_a_meta_tensor_that_is_copied_is_no_fault_of_the_gpu(
    log_of: Callable[[str], Path], diagnose: Callable[..., dict[str, Any]]
) -> None:
    code = "import torch\nwith torch.device('meta'):\n    model = torch.nn.Linear(4, 4)\nmodel.to('cpu')\n"
    data = diagnose(log_of(code), "--no-probes")
    if data["status"] == "unknown":
        assert data["failure"]["exception"] == "NotImplementedError"
        assert "meta tensor" in data["failure"]["message"]
        assert data["failure"]["user_frame"].endswith("train_model.py:4")
    else:
        assert data["findings"][0]["layer"] not in GPU_LAYERS
        assert data["findings"][0]["captured"]["user_frame"].endswith("train_model.py:4")


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_a_worker_that_was_killed_is_a_guess_at_host_memory(
    log_of: Callable[[str], Path], diagnose: Callable[..., dict[str, Any]]
) -> None:
    code = (
        "import os, signal\nfrom torch.utils.data import DataLoader, Dataset\n\n"
        "class Killed(Dataset):\n    def __len__(self):\n        return 64\n\n"
        "    def __getitem__(self, index):\n        os.kill(os.getpid(), signal.SIGKILL)\n\n"
        "if __name__ == '__main__':\n"
        "    for batch in DataLoader(Killed(), batch_size=4, num_workers=2):\n        pass\n"
    )
    data = diagnose(log_of(code), "--no-probes")
    assert data["findings"][0]["entry"] == "host-oom-killed"
    assert data["findings"][0]["captured"]["signal"] == "Killed"
    assert "confirmed" not in verdicts(data).values()


def test_shapes_that_do_not_fit_are_no_fault_of_the_gpu(
    log_of: Callable[[str], Path], diagnose: Callable[..., dict[str, Any]]
) -> None:
    data = diagnose(log_of("import torch\ntorch.nn.Linear(8, 4)(torch.zeros(3, 5))\n"), "--no-probes")
    assert data["status"] in ("known", "unknown")
    assert all(finding["layer"] == "code" for finding in data["findings"])


def test_a_snapshot_tells_what_this_pytorch_is(build: Build, diagnose: Callable[..., dict[str, Any]]) -> None:
    snapshot = diagnose("env", "--python", sys.executable)
    facts = snapshot["facts"]
    reports = {report["id"]: report["status"] for report in snapshot["probes"]}
    assert (reports["torch.files"], reports["torch.ask"]) == ("ok", "ok")
    assert facts["torch.installed"] is True
    assert facts["torch.version"] == build.version
    assert facts["torch.cuda_runtime_version"] == build.cuda
    assert facts["torch.cuda_available"] is build.cuda_available
    assert facts["torch.import_error"] is None
    assert isinstance(facts["torch.arch_list"], list)
    assert bool(facts["torch.arch_list"]) is (build.cuda is not None)
