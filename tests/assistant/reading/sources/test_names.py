"""Names become places: files, patterns, folders; what is no log is left out, what is unreadable told."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gpuhelp.errors import InputError
from gpuhelp.reading.sources import Notes, names
from gpuhelp.reading.sources.names import Place, may_be_log, natural_key, places_of

Told = Callable[[Notes], "dict[str, str]"]
needs_links = pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run's folder, which is the working folder too."""
    for name in (
        "rank10.log", "rank2.log", "rank1.log", "logs/deep/a.txt", "logs/b.log.gz", "logs/.hidden.log",
        "logs/model.safetensors", "logs/train.py", "logs/config.yaml", "logs/0_docker-json.log",
        "logs/error.json", "logs/config.json", "logs/events.out.tfevents.17.host", "logs/old.tar.gz",
        ".git/config", "__pycache__/x.log", "checkpoint-100/trainer.log", "we[i]rd.log",
    ):  # fmt: skip
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def found(*asked: str, notes: Notes | None = None) -> list[str]:
    return [place.name.replace(os.sep, "/") for place in places_of(asked, notes or Notes())]


def test_a_folder_gives_its_logs_in_natural_order(tree: Path) -> None:
    assert found(".") == [
        "./rank1.log", "./rank2.log", "./rank10.log", "./we[i]rd.log",
        "./logs/0_docker-json.log", "./logs/b.log.gz", "./logs/error.json", "./logs/deep/a.txt",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("rank*.log", ["rank1.log", "rank2.log", "rank10.log"]),
        ("rank?.log", ["rank1.log", "rank2.log"]),
        ("rank[13].log", ["rank1.log"]),
        ("**/*.txt", ["logs/deep/a.txt"]),
        ("**/rank2.log", ["rank2.log"]),
        ("logs/**/*.txt", ["logs/deep/a.txt"]),
        ("logs/**/deep/**", ["logs/deep/a.txt"]),
        ("lo*", ["logs/0_docker-json.log", "logs/b.log.gz", "logs/error.json", "logs/deep/a.txt"]),
        ("logs/*.py", ["logs/train.py"]),  # a pattern says what it wants
    ],
)
def test_a_pattern_that_the_shell_left_alone_is_expanded(
    tree: Path, pattern: str, expected: list[str]
) -> None:
    assert found(pattern) == expected


def test_a_file_that_is_named_like_a_pattern_wins(tree: Path) -> None:
    (tree / "wei.log").write_text("x", encoding="utf-8")
    assert found("we[i]rd.log") == ["we[i]rd.log"]
    assert places_of(["we[i]rd.log"], Notes())[0].is_named


def test_a_file_comes_once_from_patterns_but_as_often_as_it_is_named(tree: Path) -> None:
    assert found("rank1.log", "rank*.log") == ["rank1.log", "rank2.log", "rank10.log"]
    assert found("-", "rank1.log") == ["-", "rank1.log"]


def test_archives_in_folders_are_noted(tree: Path, told: Told) -> None:
    notes = Notes()
    found("logs", notes=notes)
    assert told(notes) == {"note.archive_in_folder": os.path.join("logs", "old.tar.gz")}  # noqa: PTH118


@needs_links
def test_links_are_followed_and_circles_end(tree: Path) -> None:
    (tree / "logs" / "up").symlink_to(tree, target_is_directory=True)
    (tree / "logs" / "latest.log").symlink_to(tree / "rank1.log")
    (tree / "logs" / "gone.log").symlink_to(tree / "nothing")
    assert sum(name.endswith(("rank1.log", "latest.log")) for name in found(".")) == 1
    assert len(found("logs/**/*.log")) == len(set(found("logs/**/*.log")))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_pipes_in_folders_are_not_read(tree: Path) -> None:
    os.mkfifo(tree / "logs" / "pipe.log")
    assert not [name for name in (*found("logs"), *found("logs/*")) if "pipe" in name]


