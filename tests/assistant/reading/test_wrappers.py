"""What loggers, launchers, containers and terminals put around a line comes off; what it said is kept."""

from __future__ import annotations

import pytest

from gpuhelp.reading.evidence import BREAK, PLAIN, Line, Wrapping
from gpuhelp.reading.pieces import Piece, whole
from gpuhelp.reading.wrappers import unwrap

ESC = "\x1b"
BOX = "+" + "-" * 78 + "+"


def lines_of(text: str) -> tuple[Line, ...]:
    """The lines of a whole text."""
    return unwrap(whole(text))


def only(text: str) -> Line:
    """The one line of this text."""
    (line,) = lines_of(text)
    return line


@pytest.mark.parametrize(
    ("prefix", "said"),
    [
        # quotes
        ("> ", Wrapping()),
        (">> ", Wrapping()),
        ("> > ", Wrapping()),
        # ranks
        ("[rank3]: ", Wrapping(rank="3")),
        ("[rank12]:", Wrapping(rank="12")),
        ("[default0]:", Wrapping(rank="0")),
        ("[default7]: ", Wrapping(rank="7")),
        ("rank3: ", Wrapping(rank="3")),  # what is left when a page takes [rank3]: for a link
        ("[rank: 5] ", Wrapping(rank="5")),
        ("[Rank 2] ", Wrapping(rank="2")),
        ("[1,4]<stderr>:", Wrapping(rank="4", stream="stderr")),
        ("[1,4]<stdout>: ", Wrapping(rank="4", stream="stdout")),
        ("[prterun-node1-4242@1,4]<stderr>: ", Wrapping(rank="4", stream="stderr")),
        # PyTorch
        (
            "[rank1]:[E1107 08:15:02.123456789 ProcessGroupNCCL.cpp:607] ",
            Wrapping(rank="1", level="E", time="08:15:02.123456789"),
        ),
        ("[E ProcessGroupNCCL.cpp:475] [Rank 3] ", Wrapping(rank="3", level="E")),
        ("[W socket.cpp:601] ", Wrapping(level="W")),
        (
            "W0101 12:00:00.123000 140 torch/distributed/run.py:793] ",
            Wrapping(level="W", time="12:00:00.123000", pid="140"),
        ),
        (
            "[2024-01-01 12:00:00,123] torch.distributed.run: [WARNING] ",
            Wrapping(level="WARNING", time="2024-01-01 12:00:00,123"),
        ),
        # DeepSpeed, Transformers, Hydra, NeMo
        (
            "[2024-01-01 12:00:00,123] [INFO] [logging.py:96:log_dist] [Rank 0] ",
            Wrapping(rank="0", level="INFO", time="2024-01-01 12:00:00,123"),
        ),
        (
            "[WARNING|modeling_utils.py:4141] 2024-01-01 12:00:00,123 >> ",
            Wrapping(level="WARNING", time="2024-01-01 12:00:00,123"),
        ),
        (
            "[2024-01-01 12:00:00,123][__main__][ERROR] - ",
            Wrapping(level="ERROR", time="2024-01-01 12:00:00,123"),
        ),
        ("[NeMo E 2024-01-01 12:00:00 train:12] ", Wrapping(level="E", time="2024-01-01 12:00:00")),
        # Ray and vLLM
        ("(train_fn pid=123, ip=10.0.0.7) ", Wrapping(pid="123", host="10.0.0.7")),
        ("(raylet) ", Wrapping()),
        ("(raylet, ip=10.0.0.7) ", Wrapping(host="10.0.0.7")),
        ("(VllmWorker rank=1 pid=33) ", Wrapping(rank="1", pid="33")),
        (
            "(EngineCore_0 pid=123) ERROR 08-01 12:00:00 [core.py:718] ",
            Wrapping(pid="123", level="ERROR", time="08-01 12:00:00"),
        ),
        ("ERROR 01-02 03:04:05 engine.py:366] ", Wrapping(level="ERROR", time="01-02 03:04:05")),
        # glog and TensorFlow
        ("E0101 12:00:00.123456 123 api.py:833] ", Wrapping(level="E", time="12:00:00.123456", pid="123")),
        (
            "E0000 00:00:1700000000.123456   12345 cuda_dnn.cc:8310] ",
            Wrapping(level="E", time="00:00:1700000000.123456", pid="12345"),
        ),
        # Python's logging and loguru
        ("ERROR:root:", Wrapping(level="ERROR")),
        ("[ERROR] ", Wrapping(level="ERROR")),
        ("[ERROR]: ", Wrapping(level="ERROR")),
        (
            "2024-01-01 12:00:00,123 - my_trainer.core - ERROR - ",
            Wrapping(level="ERROR", time="2024-01-01 12:00:00,123"),
        ),
        ("2024-01-01 12:00:00,123 - ERROR - ", Wrapping(level="ERROR", time="2024-01-01 12:00:00,123")),
        ("01/02/2024 12:00:00 - ERROR - __main__ -   ", Wrapping(level="ERROR", time="01/02/2024 12:00:00")),
        (
            "2024-01-01 12:00:00.123 | ERROR    | __main__:main:12 - ",
            Wrapping(level="ERROR", time="2024-01-01 12:00:00.123"),
        ),
        ("12:00:00 [ERROR] ", Wrapping(level="ERROR", time="12:00:00")),
        ("2024/01/01 12:00:00 ", Wrapping(time="2024/01/01 12:00:00")),
        ("[2024-01-01T12:00:00Z] ", Wrapping(time="2024-01-01T12:00:00Z")),
        # kernel, syslog, journald, Kubernetes
        ("[    1.234567] ", Wrapping(time="1.234567")),
        ("[12345.678901] ", Wrapping(time="12345.678901")),
        ("[Mon Jan  1 12:00:00 2024] ", Wrapping(time="Mon Jan  1 12:00:00 2024")),
        ("Jan  1 12:00:00 gpu01 trainer[4242]: ", Wrapping(time="Jan  1 12:00:00", host="gpu01", pid="4242")),
        ("Jan 11 12:00:00 gpu01 kernel: [   12.345678] ", Wrapping(time="Jan 11 12:00:00", host="gpu01")),
        (
            "2024-01-01T12:00:00+0900 gpu01 python[77]: ",
            Wrapping(time="2024-01-01T12:00:00+0900", host="gpu01", pid="77"),
        ),
        (
            "2024-01-01T12:00:00.123456+09:00 gpu01 kernel: ",
            Wrapping(time="2024-01-01T12:00:00.123456+09:00", host="gpu01"),
        ),
        (
            "2024-01-01T00:00:00.123456789Z stderr F ",
            Wrapping(time="2024-01-01T00:00:00.123456789Z", stream="stderr"),
        ),
        # several at once
        ("> [rank1]: ", Wrapping(rank="1")),
        (
            "Jan  1 12:00:00 gpu01 docker[9]: 2024-01-01T00:00:00Z stderr F [rank2]: (f pid=7) ",
            # the outermost counts
            Wrapping(rank="2", time="Jan  1 12:00:00", host="gpu01", pid="9", stream="stderr"),
        ),
    ],
)
def test_a_wrapper_comes_off_and_what_it_said_is_kept(prefix: str, said: Wrapping) -> None:
    line = only(prefix + "CUDA error: out of memory")
    assert (line.text, line.wrapping) == ("CUDA error: out of memory", said)
    assert line.raw == prefix + "CUDA error: out of memory"


