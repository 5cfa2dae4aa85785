"""Every program's prefix in its own form: what comes off, and what is kept as a field."""

from __future__ import annotations

import pytest

from gpuhelp.reading.evidence import PLAIN, Line, Wrapping
from gpuhelp.reading.pieces import whole
from gpuhelp.reading.wrappers import unwrap

SAID = "RuntimeError: CUDA error: out of memory"


def lines_of(text: str) -> tuple[Line, ...]:
    """The lines of a whole text."""
    return unwrap(whole(text))


def texts_of(text: str) -> list[str]:
    """What is left of each line."""
    return [line.text for line in lines_of(text)]


@pytest.mark.parametrize(
    ("prefix", "said"),
    [
        # torchrun's own prefix holds the local rank; the process itself knows the global one
        ("[default3]:[rank11]: ", Wrapping(rank="11")),
        ("[rank11]: [default3]:", Wrapping(rank="11")),
        ("[rank0]:[rank8]: ", Wrapping(rank="8")),
        ("[trainer3]:", Wrapping(rank="3")),
        (
            "[rank9]:[E1107 08:15:02.123456789 ProcessGroupNCCL.cpp:607] [Rank 1] ",
            Wrapping(rank="9", level="E", time="08:15:02.123456789"),
        ),
        # Open MPI 4 and 5 in all their tags, SageMaker
        ("[1,3][gpu01:4242]<stderr>: ", Wrapping(rank="3", host="gpu01", pid="4242", stream="stderr")),
        ("[prterun-gpu01-77@1,3]<stdout>: ", Wrapping(rank="3", stream="stdout")),
        ("[3]<stderr>: ", Wrapping(rank="3", stream="stderr")),
        (
            "[Tue Mar  5 10:00:00 2024][1,3]<stderr>: ",
            Wrapping(rank="3", time="Tue Mar  5 10:00:00 2024", stream="stderr"),
        ),
        ("[Tue Mar  5 10:00:00 2024]<stderr>: ", Wrapping(time="Tue Mar  5 10:00:00 2024", stream="stderr")),
        ("[1,mpirank:10,algo-2]<stderr>:", Wrapping(rank="10", host="algo-2", stream="stderr")),
        # SGLang, TensorRT-LLM, text-generation-inference, vLLM, TorchServe, NeMo
        ("[2025-01-01 10:00:00 TP3] ", Wrapping(rank="3", time="2025-01-01 10:00:00")),
        ("[2026-05-28 00:11:09.816 DP0 TP2 EP0] ", Wrapping(rank="2", time="2026-05-28 00:11:09.816")),
        ("[10:00:00 TP1] ", Wrapping(rank="1", time="10:00:00")),
        ("[TensorRT-LLM][ERROR] ", Wrapping(level="ERROR")),
        ("[TRT-LLM] [RANK 1] [E] ", Wrapping(rank="1", level="E")),
        (
            "[06/18/2024-19:33:47] [TRT-LLM] [MPI_Rank 2] [E] ",
            Wrapping(rank="2", time="06/18/2024-19:33:47", level="E"),
        ),
        (
            "2024-03-06T17:53:31.052367Z ERROR shard-manager: text_generation_launcher: ",
            Wrapping(time="2024-03-06T17:53:31.052367Z", level="ERROR"),
        ),
        (
            "2024-03-06T17:53:31.05Z ERROR batch{batch_size=1}:prefill:prefill{id=0 size=1}: "
            "text_generation_client: router/client/src/lib.rs:33: ",
            Wrapping(time="2024-03-06T17:53:31.05Z", level="ERROR"),
        ),
        (
            "(VllmWorkerProcess pid=386748) ERROR 07-04 11:23:53 [multiproc_worker_utils.py:238] ",
            Wrapping(pid="386748", level="ERROR", time="07-04 11:23:53"),
        ),
        ("(Worker_TP1 pid=77) ", Wrapping(rank="1", pid="77")),
        (
            "2025-02-14T08:23:15,123 [WARN ] W-9000-model_1.0-stderr MODEL_LOG - ",
            Wrapping(time="2025-02-14T08:23:15,123", level="WARN", stream="stderr"),
        ),
        ("[NeMo E 2026-06-08 14:47:46 common:644] ", Wrapping(time="2026-06-08 14:47:46", level="E")),
        # Ray
        ("(pid=26110) ", Wrapping(pid="26110")),
        ("(RayTrainWorker pid=326, ip=172.20.121.132) ", Wrapping(pid="326", host="172.20.121.132")),
        ("(EngineCore_DP0 pid=461101) (RayWorkerWrapper pid=372170) ", Wrapping(pid="461101")),
        ("(autoscaler +1m2s) ", Wrapping()),
        (
            "2023-03-27 15:08:34,195\tERROR worker.py:1603 -- ",
            Wrapping(time="2023-03-27 15:08:34,195", level="ERROR"),
        ),
        # trainers and evaluators
        (
            "2026-04-29:19:14:31 ERROR    [evaluator:584] ",
            Wrapping(time="2026-04-29:19:14:31", level="ERROR"),
        ),
        (
            "[2024-01-01 10:00:00,123] [ERROR] [axolotl.load_model:123] [PID:4242] [RANK:3] ",
            Wrapping(rank="3", time="2024-01-01 10:00:00,123", pid="4242", level="ERROR"),
        ),
        (
            "[ERROR|2024-01-01 10:00:00] llamafactory.x:123 >> ",
            Wrapping(time="2024-01-01 10:00:00", level="ERROR"),
        ),
        ("2024-01-01 12:00:00,123 ERROR ", Wrapping(time="2024-01-01 12:00:00,123", level="ERROR")),
        ("2024-01-01 12:00:00 | ERROR | ", Wrapping(time="2024-01-01 12:00:00", level="ERROR")),
        ("[03/05/24 10:00:00] ERROR    ", Wrapping(time="03/05/24 10:00:00", level="ERROR")),
        ("24/03/05 10:00:00 ERROR Executor: ", Wrapping(time="24/03/05 10:00:00", level="ERROR")),
        # the kernel's log, in every form of dmesg
        ("kern  :err   : [   22.713558] ", Wrapping(time="22.713558", level="err")),
        (
            "kern  :warn  : [Tue Mar  5 16:02:13 2019] ",
            Wrapping(time="Tue Mar  5 16:02:13 2019", level="warn"),
        ),
        ("[   91.987109] [   T4552] ", Wrapping(time="91.987109")),
        ("[   91.987109][  C12] ", Wrapping(time="91.987109")),
        ("[  123.456789 <    0.000012>] ", Wrapping(time="123.456789")),
        ("[  +0.000123] ", Wrapping()),
        ("[화  3월  5 10:00:00 2024] ", Wrapping(time="화  3월  5 10:00:00 2024")),
        ("[Di Mär  5 10:00:00 2024] ", Wrapping(time="Di Mär  5 10:00:00 2024")),
        ("[mar. mars  5 10:00:00 2024] ", Wrapping(time="mar. mars  5 10:00:00 2024")),
        ("2024-03-05T10:00:00,123456+09:00 ", Wrapping(time="2024-03-05T10:00:00,123456+09:00")),
        ("<3>[   12.345678] ", Wrapping(time="12.345678", level="3")),
        # journald, syslog
        (
            " 3월 05 14:22:47 robot-14 bash[10317]: ",
            Wrapping(host="robot-14", time="3월 05 14:22:47", pid="10317"),
        ),
        ("12월 05 14:22:47 robot-14 kernel: ", Wrapping(host="robot-14", time="12월 05 14:22:47")),
        ("[12345.678901] gpu01 kernel: ", Wrapping(host="gpu01", time="12345.678901")),
        (
            "Tue 2024-03-05 10:00:00 UTC gpu01 python[77]: ",
            Wrapping(host="gpu01", time="Tue 2024-03-05 10:00:00 UTC", pid="77"),
        ),
        (
            "<3>1 2024-03-05T10:00:00.123Z gpu01 trainer 77 - - ",
            Wrapping(host="gpu01", time="2024-03-05T10:00:00.123Z", pid="77", level="3"),
        ),
        (
            '<3>1 2024-03-05T10:00:00.123Z gpu01 trainer - ID47 [ex@32473 a="b"] ',
            Wrapping(host="gpu01", time="2024-03-05T10:00:00.123Z", level="3"),
        ),
        (
            "<11>Mar  5 10:00:00 gpu01 python[7]: ",
            Wrapping(host="gpu01", time="Mar  5 10:00:00", pid="7", level="11"),
        ),
        ("Mar 05 10:00:00 ", Wrapping(time="Mar 05 10:00:00")),  # moreutils' ts
        # Kubernetes, continuous integration, docker build
        ("[pod/trainer-0/main] ", Wrapping(host="trainer-0")),
        (
            "[pod/trainer-0/main] 2024-01-01T00:00:00Z ",
            Wrapping(host="trainer-0", time="2024-01-01T00:00:00Z"),
        ),
        (
            "2024-01-01T00:00:00.0000000Z ##[error]",
            Wrapping(time="2024-01-01T00:00:00.0000000Z", level="error"),
        ),
        ("##[error]", Wrapping(level="error")),
        ("2024-01-01T00:00:00.000000Z 01E ", Wrapping(time="2024-01-01T00:00:00.000000Z")),
        ("2024-01-01T00:00:00.000Z\t", Wrapping(time="2024-01-01T00:00:00.000Z")),
        ("#12 45.678 ", Wrapping()),
    ],
)
def test_a_prefix_comes_off_and_what_it_said_is_kept(prefix: str, said: Wrapping) -> None:
    (line,) = lines_of(prefix + SAID)
    assert (line.text, line.wrapping, line.raw) == (SAID, said, prefix + SAID)


