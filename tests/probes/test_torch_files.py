"""PyTorch from its files."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gpuhelp.probes.machine import Machine
from gpuhelp.probes.registry import ProbeUnavailable
from gpuhelp.probes.torch_files import build_facts, parse_constants, torch_files

MakeMachine = Callable[..., Machine]
SITE = "/env/lib/python3.11/site-packages"
VENV = {"/env/bin/python": "", "/env/pyvenv.cfg": "home = /usr/bin\nversion = 3.11.7\n"}


def version_py(version: str, cuda: str | None, hip: str | None) -> str:
    return (
        "from typing import Optional\n\n"
        "__all__ = ['__version__', 'debug', 'cuda', 'git_version', 'hip', 'xpu']\n"
        f"__version__ = {version!r}\ndebug = False\ncuda: Optional[str] = {cuda!r}\n"
        f"git_version = '134179474539648ba7dee1317959529fbd0e7f89'\nhip: Optional[str] = {hip!r}\n"
        "xpu: Optional[str] = None\n"
    )


@pytest.mark.parametrize(
    ("version", "cuda", "hip"),
    [
        ("2.7.0+cu126", "12.6", None),
        ("2.6.0+cpu", None, None),
        ("2.5.1+rocm6.2", None, "6.2.41133-dd7f95766"),
    ],
)
def test_the_build_tells_its_kind(version: str, cuda: str | None, hip: str | None) -> None:
    assert build_facts(version_py(version, cuda, hip), "") == {
        "torch.version": version,
        "torch.cuda_runtime_version": cuda,
        "torch.hip_version": hip,
    }


def test_an_early_build_that_knows_no_hip_leaves_it_out() -> None:
    assert build_facts("__version__ = '1.4.0'\ndebug = False\ncuda = '10.1'\ngit_version = 'x'\n", "") == {
        "torch.version": "1.4.0",
        "torch.cuda_runtime_version": "10.1",
    }


@pytest.mark.parametrize(("flag", "expected"), [("0", False), ("1", True)])
def test_the_cmake_file_tells_the_abi(flag: str, expected: bool) -> None:
    cmake = f'set(TORCH_CXX_FLAGS "-D_GLIBCXX_USE_CXX11_ABI={flag}")\n'
    assert build_facts("", cmake) == {"torch.cxx11_abi": expected}


def test_a_build_that_says_nothing_of_the_abi_leaves_it_unknown() -> None:
    assert build_facts("", 'set(TORCH_CXX_FLAGS "")\n') == {}


@pytest.mark.parametrize("text", ["", "cuda = ", "cuda = __import__('os').getcwd()", "\x00", "cuda = 12.4"])
def test_broken_or_surprising_text_tells_nothing_and_runs_nothing(text: str) -> None:
    assert build_facts(text, "") == {}


def test_only_literals_of_the_module_count() -> None:
    source = "a = 'x'\ndef f():\n    b = 'y'\nc: str = 'z'\nd = e = 'w'\nf += 'no'\n"
    assert parse_constants(source) == {"a": "x", "c": "z", "d": "w"}


def test_an_installed_torch_is_told_with_its_folder(make_machine: MakeMachine) -> None:
    machine = make_machine(
        {
            **VENV,
            f"{SITE}/torch/version.py": version_py("2.6.0+cu124", "12.4", None),
            f"{SITE}/torch/share/cmake/Torch/TorchConfig.cmake": '"-D_GLIBCXX_USE_CXX11_ABI=0"',
            f"{SITE}/torch-2.6.0.dist-info/METADATA": "Name: torch\nVersion: 2.6.0\n",
        },
        python="/env/bin/python",
    )
    assert torch_files(machine) == {
        "torch.installed": True,
        "torch.path": f"{SITE}/torch",
        "torch.version": "2.6.0+cu124",
        "torch.cuda_runtime_version": "12.4",
        "torch.hip_version": None,
        "torch.cxx11_abi": False,
    }


def test_no_torch_is_looked_and_there_is_none(make_machine: MakeMachine) -> None:
    machine = make_machine({**VENV, f"{SITE}/numpy/": ""}, python="/env/bin/python")
    assert torch_files(machine) == {"torch.installed": False, "torch.version": None}


def test_an_editable_torch_has_a_version_but_no_folder_here(make_machine: MakeMachine) -> None:
    machine = make_machine(
        {**VENV, f"{SITE}/torch-2.8.0a0+git1.dist-info/METADATA": ""}, python="/env/bin/python"
    )
    assert torch_files(machine) == {"torch.installed": True, "torch.version": "2.8.0a0+git1"}


def test_no_interpreter_is_not_no_torch(make_machine: MakeMachine) -> None:
    with pytest.raises(ProbeUnavailable):
        torch_files(make_machine())
