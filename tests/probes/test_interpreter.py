"""Whose interpreter ran the job."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gpuhelp.probes import machine as machine_module
from gpuhelp.probes.interpreter import (
    FoundPython,
    find_python,
    interpreter_python,
    pythons_of_library_path,
    pythons_of_prefix,
)
from gpuhelp.probes.machine import Machine
from gpuhelp.probes.registry import ProbeUnavailable

MakeMachine = Callable[..., Machine]
SITE = "/home/alice/job/.venv/lib/python3.11/site-packages/torch/nn/modules/module.py"


@pytest.mark.parametrize(
    ("path", "first"),
    [
        (SITE, "/home/alice/job/.venv/bin/python"),
        ("/opt/conda/lib/python3.10/site-packages/torch/__init__.py", "/opt/conda/bin/python"),
        ("/opt/conda/envs/x/lib/python3.13t/site-packages/torch/__init__.py", "/opt/conda/envs/x/bin/python"),
        ("/usr/lib/python3/dist-packages/torch/__init__.py", "/usr/bin/python3"),
        ("/usr/lib/python3.10/runpy.py", "/usr/bin/python3.10"),
        ("/usr/local/lib/python3.10/dist-packages/torch/__init__.py", "/usr/bin/python3.10"),
        ("/usr/local/lib/python3.12/site-packages/torch/__init__.py", "/usr/local/bin/python3.12"),
        ("/home/alice/.local/lib/python3.10/site-packages/torch/__init__.py", "/usr/bin/python3.10"),
        (r"C:\job\.venv\Lib\site-packages\torch\__init__.py", r"C:\job\.venv\Scripts\python.exe"),
    ],
)
def test_a_library_path_tells_its_interpreter(path: str, first: str) -> None:
    assert pythons_of_library_path(path)[0] == first


def test_a_windows_library_path_of_conda_has_its_interpreter_beside_lib() -> None:
    path = r"C:\Users\alice\miniconda3\lib\site-packages\torch\__init__.py"
    assert r"C:\Users\alice\miniconda3\python.exe" in pythons_of_library_path(path)
    assert pythons_of_prefix(r"C:\conda\envs\x")[-1] == r"C:\conda\envs\x\python.exe"


@pytest.mark.parametrize("path", ["train.py", "/home/alice/train.py", "<frozen importlib._bootstrap>", ""])
def test_other_paths_tell_none(path: str) -> None:
    assert pythons_of_library_path(path) == ()


def test_the_tracebacks_own_interpreter_comes_first(make_machine: MakeMachine) -> None:
    machine = make_machine(
        {"/home/alice/job/.venv/bin/python": "", "/other/bin/python": "", "/usr/bin/python3": ""}
    )
    environ = {"VIRTUAL_ENV": "/other", "PATH": "/usr/bin"}
    found = find_python(["/home/alice/job/train.py", SITE], environ, machine.root)
    assert found == FoundPython("/home/alice/job/.venv/bin/python", "traceback")


def test_a_log_cannot_have_a_strangers_program_started(
    make_machine: MakeMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = make_machine({"/home/alice/job/.venv/bin/python": "", "/usr/bin/python3": ""})
    owner = (machine.root / "home/alice/job/.venv/bin/python").stat().st_uid
    monkeypatch.setattr(machine_module, "ROOT_USER", -1)
    monkeypatch.setattr("os.geteuid", lambda: owner + 1, raising=False)
    assert find_python([SITE], {"PATH": "/usr/bin"}, machine.root) == FoundPython("/usr/bin/python3", "PATH")
    monkeypatch.setattr("os.geteuid", lambda: owner, raising=False)
    assert find_python([SITE], {"PATH": "/usr/bin"}, machine.root) == FoundPython(
        "/home/alice/job/.venv/bin/python", "traceback"
    )


def test_an_interpreter_of_another_machine_is_passed_over(make_machine: MakeMachine) -> None:
    machine = make_machine({"/other/bin/python": ""})
    assert find_python([SITE], {"VIRTUAL_ENV": "/other"}, machine.root) == FoundPython(
        "/other/bin/python", "VIRTUAL_ENV"
    )


def test_then_comes_the_active_environment_then_path(make_machine: MakeMachine) -> None:
    machine = make_machine({"/conda/bin/python": "", "/usr/bin/python3": ""})
    assert find_python([], {"CONDA_PREFIX": "/conda", "PATH": "/usr/bin"}, machine.root) == FoundPython(
        "/conda/bin/python", "CONDA_PREFIX"
    )
    assert find_python([], {"PATH": "/no/where::/usr/bin"}, machine.root) == FoundPython(
        "/usr/bin/python3", "PATH"
    )


def test_no_interpreter_is_none(make_machine: MakeMachine) -> None:
    assert find_python([], {"PATH": "/usr/bin"}, make_machine().root) is None
    assert find_python([], {}, make_machine().root) is None


def test_pyenvs_choice_is_taken_instead_of_its_script(make_machine: MakeMachine) -> None:
    machine = make_machine(
        {
            "/pyenv/shims/python3": "#!/bin/sh\n",
            "/pyenv/version": "3.11.7\n",
            "/pyenv/versions/3.11.7/bin/python": "",
            "/pyenv/versions/3.12.1/bin/python": "",
        }
    )
    found = find_python([], {"PATH": "/pyenv/shims"}, machine.root)
    assert found == FoundPython("/pyenv/versions/3.11.7/bin/python", "PATH")
    found = find_python([], {"PATH": "/pyenv/shims", "PYENV_VERSION": "3.12.1"}, machine.root)
    assert found == FoundPython("/pyenv/versions/3.12.1/bin/python", "PATH")


@pytest.mark.skipif(sys.prefix == sys.base_prefix, reason="the tests do not run in a virtual environment")
def test_gpuhelps_own_environment_is_not_the_jobs() -> None:
    ours = str(Path(sys.prefix) / "bin")
    if any(Path(sys.prefix).glob("lib*/python*/site-packages/torch")):
        pytest.skip("this environment holds PyTorch and so is a person's own")
    assert find_python([], {"PATH": ours}, Path("/")) is None
    assert find_python([], {"VIRTUAL_ENV": sys.prefix, "PATH": ours}, Path("/")) is None


def test_the_probe_tells_the_environment_from_its_files(make_machine: MakeMachine) -> None:
    machine = make_machine(
        {
            "/job/.venv/bin/python": "",
            "/job/.venv/pyvenv.cfg": "home = /usr/bin\nuv = 0.6.0\nversion_info = 3.11.7\n",
        },
        python="/job/.venv/bin/python",
    )
    assert interpreter_python(machine) == {
        "python.executable": "/job/.venv/bin/python",
        "python.prefix": "/job/.venv",
        "python.manager": "uv",
        "python.version": "3.11.7",
    }


@pytest.mark.parametrize("python", [None, "/no/such/python"])
def test_without_an_interpreter_the_probe_is_unavailable(
    make_machine: MakeMachine, python: str | None
) -> None:
    with pytest.raises(ProbeUnavailable, match="interpreter"):
        interpreter_python(make_machine(python=python))


def test_a_path_that_cannot_be_looked_at_is_passed_over(make_machine: MakeMachine) -> None:
    """Path.is_file raises for a name that is too long, and in a folder that one may not enter."""
    machine = make_machine({"/usr/bin/python3": ""})
    environ = {"VIRTUAL_ENV": "/" + "a" * 5000, "PATH": f"/{'b' * 300}/shims:/usr/bin"}
    found = find_python([f"/{'c' * 300}/lib/python3.11/site-packages/x.py"], environ, machine.root)
    assert found == FoundPython("/usr/bin/python3", "PATH")


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="needs a user with limits")
def test_an_environment_of_another_person_is_passed_over(make_machine: MakeMachine) -> None:
    machine = make_machine({"/home/alice/venv/bin/python": "", "/usr/bin/python3": ""})
    machine.path("/home/alice").chmod(0)
    try:
        found = find_python(
            ["/home/alice/venv/lib/python3.11/site-packages/x.py"], {"PATH": "/usr/bin"}, machine.root
        )
    finally:
        machine.path("/home/alice").chmod(0o700)
    assert found == FoundPython("/usr/bin/python3", "PATH")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(make_machine: MakeMachine) -> None:
    machine = make_machine({"/venv/bin/python": ""})
    os.mkfifo(machine.path("/venv/pyvenv.cfg"))
    assert machine.read("/venv/pyvenv.cfg") is None


def test_links_that_go_round_lead_nowhere(make_machine: MakeMachine) -> None:
    machine = make_machine({"/usr/bin/": ""})
    machine.path("/usr/bin/python3").symlink_to("python3")
    assert find_python([], {"PATH": "/usr/bin"}, machine.root) is None
    assert machine.resolved("/usr/bin/python3").name == "python3"