def test_of_lines_of_xla_the_place_in_the_source_stays() -> None:
    place = "external/xla/xla/stream_executor/cuda/cuda_driver.cc:1018]"
    line = only(f"2024-01-01 12:00:00.123456: E {place} failed to allocate")
    assert (line.text, line.wrapping) == (
        f"{place} failed to allocate",
        Wrapping(level="E", time="2024-01-01 12:00:00.123456"),
    )


@pytest.mark.parametrize(
    "text",
    [
        "RuntimeError: CUDA error: out of memory",
        "    return self._call_impl(*args)",
        "[1, 2, 3]",
        "[Errno 28] No space left on device",
        "(0) Internal: cudaGetDevice() failed",
        "(most recent call last)",
        "3: loss is nan",  # on one line alone, a number is no prefix
        "ollama | ready",
        "E: Unable to locate package nvidia-driver-550",
        "Iteration 12: loss 0.3",
        "2024 was a good year",
        "Error: no such device",
        "rank of the matrix: 3",
        "default: all GPUs",
        "torch.cuda: is it there",
        "Jan and Feb were slow",
        "-> next",
        "[2/4] building",
        "",
    ],
)
def test_a_line_that_only_looks_wrapped_stays_whole(text: str) -> None:
    assert [(line.text, line.wrapping) for line in lines_of(text + "\n")] == [(text, PLAIN)]


