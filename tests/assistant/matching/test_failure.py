"""A text shows a failure or it does not, and what no entry knows is still described."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gpuhelp.kb.load import KnowledgeBase
from gpuhelp.matching.failure import UnknownFailure, describe, failure_lines
from gpuhelp.matching.view import View

MakeView = Callable[..., View]
HEALTHY = sorted((Path(__file__).parents[3] / "kb" / "healthy").iterdir())
FRAMES = (
    'Traceback (most recent call last):\n  File "/home/user/train.py", line 88, in main\n    go()\n'
    '  File "/opt/conda/lib/python3.11/site-packages/x.py", line 5, in go\n    raise ValueError()\n'
)


@pytest.mark.parametrize("path", HEALTHY, ids=lambda path: path.name)
def test_a_healthy_log_shows_no_failure(path: Path, view: MakeView, knowledge: KnowledgeBase) -> None:
    seen = view(path.read_bytes().decode("utf-8", "replace"), knowledge.rows("advice"))
    found = failure_lines([seen], knowledge.rows("failure_signs"))
    assert [seen.document.lines[index].raw for _, index in found] == []


def test_there_are_healthy_logs() -> None:
    assert len(HEALTHY) >= 20


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (f"ok\n{FRAMES}ValueError: bad\nend", [1, 6]),
        ("ok\nmymodule.CustomError: bad", [1]),
        ("Segmentation fault (core dumped)", [0]),
        ("terminate called after throwing an instance of 'c10::Error'", [0]),
        ("x\nCUDA error: out of memory\ny", [1]),
        ("a: error: unrecognized arguments: --foo", [0]),
        ('x\nFile "a.py", line 3, in f\n  y()\nFile "b.py", line 4, in g\n', [1]),  # calls without exception
        ('wrote File "a.py", line 3', []),
        ("ok\nRuntimeError: x\n" + "=" * 9 + " 2 failed, 1 passed in 64.00s =====", [1, 2]),
        ("========== 3 passed in 4.00s ==========", []),
        ("[2026-02-25 05:36:52 TP4] Watchdog timeout (self.watchdog_timeout=300)", [0]),
        ("server_args: watchdog_timeout=300", []),
        ("  RuntimeError: NCCL error in: /opt/c10d/ProcessGroupNCCL.cpp:825, invalid usage", [0]),
        ("UserWarning: take care", []),
        ("DeprecationWarning: old", []),
        ("all is well", []),
        ("", []),
    ],
)
def test_lines_that_show_a_failure_are_found(
    text: str, lines: list[int], view: MakeView, knowledge: KnowledgeBase
) -> None:
    assert failure_lines([view(text)], knowledge.rows("failure_signs")) == tuple((0, line) for line in lines)


def test_advice_and_echoed_code_show_no_failure(view: MakeView, knowledge: KnowledgeBase) -> None:
    text = (
        "CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below"
    )
    text += " might be incorrect.\n"
    text += 'Traceback (most recent call first):\n  File "a.py", line 3, in f\n    print("CUDA error")\n'
    seen = view(text, knowledge.rows("advice"))
    assert failure_lines([seen], knowledge.rows("failure_signs")) == ()


def test_lines_are_told_by_document_and_place(view: MakeView, knowledge: KnowledgeBase) -> None:
    seen = [view("fine"), view("ValueError: a\nSegmentation fault")]
    assert failure_lines(seen, knowledge.rows("failure_signs")) == ((1, 0), (1, 1))


def test_an_unknown_exception_is_described_with_the_persons_frame(view: MakeView) -> None:
    seen = (view(f"fine\n{FRAMES}my.OddError: strange\nmore"),)
    assert describe(seen, ()) == UnknownFailure(
        "my.OddError", "strange\nmore", "/home/user/train.py:88", "text", 7, "my.OddError: strange", True
    )


def test_the_last_exception_is_the_one_that_ended_the_run(view: MakeView) -> None:
    found = describe((view("KeyError: first\n\nValueError: second\n\nUserWarning: third"),), ())
    assert found is not None
    assert (found.exception, found.line) == ("ValueError", 3)


def test_a_failure_without_exception_is_its_first_line(view: MakeView) -> None:
    found = describe((view("fine"), view("x\nSegmentation fault\nAborted")), ((1, 1), (1, 2)))
    assert found == UnknownFailure("", "", "", "text", 2, "Segmentation fault")


def test_a_traceback_that_was_cut_off_still_tells_the_persons_frame(view: MakeView) -> None:
    found = describe((view(FRAMES),), ((0, 0),))
    assert found is not None
    assert (found.exception, found.user_frame, found.line) == ("", "/home/user/train.py:88", 1)


def test_without_a_failure_there_is_nothing_to_describe(view: MakeView) -> None:
    assert describe((view("fine"),), ()) is None
    assert describe((), ()) is None


# which of several places is told

CAUSE = "\nThe above exception was the direct cause of the following exception:\n\n"
CLOSING = (
    'Traceback (most recent call last):\n  File "/opt/conda/bin/torchrun", line 8, in <module>\n    main()\n'
    "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n"
    "============================================================\ntrain.py FAILED\n"
    "------------------------------------------------------------\nFailures:\n  <NO_OTHER_FAILURES>\n"
    "------------------------------------------------------------\nRoot Cause (first observed failure):\n"
    "[0]:\n  time      : 2024-05-17_08:24:00\n  host      : a\n  rank      : {rank} (local_rank: {rank})\n"
    "  exitcode  : 1 (pid: 970611)\n  error_file: <N/A>\n  traceback : To enable traceback see: x\n"
    "============================================================\n"
)
STEPS = "".join(f"step {n} loss 0.{n}\n" for n in range(100))


def raised(said: str, *, prefix: str = "") -> str:
    """A traceback in the person's own file."""
    return "".join(f"{prefix}{line}\n" for line in (*FRAMES.splitlines(), said))


