"""Python errors are found in every form in which tracebacks are printed, whole or cut off."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gpuhelp.reading.evidence import Document, PythonError

ReadText = Callable[[str], Document]
TORCH = "/opt/conda/lib/python3.11/site-packages/torch/nn/modules/module.py"
CALLS = f"""  File "/home/user/train.py", line 88, in <module>
    main()
  File "/home/user/project/model.py", line 41, in forward
    return self.layer(x)
           ^^^^^^^^^^^^^
  File "{TORCH}", line 1739, in _wrapped_call_impl
    return self._call_impl(*args, **kwargs)
"""
HEADER = "Traceback (most recent call last):\n"


def told(error: PythonError) -> tuple[str, str, str]:
    """Type, message and the deepest frame of the person's own."""
    return error.type, error.message, error.user_frame.place if error.user_frame else ""


PLAIN = f"{HEADER}{CALLS}RuntimeError: CUDA error: out of memory\n"
MODEL = "/home/user/project/model.py:41"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(PLAIN, [("RuntimeError", "CUDA error: out of memory", MODEL)], id="plain"),
        pytest.param(
            f"{HEADER}{CALLS}torch.cuda.OutOfMemoryError: CUDA out of memory.\n",
            [("torch.cuda.OutOfMemoryError", "CUDA out of memory.", MODEL)],
            id="dotted type",
        ),
        pytest.param(
            f"{HEADER}{CALLS}KeyboardInterrupt\n", [("KeyboardInterrupt", "", MODEL)], id="no message"
        ),
        pytest.param(
            f"{HEADER}{CALLS}AssertionError\n\nmore", [("AssertionError", "", MODEL)], id="bare assert"
        ),
        pytest.param(
            f"{HEADER}{CALLS}torch.AcceleratorError: CUDA error: unknown\nSearch for it.\n\nbye",
            [("torch.AcceleratorError", "CUDA error: unknown\nSearch for it.", MODEL)],
            id="message of two lines",
        ),
        pytest.param(
            f"{HEADER}{CALLS}ValueError: bad\nfirst note\nsecond note\n",
            [("ValueError", "bad\nfirst note\nsecond note", MODEL)],
            id="notes",
        ),
        pytest.param(
            f"{HEADER}{CALLS}struct.error: unpack requires 4\n",
            [("struct.error", "unpack requires 4", MODEL)],
        ),
        pytest.param(f"{HEADER}{CALLS}queue.Empty\n", [("queue.Empty", "", MODEL)], id="any capital name"),
        pytest.param(
            f"{HEADER}{CALLS}__main__.f.<locals>.Broken: x\n",
            [("__main__.f.<locals>.Broken", "x", MODEL)],
            id="local class",
        ),
        pytest.param(
            f'{HEADER}  File "/home/user/a.py", line 3, in f\nRuntimeError: no source lines\n',
            [("RuntimeError", "no source lines", "/home/user/a.py:3")],
            id="frames without source",
        ),
        pytest.param(
            f"{HEADER}  ...\nRuntimeError: cut out\n", [("RuntimeError", "cut out", "")], id="no frames"
        ),
        pytest.param(
            f'{HEADER}  File "/home/user/a.py", line 3, in f\n    f()\n'
            "  [Previous line repeated 996 more times]\nRecursionError: maximum recursion depth exceeded\n",
            [("RecursionError", "maximum recursion depth exceeded", "/home/user/a.py:3")],
            id="repeated lines",
        ),
        pytest.param(
            '  File "/home/user/a.py", line 3\n    x = = 1\n        ^\nSyntaxError: invalid syntax\n',
            [("SyntaxError", "invalid syntax", "/home/user/a.py:3")],
            id="syntax error",
        ),
        pytest.param(
            f"{PLAIN}\nThe above exception was the direct cause of the following exception:\n\n{HEADER}"
            '  File "/home/user/train.py", line 90, in <module>\n    raise Oops() from e\nOopsError: again\n',
            [
                ("RuntimeError", "CUDA error: out of memory", MODEL),
                ("OopsError", "again", "/home/user/train.py:90"),
            ],
            id="chained by cause",
        ),
        pytest.param(
            f"{PLAIN}\nDuring handling of the above exception, another exception occurred:\n\n{HEADER}"
            '  File "/home/user/train.py", line 90, in <module>\n    clean()\nKeyError: 0\n',
            [
                ("RuntimeError", "CUDA error: out of memory", MODEL),
                ("KeyError", "0", "/home/user/train.py:90"),
            ],
            id="chained by context",
        ),
        pytest.param(
            f"RuntimeError: Caught RuntimeError in replica 1 on device 1.\nOriginal {PLAIN}",
            [
                ("RuntimeError", "Caught RuntimeError in replica 1 on device 1.", ""),
                ("RuntimeError", "CUDA error: out of memory", MODEL),
            ],
            id="carried from a worker",
        ),
        pytest.param(
            f"Exception in thread Thread-3:\n{PLAIN}", [("RuntimeError", "CUDA error: out of memory", MODEL)]
        ),
        pytest.param(
            CALLS[CALLS.index('"/home/user/project') + 7 :] + "RuntimeError: boom\n",
            [("RuntimeError", "boom", "user/project/model.py:41")],
            id="begins inside a path",
        ),
        pytest.param(
            f"    main()\n{CALLS[CALLS.index('  File', 5) :]}RuntimeError: boom\n",
            [("RuntimeError", "boom", MODEL)],
            id="begins at a source line",
        ),
        pytest.param(f"{HEADER}{CALLS}", [("", "", MODEL)], id="ends before the exception"),
        pytest.param(f"{HEADER}", [], id="only a header"),
        pytest.param(
            "  " + PLAIN.replace("\n", "\n  "), [("RuntimeError", "CUDA error: out of memory", MODEL)]
        ),
        pytest.param(
            "        " + PLAIN.replace("\n", "\n        "),
            [("RuntimeError", "CUDA error: out of memory", MODEL)],
        ),
        pytest.param(
            "ValueError: x must be positive", [("ValueError", "x must be positive", "")], id="bare line"
        ),
        pytest.param(
            "torch.OutOfMemoryError: CUDA out of memory",
            [("torch.OutOfMemoryError", "CUDA out of memory", "")],
        ),
        pytest.param(
            "ValueError: one\nTypeError: two", [("ValueError", "one", ""), ("TypeError", "two", "")]
        ),
        pytest.param(
            f"ERROR 08-01 12:00:00 [core.py:718] EngineCore died.\n{PLAIN}",
            [("RuntimeError", "CUDA error: out of memory", MODEL)],
        ),
    ],
)
def test_type_message_and_own_frame_are_found(
    document: ReadText, text: str, expected: list[tuple[str, str, str]]
) -> None:
    assert [told(error) for error in document(text).errors] == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "loss 0.3",
        "Errors: 0",
        "no Error here: all good",
        "tests/test_error.py::test_value_error PASSED",
        "UserWarning: this is no failure",
        'loaded "train.py", fine',
        "The error: it was late",
        "ERROR: nothing",
        "transformers.errors: none",
        "loading errors.Counter",
        "torch.nn.Module: fine",
        "RayTaskError(",
        "exceptions.py: 3 lines",
    ],
)
def test_other_lines_are_no_errors(document: ReadText, text: str) -> None:
    assert document(text).errors == ()


