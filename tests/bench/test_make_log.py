"""The generator of big logs: healthy without plants, each planted failure at its place and found there."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from gpuhelp.diagnosis import Status, diagnose
from gpuhelp.kb.load import KnowledgeBase, load

MEGABYTE = 1 << 20
PLANTED_BYTES = MEGABYTE
"""Of a log with one failure: far more than what is read whole."""
ADVICE = {"gpu-underused", "tf32-disabled"}
"""Entries whose texts are warnings of a run that is slow but goes on: no failure in a long log."""


def _load_module() -> ModuleType:
    path = Path(__file__).resolve().parent / "make_log.py"
    spec = importlib.util.spec_from_file_location("gpuhelp_bench_make_log", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


make_log = _load_module()
KNOWLEDGE = load(use_cache=False)
PLANTABLE = tuple(entry for entry in KNOWLEDGE.ids if entry not in ADVICE)
FAILURES = make_log.shipped_failures(len(PLANTABLE), PLANTABLE, knowledge=KNOWLEDGE)


@pytest.fixture
def knowledge() -> KnowledgeBase:
    return KNOWLEDGE


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is cached lies in a folder of the test, not in the person's home."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_a_log_without_plants_is_healthy(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    assert make_log.make_log(log, MEGABYTE) == ()
    assert MEGABYTE - 4096 < log.stat().st_size <= MEGABYTE
    command = [sys.executable, "-m", "gpuhelp", str(log), "--no-probes", "--lang", "en"]
    environ = {**os.environ, "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(command, capture_output=True, timeout=60, check=False, env=environ)
    assert (done.returncode, done.stderr) == (0, b""), done.stdout.decode()
    assert done.stdout.startswith(b"No failure found")


@pytest.mark.parametrize("seed", [2, 3])
def test_other_seeds_give_other_healthy_logs(tmp_path: Path, knowledge: KnowledgeBase, seed: int) -> None:
    log, first = tmp_path / "train.log", tmp_path / "first.log"
    make_log.make_log(log, 100_000, seed=seed)
    make_log.make_log(first, 100_000)
    assert log.read_bytes() != first.read_bytes()
    assert diagnose([log], knowledge=knowledge).status is Status.HEALTHY


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    one, other = tmp_path / "one.log", tmp_path / "other.log"
    planted = make_log.make_log(one, 50_000, seed=7, failures=FAILURES[:3])
    assert make_log.make_log(other, 50_000, seed=7, failures=FAILURES[:3]) == planted
    assert one.read_bytes() == other.read_bytes()


def test_every_entry_that_programs_print_can_be_planted(knowledge: KnowledgeBase) -> None:
    planted = {failure.entry for failure in FAILURES}
    printed = {
        entry
        for entry in PLANTABLE
        if any(make_log.is_log_text(example.text) for example in knowledge.entry(entry).examples)
    }
    assert planted == printed
    assert len(planted) > 150


@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: failure.entry)
def test_a_planted_failure_is_found_at_its_place(
    tmp_path: Path, knowledge: KnowledgeBase, failure: tuple[str, str]
) -> None:
    log = tmp_path / "train.log"
    (planted,) = make_log.make_log(log, PLANTED_BYTES, seed=5, failures=[failure])
    finding = diagnose([log], knowledge=knowledge).findings[0]
    assert finding.entry.id == planted.entry == failure[0]
    assert all(planted.first_line <= shown.line <= planted.last_line for shown in finding.evidence)
    assert {shown.rank for shown in finding.evidence} == {str(planted.rank)}


def test_the_manifest_tells_where_each_failure_stands(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    manifest = make_log.make_log(log, 200_000, failures=FAILURES)
    data = log.read_bytes()
    lines = data.decode().split("\n")
    assert [planted.entry for planted in manifest] == [failure.entry for failure in FAILURES]
    for planted, failure in zip(manifest, FAILURES, strict=True):
        said = lines[planted.first_line - 1 : planted.last_line]
        assert data[: planted.offset].count(b"\n") == planted.first_line - 1
        assert data[planted.offset :].startswith(f"[rank{planted.rank}]: 2026-03-01 ".encode())
        assert [line.partition(" - trainer - ERROR - ")[2] for line in said] == failure.text.splitlines()


def test_failures_are_spread_over_several_chunks(tmp_path: Path) -> None:
    size = 3 * make_log.CHUNK_BYTES
    manifest = make_log.make_log(tmp_path / "train.log", size, failures=FAILURES[:6])
    assert [planted.offset * 6 // size for planted in manifest] == [0, 1, 2, 3, 4, 5]


def test_numbers_vary_from_chunk_to_chunk_and_the_clock_goes_on(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    make_log.make_log(log, 2 * make_log.CHUNK_BYTES)
    lines = log.read_text(encoding="utf-8").split("\n")
    told = [line.partition(" - trainer - ")[0][-23:-4] for line in lines if " - trainer - " in line]
    assert told == sorted(told)
    assert told[-1] > "2026-03-01 00:01:50"
    assert len(set(lines)) > 0.8 * len(lines)


@pytest.mark.parametrize(
    ("text", "size"),
    [("64K", 65_536), ("12.4M", 13_002_342), ("1G", 1 << 30), ("1gb", 1 << 30), ("700", 700)],
)
def test_a_size_is_read(text: str, size: int) -> None:
    assert make_log.size_of(text) == size


@pytest.mark.parametrize("text", ["", "big", "-1M", "1T", "1.M"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a size"):
        make_log.size_of(text)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("ValueError: bad shape\n", True),
        ("NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.\n", True),
        ("how do I fix this ValueError in my loop", False),
        ("왜 이런 에러가 나나요", False),
        ("[rank0]: ValueError: bad shape\n", False),
        ("$ python train.py\nValueError: bad shape\n", False),
        ("", False),
    ],
)
def test_log_texts_are_told_from_questions_and_wrapped_ones(text: str, told: bool) -> None:
    assert make_log.is_log_text(text) is told


def test_the_command_prints_one_object_for_each_failure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "train.log"
    assert make_log.main([str(log), "--size", "30K", "--plant", "2", "--ids", "cuda-oom,nccl-timeout"]) == 0
    assert [line.split('"')[3] for line in capsys.readouterr().out.splitlines()] == [
        "cuda-oom",
        "nccl-timeout",
    ]