@pytest.mark.parametrize(
    "text",
    [
        f"{ESC}[31mRuntimeError{ESC}[0m: out of memory",
        f"{ESC}[1;38;5;196mRuntimeError{ESC}[m: out of memory{ESC}[K",
        f"{ESC}]0;window title\x07RuntimeError: out of memory",
        f"{ESC}]8;;http://x{ESC}\\RuntimeError{ESC}]8;;{ESC}\\: out of memory",
        f"{ESC}(BRuntimeError: out of memory".replace("(B", "D"),
        "[31mRuntimeError[0m: out of memory",  # a copy that lost the escape character
        "[1;31mRuntimeError[0m: out of memory",
        "#033[31mRuntimeError#033[0m: out of memory",  # syslog
        "\\x1b[31mRuntimeError\\x1b[0m: out of memory",  # repr
        "\\u001b[31mRuntimeError\\u001b[0m: out of memory",  # JSON
        "^[[31mRuntimeError^[[0m: out of memory",  # less, script
        "Runtime\x00Error: out of\x08 memory\x7f",
        "RuntimeError: out of memory\r",
    ],
)
def test_terminal_sequences_and_control_characters_are_no_text(text: str) -> None:
    assert only(text).text == "RuntimeError: out of memory"


def test_tabs_and_the_indentation_of_code_stay() -> None:
    assert [line.text for line in lines_of("[rank0]:   File\n[rank0]: \tx")] == ["  File", "\tx"]


def test_colours_between_two_wrappers_do_no_harm() -> None:
    line = only(f"{ESC}[36m(train_fn pid=123){ESC}[0m {ESC}[31m[rank1]: boom{ESC}[0m")
    assert (line.text, line.wrapping) == ("boom", Wrapping(rank="1", pid="123"))


def test_layers_drawn_over_each_other_are_lines_of_one_number() -> None:
    lines = lines_of("start\n 0%|  | 0/2\r 50%|█ | 1/2\rRuntimeError: boom\nend\n")
    assert [(line.number, line.text) for line in lines] == [
        (1, "start"),
        (2, " 0%|  | 0/2"),
        (2, " 50%|█ | 1/2"),
        (2, "RuntimeError: boom"),
        (3, "end"),
    ]


def test_windows_line_ends_are_no_layers() -> None:
    assert [(line.number, line.text) for line in lines_of("a\r\n\r\nb\r\n")] == [(1, "a"), (2, ""), (3, "b")]


@pytest.mark.parametrize("prefix", ["trainer-1  | ", "ollama | ", "vllm_server_1 | "])
def test_compose_prefixes_come_off_where_most_lines_have_them(prefix: str) -> None:
    lines = lines_of("".join(f"{prefix}{text}\n" for text in ("loading", "  File", "boom")))
    assert [line.text for line in lines] == ["loading", "  File", "boom"]
    assert {line.wrapping.host for line in lines} == {prefix.partition(" ")[0]}


@pytest.mark.parametrize(("prefix", "rank"), [("3: ", "3"), (" 3: ", "3"), ("12: ", "12")])
def test_srun_labels_come_off_where_most_lines_have_them(prefix: str, rank: str) -> None:
    lines = lines_of("".join(f"{prefix}{text}\n" for text in ("loading", "", "  File", "boom")))
    assert [(line.text, line.wrapping.rank) for line in lines] == [
        (text, rank) for text in ("loading", "", "  File", "boom")
    ]


