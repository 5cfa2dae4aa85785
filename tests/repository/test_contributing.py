"""The worked example in CONTRIBUTING.md works as told, so it can be copied; the reference is complete."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
GUIDE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
ID = "opencv-without-cuda"
LIMIT_S = 120
Run = Callable[..., subprocess.CompletedProcess[str]]


def blocks(language: str) -> list[str]:
    """The fenced blocks of the guide in one language, in order."""
    return re.findall(rf"```{language}\n(.*?)```", GUIDE, re.DOTALL)


@pytest.fixture
def kb(tmp_path: Path) -> Path:
    """A folder with the entry of the guide and its Korean file."""
    folder = tmp_path / "site_kb" / "install"
    folder.mkdir(parents=True)
    entry, korean = blocks("yaml")
    (folder / f"{ID}.yaml").write_text(entry, encoding="utf-8")
    (folder / f"{ID}.ko.yaml").write_text(korean, encoding="utf-8")
    (tmp_path / "my-error.txt").write_text(blocks("text")[0], encoding="utf-8")
    return folder


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """`run("gpuhelp kb lint", path)`: the installed command, away from this machine's own folders."""
    program = shutil.which("gpuhelp", path=str(Path(sys.executable).parent))
    if program is None:
        pytest.skip("the command gpuhelp is not installed beside this interpreter")

    def ran(command: str, *more: Path | str) -> subprocess.CompletedProcess[str]:
        first, *rest = shlex.split(command)
        assert first == "gpuhelp"
        return subprocess.run(
            [program, *rest, *map(str, more)],
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=LIMIT_S,
            check=False,
            env={"LANG": "en_US.UTF-8", "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
        )

    return ran


def test_gpuhelp_does_not_know_the_error_of_the_guide_yet(kb: Path, run: Run) -> None:
    told = run("gpuhelp my-error.txt --no-probes")
    assert "A failure that gpuhelp does not know" in told.stdout


def test_the_draft_of_the_guide_is_written_and_lint_names_what_is_left(kb: Path, run: Run) -> None:
    (command,) = re.findall(r"^\$ (gpuhelp kb new .*)$", GUIDE, re.MULTILINE)
    written = run(command, "--to", kb.parent / "draft")
    assert written.returncode == 0, written.stderr
    assert "FILL-IN" in written.stdout
    linted = run("gpuhelp kb lint", kb.parent / "draft" / f"{ID}.yaml")
    assert linted.returncode == 1
    assert f"{ID}.yaml:4:9: still to be written: title" in linted.stdout


@pytest.mark.parametrize("action", ["lint", "test"])
def test_the_finished_entry_of_the_guide_has_no_fault(kb: Path, run: Run, action: str) -> None:
    told = run(f"gpuhelp kb {action}", kb / f"{ID}.yaml")
    assert (told.returncode, told.stderr) == (0, ""), told.stdout
    assert told.stdout.endswith(": 1\n")


def test_the_finished_entry_answers_in_both_languages_and_names_its_origin(kb: Path, run: Run) -> None:
    english = run("gpuhelp my-error.txt --no-probes --kb site_kb")
    korean = run("gpuhelp my-error.txt --no-probes --kb site_kb --lang ko")
    assert "■ This OpenCV was built without CUDA" in english.stdout
    assert f"{ID} · CUDA libraries" in english.stdout
    assert "[site_kb]" in english.stdout
    assert "■ 설치된 OpenCV가 CUDA 없이 빌드되었습니다" in korean.stdout


def test_the_hooks_check_changed_entries_and_translations_of_other_repositories(kb: Path, run: Run) -> None:
    import yaml

    hooks = {
        hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    }
    named = re.findall(r"- id: (gpuhelp-\S+)", GUIDE)
    assert set(named) == set(hooks)
    changed = [f"site_kb/install/{ID}.ko.yaml", f"site_kb/install/{ID}.yaml"]
    for hook in hooks.values():
        assert all(re.search(hook["files"], path) for path in changed)
        assert not re.search(hook["files"], "config/train.yaml")
        told = run(hook["entry"], *changed)
        assert (told.returncode, told.stderr) == (0, ""), told.stdout
    entry = kb / f"{ID}.yaml"
    entry.write_text(entry.read_text("utf-8").replace("layer: library", "layer: nowhere"), encoding="utf-8")
    for hook in hooks.values():
        told = run(hook["entry"], changed[1])
        assert told.returncode == 1
        assert f"{ID}.yaml:3:" in told.stdout


def test_the_reference_names_every_kind_of_pattern_function_and_filter() -> None:
    import json

    from gpuhelp.kb.evaluation import FILTERS, FUNCTIONS, TABLE_FUNCTIONS, TESTS

    schema: dict[str, Any] = json.loads((ROOT / "kb" / "schema.json").read_text(encoding="utf-8"))
    risks = schema["$defs"]["fix"]["properties"]["risk"]["enum"]
    layers = schema["properties"]["layer"]["enum"]
    words = {
        *schema["$defs"]["pattern"]["properties"],
        *FILTERS,
        *FUNCTIONS,
        *TABLE_FUNCTIONS,
        *risks,
        *layers,
    }
    prose = re.sub(r"^ *```.*?^ *```", "", GUIDE, flags=re.DOTALL | re.MULTILINE)
    written = set(re.findall(r"[\w-]+", " ".join(re.findall(r"`[^`]+`", prose))))
    assert sorted({*words, *TESTS} - written) == []


def test_every_make_target_named_in_the_guide_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = set(re.findall(r"\bmake ((?:dev|dev-ide|test|check|picture)\b)", GUIDE))
    assert named >= {"dev", "test", "check"}
    assert named <= targets
