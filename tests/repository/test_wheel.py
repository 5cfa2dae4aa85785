"""The wheel holds exactly the three folders under their installed names, and nothing else."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from gpuhelp.kb.build import build_sections
from gpuhelp.kb.files import find_files, read_files
from gpuhelp.kb.store import pack, unpack

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = {"assistant": "gpuhelp", "kb": "gpuhelp/kb", "probes": "gpuhelp/probes"}
SMALL_FILES = ("pyproject.toml", "setup.py", "README.md", "LICENSE")
COMPILED = "gpuhelp/kb/compiled.jsonl"
"""Made when the wheel is built."""
BUILD_LIMIT_S = 120


def installed_path(file: Path) -> str:
    """Where a file of the tree lies after installation: kb/load.py -> gpuhelp/kb/load.py."""
    return "/".join([FOLDERS[file.parts[0]], *file.parts[1:]])


def tree_files(root: Path) -> list[Path]:
    """The files of the three folders, relative to the root, without what running Python leaves behind."""
    return sorted(
        file.relative_to(root)
        for folder in FOLDERS
        for file in (root / folder).rglob("*")
        if file.is_file() and "__pycache__" not in file.parts and not file.name.startswith(".")
    )


def build_wheel(target: Path) -> Path:
    """Build from a copy, with the setuptools that is installed: no network, no traces in the tree."""
    source = target / "tree"
    for folder in FOLDERS:
        shutil.copytree(ROOT / folder, source / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for name in SMALL_FILES:
        shutil.copy(ROOT / name, source / name)
    command = [sys.executable, "-Im", "build", "--wheel", "--no-isolation"]
    command += ["--outdir", str(target), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=BUILD_LIMIT_S, check=False)
    if "Missing dependencies" in done.stdout + done.stderr:
        pytest.skip("needs setuptools>=77 in this environment: pip install '.[dev]'")
    assert done.returncode == 0, done.stdout + done.stderr
    return next(target.glob("*.whl"))


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel that GPUHELP_WHEEL names (.ci/run names the one it installed), else one built here."""
    given = os.environ.get("GPUHELP_WHEEL")
    if given:
        return Path(given)
    pytest.importorskip("build", reason="needs the build package: pip install '.[dev]'")
    return build_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def wheel_files(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if not name.endswith("/")}


@pytest.fixture(scope="session")
def setuptools_settings() -> dict[str, Any]:
    with (ROOT / "pyproject.toml").open("rb") as file:
        settings: dict[str, Any] = tomllib.load(file)["tool"]["setuptools"]
    return settings


def test_the_wheel_and_the_tree_hold_the_same_files(wheel_files: set[str]) -> None:
    expected = {installed_path(file) for file in tree_files(ROOT)}
    packaged = {name for name in wheel_files if ".dist-info/" not in name} - {COMPILED}
    assert sorted(expected - packaged) == [], "in the tree, not in the wheel: see packages and package-data"
    assert sorted(packaged - expected) == [], "in the wheel, not in the tree"


def test_the_wheel_holds_the_knowledge_base_compiled_from_these_files(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        shipped = archive.read(COMPILED)
    files = read_files([file._replace(path=str(ROOT / "kb" / file.name)) for file in find_files()])
    compiled, fresh = unpack(shipped), unpack(pack(build_sections(files)))
    assert compiled.names("") == fresh.names("")
    assert all(compiled.read(name) == fresh.read(name) for name in fresh.names(""))


def test_the_wheel_puts_only_gpuhelp_into_site_packages(wheel: Path, wheel_files: set[str]) -> None:
    record = "-".join(wheel.name.split("-")[:2]) + ".dist-info"
    assert {name.partition("/")[0] for name in wheel_files} == {"gpuhelp", record}


def test_the_wheel_installs_one_command_and_the_license(wheel: Path, wheel_files: set[str]) -> None:
    with zipfile.ZipFile(wheel) as archive:
        entry_points = next(name for name in wheel_files if name.endswith("/entry_points.txt"))
        text = archive.read(entry_points).decode("utf-8")
    assert text.split() == ["[console_scripts]", "gpuhelp", "=", "gpuhelp.cli:entrypoint"]
    assert any(name.endswith("/LICENSE") for name in wheel_files)


def test_packages_lists_every_folder_that_is_a_package(setuptools_settings: dict[str, Any]) -> None:
    found = {
        installed_path(file.parent).replace("/", ".")
        for file in tree_files(ROOT)
        if file.name == "__init__.py"
    }
    assert set(setuptools_settings["packages"]) == found


def test_every_package_has_its_own_folder_line(setuptools_settings: dict[str, Any]) -> None:
    lines: dict[str, str] = setuptools_settings["package-dir"]
    assert set(lines) == set(setuptools_settings["packages"])
    assert {name: installed_path(Path(folder)).replace("/", ".") for name, folder in lines.items()} == {
        name: name for name in lines
    }