def test_the_first_of_two_chained_errors_says_so(document: ReadText) -> None:
    text = (
        f"{PLAIN}\nDuring handling of the above exception, another exception occurred:\n\n"
        f"{PLAIN}\nThe above exception was the direct cause of the following exception:\n\n{PLAIN}\n{PLAIN}"
    )
    assert [error.chained for error in document(text).errors] == [True, True, False, False]


def test_frames_run_from_the_outermost_call_to_the_innermost(document: ReadText) -> None:
    (error,) = document(PLAIN).errors
    assert [(frame.place, frame.function, frame.is_library) for frame in error.frames] == [
        ("/home/user/train.py:88", "<module>", False),
        (MODEL, "forward", False),
        (f"{TORCH}:1739", "_wrapped_call_impl", True),
    ]


GROUP = """  + Exception Group Traceback (most recent call last):
  |   File "/home/user/serve.py", line 7, in <module>
  |     asyncio.run(main())
  |   File "/usr/lib/python3.12/asyncio/taskgroups.py", line 71, in __aexit__
  | ExceptionGroup: unhandled errors in a TaskGroup (2 sub-exceptions)
  +-+---------------- 1 ----------------
    | Traceback (most recent call last):
    |   File "/home/user/serve.py", line 12, in work
    |     raise RuntimeError("CUDA error")
    | RuntimeError: CUDA error: out of memory
    | and more of it
    |
    | During handling of the above exception, another exception occurred:
    |
    | Traceback (most recent call last):
    |   File "/home/user/serve.py", line 14, in work
    |     clean()
    | KeyError: 'x'
    +---------------- 2 ----------------
    | ValueError: bad
    +-+---------------- 3 ----------------
      | Traceback (most recent call last):
      |   File "/home/user/deep.py", line 1, in f
      | OSError: deep
      +------------------------------------
RuntimeError: outside
"""


