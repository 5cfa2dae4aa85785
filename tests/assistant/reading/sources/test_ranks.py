"""Names of files tell ranks: by a word, by torchrun's folders, or as a set."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuhelp.reading.sources.ranks import rank_of_name, ranks_of_names


@pytest.mark.parametrize(
    ("name", "rank"),
    [
        ("rank3.log", "3"),
        ("rank_3", "3"),
        ("rank-03.out", "3"),
        ("log.rank3", "3"),
        ("rank000.log", "0"),
        ("train_rank12.log.gz", "12"),
        ("Rank7.txt", "7"),
        ("global_rank5.log", "5"),
        ("global_rank_5.log", "5"),
        ("job-11.rank=4.err", "4"),
        ("node2_rank3.log", "3"),
        ("worker_3.txt", "3"),
        ("task7.err", "7"),
        ("proc-2.out", "2"),
        ("process2.out", "2"),
        ("rank_3/stderr.txt", "3"),
        ("rank3/logs/train.log", "3"),
        ("out/1/rank.0/stdout", "0"),  # mpirun --output-filename out
        ("logs/none_h1k2/attempt_0/3/stderr.log", "3"),  # torchrun --log-dir logs
        ("attempt_1/0/error.json", "0"),
        ("C:\\logs\\attempt_0\\12\\stdout.log", "12"),
        ("logs.tar.gz:run/rank3.log", "3"),
        ("rank3.tar.gz:run/train.log", "3"),
        ("test_of_rank_0/train.log", ""),
        ("task1/train.log", ""),  # tasks of a benchmark
        ("stderr_3", ""),
        ("3.log", ""),
        ("train.log.3", ""),
        ("local_rank3.log", ""),
        ("local_rank_3.log", ""),
        ("node_rank_1.log", ""),
        ("frank3.log", ""),
        ("ranking3.log", ""),
        ("rank3b.log", ""),
        ("rank.log", ""),
        ("rank1234567.log", ""),
        ("worker-0123abcd-01000000-77.out", ""),  # Ray's worker ids
        ("attempt_0/3/notes.txt", ""),
        ("attempt_x/stderr.log", ""),
        ("rank9/a/b/c/train.log", ""),
        ("", ""),
    ],
)
def test_one_name_tells_its_rank(name: str, rank: str) -> None:
    assert rank_of_name(name) == rank


@pytest.mark.parametrize(
    ("names", "ranks"),
    [
        (["0.log", "1.log", "2.log"], ("0", "1", "2")),
        (["run/00.log", "run/01.log"], ("0", "1")),
        (["3.log", "5.log"], ("", "")),
        (["1.log", "2.log"], ("", "")),
        (["0.log"], ("",)),
        (["job-123.4.out", "job-123.7.out", "batch.log"], ("4", "7", "")),
        (["job-123.4.out", "job-124.4.out"], ("", "")),
        (["slurm-123_0.out", "slurm-123_1.out"], ("", "")),  # a job array: jobs of their own
        (["slurm-11.out", "slurm-12.out"], ("", "")),
        (["train.1.log", "train.2.log"], ("", "")),  # rotated
        (["train.log.1", "train.log.2"], ("", "")),
        (["v1.0.log", "v1.1.log"], ("", "")),
        (["rank1.log", "0.log"], ("1", "")),
        (["job-master-0.log", "job-worker-0.log"], ("", "")),
        (["job-worker-0.log", "job-worker-1.log"], ("0", "1")),
        (["h1/attempt_0/0/stderr.log", "h2/attempt_0/0/stderr.log"], ("", "")),
        (["h1/attempt_0/0/stderr.log", "h1/attempt_1/0/stderr.log"], ("0", "0")),
        (["h1/attempt_0/0/stderr.log", "h1/attempt_0/1/stderr.log"], ("0", "1")),
        ([], ()),
    ],
)
def test_a_set_of_names_tells_more(names: list[str], ranks: tuple[str, ...]) -> None:
    assert ranks_of_names(names) == ranks


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text(alphabet="rank0123_-./\\:log", max_size=30), max_size=6))
def test_any_names_have_a_number_or_nothing_for_a_rank(names: list[str]) -> None:
    ranks = ranks_of_names(names)
    assert len(ranks) == len(names)
    assert all(rank == "" or rank.isdecimal() for rank in ranks)


def test_a_hostile_name_costs_no_more_than_its_length() -> None:
    started = time.perf_counter()
    assert set(ranks_of_names(["1." * 2000, "rank" * 2000 + "x", "/" * 4000, "9" * 4000])) == {""}
    assert time.perf_counter() - started < 1