@pytest.mark.parametrize(
    ("text", "exception", "told"),
    [
        pytest.param(
            f"{raised('OSError: a')}{CAUSE}{raised('RuntimeError: b')}",
            "OSError",
            "OSError: a",
            id="cause of a chain",
        ),
        pytest.param(
            f"{raised('OddFailure: a')}\n{raised('subprocess.CalledProcessError: Command x failed')}",
            "OddFailure",
            "OddFailure: a",
            id="not the launcher's",
        ),
        pytest.param(
            f"{raised('OddError: a')}\n{raised('SystemExit: 1')}",
            "OddError",
            "OddError: a",
            id="not the exit",
        ),
        pytest.param(
            f"{raised('OddError: a')}\n{raised('KeyboardInterrupt')}",
            "OddError",
            "OddError: a",
            id="not the ^C",
        ),
        pytest.param(
            f"{raised('OddError: first')}{raised('OtherError: second')}{CLOSING.format(rank=0)}",
            "OddError",
            "OddError: first",
            id="the first worker that failed",
        ),
        pytest.param(
            raised("OtherError: one", prefix="[rank1]: ")
            + raised("OddError: three", prefix="[rank3]: ")
            + CLOSING.format(rank=3),
            "OddError",
            "[rank3]: OddError: three",
            id="the rank that the launcher names",
        ),
        pytest.param(
            raised("OtherError: one", prefix="[rank1]: ") + raised("OddError: three", prefix="[rank3]: "),
            "OtherError",
            "[rank1]: OtherError: one",
            id="the first of several ranks",
        ),
        pytest.param(
            CLOSING.format(rank=0), "", "  exitcode  : 1 (pid: 970611)", id="only the launcher's table"
        ),
        pytest.param(
            f"{raised('OddError: early')}{STEPS}{raised('OtherError: late')}{CLOSING.format(rank=0)}",
            "OtherError",
            "OtherError: late",
            id="not one that the run survived",
        ),
        pytest.param(
            f"WARNING: caught exception, retrying\n{raised('OddError: a')}Segmentation fault (core dumped)\n",
            "",
            "Segmentation fault (core dumped)",
            id="death before what was swallowed",
        ),
        pytest.param(
            f"{raised('OddError: a')}Exception ignored in: <function A.__del__>\n{raised('OtherError: b')}",
            "OddError",
            "OddError: a",
            id="not what the interpreter ignored",
        ),
        pytest.param(
            f"Exception ignored in: <function A.__del__ at 0x7f>\n{raised('OtherError: b')}",
            "OtherError",
            "OtherError: b",
            id="what was ignored, where nothing else is there",
        ),
        pytest.param(
            "FAILED: multi.o\nnvcc -c multi.cu\nmulti.cu(1): error: identifier x is undefined\n"
            "ninja: build stopped: subcommand failed.\n"
            f"{raised('subprocess.CalledProcessError: Command ninja failed')}{CAUSE}"
            f"{raised('''RuntimeError: Error building extension 'ops' ''')}",
            "",
            "multi.cu(1): error: identifier x is undefined",
            id="the compiler's words",
        ),
        pytest.param(
            "  error: subprocess-exited-with-error\n      Traceback (most recent call last):\n"
            '        File "<string>", line 8, in <module>\n      ModuleNotFoundError: No module named torch\n'
            "      [end of output]\n\n  note: This error originates from a subprocess\nFailed to build x\n",
            "ModuleNotFoundError",
            "      ModuleNotFoundError: No module named torch",
            id="Python's words in a build",
        ),
        pytest.param(
            "terminate called after throwing an instance of 'odd'\n  what():  no device\nAborted\n"
            f"{raised('torch.multiprocessing.spawn.ProcessExitedException: process 0 terminated')}",
            "odd",
            "terminate called after throwing an instance of 'odd'",
            id="what a native program threw",
        ),
        pytest.param(
            f"{raised('torch._inductor.exc.InductorError: OddError: no gcc')}",
            "OddError",
            "torch._inductor.exc.InductorError: OddError: no gcc",
            id="the inner error",
        ),
        pytest.param(
            f"{raised('RuntimeError: Engine core initialization failed. See root cause above.')}",
            "RuntimeError",
            "RuntimeError: Engine core initialization failed. See root cause above.",
            id="a report, where nothing else is there",
        ),
        pytest.param(
            "subprocess.CalledProcessError: Command x failed\n\nTraceback (most recent call last):\n",
            "subprocess.CalledProcessError",
            "subprocess.CalledProcessError: Command x failed",
            id="not the head of a traceback that was cut off",
        ),
    ],
)
def test_the_root_is_described(
    text: str, exception: str, told: str, view: MakeView, knowledge: KnowledgeBase
) -> None:
    seen = (view(text),)
    found = describe(seen, failure_lines(seen, knowledge.rows("failure_signs")))
    assert found is not None
    assert (found.exception, found.text) == (exception, told)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "x\nterminate called after throwing an instance of 'c10::Error'\n  what():  CUDA error: late\n",
            ("c10::Error", "CUDA error: late", 2),
        ),
        ("thread 'main' panicked at src/a.rs:12:5:\nno device\nnote: run with it", ("panic", "no device", 1)),
        ("terminate called without an active exception\nAborted", ("", "", 1)),
    ],
)
def test_exceptions_of_other_languages_are_told_with_what_they_say(
    text: str, expected: tuple[str, str, int], view: MakeView
) -> None:
    found = describe((view(text),), ())
    assert found is not None
    assert (found.exception, found.message, found.line) == expected