@pytest.mark.parametrize(
    "text",
    [
        "[10:00:00] the sun rose",
        "[pod/trainer] is gone",
        "<3> is a heart",
        "#12 pencils",
        "kern :: module",
        "[1/1000] loss: 0.3",
        "(see pid=3 above) it said" * 9 + "(" * 5,
        "May the force be with you",
        "3월의 광란",
        "it [is] so",
        "100%|",
        "##[not closed",
        "{'a': 1}",
        '{"step": 1, "loss": 0.3}',
        '{"error": {"message": "CUDA out of memory", "type": "x"}}',
        '{"message": "hello"}',
        '{"log": broken',
        "a & b &amp c",
        "PR #012 is merged",
        r'  File "C:\new\train.py", line 3, in f',
        r"error while reading C:\new\train.py",
        r'    raise ValueError("Bad.\nPlease do")',
        "    raise RuntimeError('boom')",
        "caught ValueError('x'), retrying",
        "except (RuntimeError('x'), y):",
        "b'not closed",
        "made-up engine libfoo stopped\nmade-up engine libfoo stopped",
        "GPU0: 45 C\nGPU1: 50 C\nGPU0: 46 C\nGPU1: 51 C",
        "RuntimeError: a1: x\nRuntimeError: a1: y",
        "https://a: x\nhttps://a: y",
    ],
)
def test_a_line_that_only_looks_wrapped_stays_whole(text: str) -> None:
    assert [(line.text, line.wrapping) for line in lines_of(text)] == [
        (one, PLAIN) for one in text.split("\n")
    ]


