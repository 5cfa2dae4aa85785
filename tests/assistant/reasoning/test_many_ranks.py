"""Logs of many ranks, as one file or many: the rank that failed first is found, the others are counted."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from gpuhelp.diagnosis import Diagnosis, diagnose_texts
from gpuhelp.kb.load import KnowledgeBase
from gpuhelp.reading.pieces import RawText, from_text

RANKS = 64
FAILED = 37
OOM = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.76 GiB. GPU 5 has a total capacity "
    "of 79.15 GiB "
    "of which 1.10 GiB is free. Including non-PyTorch memory, this process has 78.04 GiB memory in use. "
    "Of the "
    "allocated memory 74.98 GiB is allocated by PyTorch, and 1.67 GiB is reserved by PyTorch but unallocated."
)
TRACEBACK = (
    "Traceback (most recent call last):",
    '  File "/home/user/train.py", line 88, in main',
    "    loss = model(batch)",
)
TIMEOUT = (
    "Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1882, OpType=ALLREDUCE, NumelIn=6558720, "
    "NumelOut=6558720, Timeout(ms)=600000) ran for 600082 milliseconds before timing out."
)
Clock = Callable[[int], str]


def plain(second: int) -> str:
    return f"2025-11-14 03:{second // 60 % 60:02d}:{second % 60:02d},{second % 1000:03d}"


def month_first(second: int) -> str:
    return f"[2025-11-14 03:{second // 60 % 60:02d}:{second % 60:02d},000]"


def syslog(second: int) -> str:
    return f"Nov 14 03:{second // 60 % 60:02d}:{second % 60:02d} node1 train[77]:"


def lines_of(rank: int, clock: Clock | None = plain, skew_s: int = 0) -> list[tuple[int, str]]:
    """(second, line) of one rank: it trains, and fails first or waits."""

    def at(second: int, text: str) -> tuple[int, str]:
        return second, f"{clock(second + skew_s)} {text}" if clock else text

    said = [at(second, f"INFO step {second} loss 2.{second}") for second in range(0, 60, 10)]
    if rank != FAILED:
        return [*said, at(1200 + rank % 7, f"ERROR {TIMEOUT}")]
    return [*said, at(60, "ERROR training failed"), *((60, line) for line in (*TRACEBACK, OOM))]


def interleaved(label: str = "[rank{rank}]: ", seed: int = 0, clock: Clock | None = plain) -> str:
    shuffle = random.Random(seed)
    every = [
        (second, shuffle.random(), number, f"{label.format(rank=rank)}{text}")
        for rank in range(RANKS)
        for number, (second, text) in enumerate(lines_of(rank, clock))
    ]
    return "\n".join(text for *_, text in sorted(every, key=lambda one: (one[0], one[2], one[1]))) + "\n"


def found(knowledge: KnowledgeBase, *texts: RawText) -> Diagnosis:
    return diagnose_texts(texts, knowledge=knowledge)


def check(diagnosis: Diagnosis, *, ranked: bool = True) -> None:
    first, *others = diagnosis.findings
    assert first.entry.id.startswith("cuda-oom")
    assert diagnosis.elsewhere is None
    (timeout,) = (finding for finding in others if finding.entry.id == "nccl-timeout")
    assert (timeout.role.value, timeout.follows) == ("consequence", first.entry.id)
    if ranked:
        assert first.ranks is not None
        assert timeout.ranks is not None
        assert (first.ranks.on, first.ranks.of, first.ranks.first) == (1, RANKS, str(FAILED))
        assert (timeout.ranks.on, timeout.ranks.of) == (RANKS - 1, RANKS)
        assert first.evidence[0].rank == str(FAILED)
        assert first.ranks.place == 0


@pytest.mark.parametrize("label", ["[rank{rank}]: ", "[default{rank}]:", "{rank}: ", "[1,{rank}]<stderr>:"])
@pytest.mark.parametrize("clock", [plain, None], ids=["with times", "without times"])
def test_one_interleaved_log(knowledge: KnowledgeBase, label: str, clock: Clock | None) -> None:
    check(found(knowledge, from_text(interleaved(label, clock=clock), "job.log")))


@pytest.mark.parametrize("seed", range(3))
def test_the_order_in_which_ranks_print_changes_nothing(knowledge: KnowledgeBase, seed: int) -> None:
    check(found(knowledge, from_text(interleaved(seed=seed), "job.log")))


def files(clocks: Callable[[int], Clock | None], skew: Callable[[int], int] = lambda _: 0) -> list[RawText]:
    """A file for each rank; only its name tells the rank."""
    texts = ("\n".join(text for _, text in lines_of(rank, clocks(rank), skew(rank))) for rank in range(RANKS))
    return [from_text(text, f"rank{rank}.log")._replace(rank=str(rank)) for rank, text in enumerate(texts)]


def test_a_file_for_each_rank(knowledge: KnowledgeBase) -> None:
    check(found(knowledge, *files(lambda _: plain)))


def test_a_file_for_each_rank_without_times(knowledge: KnowledgeBase) -> None:
    check(found(knowledge, *files(lambda _: None)))


def test_files_in_any_order(knowledge: KnowledgeBase) -> None:
    texts = files(lambda _: plain)
    random.Random(1).shuffle(texts)
    check(found(knowledge, *texts))


def test_times_in_several_forms(knowledge: KnowledgeBase) -> None:
    check(found(knowledge, *files(lambda rank: (plain, month_first, syslog)[rank % 3])))


def test_clocks_that_differ_by_a_second(knowledge: KnowledgeBase) -> None:
    check(found(knowledge, *files(lambda _: plain, skew=lambda rank: 1 if rank == FAILED else -(rank % 2))))


def test_the_first_of_many_ranks_that_fail_alike_is_named(knowledge: KnowledgeBase) -> None:
    texts = [
        from_text(f"{plain(100 + (rank - FAILED) % RANKS)} ERROR {OOM}\n", f"rank{rank}.log")._replace(
            rank=str(rank)
        )
        for rank in range(RANKS)
    ]
    (first,) = found(knowledge, *texts).findings
    assert first.ranks is not None
    assert (first.ranks.on, first.ranks.of, first.ranks.first) == (RANKS, RANKS, str(FAILED))
    assert first.evidence[0].source == f"rank{FAILED}.log"


def test_an_error_that_training_went_on_after_is_not_the_root(knowledge: KnowledgeBase) -> None:
    steps = [f"{plain(100 + second)} INFO step {second} loss 2.{second}" for second in range(30)]
    text = "\n".join([f"{plain(1)} WARNING {OOM}", *steps, f"{plain(900)} ERROR {TIMEOUT}"])
    first, second = found(knowledge, from_text(text, "a.log")).findings
    assert [first.entry.id, second.role.value] == ["nccl-timeout", "related"]


def test_an_old_line_of_the_kernel_log_is_not_the_root(knowledge: KnowledgeBase) -> None:
    kernel = (
        "[Mon Oct  6 10:00:00 2025] NVRM: Xid (PCI:0000:5d:00): 79, pid='<unknown>', name=<unknown>, GPU "
        "has fallen "
        "off the bus.\n"
    )
    train = "\n".join(f"2025-11-14 03:00:{n:02d},000 ERROR {OOM}" for n in range(3))
    findings = found(knowledge, from_text(kernel, "dmesg.txt"), from_text(train, "train.log")).findings
    assert [findings[0].entry.id[:8], findings[-1].entry.id] == ["cuda-oom", "gpu-fell-off-bus"]
    same_time = kernel.replace("Oct  6 10:00:00", "Nov 14 03:00:00")
    now = found(knowledge, from_text(same_time, "dmesg.txt"), from_text(train, "train.log")).findings
    assert now[0].entry.id == "gpu-fell-off-bus"