def test_of_several_sources_the_one_that_says_most_is_described(
    view: MakeView, knowledge: KnowledgeBase
) -> None:
    seen = (view(raised("SystemExit: 1")), view(raised("OddError: a")), view(raised("OtherError: b")))
    found = describe(seen, failure_lines(seen, knowledge.rows("failure_signs")))
    assert found is not None
    assert found.exception == "OddError"


def test_ignored_errors_in_a_log_that_says_more_show_no_failure(
    view: MakeView, knowledge: KnowledgeBase
) -> None:
    text = f"{STEPS}Exception ignored in: <function A.__del__ at 0x7f>\n{raised('OtherError: b')}\ndone\n"
    assert failure_lines([view(text)], knowledge.rows("failure_signs")) == ()


@pytest.mark.parametrize(
    "line",
    [
        "free(): invalid pointer",
        "run: run.c:3: main: Assertion `n == 1' failed.",
        "thread 'main' (24442) panicked at src/main.rs:1:51:",
        "[gpu01:1000:0:1000] Caught signal 11 (Segmentation fault: address not mapped to object at 0x20)",
        "[940392] signal (11.1): Segmentation fault",
        "/src/ggml-cuda.cu:86: GGML_ASSERT(n <= 512) failed",
        "error[E0308]: mismatched types",
        "a.obj : error LNK2019: unresolved external symbol cudaMalloc",
        "c.cpp:(.text+0x5): undefined reference to `cudaMalloc'",
        "  × Failed to build `flash-attn==2.7.4.post1`",
        "docker: Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is it running?",
        "Memory cgroup out of memory: Killed process 140339 (python3) total-vm:120832kB",
        "Root Cause (first observed failure):",
    ],
)
def test_the_words_of_each_kind_of_death_are_known_alone(
    line: str, view: MakeView, knowledge: KnowledgeBase
) -> None:
    assert (0, 1) in failure_lines([view(f"ok\n{line}\nok")], knowledge.rows("failure_signs"))
