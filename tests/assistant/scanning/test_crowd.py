"""Patterns that stand everywhere and match nowhere are tried together, and lose no match by it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpuhelp.kb.load import KnowledgeBase, load
from gpuhelp.kb.regexes import regex
from gpuhelp.scanning import crowd
from gpuhelp.scanning.crowd import Crowd, around
from gpuhelp.scanning.engine import crowd_gate_for
from gpuhelp.scanning.scanner import Hit, Scanner

pytest.importorskip("hyperscan", reason="without hyperscan there is no crowd")
PLAN = {"patterns": [[r"(?im)exit\s+code\s+-9", ["exit code"], 0], [r"(?im)killed\s+by", ["killed"], 0]]}
NOISE = b"step 1 done, exit code 0, 0 workers killed\n" * 2000


@pytest.fixture(scope="module")
def knowledge() -> KnowledgeBase:
    return load()


def test_what_an_expression_matches_the_gate_tells_as_well(knowledge: KnowledgeBase) -> None:
    """Each shipped pattern as hyperscan has it, over each shipped example and a text of several scripts."""
    expressions = {n: row[0] for n, row in enumerate(knowledge.scan_plan["patterns"])}
    gate = crowd_gate_for(expressions)
    assert gate is not None
    examples = [example.text for entry_id in knowledge.ids for example in knowledge.entry(entry_id).examples]
    matched = 0
    for text in [*examples, *(example.replace(" ", "  ") for example in examples[::5])]:
        data = text.encode()
        told = {number for number, _ in gate.places(data)}
        expected = {number for number, expression in expressions.items() if regex(expression).search(data)}
        assert expected <= told
        matched += len(expected)
    assert matched > 800


def test_runs_of_any_sign_are_counted_in_signs_not_bytes() -> None:
    gate = crowd_gate_for(
        {7: r"(?im)CUDA[^\n]{0,10}실패", 8: r"(?im)[가-힣。]+끝", 9: r"(?im)a[^。]b", 10: "(?m)오류?X"}
    )
    assert gate is not None
    text = "CUDA 초기화가 완전히실패 그리고。끝 a가b 오X".encode()
    assert {number for number, _ in gate.places(text)} == {7, 8, 9, 10}


def test_a_pattern_that_is_fruitless_often_joins_and_is_still_found() -> None:
    scanner = Scanner(PLAN)
    text = NOISE + b"worker 3 was killed by signal 9, exit code -9\n"
    alone = Scanner(PLAN).hits(text[-50:])
    for _ in range(3):
        scanner.hits(NOISE)
    assert scanner._crowd.members == {0, 1}
    shift = len(text) - 50
    assert scanner.hits(text) == [Hit(hit.pattern, hit.start + shift, hit.end + shift) for hit in alone]


def test_a_pattern_that_matches_does_not_join() -> None:
    scanner = Scanner(PLAN)
    for _ in range(3):
        scanner.hits(b"worker killed by signal 9\n" * 2000)
    assert scanner._crowd.members == frozenset()


def test_the_crowd_is_remembered_for_the_next_time(tmp_path: Path) -> None:
    scanner = Scanner(PLAN, cache_dir=tmp_path)
    scanner.hits(NOISE)
    assert Scanner(PLAN, cache_dir=tmp_path)._crowd.members == scanner._crowd.members == {0, 1}


@pytest.mark.parametrize("content", ["", "{", "[7]", "[-1]", '["a"]', "{}", "[true]", "null", "[" * 100_000])
def test_a_broken_memory_is_forgotten(tmp_path: Path, content: str) -> None:
    Scanner(PLAN, cache_dir=tmp_path).hits(NOISE)
    (path,) = tmp_path.glob("crowd-*.json")
    assert json.loads(path.read_text()) == [0, 1]
    path.write_text(content)
    assert Scanner(PLAN, cache_dir=tmp_path)._crowd.members == frozenset()


def test_without_hyperscan_every_pattern_is_tried_for_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crowd, "crowd_gate_for", lambda *_: None)
    noisy = Crowd(["(?im)exit code -9"])
    noisy.note(0, 100_000)
    assert noisy.members == frozenset()
    assert list(noisy.thinned({0: [9]}, memoryview(b"exit code"), lambda _: 99)) == [0]


def test_stretches_around_places_are_joined_where_they_touch() -> None:
    assert list(around([5], 10, 100)) == [(0, 15)]
    assert list(around([5, 20, 60], 10, 65)) == [(0, 30), (50, 65)]
    assert list(around([5, 26], 10, 100)) == [(0, 15), (16, 36)]
