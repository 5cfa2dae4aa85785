"""Loading finds every file, refuses what clashes, and never answers from a cache of other contents."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gpuhelp.kb import load as kb_load
from gpuhelp.kb.load import KnowledgeBase, load
from gpuhelp.kb.problems import KnowledgeError, Problem
from gpuhelp.kb.store import pack, unpack

Dump = Callable[[Any], str]
NAME = "sample-failure.yaml"


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> None:
    """A minute from now: files written by the test have been at rest."""
    monkeypatch.setattr(kb_load, "time", SimpleNamespace(time=lambda: time.time() + 60))


def write(path: Path, data: Any, dump: Dump) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(dump(data), "utf-8")
    return path


def title(knowledge: KnowledgeBase, entry_id: str = "sample-failure") -> str:
    return str(knowledge.entry(entry_id).title.of("en"))


def problems_of(*extra: Path) -> tuple[Problem, ...]:
    """Why entries of these folders, or the folders themselves, are not taken."""
    try:
        return load(extra, use_cache=False).skipped
    except KnowledgeError as error:
        return error.problems


def stores(cache: Path) -> list[Path]:
    return sorted(cache.glob("kb-*.jsonl"))


# the cache


def test_without_a_cache_nothing_is_written(root: Path, cache: Path) -> None:
    assert load(cache_dir=cache, use_cache=False).ids == ("sample-failure",)
    assert not cache.exists()


def test_the_second_load_is_answered_from_the_cache(root: Path, cache: Path, later: None) -> None:
    assert load(cache_dir=cache).table("gpus") == {"a": 1}
    (store,) = stores(cache)
    sections = unpack(store.read_bytes())
    marked = {name: sections.read(name) for name in sections.names("")} | {"table/gpus": "from the cache"}
    store.write_bytes(pack(marked))
    assert load(cache_dir=cache).table("gpus") == "from the cache"


@pytest.mark.usefixtures("later")
@pytest.mark.parametrize("keep_times", [False, True])
def test_a_changed_byte_is_never_answered_from_the_old_cache(
    root: Path, cache: Path, keep_times: bool
) -> None:
    path = root / "entries" / "code" / NAME
    text = path.read_text("utf-8")
    before = path.stat()
    for number in range(8):
        path.write_text(text.replace("Something failed", f"Something {number} fell"), "utf-8")
        if keep_times:
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert f"Something {number} fell" in title(load(cache_dir=cache))
        time.sleep(0.02)  # more than a tick of the file system's clock


def test_changes_within_one_tick_of_the_clock_are_seen(root: Path, cache: Path) -> None:
    path = root / "entries" / "code" / NAME
    text = path.read_text("utf-8")
    for number in range(8):
        path.write_text(text.replace("Something failed", f"Something {number} fell"), "utf-8")
        os.utime(path, ns=(10**18, 10**18))
        assert f"Something {number} fell" in title(load(cache_dir=cache))


@pytest.mark.usefixtures("later")
def test_files_that_come_and_go_are_seen(
    root: Path, cache: Path, entry: dict[str, Any], korean: dict[str, Any], dump: Dump
) -> None:
    load(cache_dir=cache)
    other = write(root / "entries" / "code" / "other.yaml", {**entry, "id": "other"}, dump)
    assert load(cache_dir=cache).ids == ("other", "sample-failure")
    other.unlink()
    assert load(cache_dir=cache).ids == ("sample-failure",)
    write(root / "entries" / "code" / "sample-failure.ko.yaml", korean, dump)
    assert load(cache_dir=cache).entry("sample-failure").title.of("ko") == korean["title"]


GARBAGE = [b"", b"garbage", b"\x80\x04\x95N.", b"[" * 100_000, b"{}\n", b'{"format": 1}\n', None]


@pytest.mark.usefixtures("later")
@pytest.mark.parametrize("garbage", GARBAGE, ids=lambda garbage: repr(garbage)[:16])
def test_a_broken_cache_costs_no_answer(root: Path, cache: Path, garbage: bytes | None) -> None:
    load(cache_dir=cache)
    (store,) = stores(cache)
    good = store.read_bytes()
    store.write_bytes(garbage if garbage is not None else good[: len(good) // 2])
    assert load(cache_dir=cache).ids == ("sample-failure",)
    assert store.read_bytes() == good


LEDGERS = [*GARBAGE[:4], b"[]", b'{"x": 1}', b'"text"', b"null"]


@pytest.mark.usefixtures("later")
@pytest.mark.parametrize("garbage", LEDGERS, ids=lambda garbage: repr(garbage)[:16])
def test_a_broken_ledger_costs_no_answer(root: Path, cache: Path, garbage: bytes) -> None:
    load(cache_dir=cache)
    ledger = cache / "kb-ledger.json"
    assert ledger.is_file()
    ledger.write_bytes(garbage)
    assert load(cache_dir=cache).ids == ("sample-failure",)
    assert len(json.loads(ledger.read_bytes())) >= 1


@pytest.mark.usefixtures("later")
@pytest.mark.parametrize("value", ["", "../kb-other", "0" * 400, 5, None, ["a"]])
def test_a_ledger_that_names_no_store_costs_no_answer(root: Path, cache: Path, value: object) -> None:
    load(cache_dir=cache)
    ledger = cache / "kb-ledger.json"
    ledger.write_text(json.dumps(dict.fromkeys(json.loads(ledger.read_bytes()), value)))
    assert load(cache_dir=cache).ids == ("sample-failure",)


def test_a_cache_folder_that_cannot_be_one_costs_no_answer(root: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    for folder in (tmp_path / "file", tmp_path / "file" / "below", Path("/proc/self")):
        assert load(cache_dir=folder).ids == ("sample-failure",)
    assert (tmp_path / "file").read_text() == "not a folder"


def test_a_folder_in_the_place_of_the_cache_file_costs_no_answer(root: Path, cache: Path) -> None:
    load(cache_dir=cache)
    (store,) = stores(cache)
    store.unlink()
    (store / "inside").mkdir(parents=True)
    assert load(cache_dir=cache).ids == ("sample-failure",)


def test_faulty_entries_leave_no_cache(root: Path, cache: Path, entry: dict[str, Any], dump: Dump) -> None:
    write(root / "entries" / "code" / NAME, {**entry, "layer": "attic"}, dump)
    for _ in range(2):
        with pytest.raises(KnowledgeError):
            load(cache_dir=cache)
    assert stores(cache) == []


# folders given by the person


def test_entries_of_a_folder_are_added_whatever_its_layout(
    root: Path, tmp_path: Path, entry: dict[str, Any], korean: dict[str, Any], dump: Dump
) -> None:
    mine = tmp_path / "mine"
    write(mine / "top-level.yaml", {**entry, "id": "top-level"}, dump)
    write(mine / "a" / "b" / "deep-one.yaml", {**entry, "id": "deep-one"}, dump)
    write(mine / "a" / "b" / "deep-one.ko.yaml", korean, dump)
    write(mine / "c" / "b" / "deep-two.yaml", {**entry, "id": "deep-two"}, dump)
    (mine / "README.md").write_text("id: no entry")
    (mine / "old.yaml.bak").write_text("a: [")
    knowledge = load([mine], use_cache=False)
    assert knowledge.ids == ("deep-one", "deep-two", "sample-failure", "top-level")
    assert knowledge.entry("deep-one").origin == str(mine / "a" / "b" / "deep-one.yaml")
    assert knowledge.entry("deep-one").title.of("ko") == korean["title"]
    assert knowledge.entry("deep-two").title.of("ko") == entry["title"]
    assert load([tmp_path / "mine" / "a", mine / "c"], use_cache=False).ids[:2] == ("deep-one", "deep-two")


@pytest.mark.parametrize("place", ["code", "memory", "", "entries/code"])
def test_an_id_that_exists_is_refused_with_both_places(
    root: Path, tmp_path: Path, entry: dict[str, Any], dump: Dump, place: str
) -> None:
    path = write(tmp_path / "mine" / place / NAME, {**entry, "title": "Mine is better"}, dump)
    (problem,) = problems_of(tmp_path / "mine")
    assert (problem.path, problem.key, problem.line) == (str(path), "id", 1)
    assert problem.message == f"'sample-failure' exists already in entries/code/{NAME}"
    assert problem.hint == "choose another id, or add `existing: extend` or `existing: replace`"
    assert title(load([tmp_path / "mine"], use_cache=False)) == entry["title"]


def test_a_path_like_a_shipped_one_replaces_nothing(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entry: dict[str, Any], dump: Dump
) -> None:
    write(tmp_path / "here" / "entries" / "code" / NAME, {**entry, "title": "Mine is better"}, dump)
    monkeypatch.chdir(tmp_path / "here")
    (problem,) = problems_of(Path("entries"))
    assert "exists already" in problem.message


def test_a_translation_of_a_folder_does_not_translate_a_shipped_entry(
    root: Path, tmp_path: Path, korean: dict[str, Any], dump: Dump
) -> None:
    path = write(tmp_path / "mine" / "code" / "sample-failure.ko.yaml", korean, dump)
    (problem,) = problems_of(tmp_path / "mine")
    assert (problem.path, problem.message) == (str(path), f"there is no {NAME} beside it")


def test_two_folders_may_not_bring_the_same_id(
    root: Path, tmp_path: Path, entry: dict[str, Any], dump: Dump
) -> None:
    first = write(tmp_path / "one" / "x" / "mine.yaml", {**entry, "id": "mine"}, dump)
    second = write(tmp_path / "two" / "x" / "mine.yaml", {**entry, "id": "mine"}, dump)
    (problem,) = problems_of(tmp_path / "one", tmp_path / "two")
    assert problem.path == str(second)
    assert str(first) in problem.message


def test_a_folder_given_twice_counts_once(
    root: Path, tmp_path: Path, entry: dict[str, Any], dump: Dump
) -> None:
    write(tmp_path / "mine" / "x" / "mine.yaml", {**entry, "id": "mine"}, dump)
    folders = [
        tmp_path / "mine",
        tmp_path / "mine" / "x",
        tmp_path / "mine" / ".." / "mine",
        root / "entries",
    ]
    assert load(folders, use_cache=False).ids == ("mine", "sample-failure")


def test_a_folder_beside_ours_is_named_by_its_own_path(
    root: Path, tmp_path: Path, entry: dict[str, Any], dump: Dump
) -> None:
    path = write(tmp_path / "kb-mine" / "bad.yaml", {**entry, "id": "bad", "layer": "attic"}, dump)
    (problem,) = problems_of(tmp_path / "kb-mine")
    assert problem.path == str(path)


def test_a_folder_brings_no_tables(root: Path, tmp_path: Path) -> None:
    (tmp_path / "mine" / "tables").mkdir(parents=True)
    (tmp_path / "mine" / "tables" / "gpus.yaml").write_text("a: 2\n")
    assert {problem.path for problem in problems_of(tmp_path / "mine")} == {
        str(tmp_path / "mine" / "tables" / "gpus.yaml")
    }


@pytest.mark.parametrize("name", ["absent", "a-file"])
def test_a_folder_that_is_none_is_told(root: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / "a-file").write_text("x")
    (problem,) = problems_of(tmp_path / name)
    assert (problem.path, problem.message) == (str(tmp_path / name), "no such folder of entries")


def test_every_file_that_cannot_be_read_is_told(root: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    for name in ("a.yaml", "b.yaml"):
        (tmp_path / "mine" / name).symlink_to(tmp_path / "nowhere")
    found = problems_of(tmp_path / "mine")
    assert [Path(problem.path).name for problem in found] == ["a.yaml", "b.yaml"]
    assert all("cannot be read" in problem.message and problem.hint for problem in found)


def test_a_folder_that_links_to_itself_has_an_end(
    root: Path, tmp_path: Path, entry: dict[str, Any], dump: Dump
) -> None:
    write(tmp_path / "mine" / "mine.yaml", {**entry, "id": "mine"}, dump)
    (tmp_path / "mine" / "again").symlink_to(tmp_path / "mine", target_is_directory=True)
    assert load([tmp_path / "mine"], use_cache=False).ids == ("mine", "sample-failure")


@pytest.mark.usefixtures("later")
def test_each_set_of_folders_has_its_own_cache(
    root: Path, tmp_path: Path, cache: Path, entry: dict[str, Any], dump: Dump
) -> None:
    path = write(tmp_path / "mine" / "mine.yaml", {**entry, "id": "mine"}, dump)
    for _ in range(2):
        assert load([tmp_path / "mine"], cache_dir=cache).ids == ("mine", "sample-failure")
        assert load(cache_dir=cache).ids == ("sample-failure",)
    assert len(stores(cache)) == 2
    write(path, {**entry, "id": "mine", "title": "A title that changed"}, dump)
    assert title(load([tmp_path / "mine"], cache_dir=cache), "mine") == "A title that changed"


# what a knowledge base hands out


def test_what_does_not_exist_is_a_key_error(root: Path) -> None:
    knowledge = load(use_cache=False)
    for look in (knowledge.entry, knowledge.record, knowledge.table):
        with pytest.raises(KeyError):
            look("no-such-thing")
    assert knowledge.rows("advice") == ()
    assert knowledge.table_names == ("gpus",)


def test_only_signatures_whose_anchors_stand_in_a_text_are_near(
    root: Path, entry: dict[str, Any], dump: Dump
) -> None:
    write(
        root / "entries" / "code" / "loose.yaml",
        {**entry, "id": "loose", "match": [{"exception": "[A-Z]*"}]},
        dump,
    )
    knowledge = load(use_cache=False)
    assert [s.id for s in knowledge.signatures] == ["loose", "sample-failure"]
    near = knowledge.signatures_near("thefrobnicatorranoutofflux", "thefrobnicatorranoutofflux".__contains__)
    assert [s.id for s in near] == ["loose", "sample-failure"]
    assert [s.id for s in knowledge.signatures_near("", lambda anchor: False)] == ["loose"]


def test_a_store_made_by_other_code_is_not_read(root: Path, cache: Path) -> None:
    kb_load.load(cache_dir=cache)
    with (root / "compile.py").open("a") as file:
        file.write("# another version\n")
    kb_load.load(cache_dir=cache)
    assert len(list(cache.glob("kb-*.jsonl"))) == 2


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
def test_what_is_no_file_is_named_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.yaml")
    (tmp_path / "b.yaml").symlink_to("/dev/zero")
    assert [problem.message for problem in problems_of(tmp_path)] == ["cannot be read: not a file"] * 2


def test_a_file_without_end_is_read_only_so_far(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes(b"")
    os.truncate(tmp_path / "a.yaml", 1 << 40)
    (problem,) = problems_of(tmp_path)
    assert "longer than" in problem.message


def test_a_folder_whose_name_is_too_long_is_no_folder() -> None:
    with pytest.raises(KnowledgeError, match="no such folder"):
        load([Path("a" * 5000)], use_cache=False)
