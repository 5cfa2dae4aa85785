"""A person's entries extend or replace ours only where they say so; compiled entries are kept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gpuhelp.kb.load import KnowledgeBase, load
from gpuhelp.kb.problems import KnowledgeError, Problem

Dump = Callable[[Any], str]
NAME = "sample-failure.yaml"


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


# entries that extend or replace


def added(entry: dict[str, Any], **parts: Any) -> dict[str, Any]:
    return {"id": entry["id"], "existing": "extend", **parts}


def test_an_entry_of_a_person_may_extend_ours(
    root: Path, tmp_path: Path, entry: dict[str, Any], dump: Dump
) -> None:
    more = {**entry["causes"][1], "id": "no-frob", "weight": 0.2}
    parts = added(entry, match=[{"text": "frobnicator went dry"}], questions=["what is dry"], causes=[more])
    write(tmp_path / "mine" / NAME, parts, dump)
    knowledge = load([tmp_path / "mine"], use_cache=False)
    (signature,) = knowledge.signatures
    found = knowledge.entry("sample-failure")
    assert [pattern.label for pattern in signature.patterns] == [
        entry["match"][0]["text"],
        "frobnicator went dry",
    ]
    assert [cause.id for cause in found.causes] == ["no-flux", "old-flux", "no-frob"]
    assert found.questions.of("en") == [*entry["questions"], "what is dry"]
    assert (title(knowledge), found.source) == (entry["title"], str(tmp_path / "mine"))


def test_a_cause_that_is_extended_stands_in_its_place(
    root: Path, tmp_path: Path, entry: dict[str, Any], dump: Dump
) -> None:
    better = {**entry["causes"][0], "title": "There is no flux at all"}
    write(tmp_path / "mine" / NAME, added(entry, causes=[better]), dump)
    causes = load([tmp_path / "mine"], use_cache=False).entry("sample-failure").causes
    assert [cause.title.of("en") for cause in causes] == ["There is no flux at all", "The flux is old"]


def test_an_addition_may_translate_only_what_it_adds(
    root: Path, tmp_path: Path, entry: dict[str, Any], dump: Dump
) -> None:
    write(tmp_path / "mine" / NAME, added(entry, questions=["what is dry"]), dump)
    write(tmp_path / "mine" / "sample-failure.ko.yaml", {"questions": ["왜 마르나요"]}, dump)
    knowledge = load([tmp_path / "mine"], use_cache=False)
    assert knowledge.skipped == ()
    assert knowledge.entry("sample-failure").questions.of("ko")[-1] == "왜 마르나요"


def test_an_entry_of_a_person_may_replace_ours(
    root: Path, tmp_path: Path, entry: dict[str, Any], dump: Dump
) -> None:
    write(tmp_path / "mine" / NAME, {**entry, "existing": "replace", "title": "Mine is better"}, dump)
    assert title(load([tmp_path / "mine"], use_cache=False)) == "Mine is better"


def test_what_does_not_exist_cannot_be_extended(
    root: Path, tmp_path: Path, entry: dict[str, Any], dump: Dump
) -> None:
    write(tmp_path / "mine" / "other.yaml", {**added(entry), "id": "other"}, dump)
    (problem,) = problems_of(tmp_path / "mine")
    assert (problem.key, problem.message) == ("existing", "there is no entry 'other' to extend")


# compiled entries are kept


def test_only_a_changed_entry_is_compiled_again(
    root: Path, cache: Path, entry: dict[str, Any], dump: Dump, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gpuhelp.kb import build

    compiled: list[str] = []

    def counting(document: Any, *rest: Any) -> Any:
        compiled.append(document.data["id"])
        return compile_entry(document, *rest)

    compile_entry = build.compile_entry
    monkeypatch.setattr(build, "compile_entry", counting)
    load(cache_dir=cache)
    write(root / "entries" / "code" / "other.yaml", {**entry, "id": "other"}, dump)
    load(cache_dir=cache)
    write(root / "entries" / "code" / "other.yaml", {**entry, "id": "other", "title": "Another one"}, dump)
    assert title(load(cache_dir=cache), "other") == "Another one"
    assert compiled == ["sample-failure", "other", "other"]
    assert load(cache_dir=cache).record("other") == load(use_cache=False).record("other")


def test_a_former_store_that_was_altered_costs_no_answer(
    root: Path, cache: Path, entry: dict[str, Any], dump: Dump
) -> None:
    load(cache_dir=cache)
    (store,) = cache.glob("kb-*.jsonl")
    store.write_bytes(store.read_bytes().replace(b"Something failed", b"Something fell  "))
    write(root / "entries" / "code" / "other.yaml", {**entry, "id": "other"}, dump)
    assert title(load(cache_dir=cache)) == entry["title"]


def test_a_store_that_is_altered_under_our_hands_costs_no_answer(
    root: Path, cache: Path, entry: dict[str, Any]
) -> None:
    load(cache_dir=cache)
    (store,) = cache.glob("kb-*.jsonl")
    store.write_bytes(store.read_bytes().replace(b"Something failed", b"Something fell  "))
    assert title(load(cache_dir=cache)) == entry["title"]


def test_a_table_that_entries_are_compiled_with_makes_them_anew(
    root: Path, cache: Path, entry: dict[str, Any], dump: Dump
) -> None:
    spoken = {"message": "spoken"}
    write(root / "entries" / "code" / NAME, {**entry, "match": [*entry["match"], spoken]}, dump)
    for word in ("flux is dry", "flux is low"):
        forms = {"spoken": {"forms": [{"regex": word}]}}
        write(root / "tables" / "messages.yaml", forms, dump)
        (signature,) = load(cache_dir=cache).signatures
        assert signature.patterns[-1].anchors == (word.replace(" ", ""),)


def test_an_entry_that_is_brought_otherwise_tells_its_new_origin(
    root: Path,
    tmp_path: Path,
    cache: Path,
    entry: dict[str, Any],
    dump: Dump,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = write(tmp_path / "mine" / "other.yaml", {**entry, "id": "other"}, dump)
    monkeypatch.setattr("gpuhelp.kb.load.settled", lambda files, now_s: True)
    found = [load([given], cache_dir=cache).entry("other").source for given in (path, path.parent)]
    assert found == [str(path), str(path.parent)]
