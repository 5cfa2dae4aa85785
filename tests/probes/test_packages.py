"""What is installed, from the names of metadata folders."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gpuhelp.probes.machine import Machine
from gpuhelp.probes.packages import (
    GPU_PACKAGES,
    installed_versions,
    package_folders,
    packages_metadata,
    parse_metadata_name,
)
from gpuhelp.probes.registry import ProbeUnavailable

MakeMachine = Callable[..., Machine]
SITE = "/env/lib/python3.11/site-packages"
VENV = {"/env/bin/python": "", "/env/pyvenv.cfg": "home = /usr/bin\nversion = 3.11.7\n"}


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("torch-2.6.0+cu124.dist-info", ("torch", "2.6.0+cu124")),
        ("flash_attn-2.7.4.post1.dist-info", ("flash_attn", "2.7.4.post1")),
        ("nvidia_cudnn_cu12-9.1.0.70.dist-info", ("nvidia_cudnn_cu12", "9.1.0.70")),
        ("Jinja2-3.1.4.dist-info", ("jinja2", "3.1.4")),
        ("ruamel.yaml-0.18.dist-info", ("ruamel_yaml", "0.18")),
        ("torch-2.5.1-py3.11.egg-info", ("torch", "2.5.1")),
        ("torch", None),
        ("_distutils_hack", None),
        ("~orch-2.1.0.dist-info.bak", None),
    ],
)
def test_a_metadata_folder_tells_name_and_version(entry: str, expected: tuple[str, str] | None) -> None:
    assert parse_metadata_name(entry) == expected


def test_packages_that_matter_are_told_and_those_that_are_missing_are_null(make_machine: MakeMachine) -> None:
    machine = make_machine(
        {
            **VENV,
            f"{SITE}/numpy-1.26.4.dist-info/METADATA": "",
            f"{SITE}/nvidia_cublas_cu12-12.4.5.8.dist-info/METADATA": "",
            f"{SITE}/some_private_thing-1.0.dist-info/METADATA": "",
        },
        python="/env/bin/python",
    )
    facts = packages_metadata(machine)
    assert facts["packages.numpy"] == "1.26.4"
    assert facts["packages.nvidia_cublas_cu12"] == "12.4.5.8"
    assert facts["packages.xformers"] is None
    assert "packages.some_private_thing" not in facts


def test_an_isolated_environment_sees_neither_system_nor_user_packages(make_machine: MakeMachine) -> None:
    machine = make_machine(
        {
            **VENV,
            f"{SITE}/": "",
            "/usr/lib/python3/dist-packages/": "",
            "/home/alice/.local/lib/python3.11/site-packages/": "",
        },
        environ={"HOME": "/home/alice"},
        python="/env/bin/python",
    )
    assert [str(machine.unrooted(folder)) for folder in package_folders(machine)] == [SITE]


def test_an_environment_open_to_the_system_sees_both(make_machine: MakeMachine) -> None:
    machine = make_machine(
        {
            "/env/bin/python": "",
            "/env/pyvenv.cfg": "home = /usr/bin\nversion = 3.11.7\ninclude-system-site-packages = true\n",
            f"{SITE}/numpy-2.0.0.dist-info/METADATA": "",
            "/usr/local/lib/python3.11/dist-packages/numpy-1.0.dist-info/METADATA": "",
            "/usr/local/lib/python3.11/dist-packages/torch-2.5.0a0.dist-info/METADATA": "",
        },
        python="/env/bin/python",
    )
    versions = installed_versions(package_folders(machine))
    assert versions == {"numpy": "2.0.0", "torch": "2.5.0a0"}


def test_pythonpath_comes_first(make_machine: MakeMachine) -> None:
    machine = make_machine(
        {**VENV, "/modules/torch-1.0.dist-info/METADATA": "", f"{SITE}/torch-2.0.dist-info/METADATA": ""},
        environ={"PYTHONPATH": "/modules:/gone"},
        python="/env/bin/python",
    )
    assert installed_versions(package_folders(machine))["torch"] == "1.0"


def test_folders_of_other_python_versions_are_not_looked_at(make_machine: MakeMachine) -> None:
    machine = make_machine(
        {**VENV, f"{SITE}/": "", "/env/lib/python3.9/site-packages/": ""}, python="/env/bin/python"
    )
    assert [folder.parent.name for folder in package_folders(machine)] == ["python3.11"]


def test_what_conda_alone_installed_is_told_too(make_machine: MakeMachine) -> None:
    machine = make_machine(
        {
            "/env/bin/python": "",
            "/env/conda-meta/python-3.11.9-h955ad1f_0.json": "{}",
            "/env/conda-meta/cudatoolkit-11.8.0-h4ba93d1_13.json": "{}",
            "/env/conda-meta/faiss-gpu-1.8.0-py3.11_h4c7d538_0_cuda12.1.1.json": "{}",
            "/env/conda-meta/numpy-1.26.4-py311h64a7726_0.json": "{}",
            "/env/conda-meta/history": "",
            f"{SITE}/numpy-2.0.0.dist-info/METADATA": "",
        },
        python="/env/bin/python",
    )
    facts = packages_metadata(machine)
    assert facts["packages.cudatoolkit"] == "11.8.0"
    assert facts["packages.faiss_gpu"] == "1.8.0"
    assert facts["packages.numpy"] == "2.0.0"  # pip's came later, and is what an import finds
    assert "packages.python" not in facts


def test_without_folders_the_probe_is_unavailable(make_machine: MakeMachine) -> None:
    with pytest.raises(ProbeUnavailable):
        packages_metadata(make_machine())


def test_the_list_is_sorted_and_spelled_as_facts_are() -> None:
    assert list(GPU_PACKAGES) == sorted(set(GPU_PACKAGES))
    assert all(name == name.lower() and "-" not in name for name in GPU_PACKAGES)
