"""Tracebacks of IPython, Jupyter, Colab and rich: cells, arrows and boxes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gpuhelp.reading.evidence import Document

ReadText = Callable[[str], Document]
RULE = "-" * 75
HEADER = f"{RULE}\nRuntimeError                              Traceback (most recent call last)\n"
LIBRARY = """
{library} in _call_impl(self, *input, **kwargs)
    720             result = self._slow_forward(*input, **kwargs)
    721         else:
--> 722             result = self.forward(*input, **kwargs)
    723         for hook in itertools.chain(
    724                 _global_forward_hooks.values(),
"""
END = "\nRuntimeError: CUDA error: out of memory\nmore\n\nIn [4]: "
SITE = "~/miniconda3/lib/python3.8/site-packages/torch/nn/modules/module.py"
NEW_LIBRARY = (
    f"File {SITE}:722, in Module._call_impl(self, *args)\n    721 else:\n--> 722     return forward(*args)\n"
)


def cell(head: str, arrow: int = 2) -> str:
    """A cell's frame whose second line is the current one."""
    return f"{head}\n      1 import torch\n----> {arrow} model(x)\n      3 # CUDA error: everything is fine\n"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        pytest.param(
            HEADER + cell("<ipython-input-3-abc123> in <module>") + LIBRARY.format(library=SITE) + END,
            "<ipython-input-3-abc123>:2",
            id="IPython 7",
        ),
        pytest.param(
            HEADER
            + cell("<ipython-input-3-abc123> in <cell line: 2>()")
            + LIBRARY.format(library=SITE)
            + END,
            "<ipython-input-3-abc123>:2",
            id="Colab",
        ),
        pytest.param(
            HEADER + cell("/tmp/ipykernel_4242/12345.py in <module>") + LIBRARY.format(library=SITE) + END,
            "/tmp/ipykernel_4242/12345.py:2",
            id="ipykernel 6",
        ),
        pytest.param(
            HEADER + cell("Input In [3], in <cell line: 2>()") + "\n" + NEW_LIBRARY + END,
            "Input In [3]:2",
            id="IPython 8.0",
        ),
        pytest.param(
            HEADER + cell("Cell In [3], line 2") + "\n" + NEW_LIBRARY + END, "Cell In [3]:2", id="IPython 8.5"
        ),
        pytest.param(
            HEADER + cell("Cell In[3], line 2") + "\n" + NEW_LIBRARY + END, "Cell In[3]:2", id="IPython 8.7"
        ),
        pytest.param(
            HEADER + cell("Cell In[3], line 2, in step(x)") + "\n" + NEW_LIBRARY + END,
            "Cell In[3]:2",
            id="cell's function",
        ),
        pytest.param(
            HEADER
            + cell("File ~/my project/model.py:12, in Net.forward(self, x)", 12)
            + "\n"
            + NEW_LIBRARY
            + END,
            "~/my project/model.py:12",
            id="own module",
        ),
        pytest.param(
            HEADER + cell("File <string>:1") + "\n" + cell("Cell In[9], line 2") + NEW_LIBRARY + END,
            "Cell In[9]:2",
            id="string",
        ),
        pytest.param(
            cell("Cell In[3], line 2") + "\n" + NEW_LIBRARY + END, "Cell In[3]:2", id="without its header"
        ),
        pytest.param(HEADER + "(...)" + END, "", id="frames cut out"),
    ],
)
def test_cells_and_modules_are_frames(document: ReadText, text: str, place: str) -> None:
    (error,) = document(text).errors
    assert (error.type, error.message) == ("RuntimeError", "CUDA error: out of memory\nmore")
    assert (error.user_frame.place if error.user_frame else "") == place


def test_numbered_source_lines_are_echoes(document: ReadText) -> None:
    found = document(HEADER + cell("Cell In[3], line 2") + "\n" + NEW_LIBRARY + END)
    evidence = [line.text for index, line in enumerate(found.lines) if index not in found.echoes]
    assert not [text for text in evidence if "everything is fine" in text or "import torch" in text]


def test_chained_errors_of_a_notebook_are_two(document: ReadText) -> None:
    one = HEADER.replace("RuntimeError", "KeyError    ") + cell("Cell In[3], line 2") + "\nKeyError: 'x'\n"
    text = f"{one}\nDuring handling of the above exception, another exception occurred:\n\n"
    text += HEADER.partition("\n")[2] + cell("Cell In[4], line 2") + END
    found = document(text).errors
    assert [(error.name, error.chained, error.user_frame and error.user_frame.place) for error in found] == [
        ("KeyError", True, "Cell In[3]:2"),
        ("RuntimeError", False, "Cell In[4]:2"),
    ]


BOX = """╭───────────────────── Traceback (most recent call last) ──────────────────────╮
│ /home/user/project/train.py:12 in main                                       │
│                                                                              │
│    9 def main():                                                             │
│ ❱ 12     model(x)  # CUDA error: everything is fine                          │
│                                                                              │
│ /opt/conda/lib/python3.10/site-packages/torch/nn/modules/modules_with_a_long │
│ name.py:1501 in _call_impl                                                   │
│                                                                              │
│ ❱ 1501             return forward_call(*args)                                │
╰──────────────────────────────────────────────────────────────────────────────╯
RuntimeError: CUDA error: out of memory
"""


def test_boxed_tracebacks_are_read(document: ReadText) -> None:
    found = document(BOX)
    assert [(e.type, e.message, e.user_frame and e.user_frame.place) for e in found.errors] == [
        ("RuntimeError", "CUDA error: out of memory", "/home/user/project/train.py:12")
    ]
    assert any("everything is fine" in found.lines[index].text for index in found.echoes)


def test_the_plain_mode_of_ipython_is_read(document: ReadText) -> None:
    text = (
        "Traceback (most recent call last):\n  Cell In[1], line 3\n    outer(1)\n"
        "  File /home/user/inner.py:2 in inner\n    raise OddError()\nOddError: bad\n"
    )
    (error,) = document(text).errors
    assert [frame.place for frame in error.frames] == ["Cell In[1]:3", "/home/user/inner.py:2"]


def test_files_that_colab_copies_as_links_are_frames(document: ReadText) -> None:
    link = "[/usr/local/lib/python3.11/dist-packages/vllm/utils.py](https://localhost:8080/#) in inner(*args)"
    text = (
        HEADER
        + cell("[<ipython-input-3-a>](https://localhost:8080/#) in <cell line: 2>()")
        + f"\n{link}\n"
        + END
    )
    (error,) = document(text).errors
    assert [frame.file for frame in error.frames] == [
        "<ipython-input-3-a>",
        "/usr/local/lib/python3.11/dist-packages/vllm/utils.py",
    ]
    assert error.user_frame is not None
    assert error.user_frame.place == "<ipython-input-3-a>:2"


def test_the_boxes_of_a_group_hold_one_error_each(document: ReadText) -> None:
    box = "╭──────── Sub-exception #{} ────────╮\n│ {:<31} │\n╰─────────────────────────────────╯\n"
    text = f"{BOX}\n{box.format(1, 'ValueError: one')}\n{box.format(2, 'TypeError: two')}"
    assert [error.name for error in document(text).errors] == ["RuntimeError", "ValueError", "TypeError"]
