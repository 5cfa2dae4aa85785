"""Where the cause is not in the text, every format says so, in both languages, and whose output holds it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gpuhelp.diagnosis import Diagnosis, diagnose
from gpuhelp.kb.load import KnowledgeBase
from gpuhelp.reasoning.elsewhere import Elsewhere
from gpuhelp.rendering.documents import to_data
from gpuhelp.rendering.layout import lay_out
from gpuhelp.rendering.markdown import prose, to_markdown
from gpuhelp.rendering.paint import paint
from gpuhelp.rendering.pointing import pointing
from gpuhelp.rendering.text import diagnosis_rows
from gpuhelp.words import Words

SLURM = "epoch 1\nsrun: error: node3: task 17: Exited with exit code 1\n"
TIMEOUT = (
    "[rank{rank}]:[E1114 03:22:18.4 ProcessGroupNCCL.cpp:629] [Rank {rank}] Watchdog caught collective "
    "operation timeout: WorkNCCL(SeqNum=18, OpType=ALLREDUCE, Timeout(ms)=600000) ran for 600082 ms\n"
)
OOM = "[rank{rank}]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.76 GiB.\n"
WAITED = "world size 4\n" + "".join(TIMEOUT.format(rank=rank) for rank in (0, 1, 3))
CASCADE = "world size 4\n" + OOM.format(rank=2) + "".join(TIMEOUT.format(rank=rank) for rank in (0, 1, 3))
NOBODY = Elsewhere(
    "x", {"en": "look", "ko": "보십시오"}, True, "", "", "", "", "", "", "", "says", "a.log", 1
)
Tell = Callable[..., str]


@pytest.fixture
def tell(made_up: KnowledgeBase) -> Tell:
    """`tell(text, language="en", as_markdown=False)`: the answer to a text."""

    def told(text: str, language: str = "en", *, as_markdown: bool = False) -> str:
        diagnosis, words = diagnose(text, knowledge=made_up), Words(language)
        if as_markdown:
            return to_markdown("diagnosis.md.j2", to_data(diagnosis, language, made_up), words)
        return paint(lay_out(diagnosis_rows(diagnosis, words, made_up), 500), color=False)

    return told


@pytest.mark.parametrize("as_markdown", [False, True])
def test_a_report_points_to_the_process_that_failed(tell: Tell, *, as_markdown: bool) -> None:
    english = tell(SLURM, as_markdown=as_markdown)
    assert "The cause is not in this text" in english
    assert "rank 17 on node3 (exit status 1)" in english
    assert "`srun --label`" in english
    assert "Nothing is made up here" not in english
    assert english.count("srun: error: node3") == 2, "as evidence, and as what points there"
    korean = tell(SLURM, "ko", as_markdown=as_markdown)
    assert "원인은 이 로그에 없습니다" in korean
    assert "node3의 rank 17(종료 코드 1)의 출력에 있습니다." in korean


@pytest.mark.parametrize("as_markdown", [False, True])
def test_ranks_that_waited_point_to_the_other_one(tell: Tell, *, as_markdown: bool) -> None:
    english = tell(WAITED, as_markdown=as_markdown)
    assert "The cause is probably not in this text" in english
    assert "Look first into the output of rank 2." in english
    assert "On 3 of 4 ranks, first on rank 0 (text:2)." in english
    korean = tell(WAITED, "ko", as_markdown=as_markdown)
    assert "rank 2의 출력을 먼저 확인하십시오." in korean
    assert "rank 4개 중 3개에서 나타났고, 가장 먼저 나타난 것은 rank 0입니다(text:2)." in korean


def test_what_followed_is_one_line_with_its_count(tell: Tell) -> None:
    text = tell(CASCADE)
    assert "Only on rank 2, of 4 ranks (text:2)." in text
    (line,) = text.split("\nWhat followed from it\n")[1].split("\n\n")[0].splitlines()
    assert line.endswith("nccl-timeout, text:3, on 3 of 4 ranks")
    assert "Also seen" not in text


def test_a_second_root_is_told_apart(tell: Tell) -> None:
    text = tell("2024-03-05 10:00:00 ERROR made-up engine libfoo stopped in bar\n2024-03-07 10:00:00 ERROR "
                "RuntimeError: CUDA error: out of memory\n")  # fmt: skip
    assert text.startswith("■ The made-up engine stopped")
    assert "Also seen\n  separate  " in text
    assert "What followed" not in text


def test_all_ranks_are_told_as_all(tell: Tell) -> None:
    text = "".join(OOM.format(rank=rank) for rank in range(4))
    assert "On all 4 ranks, first on rank 0 (text:1)." in tell(text)
    assert "rank 4개 모두에서 나타났고" in tell(text, "ko")


@pytest.mark.parametrize("as_markdown", [False, True])
def test_a_bare_kill_is_told_as_a_guess(tell: Tell, *, as_markdown: bool) -> None:
    english = tell("Killed\n", as_markdown=as_markdown)
    assert "60% sure of the class" in english
    assert "not by whom" in english
    assert "`sacct -j <job id>`" in english
    assert "누가 종료했는지는 나오지 않습니다" in tell("Killed\n", "ko", as_markdown=as_markdown)
    certain = tell(
        "Out of memory: Killed process 2210 (python) total-vm:151233412kB\n", as_markdown=as_markdown
    )
    assert "not by whom" not in certain
    assert "95% sure of the class" in certain


def test_the_json_has_the_keys_of_the_contract(made_up: KnowledgeBase) -> None:
    data = to_data(diagnose(SLURM, knowledge=made_up), "en", made_up)
    told = data["root_elsewhere"]
    assert list(told)[:6] == ["rank", "host", "pid", "exit_code", "log", "says"]
    assert [told[key] for key in list(told)[:6]] == [
        "17", "node3", None, "1", None, "srun: error: node3: task 17: Exited with exit code 1",
    ]  # fmt: skip
    assert (data["status"], told["line"], told["source"]) == ("known", 2, "text")


def test_the_json_counts_ranks_and_keeps_consequences_whole(made_up: KnowledgeBase) -> None:
    data = to_data(diagnose(CASCADE, knowledge=made_up), "en", made_up)
    first, second = data["findings"]
    assert first["ranks"] == {"count": 1, "of": 4, "first": "2", "source": "text", "line": 2}
    assert second["ranks"] == {"count": 3, "of": 4, "first": "0", "source": "text", "line": 3}
    assert (second["role"], second["follows"]) == ("consequence", first["entry"])
    assert len(second["evidence"]) == 3
    assert "root_elsewhere" not in data


def test_the_json_says_that_it_is_a_guess(made_up: KnowledgeBase) -> None:
    (finding,) = to_data(diagnose("Killed\n", knowledge=made_up), "ko", made_up)["findings"]
    assert finding["confidence"] == 0.6
    assert "`dmesg -T`" in finding["guess"]


@pytest.mark.parametrize(
    ("told", "where"),
    [
        ({}, "It is in the output of the process that failed first."),
        ({"local_rank": "4", "pid": "7"}, "It is in the output of local rank 4 (PID 7)."),
        ({"rank": "1", "local_rank": "4", "signal": "11"}, "It is in the output of rank 1 (signal 11)."),
        ({"rank": "1", "log": "/tmp/e.json"},
         "It is in the output of rank 1. The error file is /tmp/e.json."),
        ({"certain": False}, "Look first into the output of the rank that the others waited for."),
    ],
)  # fmt: skip
def test_the_process_is_named_as_far_as_it_is_known(told: dict[str, str], where: str) -> None:
    assert pointing(NOBODY._replace(**told), Words("en")).where == where


def test_a_name_from_the_text_is_cut_and_without_secrets() -> None:
    told = pointing(NOBODY._replace(host="x" * 10_000, log="/tmp/hf_" + "a" * 30), Words("en"))
    assert len(told.where) < 500
    assert "a" * 30 not in told.where


def test_another_language_is_told_in_english() -> None:
    assert pointing(NOBODY._replace(look={"en": "look"}), Words("ko")).look == "look"


@pytest.mark.parametrize(
    ("text", "markdown"),
    [
        ("run `a_b` *now*", "run `a_b` \\*now\\*"),
        ("`a` and `b`", "`a` and `b`"),
        ("one ` alone", "one \\` alone"),
        ("", ""),
    ],
)
def test_backquotes_in_our_own_sentences_mark_code(text: str, markdown: str) -> None:
    assert prose(text) == markdown


def test_a_diagnosis_without_pointers_has_none(diagnosed: Callable[..., Diagnosis]) -> None:
    assert diagnosed().elsewhere is None
