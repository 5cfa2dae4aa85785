"""`gpuhelp kb` and `gpuhelp explain`: every format, both languages, and folders that are broken."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gpuhelp.options import KB_ACTIONS

RunCommand = Callable[..., Any]
ID = "made-up-failure"
TITLES = [("en", "The made-up engine stopped"), ("ko", "가상 엔진이 멈췄습니다")]


@pytest.fixture
def folder(entries: Path, tmp_path: Path) -> Path:
    """A copy of the folder with the made-up entry, to be broken."""
    return Path(shutil.copytree(entries, tmp_path / "entries"))


def broken(folder: Path, old: str, new: str, name: str = f"{ID}.yaml") -> Path:
    path = folder / name
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    return folder


@pytest.mark.parametrize(("language", "title"), TITLES)
def test_list_has_a_line_for_each_entry(
    gpuhelp: RunCommand, entries: Path, language: str, title: str
) -> None:
    ran = gpuhelp("kb", "list", "--kb", entries, "--lang", language, width=40)
    lines = ran.out.splitlines()
    assert ran.status == 0
    assert len(lines) > 20
    (line,) = [line for line in lines if line.startswith(f"{ID} ")]
    assert line.endswith(f"  {title}  [{entries}]")


@pytest.mark.parametrize("language", ["en", "ko"])
def test_list_is_there_for_programs_and_for_documents(
    gpuhelp: RunCommand, entries: Path, language: str
) -> None:
    argv = ("kb", "list", ID, "--kb", entries, "--lang", language, "--format")
    data = json.loads(gpuhelp(*argv, "json").out)
    assert list(data) == ["schema_version", "entries"]
    assert data["entries"][0]["entry"] == ID
    assert data["entries"][0]["layer"] == "library"
    assert f"| `{ID}` | " in gpuhelp(*argv, "markdown").out


@pytest.mark.parametrize("action", ["lint", "test"])
@pytest.mark.parametrize("language", ["en", "ko"])
def test_an_entry_that_holds_has_no_fault(
    gpuhelp: RunCommand, entries: Path, action: str, language: str
) -> None:
    argv = ("kb", action, ID, "--kb", entries, "--lang", language)
    ran = gpuhelp(*argv)
    data = json.loads(gpuhelp(*argv, "--format", "json").out)
    assert (ran.status, ran.err, ran.out.count("\n")) == (0, "", 1)
    assert data == {"schema_version": 1, "checked": [ID], "faults": [], "told": ran.out.strip()}
    assert gpuhelp(*argv, "--format", "markdown").out.strip() == ran.out.strip()


def test_an_example_that_does_not_hold_is_a_fault(gpuhelp: RunCommand, folder: Path) -> None:
    broken(folder, "captured: {library: libfoo}", "captured: {library: libbar}")
    ran = gpuhelp("kb", "test", ID, "--kb", folder)
    assert ran.status == 1
    assert f"{ID}: example 1: library is 'libfoo', not 'libbar'" in ran.out
    assert "examples that do not hold: 1" in ran.out
    data = json.loads(gpuhelp("kb", "test", ID, "--kb", folder, "--format", "json").out)
    assert len(data["faults"]) == 1
    assert (
        "- made-up-failure: example 1"
        in gpuhelp("kb", "test", ID, "--kb", folder, "--format", "markdown").out
    )


def test_a_near_miss_that_matches_is_a_fault(gpuhelp: RunCommand, folder: Path) -> None:
    broken(folder, "libfoo is busy", "libfoo stopped in bar")
    ran = gpuhelp("kb", "test", ID, "--kb", folder)
    assert ran.status == 1
    assert f"{ID}: near miss 1: matches, and must not" in ran.out


def test_another_cause_than_the_example_says_is_a_fault(gpuhelp: RunCommand, folder: Path) -> None:
    broken(folder, "facts: {driver.version: '450.80.02'}", "facts: {driver.version: '550.80.02'}")
    ran = gpuhelp("kb", "test", ID, "--kb", folder)
    assert ran.status == 1
    assert "old-driver is ruled_out" in ran.out


@pytest.mark.parametrize(
    ("command", "old", "new"),
    [
        (["kb", "list", "cuda-oom"], "weight: 0.5", "weight: many"),
        (["explain", "cuda-oom"], "summary: |", "sumary: |"),
        (["check"], "id: made-up-failure", "id: another-id"),
        ([], "stopped in (?P<symbol>", "stopped in (?P<symbol>("),
    ],
    ids=["type", "key", "id", "regex"],
)
def test_a_broken_entry_of_a_person_is_told_in_one_line_and_left_out(
    gpuhelp: RunCommand, folder: Path, command: list[str], old: str, new: str
) -> None:
    ran = gpuhelp(*command, "--kb", broken(folder, old, new), stdin=b"RuntimeError: x\n")
    (line,) = ran.err.splitlines()
    assert re.match(rf"left out: {re.escape(str(folder))}/{ID}\.yaml:\d+:\d+: \S", line), line
    assert ran.status in (0, 1)
    assert ran.out


@pytest.mark.parametrize("action", ["lint", "test"])
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("layer: library", "layer: basement"),
        ("when: driver.version is known", "when: driver.version is is known"),
        ("id: old-driver", "id: [old-driver"),
    ],
    ids=["value", "expression", "yaml"],
)
def test_lint_and_test_tell_a_broken_entry_as_a_fault_with_its_place(
    gpuhelp: RunCommand, folder: Path, action: str, old: str, new: str
) -> None:
    ran = gpuhelp("kb", action, "cuda-oom", "--kb", broken(folder, old, new))
    assert ran.status == 1
    assert re.match(rf"{re.escape(str(folder))}/{ID}\.yaml:\d+:\d+: \S", ran.out), ran.out


@pytest.mark.parametrize("action", ["lint", "test"])
def test_a_named_file_that_is_broken_is_the_only_one_checked(
    gpuhelp: RunCommand, folder: Path, action: str
) -> None:
    file = broken(folder, "layer: library", "layer: basement") / f"{ID}.yaml"
    ran = gpuhelp("kb", action, file, "--format", "json")
    told = json.loads(ran.out)
    assert (ran.status, told["checked"]) == (1, [])
    assert all(fault.startswith(str(file)) for fault in told["faults"])


def test_a_broken_entry_elsewhere_is_no_fault_of_the_one_that_is_named(
    gpuhelp: RunCommand, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "data" / "gpuhelp" / "kb"
    shutil.copytree(folder, own)
    broken(own, "layer: library", "layer: basement")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert gpuhelp("kb", "lint", "cuda-oom").status == 0
    assert gpuhelp("kb", "lint", ID).status == 1


def test_every_fault_is_told_at_once(gpuhelp: RunCommand, folder: Path) -> None:
    broken(broken(folder, "layer: library", "layer: basement"), "weight: 0.5", "weight: many")
    broken(folder, "id: update-driver", "id: Update Driver")
    told = gpuhelp("kb", "lint", "cuda-oom", "--kb", folder).out.splitlines()
    assert sum(str(folder) in line for line in told) >= 3


def test_a_folder_that_is_not_there_is_one_line(gpuhelp: RunCommand, tmp_path: Path) -> None:
    for command in (["kb", "list"], ["explain", ID], ["check"], []):
        ran = gpuhelp(*command, "--kb", tmp_path / "nowhere", stdin=b"RuntimeError: x\n")
        assert (ran.status, ran.out, ran.err.count("\n")) == (2, "", 1), command
        assert str(tmp_path / "nowhere") in ran.err


def test_more_folders_than_one_are_read(gpuhelp: RunCommand, entries: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    assert ID in gpuhelp("kb", "list", "--kb", empty, "--kb", entries).out


@pytest.mark.parametrize("spelled", [["made-up-failure"], ["MADE_UP_FAILURE"], ["made", "up", "failure"]])
def test_an_entry_is_explained_however_its_id_is_spelled(
    gpuhelp: RunCommand, entries: Path, spelled: list[str]
) -> None:
    ran = gpuhelp("explain", *spelled, "--kb", entries)
    assert (ran.status, ran.err) == (0, "")
    assert ran.out.startswith("■ The made-up engine stopped")


@pytest.mark.parametrize(("language", "title"), TITLES)
def test_an_explanation_comes_in_every_format(
    gpuhelp: RunCommand, entries: Path, language: str, title: str
) -> None:
    argv = ("explain", ID, "--kb", entries, "--lang", language, "--format")
    assert title in gpuhelp(*argv, "text").out
    assert json.loads(gpuhelp(*argv, "json").out)["title"] == title
    markdown = gpuhelp(*argv, "markdown").out
    assert markdown.startswith(f"# {title}\n")
    assert "```\napt-get install driver-<driver.version>\n```" in markdown


@pytest.mark.parametrize("language", ["en", "ko"])
def test_a_checkup_comes_in_every_format(gpuhelp: RunCommand, tmp_path: Path, language: str) -> None:
    facts = {"torch.installed": True, "torch.version": "2.6.0+cpu", "torch.cuda_runtime_version": None,
             "torch.hip_version": None, "driver.version": "550.90.07", "driver.error": None,
             "gpus": [{"index": 0, "name": "NVIDIA L4"}],
             "python.executable": "/home/alice/bin/python"}  # fmt: skip
    path = tmp_path / "env.json"
    path.write_text(json.dumps(facts), encoding="utf-8")
    argv = ("check", "--env", path, "--lang", language, "--format")
    text, data, markdown = gpuhelp(*argv, "text"), gpuhelp(*argv, "json"), gpuhelp(*argv, "markdown")
    assert (text.status, data.status, markdown.status) == (1, 1, 1)
    assert "gpuhelp explain torch-cpu-only-build" in text.out
    assert json.loads(data.out)["problems"][0]["entry"] == "torch-cpu-only-build"
    assert "(`torch-cpu-only-build`)" in markdown.out
    assert "alice" in text.out
    assert "alice" not in markdown.out


def test_a_checkup_without_probes_claims_nothing(gpuhelp: RunCommand) -> None:
    ran = gpuhelp("check", "--no-probes")
    assert ran.status == 0
    assert "✔" not in ran.out


FAILURE = (
    b"user@host: made-up engine libfoo stopped in <b>`bar`</b>\x1b[31m token=hf_abcdefghijklmnopqrstuv\n"
)
AUTHORS = [["try", ID, "-"], ["explain-match", "-"], ["search", "made-up", "engine"], ["search", "qqqxyz"],
           ["coverage"], ["schema"]]  # fmt: skip


@pytest.mark.parametrize("language", ["en", "ko"])
@pytest.mark.parametrize("argv", AUTHORS, ids=" ".join)
def test_the_tools_of_authors_tell_text_json_and_markdown(
    gpuhelp: RunCommand, entries: Path, argv: list[str], language: str
) -> None:
    for form in ("text", "json", "markdown"):
        command = ("kb", *argv, "--kb", entries, "--lang", language, "--format", form)
        ran = gpuhelp(*command, stdin=FAILURE)
        assert (ran.status, ran.err) == (0, ""), form
        assert ran.out.strip()
        assert "\x1b" not in ran.out
        assert "hf_abcdefghij" not in ran.out
        if form == "json":
            assert json.loads(ran.out)["schema_version"] == 1


def test_an_entry_is_tried_on_a_log(gpuhelp: RunCommand, entries: Path) -> None:
    argv = ("kb", "try", ID, "-", "--kb", entries, "--format")
    told = json.loads(gpuhelp(*argv, "json", stdin=FAILURE).out)
    assert told["findings"][0]["entry"] == ID
    assert {(one["entry"], one["line"], one["outcome"]) for one in told["considered"]} == {(ID, 1, "matched")}
    assert f"- `{ID}`, `" in gpuhelp(*argv, "markdown", stdin=FAILURE).out
    nothing = json.loads(gpuhelp(*argv, "json", stdin=b"epoch 1\n").out)
    assert (nothing["findings"], nothing["considered"]) == ([], [])


def test_an_endless_line_is_told_in_part(gpuhelp: RunCommand, entries: Path) -> None:
    log = FAILURE.rstrip() + b" x" * 200_000
    told = json.loads(gpuhelp("kb", "explain-match", "-", "--kb", entries, "--format", "json", stdin=log).out)
    assert all(len(one["text"]) <= 2_000 for one in told["considered"])


@pytest.mark.parametrize("action", ["try", "search"])
def test_an_action_without_what_it_needs_is_a_usage_error(gpuhelp: RunCommand, action: str) -> None:
    ran = gpuhelp("kb", action)
    assert (ran.status, ran.out, ran.err.count("\n")) == (2, "", 1)


@pytest.mark.parametrize("language", ["en", "ko"])
def test_the_help_line_of_kb_names_every_action(gpuhelp: RunCommand, language: str) -> None:
    (line,) = [
        one for one in gpuhelp("--help", "--lang", language).out.splitlines() if one.startswith("  kb ")
    ]
    assert line.split()[-1] == "|".join(KB_ACTIONS)
