"""What an environment's files tell."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from gpuhelp.probes.machine import Machine
from gpuhelp.probes.python_environments import (
    manager_of,
    minor_version_of,
    parse_pyvenv,
    prefix_of,
    version_of,
)

MakeMachine = Callable[..., Machine]
VENV = "home = /usr/bin\ninclude-system-site-packages = false\nversion = 3.10.12\n"
UV = "home = /usr/bin\nimplementation = CPython\nuv = 0.6.0\nversion_info = 3.13.2\n"


@pytest.mark.parametrize(
    ("prefix", "files", "manager"),
    [
        ("/env", {"pyvenv.cfg": VENV}, "pip"),
        ("/env", {"pyvenv.cfg": UV}, "uv"),
        ("/env", {"conda-meta/history": ""}, "conda"),
        ("/usr", {}, "pip"),
        ("/home/alice/.cache/pypoetry/virtualenvs/job-vPyTu8GS-py3.10", {"pyvenv.cfg": VENV}, "poetry"),
        ("/job/.venv", {"pyvenv.cfg": VENV, "../poetry.lock": ""}, "poetry"),
        ("/job/.venv", {"pyvenv.cfg": VENV, "../uv.lock": ""}, "pip"),
    ],
)
def test_what_made_an_environment_is_told_by_its_marks(
    make_machine: MakeMachine, prefix: str, files: dict[str, str], manager: str
) -> None:
    machine = make_machine(
        {f"{prefix}/bin/": "", **{f"{prefix}/{name}": text for name, text in files.items()}}
    )
    assert manager_of(machine, prefix) == manager


def test_pyvenv_settings_are_read_whatever_their_spacing() -> None:
    assert parse_pyvenv("Home=/usr/bin\n\nuv =  0.6.0\nprompt = a = b\n") == {
        "home": "/usr/bin",
        "uv": "0.6.0",
        "prompt": "a = b",
    }


def test_the_interpreter_of_a_virtual_environment_belongs_to_it_though_it_is_a_link(
    make_machine: MakeMachine,
) -> None:
    machine = make_machine({"/usr/bin/python3.10": "", "/env/pyvenv.cfg": VENV, "/env/bin/": ""})
    machine.path("/env/bin/python").symlink_to(machine.path("/usr/bin/python3.10"))
    assert prefix_of(machine, "/env/bin/python") == "/env"
    assert version_of(machine, "/env/bin/python") == "3.10.12"


def test_another_link_is_followed_to_its_environment(make_machine: MakeMachine) -> None:
    machine = make_machine({"/opt/py/bin/python3.12": "", "/home/alice/bin/": ""})
    machine.path("/home/alice/bin/python").symlink_to(machine.path("/opt/py/bin/python3.12"))
    assert prefix_of(machine, "/home/alice/bin/python") == "/opt/py"
    assert minor_version_of(machine, "/home/alice/bin/python") == "3.12"


def test_a_conda_environment_tells_its_version_without_being_run(make_machine: MakeMachine) -> None:
    machine = make_machine(
        {
            "/conda/bin/python": "",
            "/conda/conda-meta/python-3.11.9-h955ad1f_0.json": "{}",
            "/conda/conda-meta/pythran-1.json": "",
        }
    )
    assert version_of(machine, "/conda/bin/python") == "3.11.9"
    assert minor_version_of(machine, "/conda/bin/python") == "3.11"


def test_an_interpreter_whose_files_are_silent_is_asked() -> None:
    expected = ".".join(str(part) for part in sys.version_info[:3])
    assert version_of(Machine(environ={}), sys.executable) == expected


def test_an_interpreter_that_cannot_be_run_has_no_version(make_machine: MakeMachine) -> None:
    machine = make_machine({"/x/bin/python": ""})
    assert version_of(machine, "/x/bin/python") is None
    assert minor_version_of(machine, "/x/bin/python") == ""


@pytest.mark.parametrize(
    ("python", "prefix"),
    [(r"C:\job\.venv\Scripts\python.exe", r"C:\job\.venv"), (r"C:\conda\python.exe", r"C:\conda")],
)
def test_on_windows_the_prefix_is_beside_the_interpreter(python: str, prefix: str) -> None:
    assert prefix_of(Machine(environ={}, platform="windows"), python) == prefix
