"""Snapshots compared with --diff, and the program that takes one where nothing can be installed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gpuhelp.commands.snapshot_program import write_program
from gpuhelp.probes.snapshot import read_snapshot
from tests.assistant.machines import WORKSTATION

RunCommand = Callable[..., Any]
OLD_DRIVER = {
    "driver.version": "470.57.02",
    "driver.kernel_module_version": "470.57.02",
    "driver.cuda_api_version": "11.4",
}
LIMIT_S = 60


def written(folder: Path, name: str, facts: object) -> Path:
    path = folder / name
    path.write_text(facts if isinstance(facts, str) else json.dumps(facts), encoding="utf-8")
    return path


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    """A machine in order, and the same with a driver that is too old for its PyTorch."""
    bad = {**WORKSTATION, **OLD_DRIVER, "host.ram_available_bytes": 1}
    return written(tmp_path, "good.json", WORKSTATION), written(tmp_path, "bad.json", bad)


def test_what_changed_and_what_it_means_is_told(gpuhelp: RunCommand, pair: tuple[Path, Path]) -> None:
    ran = gpuhelp("env", "--diff", *pair)
    assert ran.status == 1
    assert "driver version  550.90.07 → 470.57.02" in ran.out
    changed, _, moving = ran.out.partition("Changes by itself")
    assert "free memory of the host" in moving
    assert "free memory of the host" not in changed
    verdicts = changed.partition("Causes that are judged differently now")[2].splitlines()
    assert verdicts[1].startswith("  cuda-driver-too-old")


def test_json_names_changes_verdicts_checks_and_entries(gpuhelp: RunCommand, pair: tuple[Path, Path]) -> None:
    data = json.loads(gpuhelp("env", "--diff", *pair, "--format", "json").out)
    assert data["status"] == "differs"
    assert {change["name"] for change in data["changes"]} == set(OLD_DRIVER)
    assert [change["name"] for change in data["moving"]] == ["host.ram_available_bytes"]
    first = data["verdicts"][0]
    assert (first["entry"], first["bad"]) == ("cuda-driver-too-old", "confirmed")
    assert data["checks"] == [{"entry": "cuda-driver-too-old", "title": first["title"], "found_in": "bad"}]
    assert "cuda-forward-compat" in {each["entry"] for each in (*data["entries"], *data["verdicts"])}


@pytest.mark.parametrize("language", ["en", "ko"])
def test_markdown_holds_the_same(gpuhelp: RunCommand, pair: tuple[Path, Path], language: str) -> None:
    ran = gpuhelp("env", "--diff", *pair, "--format", "markdown", "--lang", language)
    assert ran.status == 1
    assert ran.out.startswith("# ")
    assert "550.90.07 → 470.57.02" in ran.out
    assert "`cuda-driver-too-old`" in ran.out


def test_the_same_machine_a_minute_later_is_status_0(gpuhelp: RunCommand, tmp_path: Path) -> None:
    later = written(tmp_path, "later.json", {**WORKSTATION, "host.ram_available_bytes": 5})
    ran = gpuhelp("env", "--diff", written(tmp_path, "now.json", WORKSTATION), later)
    assert ran.status == 0
    assert "Nothing differs" in ran.out


@pytest.mark.parametrize("broken", ["{", "[]", '{"schema_version": 9, "facts": {}}'])
def test_a_bad_file_is_status_2(gpuhelp: RunCommand, tmp_path: Path, broken: str) -> None:
    good = written(tmp_path, "good.json", WORKSTATION)
    ran = gpuhelp("env", "--diff", good, written(tmp_path, "bad.json", broken))
    assert (ran.status, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert gpuhelp("env", "--diff", good, tmp_path / "none.json").status == 2


def test_options_that_would_do_nothing_are_refused(gpuhelp: RunCommand, pair: tuple[Path, Path]) -> None:
    assert gpuhelp("env", "--diff", *pair, "--env", pair[0]).status == 2
    assert gpuhelp("env", "--diff", *pair, "--zipapp", "x.pyz").status == 2
    assert gpuhelp("env", "--diff", pair[0]).status == 2


@pytest.mark.parametrize("language", ["en", "ko"])
def test_a_snapshot_as_markdown(gpuhelp: RunCommand, pair: tuple[Path, Path], language: str) -> None:
    ran = gpuhelp("env", "--env", pair[0], "--format", "markdown", "--lang", language)
    assert ran.status == 0
    assert "| `driver.version` | 550.90.07 |" in ran.out
    assert "| `gpus[0].name` |" in ran.out


# the program


def run_alone(program: Path, folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """The program with a Python that has no site-packages."""
    environ = {"PATH": os.environ.get("PATH", ""), "HOME": str(folder), "TMPDIR": str(folder), **more}
    command = [sys.executable, "-S", "-I", str(program), "--probe-timeout", "4"]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=LIMIT_S, check=False, env=environ, cwd=folder
    )


def test_the_program_takes_a_snapshot_that_gpuhelp_reads(gpuhelp: RunCommand, tmp_path: Path) -> None:
    program, folder = tmp_path / "snapshot.pyz", tmp_path / "elsewhere"
    folder.mkdir()
    ran = gpuhelp("env", "--zipapp", program)
    assert ran.status == 0
    assert "python3 snapshot.pyz > env.json" in ran.out
    done = run_alone(program, folder)
    assert done.returncode == 0, done.stderr
    facts = read_snapshot(done.stdout)
    assert facts["os.platform"].value == "linux" if sys.platform == "linux" else "os.platform" in facts
    assert not [probe for probe in json.loads(done.stdout)["probes"] if probe["status"] == "error"]
    assert list(folder.iterdir()) == []  # nothing is left behind


def test_the_program_asks_nvml_with_the_bindings_it_carries(
    tmp_path: Path, fake_nvml: Callable[..., dict[str, str]]
) -> None:
    program = tmp_path / "snapshot.pyz"
    write_program(program)
    snapshot = json.loads(run_alone(program, tmp_path, **fake_nvml("everything")).stdout)
    (asked,) = (probe for probe in snapshot["probes"] if probe["id"] == "nvml.driver")
    assert asked["status"] == "ok", asked
    assert snapshot["facts"]["gpus"][0]["name"]


def test_the_same_files_make_the_same_program_and_hold_no_more_than_the_probes(
    gpuhelp: RunCommand, tmp_path: Path
) -> None:
    program = tmp_path / "a.pyz"
    assert gpuhelp("env", "--zipapp", program).status == 0
    before = program.read_bytes()
    assert gpuhelp("env", "--zipapp", program).status == 0
    assert program.read_bytes() == before
    with zipfile.ZipFile(program) as archive:
        names = archive.namelist()
    assert {"__main__.py", "gpuhelp/__init__.py", "gpuhelp/probes/nvml_child.py"} <= set(names)
    assert all(name.startswith("gpuhelp/probes/") or name in
               ("__main__.py", "gpuhelp/__init__.py", "pynvml.py") for name in names)  # fmt: skip


def test_a_file_that_is_not_ours_is_not_replaced(gpuhelp: RunCommand, tmp_path: Path) -> None:
    other = written(tmp_path, "train.py", "print(1)")
    assert gpuhelp("env", "--zipapp", other).status == 2
    assert other.read_text(encoding="utf-8") == "print(1)"
    assert gpuhelp("env", "--zipapp", tmp_path / "no" / "such.pyz").status == 2


def test_the_probes_alone_print_a_snapshot() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "gpuhelp.probes"],
        capture_output=True, text=True, timeout=LIMIT_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0
    assert json.loads(done.stdout)["schema_version"] == 1
