"""An error that was caught, or after which the process worked on, did not end the run."""

from __future__ import annotations

import pytest

from gpuhelp.kb.load import KnowledgeBase
from gpuhelp.matching.symptoms import Match
from gpuhelp.matching.view import View
from gpuhelp.reading.pieces import Piece, RawText, from_text
from gpuhelp.reading.read import read
from gpuhelp.reasoning.survival import Survival

STEPS = [f"step {number}/9000 loss 2.{number}" for number in range(12)]


def survived(knowledge: KnowledgeBase, raw: str | RawText, line: int) -> bool:
    texts = [from_text(raw, "a.log") if isinstance(raw, str) else raw]
    survival = Survival(tuple(View(document) for document in read(texts)), knowledge.rows("survivals"))
    return survival.survived(Match("e", 0, line, line, "text", "boom"))


@pytest.mark.parametrize(
    "text",
    [
        "Exception ignored in: <function Pool.__del__ at 0x7f>\nboom",
        "boom\nretrying in 5 seconds",
        "boom, will retry\n",
        "boom\nattempt 2/5",
        "boom\nattempting to recover from OOM in forward/backward pass",
        "boom\nDecreasing batch size to: 16.",
        "boom\nBatch size 64 failed, trying batch size 32",
        "boom\nAttempting to copy inputs of <function f at 0x7f> to CPU due to CUDA OOM",
        "caught exception: boom",
        "boom\nskipping batch",
        "boom\nfalling back to eager mode",
    ],
)
def test_what_the_program_caught_was_survived(knowledge: KnowledgeBase, text: str) -> None:
    line = next(index for index, said in enumerate(text.split("\n")) if "boom" in said)
    assert survived(knowledge, text, line)


@pytest.mark.parametrize(
    "text",
    [
        "boom",
        "boom\nuncaught exception",
        "boom\n\n\n\n\nretrying in 5 seconds",
        "[rank0]: boom\n[rank1]: retrying in 5 seconds",
        "boom\nfall back in line",
        "boom\nRetry limit reached",
    ],
)
def test_what_ended_the_run_was_not(knowledge: KnowledgeBase, text: str) -> None:
    assert not survived(knowledge, text, 0)


def test_a_process_that_works_on_has_survived(knowledge: KnowledgeBase) -> None:
    assert survived(knowledge, "\n".join(["boom", *STEPS]), 0)
    assert not survived(knowledge, "\n".join(["boom", *STEPS[:5]]), 0)
    assert not survived(knowledge, "\n".join([*STEPS, "boom"]), len(STEPS))


def test_the_work_of_other_ranks_says_nothing(knowledge: KnowledgeBase) -> None:
    others = [f"[rank0]: {step}" for step in STEPS]
    assert not survived(knowledge, "\n".join(["[rank3]: boom", *others]), 0)
    assert not survived(knowledge, "\n".join(["boom", *others]), 0)
    assert survived(knowledge, "\n".join(["[rank0]: boom", *others]), 0)


def test_much_that_is_not_worth_reading_is_work(knowledge: KnowledgeBase) -> None:
    raw = RawText("a.log", (Piece(1, "boom\n"), Piece(90_000, "bang\n")), 9, 90_000)
    assert survived(knowledge, raw, 0)
    assert not survived(knowledge, raw, 2)