def test_groups_give_every_exception_with_its_own_frames(document: ReadText) -> None:
    assert [told(error) for error in document(GROUP).errors] == [
        ("ExceptionGroup", "unhandled errors in a TaskGroup (2 sub-exceptions)", "/home/user/serve.py:7"),
        ("RuntimeError", "CUDA error: out of memory\nand more of it", "/home/user/serve.py:12"),
        ("KeyError", "'x'", "/home/user/serve.py:14"),
        ("ValueError", "bad", ""),
        ("OSError", "deep", "/home/user/deep.py:1"),
        ("RuntimeError", "outside", ""),
    ]


def test_groups_in_a_rank_log_are_read_too(document: ReadText) -> None:
    text = "".join(f"[rank2]: {line}\n" for line in GROUP.splitlines())
    assert [error.type for error in document(text).errors] == [error.type for error in document(GROUP).errors]


# ranks that write into each other's lines


def interleaved(*texts: str) -> str:
    """The lines of the texts, one of each in turn."""
    rows = [text.splitlines() for text in texts]
    longest = max(map(len, rows))
    return "\n".join(lines[n] for n in range(longest) for lines in rows if n < len(lines))


@pytest.mark.parametrize(
    "prefix", ["[rank{}]: ", "[1,{}]<stderr>:", "(work pid=100{}) ", "Jan  1 12:00:00 gpu01 python[10{}]: "]
)
def test_interleaved_ranks_do_not_mix(document: ReadText, prefix: str) -> None:
    texts = [
        "".join(
            f"{prefix.format(rank)}{line}\n"
            for line in PLAIN.replace("error:", f"error {rank}:").splitlines()
        )
        for rank in range(3)
    ]
    found = document(interleaved(*texts)).errors
    assert [told(error) for error in found] == [
        ("RuntimeError", f"CUDA error {rank}: out of memory", MODEL) for rank in range(3)
    ]
    assert [error.said for error in found] == [(24 + rank, 24 + rank) for rank in range(3)]


def test_lines_of_a_rank_do_not_break_a_traceback_without_prefix(document: ReadText) -> None:
    lines = PLAIN.splitlines()
    text = "\n".join(part for line in lines for part in (line, "[rank1]: waiting"))
    assert [told(error) for error in document(text).errors] == [
        ("RuntimeError", "CUDA error: out of memory", MODEL)
    ]


def test_a_traceback_whose_first_line_alone_has_a_logger_in_front_is_whole(document: ReadText) -> None:
    text = f"E0101 12:00:00.123456 123 api.py:833] {PLAIN}"
    assert [told(error) for error in document(text).errors] == [
        ("RuntimeError", "CUDA error: out of memory", MODEL)
    ]


# where a message ends


@pytest.mark.parametrize(
    "after",
    [
        "",
        "INFO:root:next epoch",
        "2024-01-01 12:00:00,123 - core - INFO - next",
        "srun: error: node1: task 0: Exited with exit code 1",
        "slurmstepd: error: *** STEP CANCELLED ***",
        "(base) user@host:~/project$ ls",
        "user@host:~$",
        "make: *** [Makefile:3: train] Error 1",
        "==============================",
        "------------------------------",
        " 10%|█         | 1/10",
        "wandb: Run history:",
        '  File "/home/user/other.py", line 1, in g',
        "ValueError: another",
        "Traceback (most recent call last):",
        '"""',
        "Exception ignored in: <function A.__del__ at 0x7f>",
        "Exception in thread Thread-1 (work):",
        "Process SpawnProcess-1:",
        "Error in atexit._run_exitfuncs:",
        "--- Logging error ---",
        "Call stack:",
        "Fatal Python error: Aborted",
        "terminate called without an active exception",
        "      [end of output]",
        "Segmentation fault (core dumped)",
    ],
)
def test_a_message_ends_where_another_speaker_begins(document: ReadText, after: str) -> None:
    first = document(f"{PLAIN}{after}\nmore").errors[0]
    assert told(first) == ("RuntimeError", "CUDA error: out of memory", MODEL)


