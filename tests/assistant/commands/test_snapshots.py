"""`gpuhelp env` makes what `--env` reads; whatever else is in such a file costs one line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

RunCommand = Callable[..., Any]
EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
FAILURE = b"RuntimeError: made-up engine libfoo stopped in bar\n"
FACTS = {"driver.version": "450.80.02", "gpus": [{"index": 0, "memory_free_bytes": 1048576}]}
FULL = {"schema_version": 1, "taken_at": "2026-01-01T00:00:00+00:00", "facts": FACTS, "probes": []}


def written(folder: Path, document: object) -> Path:
    path = folder / "env.json"
    text = document if isinstance(document, str) else json.dumps(document)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "document", [FULL, FACTS, {**FULL, "facts": {**FACTS, "unheard.of": 1}}], ids=["full", "bare", "newer"]
)
def test_facts_of_a_snapshot_decide(
    gpuhelp: RunCommand, entries: Path, tmp_path: Path, document: object
) -> None:
    argv = ("--env", written(tmp_path, document), "--kb", entries, "--format", "json")
    data = json.loads(gpuhelp(*argv, stdin=FAILURE).out)
    verdicts = {cause["id"]: cause["verdict"] for cause in data["findings"][0]["causes"]}
    assert verdicts == {"old-driver": "confirmed", "little-memory": "confirmed", "bad-luck": "possible"}
    assert data["facts"]["driver.version"] == {"value": "450.80.02", "source": "snapshot"}


def test_with_a_snapshot_this_machine_is_not_looked_at(
    gpuhelp: RunCommand, entries: Path, tmp_path: Path
) -> None:
    argv = ("--env", written(tmp_path, FULL), "--kb", entries, "--format", "json")
    data = json.loads(gpuhelp(*argv, stdin=FAILURE).out)
    assert set(data["facts"]) == set(FACTS)
    assert all(probe["status"] == "skipped" for probe in data["probes"])


@pytest.mark.parametrize(
    ("document", "told"),
    [
        ("{", "this is not JSON"),
        ("", "this is not JSON"),
        ("[1, 2]", "a JSON object is expected"),
        ({"schema_version": 99, "facts": {}}, "schema version 99"),
        ({"schema_version": 1, "facts": []}, "`facts` has to be an object"),
        ({"driver.version": 550}, "driver.version has to be text, not a number"),
        ({"gpus": "none"}, "gpus has to be list of records"),
        ({"gpus": [1]}, "gpus[0] has to be an object"),
        ({"os.wsl": 1}, "os.wsl has to be true or false"),
        ({"a": 1}, "no fact in it has a name that gpuhelp knows"),
        ("[" * 100_000, "this is not JSON"),
    ],
)
@pytest.mark.parametrize("command", [["check"], ["env"], []], ids=["check", "env", "diagnose"])
def test_a_snapshot_that_cannot_be_used_costs_one_line(
    gpuhelp: RunCommand, tmp_path: Path, document: object, told: str, command: list[str]
) -> None:
    path = written(tmp_path, document)
    ran = gpuhelp(*command, "--env", path, stdin=FAILURE)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith(f"{path}: ")
    assert told in ran.err
    assert ran.err.count("\n") == 1


def test_a_snapshot_that_is_a_folder_or_no_text_costs_one_line(gpuhelp: RunCommand, tmp_path: Path) -> None:
    binary = tmp_path / "env.json"
    binary.write_bytes(b"\xff\xfe\x00\xd8")
    for path in (tmp_path, binary):
        ran = gpuhelp("--env", path, stdin=FAILURE)
        assert (ran.status, ran.err.count("\n")) == (2, 1)
        assert "cannot be read" in ran.err


def test_a_snapshot_of_windows_with_a_byte_order_mark_is_read(gpuhelp: RunCommand, tmp_path: Path) -> None:
    path = written(tmp_path, "\ufeff" + json.dumps(FULL))
    assert gpuhelp("check", "--env", path).err == ""


def test_a_snapshot_of_this_machine_is_read_again(gpuhelp: RunCommand, entries: Path, tmp_path: Path) -> None:
    taken = gpuhelp("env")
    snapshot = json.loads(taken.out)
    assert taken.status == 0
    assert list(snapshot) == ["schema_version", "taken_at", "facts", "probes"]
    assert "os.platform" in snapshot["facts"]
    ran = gpuhelp("--env", written(tmp_path, taken.out), "--kb", entries, "--format", "json", stdin=FAILURE)
    facts = json.loads(ran.out)["facts"]
    assert ran.status == 1
    assert {name: fact["value"] for name, fact in facts.items()} == snapshot["facts"]


def test_a_snapshot_holds_no_names(gpuhelp: RunCommand, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("USER", "alice")
    ran = gpuhelp("env", environ={"VIRTUAL_ENV": "/home/alice/venv", "USER": "alice"})
    assert json.loads(ran.out)["facts"]["env.VIRTUAL_ENV"] == "/home/<user>/venv"
    assert "alice" not in ran.out


@pytest.mark.parametrize(("language", "told"), [("en", "more names are known"), ("ko", "확인된 이름이")])
def test_a_snapshot_can_be_read_by_people(gpuhelp: RunCommand, language: str, told: str) -> None:
    ran = gpuhelp("env", "--format", "text", "--lang", language, environ={"CUDA_VISIBLE_DEVICES": "0,1"})
    assert ran.status == 0
    assert "env.CUDA_VISIBLE_DEVICES  0,1\n" in ran.out
    assert told in ran.out
    assert len(ran.out.splitlines()) < 80


def test_without_probes_a_snapshot_is_empty_and_says_why(gpuhelp: RunCommand) -> None:
    snapshot = json.loads(gpuhelp("env", "--no-probes").out)
    assert snapshot["facts"] == {}
    assert {probe["status"] for probe in snapshot["probes"]} == {"skipped"}


def test_a_snapshot_given_is_told_again(gpuhelp: RunCommand, tmp_path: Path) -> None:
    ran = gpuhelp("env", "--env", written(tmp_path, FULL), "--format", "text")
    assert ran.out == "driver.version  450.80.02\ngpus  1\n"


def test_the_example_of_the_readme_is_confirmed_by_a_snapshot(gpuhelp: RunCommand, tmp_path: Path) -> None:
    facts = {"torch.version": "2.5.1+cu124", "torch.installed": True, "driver.cuda_api_version": "12.8"}
    path = written(tmp_path, facts)
    ran = gpuhelp(EXAMPLES / "no-kernel-image.log", "--env", path, "--format", "json")
    assert json.loads(ran.out)["findings"][0]["causes"][0]["verdict"] == "confirmed"
