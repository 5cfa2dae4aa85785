"""Who brought an entry that is not ours is told in every output; of ours nothing is said."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

FAILURE = b"made-up engine libfoo stopped in bar\n"
OURS = b"torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB\n"
Run = Callable[..., Any]


@pytest.fixture
def told(gpuhelp: Run, entries: Path) -> Callable[..., str]:
    def run(*argv: str, stdin: bytes = b"") -> str:
        return str(gpuhelp(*argv, "--kb", entries, stdin=stdin, width=400).out)

    return run


def test_a_diagnosis_names_the_origin(told: Callable[..., str], entries: Path) -> None:
    data = json.loads(told("-", "--no-probes", "--format", "json", stdin=FAILURE))
    assert [finding["source"] for finding in data["findings"]] == [str(entries)]
    assert f"[{entries}]" in told("-", "--no-probes", stdin=FAILURE).splitlines()[1]
    markdown = told("-", "--no-probes", "--format", "markdown", stdin=FAILURE)
    (line,) = (line for line in markdown.splitlines() if "`made-up-failure`" in line)
    assert "entries" in line


def test_an_explanation_names_the_origin(told: Callable[..., str], entries: Path) -> None:
    assert json.loads(told("explain", "made-up-failure", "--format", "json"))["source"] == str(entries)
    assert f"[{entries}]" in told("explain", "made-up-failure").splitlines()[1]
    assert "entries" in told("explain", "made-up-failure", "--format", "markdown").splitlines()[2]


def test_of_our_own_entries_no_origin_is_told(told: Callable[..., str]) -> None:
    data = json.loads(told("-", "--no-probes", "--format", "json", stdin=OURS))
    assert ["source" in finding for finding in data["findings"]] == [False]
    assert "source" not in json.loads(told("explain", "cuda-oom", "--format", "json"))
    assert "[" not in told("explain", "cuda-oom").splitlines()[1]
