"""The rank of a line is found where the text, its wrapper or the file's name tells it, and nowhere else."""

from __future__ import annotations

import pytest

from gpuhelp.kb.load import KnowledgeBase
from gpuhelp.matching.symptoms import Match
from gpuhelp.matching.view import View
from gpuhelp.reading.evidence import Document
from gpuhelp.reading.pieces import from_text
from gpuhelp.reading.read import read
from gpuhelp.reasoning.speakers import Speakers, number


def speakers(knowledge: KnowledgeBase, *texts: str, ranks: tuple[str, ...] = ()) -> Speakers:
    documents: list[Document] = []
    for index, document in enumerate(read(from_text(text, f"{n}.log") for n, text in enumerate(texts))):
        rank = ranks[index] if index < len(ranks) else ""
        documents.append(document._replace(source=document.source._replace(rank=rank)))
    return Speakers(tuple(View(document) for document in documents), knowledge.rows("speakers"))


def test_a_wrapper_tells_the_rank(knowledge: KnowledgeBase) -> None:
    assert speakers(knowledge, "x\n[rank3]: boom").at(0, 1).rank == "3"


def test_a_pattern_s_own_rank_counts_most(knowledge: KnowledgeBase) -> None:
    match = Match("e", 0, 1, 1, "regex", "x", {"rank": "07"})
    assert speakers(knowledge, "x\n[rank3]: boom").of(match).rank == "7"


def test_a_file_name_tells_the_rank_of_lines_that_have_none(knowledge: KnowledgeBase) -> None:
    found = speakers(knowledge, "boom\n[rank3]: boom", ranks=("012",))
    assert (found.at(0, 0).rank, found.at(0, 1).rank) == ("12", "3")


@pytest.mark.parametrize(
    ("said", "rank", "world_size"),
    [
        ("| distributed init (rank 5): env://", "5", 0),
        ("Initializing distributed: GLOBAL_RANK: 5, MEMBER: 6/8", "5", 8),
        ("rank 5 in world size 8 is assigned as DP rank 0, PP rank 0, TP rank 5", "5", 8),
        ("Added key: store_based_barrier_key:1 to store for rank: 5", "5", 0),
        ("Rank 5: Completed store-based barrier for key:store_based_barrier_key:1 with 8 nodes.", "5", 8),
        ("Num processes: 8\nProcess index: 5\nLocal process index: 5", "5", 8),
        ("Hello from rank 5 of 8", "5", 8),
        ("starting worker rank=5 world_size=8", "5", 8),
        ("node1:77:90 [5] NCCL INFO comm 0x7f8b1c001460 rank 5 nranks 8 cudaDev 5 busId b1000 - Init "
         "COMPLETE", "", 8),
        ("world size 64, backend nccl", "", 64),
    ],
)  # fmt: skip
def test_a_process_says_which_rank_it_is(
    knowledge: KnowledgeBase, said: str, rank: str, world_size: int
) -> None:
    found = speakers(knowledge, f"{said}\nstep 1\nboom\n")
    assert found.at(0, said.count("\n") + 2).rank == rank
    assert found.world_size == world_size


def test_a_process_id_carries_the_rank_of_an_earlier_line(knowledge: KnowledgeBase) -> None:
    text = (
        "(TorchTrainer pid=611, ip=10.0.0.65) - (ip=10.0.0.65, pid=671) world_rank=0, local_rank=0, "
        "node_rank=0\n"
        "(TorchTrainer pid=611, ip=10.0.0.65) - (ip=10.0.0.83, pid=671) world_rank=1, local_rank=0, "
        "node_rank=1\n"
        "(RayTrainWorker pid=671, ip=10.0.0.83) boom\n"
    )
    found = speakers(knowledge, text)
    assert (found.at(0, 2).rank, found.at(0, 0).rank) == ("1", "")
    assert found.ranks == {"0", "1"}


def test_the_largest_group_numbers_the_ranks(knowledge: KnowledgeBase) -> None:
    text = (
        "(Worker pid=9) node1:9:12 [3] NCCL INFO comm 0x7f01 rank 1 nranks 2 cudaDev 3 busId b1000\n"
        "(Worker pid=9) node1:9:12 [3] NCCL INFO comm 0x7f02 rank 11 nranks 16 cudaDev 3 busId b1000\n"
        "(Worker pid=9) boom\n"
    )
    found = speakers(knowledge, text)
    assert (found.at(0, 2).rank, found.world_size) == ("11", 16)


def test_of_two_statements_none_is_believed(knowledge: KnowledgeBase) -> None:
    text = "| distributed init (rank 0): env://\n| distributed init (rank 1): env://\nboom"
    found = speakers(knowledge, text)
    assert found.at(0, 2).rank == ""
    assert found.ranks == {"0", "1"}


def test_a_launcher_s_own_line_is_not_that_of_a_labelled_rank(knowledge: KnowledgeBase) -> None:
    assert speakers(knowledge, "[rank3]: distributed init (rank 3)\nlauncher failed").at(0, 1).rank == ""


@pytest.mark.parametrize(
    "text", ["local_rank 3 of 8", "pagerank 5 of 9 documents", "the rank of the matrix is 5"]
)
def test_other_ranks_are_no_ranks(knowledge: KnowledgeBase, text: str) -> None:
    assert speakers(knowledge, f"{text}\nboom").at(0, 1).rank == ""


@pytest.mark.parametrize(
    ("text", "rank"), [("3", "3"), ("007", "7"), ("", ""), ("x", ""), ("-1", ""), ("1" * 5000, ""), ("٣", "")]
)
def test_a_rank_is_a_small_number(text: str, rank: str) -> None:
    assert number(text) == rank


TRACEBACK = 'Traceback (most recent call last):\n  File "/srv/engine.py", line 9, in step\n    go()\n'


@pytest.mark.parametrize("compose", ["", "engine-1  | "])
def test_the_label_on_the_head_of_a_traceback_holds_for_all_of_it(
    knowledge: KnowledgeBase, compose: str
) -> None:
    text = (
        f"[2026-02-10 21:15:43 TP6] Scheduler hit an exception: {TRACEBACK}ValueError: no\n"
        "[2026-02-10 21:15:44 TP0] Decode batch.\n[2026-02-10 21:15:45] Stopped.\n"
    )
    found = speakers(knowledge, "".join(compose + line for line in text.splitlines(keepends=True)))
    assert [found.at(0, line).rank for line in (3, 4, 5)] == ["6", "0", ""]


def test_a_traceback_without_a_label_has_no_rank(knowledge: KnowledgeBase) -> None:
    text = f"[2026-02-10 21:15:43 TP6] Init torch distributed begin.\nx\n{TRACEBACK}ValueError: no\n"
    assert speakers(knowledge, text).at(0, 5).rank == ""
