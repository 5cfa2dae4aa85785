"""A text shows a failure or it does not, and what no entry knows is still described."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gpuhelp.kb.load import KnowledgeBase
from gpuhelp.matching.failure import UnknownFailure, describe, failure_lines
from gpuhelp.matching.view import View

MakeView = Callable[..., View]
HEALTHY = sorted((Path(__file__).parents[2] / "healthy").iterdir())
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
        "my.OddError", "strange\nmore", "/home/user/train.py:88", "text", 7, "my.OddError: strange"
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