def test_a_message_leaves_out_what_another_rank_says(document: ReadText) -> None:
    (error,) = document(f"{PLAIN}[rank1]: next\n[rank1]: more").errors
    assert told(error) == ("RuntimeError", "CUDA error: out of memory", MODEL)


def test_a_logged_message_goes_on_in_lines_without_prefix(document: ReadText) -> None:
    (error,) = document("2024-01-01 12:00:00,123 - core - ERROR - RuntimeError: one\ntwo\nthree").errors
    assert error.message == "one\ntwo\nthree"


def test_a_message_is_not_endless(document: ReadText) -> None:
    (error,) = document("RuntimeError: x\n" + "line\n" * 500).errors
    assert 10 < error.message.count("\n") < 100


# echoes


def echoed(found: Document) -> list[str]:
    """The lines that only repeat source code."""
    return [found.lines[index].text for index in sorted(found.echoes)]


def test_source_lines_and_their_markers_are_echoes_but_raise_lines_are_not(document: ReadText) -> None:
    text = (
        f'{HEADER}  File "/home/user/a.py", line 3, in f\n'
        "    torch.foo(\n    ~~~~~~~~~^\n"
        "        'CUDA error: out of memory',\n        ^^^^^^^\n    )\n    ^\n"
        '  File "/home/user/b.py", line 4, in g\n    raise RuntimeError("CUDA error: out of memory")\n'
        "RuntimeError: CUDA error: out of memory\n    an indented line of the message\n"
    )
    assert echoed(document(text)) == [
        "    torch.foo(",
        "    ~~~~~~~~~^",
        "        'CUDA error: out of memory',",
        "        ^^^^^^^",
        "    )",
        "    ^",
    ]


def test_indented_lines_outside_a_traceback_are_evidence(document: ReadText) -> None:
    assert echoed(document("error:\n    CUDA error: out of memory\n\n    more")) == []


# stacks of other printers


def test_a_dump_of_stacks_has_its_innermost_call_first(document: ReadText) -> None:
    text = (
        "Fatal Python error: Segmentation fault\n\nCurrent thread 0x00007f1234 (most recent call first):\n"
        f'  File "{TORCH}", line 12 in call\n  File "/home/user/inner.py", line 5 in step\n'
        '  File "/home/user/train.py", line 9 in <module>\n\nExtension modules: numpy\n'
    )
    (error,) = document(text).errors
    assert told(error) == ("", "", "/home/user/inner.py:5")
    assert [frame.function for frame in error.frames] == ["<module>", "step", "call"]


@pytest.mark.parametrize("header", ["Exception has occurred", "예외가 발생했습니다", "发生异常"])
@pytest.mark.parametrize("ending", ["", "RuntimeError: CUDA error: out of memory\n"])
def test_a_debugger_shows_the_message_first_and_the_innermost_call_first(
    document: ReadText, header: str, ending: str
) -> None:
    text = (
        f"{header}: RuntimeError       (note: full exception trace is shown but execution is paused at: f)\n"
        "CUDA error: out of memory\nmore\n"
        f'  File "{TORCH}", line 12, in call\n    x()\n'
        '  File "/home/user/inner.py", line 5, in step\n    y()\n'
        f'  File "/home/user/train.py", line 9, in <module>\n    z()\n{ending}'
    )
    found = document(text)
    assert [told(error) for error in found.errors] == [
        ("RuntimeError", "CUDA error: out of memory\nmore", "/home/user/inner.py:5")
    ]
    assert found.errors[0].said == (0, 2)
    assert echoed(found) == ["    x()", "    y()", "    z()"]
