"""What stands around a match completes it: the nearest value, its rank, the frame of its traceback."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gpuhelp.kb import regexes
from gpuhelp.matching.surroundings import enriched, user_frame
from gpuhelp.matching.symptoms import Match
from gpuhelp.matching.view import View

MakeView = Callable[..., View]


def row(name: str, source: str, near: str = "") -> dict[str, Any]:
    """A row of captures, made ready."""
    return {"name": name, "regex": regexes.ready(source), "anchors": regexes.anchors(source), "near": near}


EXIT = row("exit_code", r"exit code (?P<exit_code>-?\d+)")
ORDINAL = row("gpu_index", r"on GPU (?P<gpu_index>\d+)", "line")


def at(line: int, last: int | None = None, **captured: str) -> Match:
    return Match("e", 0, line, line if last is None else last, "text", "x", captured)


@pytest.mark.parametrize(
    ("text", "line", "value"),
    [
        ("boom exit code 3\nexit code 4", 0, "3"),
        ("exit code 1\nboom\nexit code 2", 1, "2"),  # what follows is nearer to the end of the run
        ("exit code 1\nboom", 1, "1"),
        ("boom" + "\nfiller" * 30 + "\nexit code 7", 0, "7"),
        ("boom" + "\nfiller" * 300 + "\nexit code 7", 0, None),
        ("exit code 7" + "\nfiller" * 300 + "\nboom", 301, None),
        ("boom\nexit code -9", 0, "-9"),
    ],
)
def test_the_nearest_value_is_taken(view: MakeView, text: str, line: int, value: str | None) -> None:
    assert enriched(at(line), view(text), [EXIT]).captured.get("exit_code") == value


@pytest.mark.parametrize(
    ("text", "line", "value"),
    [
        ("exit code 1\nexit code 2\nboom", 2, "2"),
        ("boom\nexit code 1\nexit code 2", 0, "1"),
    ],
)
def test_of_several_values_the_one_beside_the_match_is_taken(
    view: MakeView, text: str, line: int, value: str
) -> None:
    assert enriched(at(line), view(text), [EXIT]).captured["exit_code"] == value


def test_a_row_for_the_line_alone_looks_nowhere_else(view: MakeView) -> None:
    seen = view("on GPU 1\nboom on\nGPU 2\non GPU 3")
    assert "gpu_index" not in enriched(at(1), seen, [ORDINAL]).captured
    assert enriched(at(1, 2), seen, [ORDINAL]).captured["gpu_index"] == "2"


def test_the_first_row_that_fits_wins_and_what_the_pattern_captured_stays(view: MakeView) -> None:
    rows = [row("rank", r"rank (?P<rank>\d+)"), row("rank", r"node (?P<rank>\d+)")]
    seen = view("boom node 7 rank 5")
    assert enriched(at(0), seen, rows).captured == {"rank": "5"}
    assert enriched(at(0, rank="3"), seen, rows).captured == {"rank": "3"}


def test_captured_values_are_one_line(view: MakeView) -> None:
    rows = [row("gpu_name", r"name: (?P<gpu_name>[\w ]+\s[\w ]+)")]
    assert enriched(at(0), view("name: NVIDIA\n   A100"), rows).captured["gpu_name"] == "NVIDIA A100"


def test_the_wrapper_of_the_line_tells_the_rank(view: MakeView) -> None:
    assert enriched(at(1), view("[rank3]: a\n[rank5]: boom"), []).captured == {"rank": "5"}


def traceback(file: str, error: str) -> str:
    return f'Traceback (most recent call last):\n  File "/home/user/{file}", line 3, in f\n    x()\n{error}\n'


TWO = traceback("one.py", "KeyError: 1") + "\n" + traceback("two.py", "ValueError: 2") + "\nend\n"
RANKS = "".join(
    f"[rank{rank}]: {line}\n"
    for line in traceback("rank.py", "ValueError: x").splitlines()
    for rank in range(2)
).replace('/home/user/rank.py", line 3', '/home/user/rank.py", line 3')


@pytest.mark.parametrize(
    ("text", "line", "place"),
    [
        (TWO, 3, "/home/user/one.py:3"),
        (TWO, 8, "/home/user/two.py:3"),
        (TWO, 10, "/home/user/two.py:3"),
        ("boom\n\n" + TWO, 0, "/home/user/one.py:3"),
        ("CUDA error", 0, None),
        (
            traceback("one.py", "KeyError: 1") + "x\n\nboom\n" + "\n" * 50 + traceback("two.py", "E: 2"),
            6,
            "/home/user/one.py:3",
        ),
    ],
)
def test_the_frame_is_that_of_the_traceback_a_match_belongs_to(
    view: MakeView, text: str, line: int, place: str | None
) -> None:
    found = user_frame(view(text).document, line, line)
    assert (found.place if found else None) == place
    assert enriched(at(line), view(text), []).captured.get("user_frame") == place


def test_an_exception_without_own_frames_takes_the_nearest_frame(view: MakeView) -> None:
    text = traceback("one.py", "KeyError: 1") + "\nRuntimeError: boom\n"
    found = user_frame(view(text).document, 5, 5)
    assert found is not None
    assert found.place == "/home/user/one.py:3"


def test_of_interleaved_ranks_each_match_gets_the_frame_of_its_own_rank(view: MakeView) -> None:
    zero = [f"[rank0]: {line}" for line in traceback("zero.py", "ValueError: 0").splitlines()]
    one = [f"[rank1]: {line}" for line in traceback("one.py", "ValueError: 1").splitlines()]
    seen = view("\n".join(line for pair in zip(zero, one, strict=True) for line in pair))
    assert [enriched(at(line), seen, []).captured["user_frame"] for line in (6, 7)] == [
        "/home/user/zero.py:3",
        "/home/user/one.py:3",
    ]