def wrapped(text: str, width: int) -> str:
    """The text as a terminal of this width breaks it."""
    return "\n".join(
        line[start : start + width]
        for line in text.split("\n")
        for start in range(0, max(1, len(line)), width)
    )


LONG = (
    "Traceback (most recent call last):\n"
    '  File "/home/user/miniconda3/envs/project/lib/python3.10/site-packages/torch/nn/modules/module.py",'
    " line 1511, in _wrapped_call_impl\n"
    "    return self._call_impl(*args, **kwargs)\n"
    "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 23.69 GiB total"
    " capacity; 20.94 GiB already allocated; 1.06 GiB free; 21.00 GiB reserved in total by PyTorch) If"
    " reserved memory is greater than allocated memory try setting max_split_size_mb\n"
    "done"
)


@pytest.mark.parametrize("width", [72, 80, 100])
def test_lines_that_a_terminal_broke_inside_words_are_joined(width: int) -> None:
    lines = lines_of(wrapped(LONG, width))
    assert [line.text for line in lines] == LONG.split("\n")
    numbers = [1, 2, 2 + -(-len(LONG.split("\n")[1]) // width)]
    assert [line.number for line in lines[:3]] == numbers


@pytest.mark.parametrize(
    "text",
    [
        "\n".join([BOX, "| NVIDIA-SMI 570.133.20" + " " * 55 + "|", BOX, "|" + "=" * 78 + "|", BOX]),
        "\n".join(["=" * 80, "=" * 80, "FAILURES", "-" * 80, "-" * 80, "next"]),
        "\n".join(
            f"Epoch {n:03} step {n:05} loss 0.{n:04} accuracy 0.{n:04} time 0.{n:04} memory 10"
            for n in range(9)
        ),
        "\n".join(f"{n:3}%|{'█' * 40:40}| {n:3}/100 [00:10<00:20, 11.11it/s, loss=0.12" for n in range(9))
        + "\nTraceback (most recent call last):",
        "\n".join(["a" * 80, "b" * 20, "c" * 80, "d" * 20]),  # never two full lines in a row
        "\n".join(["a" * 40, "b" * 40, "c" * 40]),  # narrower than any terminal
    ],
)
def test_tables_rulers_bars_and_regular_logs_are_not_joined(text: str) -> None:
    assert [line.text for line in lines_of(text)] == text.split("\n")


def test_bars_as_wide_as_the_terminal_do_not_swallow_the_error_after_them() -> None:
    bar = f" 10%|{'█' * 30:60}| 1/10 [00:01<00:09,  1.00s/it]"
    lines = lines_of(f"{bar}\r{bar.replace('1/', '2/')}\r{bar.replace('1/', '3/')}\nRuntimeError: boom")
    assert [line.text for line in lines][-1] == "RuntimeError: boom"
    assert [line.number for line in lines] == [1, 1, 1, 2]


@pytest.mark.parametrize("mark", [" > ", "> ", "# ", "   > "])
def test_quote_marks_come_off_where_most_lines_have_them(mark: str) -> None:
    said = [
        "RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB",
        "100.00 MiB free; 2 GiB reserved",
        "  x",
    ]
    lines = lines_of("\n".join(mark + line for line in said))
    assert [line.text for line in lines] == said
    assert lines[1].raw == mark + said[1]


def test_an_empty_text_has_no_lines() -> None:
    assert lines_of("") == ()


def test_pieces_keep_their_line_numbers_and_a_break_stands_between_them() -> None:
    lines = unwrap([Piece(3, "a\nb\n"), Piece(5, "c\n"), Piece(90, "d\n")])
    assert [(line.number, line.text) for line in lines] == [
        (3, "a"),
        (4, "b"),
        (5, "c"),
        (0, BREAK.text),
        (90, "d"),
    ]