@pytest.mark.parametrize(
    ("prefixes", "said"),
    [
        (["0: ", "1: ", "0: "], [Wrapping(rank="0"), Wrapping(rank="1"), Wrapping(rank="0")]),
        (["003: ", "012: ", "003: "], [Wrapping(rank="003"), Wrapping(rank="012"), Wrapping(rank="003")]),
        (["[3] ", "[12] ", "[3] "], [Wrapping(rank="3"), Wrapping(rank="12"), Wrapping(rank="3")]),
        (["[0] ", "[1] ", "[2] "], [Wrapping(rank="0"), Wrapping(rank="1"), Wrapping(rank="2")]),
        (["3: [rank11]: ", "3: ", "3: "], [Wrapping(rank="11"), Wrapping(rank="3"), Wrapping(rank="3")]),
        (["11: ", "12: ", "13: "], [PLAIN] * 3),  # lines that are numbered
        (["11:", "12:", "13:"], [PLAIN] * 3),
        (["9 | ", "10 | ", "11 | "], [PLAIN] * 3),
        (["     1\t", "     2\t", "     3\t"], [PLAIN] * 3),
        (
            ["node1: ", "node2: ", "node1: "],
            [Wrapping(host="node1"), Wrapping(host="node2"), Wrapping(host="node1")],
        ),
        (["gpu-a.b.c1: "] * 3, [Wrapping(host="gpu-a.b.c1")] * 3),
        (["trainer-1  | "] * 3, [Wrapping(host="trainer-1")] * 3),
        (["train.1.x9y@gpu01    | "] * 3, [Wrapping(host="gpu01")] * 3),
        (["trainer-7c9f main "] * 3, [Wrapping(host="trainer-7c9f")] * 3),
        (["trainer/3 [3]:"] * 3, [Wrapping(rank="3")] * 3),
        (
            ["logs/rank3.err:12:", "logs/rank0.err:7:", "logs/rank3.err:9:"],
            [Wrapping(rank="3"), Wrapping(rank="0"), Wrapping(rank="3")],
        ),
        (["a.log:"] * 3, [PLAIN] * 3),
        (
            ["train\tRun tests\t2024-01-01T00:00:00.0000000Z "] * 3,
            [Wrapping(time="2024-01-01T00:00:00.0000000Z")] * 3,
        ),
        (
            ["00:00:01 ", "00:00:02 ", "00:00:03 "],
            [Wrapping(time="00:00:01"), Wrapping(time="00:00:02"), Wrapping(time="00:00:03")],
        ),
        (
            ["Mär 05 10:00:00 gpu01 python[7]: "] * 3,
            [Wrapping(time="Mär 05 10:00:00", host="gpu01", pid="7")] * 3,
        ),
        (["> 3: "] * 3, [Wrapping(rank="3")] * 3),
        (["2024-01-01T00:00:00Z 3: "] * 3, [Wrapping(rank="3", time="2024-01-01T00:00:00Z")] * 3),
        (["\x1b[36mollama |\x1b[0m "] * 3, [Wrapping(host="ollama")] * 3),
    ],
)
def test_a_prefix_of_the_whole_paste_comes_off(prefixes: list[str], said: list[Wrapping]) -> None:
    texts = ["loading", "  File", "boom"]
    lines = lines_of("".join(f"{prefix}{text}\n" for prefix, text in zip(prefixes, texts, strict=True)))
    assert [line.text for line in lines] == texts
    assert [line.wrapping for line in lines] == said


def test_an_empty_line_keeps_the_prefix_of_the_paste_off_though_its_space_was_trimmed() -> None:
    assert texts_of("3: a\n3:\n3: b\n3:\n") == ["a", "", "b", ""]


def test_the_code_of_a_driver_call_in_brackets_is_no_process_id() -> None:
    numba = "[802] Call to cuInit results in UNKNOWN_CUDA_ERROR"
    assert texts_of(f"CudaSupportError: Error at driver init:\n{numba}\n")[-1] == numba
