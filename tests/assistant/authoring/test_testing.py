"""A package that ships entries checks all of them with one line in a test file."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gpuhelp.authoring.testing import EXAMPLES, LINT, entry_tests, faults_of

MADE_UP = (Path(__file__).parents[1] / "entries" / "made-up-failure.yaml").read_text("utf-8")
KOREAN = (Path(__file__).parents[1] / "entries" / "made-up-failure.ko.yaml").read_text("utf-8")
LIMIT_S = 180


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a package that ships one good entry."""
    inside = tmp_path / "my_library" / "gpuhelp_entries"
    inside.mkdir(parents=True)
    (inside / "made-up-failure.yaml").write_text(MADE_UP, "utf-8")
    (inside / "made-up-failure.ko.yaml").write_text(KOREAN, "utf-8")
    return inside


def test_a_good_entry_has_no_fault(folder: Path) -> None:
    assert [faults_of(folder, "made-up-failure", what) for what in (LINT, EXAMPLES)] == [(), ()]


def test_an_example_that_does_not_hold_is_a_fault_of_the_examples(folder: Path) -> None:
    assert "made-up engine libfoo stopped" in MADE_UP
    wrong = MADE_UP.replace("not_examples:", "  - text: nothing of the kind\nnot_examples:")
    (folder / "made-up-failure.yaml").write_text(wrong, "utf-8")
    (fault,) = faults_of(folder, "made-up-failure", EXAMPLES)
    assert fault.startswith("made-up-failure: example ")
    assert faults_of(folder, "made-up-failure", LINT) == ()


def test_a_file_that_cannot_be_taken_fails_both_of_its_tests(folder: Path) -> None:
    (folder / "broken.yaml").write_text("id: broken\nlayer: nowhere\n", "utf-8")
    assert all(str(folder / "broken.yaml") in fault for fault in faults_of(folder, "broken", LINT))
    assert faults_of(folder, "broken", LINT)
    assert faults_of(folder, "broken", EXAMPLES) == ("its examples were not tried: the file has a fault",)
    assert faults_of(folder, "made-up-failure", LINT) == ()


@pytest.mark.parametrize("place", ["no_such_package", "no.such.package", "..", "gpuhelp.errors"])
def test_a_place_without_entries_is_refused(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(ValueError, match=r"neither a folder nor a package|there is no entry"):
        entry_tests(place)


def test_a_test_file_of_three_lines_tests_every_entry_of_a_package(folder: Path, tmp_path: Path) -> None:
    (folder / "broken.yaml").write_text("id: broken\nlayer: nowhere\n", "utf-8")
    (tmp_path / "test_entries.py").write_text(
        "from gpuhelp.authoring.testing import entry_tests\n\n"
        "test_entries = entry_tests('my_library.gpuhelp_entries')\n",
        "utf-8",
    )
    environ = {**os.environ, "PYTHONPATH": str(tmp_path)}
    command = [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", "--rootdir", str(tmp_path)]
    done = subprocess.run(
        [*command, "test_entries.py"],
        cwd=tmp_path,
        env=environ,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    told = {
        line.split("[")[1].split("]")[0]: line.split()[1]
        for line in done.stdout.splitlines()
        if "::" in line and "%" in line
    }
    assert told == {
        "broken-lint": "FAILED",
        "broken-examples": "FAILED",
        "made-up-failure-lint": "PASSED",
        "made-up-failure-examples": "PASSED",
    }, done.stdout + done.stderr
    assert "broken.yaml:2:1: layer:" in done.stdout