def test_a_folder_of_very_many_files_is_cut_with_a_note(
    tree: Path, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(names, "MOST_FILES", 2)
    notes = Notes()
    assert found(".", notes=notes) == ["./rank1.log", "./rank2.log"]
    assert told(notes) == {"note.too_many": "."}


@pytest.mark.parametrize(
    ("asked", "line"),
    [
        ("none.log", "no such file"),
        ("no*thing", "no file has such a name"),
        ("**/no*thing", "no file has such a name"),
        ("checkpoint-100/empty", "holds no log files"),
        ("a\0b", "cannot be read"),
        ("x" * 5000, "cannot be read"),
        ("", "no such file"),
    ],
)
def test_a_name_behind_which_there_is_nothing_is_refused(tree: Path, asked: str, line: str) -> None:
    (tree / "checkpoint-100" / "empty").mkdir()
    with pytest.raises(InputError, match=line) as caught:
        found("rank1.log", asked, asked)
    assert len(caught.value.sayings) == 2


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs device files")
def test_devices_are_refused_but_the_empty_one() -> None:
    with pytest.raises(InputError, match="is a device"):
        found("/dev/zero")
    assert found(os.devnull) == [os.devnull]


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="every folder is readable here")
def test_a_folder_without_rights_is_refused_or_noted(tree: Path, told: Told) -> None:
    (tree / "logs").chmod(0)
    with pytest.raises(InputError, match="not readable"):
        found("logs")
    notes = Notes()
    assert len(found(".", notes=notes)) == 4
    assert told(notes) == {"note.no_rights": "./logs"}


def test_a_path_in_the_home_folder_is_found(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tree))
    monkeypatch.setenv("USERPROFILE", str(tree))
    assert len(found("~/rank1.log")) == 1
    assert len(found("~/rank*.log")) == 3


@pytest.mark.parametrize(
    ("path", "is_log"),
    [
        ("train.log", True), ("slurm-1.out", True), ("rank0.log.zst", True), ("stdout", True),
        ("nohup.out", True), ("run.jsonl", True), ("abc-json.log", True), ("notebook.ipynb", True),
        ("a.log.1", True), (".bashrc", False), ("model.PT", False), ("a.tar", False), ("a.tgz", False),
        ("run/.git/x", False), ("x/__MACOSX/._a.log", False), ("checkpoint-5/a.log", False),
        ("tokenizer.json", False), ("a.yaml", False),
    ],
)  # fmt: skip
def test_what_nobody_named_is_read_only_where_it_may_be_a_log(path: str, is_log: bool) -> None:
    assert may_be_log(path) is is_log


def test_numbers_in_names_sort_by_value() -> None:
    shuffled = ["rank10", "rank2", "rank02", "rank", "a1b10", "a1b9", "1", "10"]
    assert sorted(shuffled, key=natural_key) == [
        "1",
        "10",
        "a1b9",
        "a1b10",
        "rank",
        "rank2",
        "rank02",
        "rank10",
    ]


def test_a_hostile_pattern_costs_no_more_than_its_length(tree: Path) -> None:
    started = time.perf_counter()
    with pytest.raises(InputError):
        found("/".join(["**"] * 60) + "/x")
    assert time.perf_counter() - started < 2


def test_places_say_what_was_named(tree: Path) -> None:
    deep = os.path.join("logs", "deep", "a.txt")  # noqa: PTH118
    assert places_of(["rank1.log", "rank?.log", "logs/deep"], Notes()) == (
        Place("rank1.log"),
        Place("rank2.log", is_named=False),
        Place(deep, is_named=False, in_folder=True),
    )


@needs_links
def test_a_file_behind_two_folders_of_a_pattern_comes_once(tree: Path) -> None:
    (tree / "logs" / "up").symlink_to(tree / "logs")
    (tree / "again").symlink_to(tree / "logs")
    assert [name for name in found("[al]*") if name.endswith("/a.txt")] == ["again/deep/a.txt"]


def test_all_files_of_a_pattern_are_counted_together(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in ("run1", "run2", "run3"):
        (tree / folder).mkdir()
        for name in ("a.log", "b.log"):
            (tree / folder / name).write_text(folder + name)
    monkeypatch.setattr(names, "MOST_FILES", 3)
    assert found("run*") == ["run1/a.log", "run1/b.log", "run2/a.log"]
