"""Notebooks give what their cells printed; the error that the editor copies gives its stack."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from gpuhelp.diagnosis import diagnose
from gpuhelp.reading.pieces import from_text
from gpuhelp.reading.read import read
from gpuhelp.reading.sources.notebooks import may_be_notebook, printed_text

OpenAll = Callable[..., "dict[str, str]"]
MESSAGE = "CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 7.79 GiB total capacity)"
TRACEBACK = [
    "\x1b[0;31m" + "-" * 75 + "\x1b[0m",
    "\x1b[0;31mOutOfMemoryError\x1b[0m                          Traceback (most recent call last)",
    "Cell \x1b[0;32mIn[3], line 2\x1b[0m\n\x1b[1;32m      1\x1b[0m x = 1\n\x1b[0;32m----> 2\x1b[0m model()\n",
    f"\x1b[0;31mOutOfMemoryError\x1b[0m: {MESSAGE}",
]
ERROR = {"output_type": "error", "ename": "OutOfMemoryError", "evalue": MESSAGE, "traceback": TRACEBACK}
CELLS: list[dict[str, object]] = [
    {"cell_type": "markdown", "source": ["# RuntimeError: CUDA error: out of memory"]},
    {"cell_type": "code", "execution_count": 1, "source": "print(1)", "outputs": [
        {"output_type": "stream", "name": "stdout", "text": ["epoch 1\n", "epoch 2"]},
        {"output_type": "display_data", "data": {"image/png": "iVBORw0KGgo="}},
        {"output_type": "stream", "name": "stderr", "text": "UserWarning: slow\n"},
    ]},
    {"cell_type": "code", "execution_count": None, "source": [], "outputs": []},
    {"cell_type": "code", "execution_count": 3, "source": "raise RuntimeError('x')", "outputs": [ERROR]},
]  # fmt: skip


def notebook(cells: list[dict[str, object]] = CELLS) -> dict[str, object]:
    return {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def test_outputs_come_in_the_order_of_the_cells(opened: OpenAll, tmp_path: Path) -> None:
    path = tmp_path / "train.ipynb"
    path.write_text(json.dumps(notebook(), indent=1), encoding="utf-8")
    assert opened(path)[str(path)] == (
        "# cell 2, run as [1]\nepoch 1\nepoch 2\nUserWarning: slow\n# cell 4, run as [3]\n"
        + "\n".join(TRACEBACK)
        + "\n"
    )


def test_a_notebook_is_told_by_its_content_too(opened: OpenAll) -> None:
    data = json.dumps(notebook()).encode()
    assert "OutOfMemoryError" in opened("-", stdin=b"\xef\xbb\xbf" + data)["standard input"]


def test_the_error_of_a_notebook_is_read_as_one() -> None:
    text = printed_text(json.dumps(notebook()).encode())
    assert text is not None
    (document,) = read([from_text(text, "train.ipynb")])
    (error,) = document.errors
    assert (error.type, error.message) == ("OutOfMemoryError", MESSAGE)
    assert error.user_frame
    assert error.user_frame.place == "Cell In[3]:2"


def test_a_notebook_that_printed_no_error_is_healthy() -> None:
    text = printed_text(json.dumps(notebook(CELLS[:3])).encode())
    assert text is not None
    assert diagnose(text).status.value == "healthy"


@pytest.mark.parametrize(
    ("output", "text"),
    [
        ({"output_type": "error", "ename": "KeyError", "evalue": "'x'", "traceback": []}, "KeyError: 'x'\n"),
        ({"output_type": "error", "ename": "KeyError", "evalue": "'x'"}, "KeyError: 'x'\n"),
        ({"output_type": "error", "ename": "E", "evalue": "v", "traceback": "a\nb"}, "a\nb\n"),
        ({"output_type": "pyerr", "ename": "E", "evalue": "v", "traceback": ["a", "b"]}, "a\nb\n"),
        ({"output_type": "stream", "text": 3}, ""),
        ({"output_type": "execute_result", "data": {"text/plain": "1"}}, ""),
        ({}, ""),
        (None, ""),
    ],
)
def test_outputs_of_any_kind_become_text(output: object, text: str) -> None:
    found = printed_text(json.dumps({"cells": [{"outputs": [output]}]}).encode())
    assert found == (f"# cell 1\n{text}" if text else "")


def test_the_format_before_version_4_is_read() -> None:
    cells = [
        {"cell_type": "code", "prompt_number": 2, "outputs": [{"output_type": "stream", "text": ["a\n"]}]}
    ]
    old = {"worksheets": [{"cells": cells}], "nbformat": 3}
    assert printed_text(json.dumps(old).encode()) == "# cell 1, run as [2]\na\n"


def copied(stack: str, message: str = MESSAGE) -> bytes:
    return json.dumps({"name": "OutOfMemoryError", "message": message, "stack": stack}, indent="\t").encode()


def test_a_copied_error_gives_its_stack(opened: OpenAll) -> None:
    assert opened("-", stdin=copied("\n".join(TRACEBACK))) == {"standard input": "\n".join(TRACEBACK) + "\n"}


@pytest.mark.parametrize(
    ("stack", "text"), [("", f"OutOfMemoryError: {MESSAGE}\n"), ("a", f"a\nOutOfMemoryError: {MESSAGE}\n")]
)
def test_a_copied_error_whose_stack_does_not_say_it_says_its_message(
    opened: OpenAll, stack: str, text: str
) -> None:
    assert opened("-", stdin=copied(stack)) == {"standard input": text}


@pytest.mark.parametrize(
    "data",
    [
        b'{"name": "a", "message": "b"}\n{"name": "a", "message": "b", "stack": "c"}\n',
        b'{"cells": [{"cell_type": "code", "outputs": [{"text": "cut o',
        b'{"message": "RuntimeError: x", "level": "ERROR"}\n',
        b'{"cells": 3, "cell_type": 1}',
        b'{"stack": 1, "name": 2, "message": 3}',
        b'{"name": "cell", "message": ["stack"]}',
        b"{" * 5000,
        b'{"cells":"cell_type"' + b"[" * 100_000,
        b"{}",
        b"{",
    ],
)
def test_other_json_stays_as_it_is(opened: OpenAll, data: bytes) -> None:
    assert opened("-", stdin=data)["standard input"].encode() == data


@pytest.mark.parametrize(
    ("head", "name", "may_be"),
    [
        (b'{"cells": [], "cell_type"', "x", True),
        (b"{", "a.ipynb", True),
        (b"# not json", "a.ipynb", False),
        (b'{"name":"E","message":"m","stack":"s"}', "x", True),
        (b'{"level":"E","message":"m","stack":"s"}', "x", False),
        (b"", "a.ipynb", False),
    ],
)
def test_only_what_looks_like_it_is_parsed(head: bytes, name: str, may_be: bool) -> None:
    assert may_be_notebook(head, name) is may_be
