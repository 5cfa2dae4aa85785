"""Whatever the text: reading ends, raises nothing, and every line leads back to the source."""

from __future__ import annotations

import time
from collections.abc import Callable
from io import BytesIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuhelp.errors import InputError
from gpuhelp.reading.evidence import Document
from gpuhelp.reading.pieces import RawText, from_text
from gpuhelp.reading.read import read
from gpuhelp.reading.sources import read_paths

ReadText = Callable[[str], Document]
PIECES = [
    "Traceback (most recent call last):", "  + Exception Group Traceback (most recent call last):", "  | ",
    "    | ", "+-+---------------- 1 ----------------", '  File "/u/a.py", line 3, in f', "    raise X()",
    "RuntimeError: boom", "ValueError", "During handling of the above exception, another exception occurred:",
    "RuntimeError      Traceback (most recent call last)", "Cell In[3], line 2", "----> 2 f()", "      1 x",
    "Exception has occurred: RuntimeError", "Current thread 0x1 (most recent call first):",
    "╭─ Traceback (most recent call last) ─╮", "│ /home/user/a.py:3 in f │", "╰──╯", "[rank0]: ",
    "[rank1]:", "> ", "3: ", "app | ", "\r", "\n", "\n", "    ^^^^", "\x1b[31m", "\x1b]0;",
    "(f pid=3) ", " ", "x" * 80, "é",
    "2024-01-01 12:00:00,123 - core - ERROR - ", "\ud800", "\0",
]  # fmt: skip
HOSTILE = st.lists(st.sampled_from(PIECES) | st.text(max_size=6), max_size=40).map("".join)
TRACEBACK = (
    "Traceback (most recent call last):\n"
    '  File "/home/user/train.py", line 88, in <module>\n    main()\n'
    '  File "/home/user/model.py", line 41, in forward\n    return x\n           ^\n'
    '  File "/opt/conda/lib/python3.11/site-packages/torch/x.py", line 1, in f\n    raise RuntimeError(m)\n'
    "RuntimeError: CUDA error: out of memory\nCompile with it.\n"
)
NO_WORD_TWICE = " ".join(f"{n * 7919 % 1000:03}{'abcdefghij'[n % 10] * (n % 7 + 1)}" for n in range(80))
PREFIXES = [
    "> ", "[rank3]: ", "[rank12]:", "[default0]:", "rank3: ", "[1,4]<stderr>:", "[prterun-n-1@1,4]<stderr>: ",
    "[rank: 5] ", "(train_fn pid=123, ip=10.0.0.7) ", "\x1b[36m(train_fn pid=123)\x1b[0m ", "(raylet) ",
    "ERROR 01-02 03:04:05 engine.py:366] ", "ERROR 08-01 12:00:00 [core.py:718] ", "[ERROR] ", "ERROR:root:",
    "E0101 12:00:00.123456 123 api.py:833] ", "Jan  1 12:00:00 gpu01 trainer[4242]: ", "[31m", "\x1b[0m",
    "2024-01-01T12:00:00+0900 gpu01 python[77]: ", "2024-01-01T00:00:00.123456789Z stderr F ",
    "2024-01-01 12:00:00,123 - core - ERROR - ",
    "[2024-01-01 12:00:00,123] [ERROR] [logging.py:96:log_dist] [Rank 0] ", "trainer-1  | ", "3: ", " 3: ",
]  # fmt: skip


def document_of(text: str) -> Document:
    (found,) = read([from_text(text, "text")])
    return found


@settings(max_examples=300, deadline=None)
@given(HOSTILE | st.text(max_size=400))
def test_no_text_makes_reading_raise_or_lose_its_place(text: str) -> None:
    found = document_of(text)
    numbers = [line.number for line in found.lines]
    assert numbers == sorted(numbers)
    assert not numbers or 1 <= numbers[0] <= numbers[-1] <= found.source.line_count
    physical = from_text(text, "text").text.split("\n")
    assert all(line.raw in physical[line.number - 1] for line in found.lines)
    for error in found.errors:
        assert 0 <= error.first <= error.said[0] <= error.said[1] <= error.last < len(found.lines)
    assert all(0 <= index < len(found.lines) for index in found.echoes)


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=300))
def test_bytes_become_text_or_one_line_of_refusal(data: bytes) -> None:
    texts: tuple[RawText, ...] = ()
    refusals: tuple[object, ...] = ()
    try:
        texts = read_paths(["-"], BytesIO(data))
    except InputError as error:
        refusals = error.sayings
    assert len(refusals) == (not texts)
    assert all(text.size_bytes <= len(data) for text in texts)


def told(found: Document) -> list[tuple[str, str, str]]:
    return [(e.type, e.message, e.user_frame.place if e.user_frame else "") for e in found.errors]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(PREFIXES), min_size=1, max_size=3))
def test_a_wrapper_changes_nothing_of_a_traceback(prefixes: list[str]) -> None:
    # A prefix that could be anything is taken off only as the outermost one.
    prefix = "".join(sorted(prefixes, key=lambda one: one not in ("trainer-1  | ", "3: ", " 3: ")))
    if sum(prefixes.count(one) for one in ("trainer-1  | ", "3: ", " 3: ")) > 1:
        return
    wrapped = "".join(f"{prefix}{line}\n" for line in TRACEBACK.splitlines())
    found = document_of(wrapped)
    assert told(found) == told(document_of(TRACEBACK))
    assert [line.raw for line in found.lines] == wrapped.splitlines()
    assert [line.number for line in found.lines] == list(range(1, 11))


@settings(max_examples=60, deadline=None)
@given(st.integers(60, 200))
def test_a_terminal_of_any_width_changes_nothing_of_a_traceback(width: int) -> None:
    text = TRACEBACK.replace("out of memory", NO_WORD_TWICE)
    broken = "\n".join(line[i : i + width] for line in text.splitlines() for i in range(0, len(line), width))
    assert told(document_of(broken)) == told(document_of(text))


@pytest.mark.parametrize(
    "line",
    [
        "| " * 20000 + "x!",
        "+" * 40000,
        " " * 40000 + "x",
        "a." * 20000,
        "A" * 40000,
        "\x1b]" * 20000,
        "\x1b[" + "0;" * 20000,
        "> " * 20000,
        '  File "' + "x" * 40000,
        '  File "' * 5000,
        "x" * 40000 + ".py in ",
        "[" + "a." * 20000,
        "(" + "a" * 40000,
        "2024-01-01 12:00:00 " * 2000,
        "\r" * 40000,
        "x\r" * 20000,
        "Traceback (most recent call last):" * 1000,
        "[rank1]: " * 5000,
    ],
)
@pytest.mark.parametrize("before", ["", "Traceback (most recent call last):\n", "RuntimeError: x\n"])
def test_hostile_lines_cost_no_more_than_their_length(line: str, before: str) -> None:
    started = time.perf_counter()
    document_of(f"{before}{line}\n")
    assert time.perf_counter() - started < 3
