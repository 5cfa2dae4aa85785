"""A kill that a program brought on itself is no lack of host memory; any other stays a guess of that."""

from __future__ import annotations

import time

import pytest

from gpuhelp.diagnosis import Diagnosis, diagnose
from gpuhelp.kb.load import KnowledgeBase

ERROR = (
    "Traceback (most recent call last):\n"
    '  File "/srv/serve.py", line 41, in start\n    engine.run()\n'
    '  File "/srv/engine.py", line 9, in run\n    raise RuntimeError(reason)\n'
    "RuntimeError: the GPU flux capacitor ran out of jigawatts\n"
)
"""Of no class that an entry knows."""
SHUTDOWN = (
    "CRITICAL 02-04 23:21:45 core_client.py:158] Got fatal signal from worker processes, shutting down. See "
    "stack trace above for root cause issue.\n"
)
SIGQUIT = "[2026-02-10 21:15:43] Received sigquit from a child process. It usually means the child failed.\n"
GUESSED = "host-oom-killed"


def classes(found: Diagnosis) -> list[str]:
    return [finding.entry.id for finding in found.findings]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"{ERROR}\n{SHUTDOWN}Killed\n", id="the engine says that it ends all"),
        pytest.param(f"{ERROR}{SIGQUIT}start.sh: line 3: 811 Killed   python -m serve\n", id="with the job"),
        pytest.param(f"{ERROR}\n\nKilled\n", id="right after its own error"),
        pytest.param(f"Killed\n{SIGQUIT}{ERROR}", id="the last line first"),
        pytest.param(
            f"{ERROR}\n/usr/lib/python3.11/multiprocessing/resource_tracker.py:104: UserWarning: "
            "resource_tracker: process died unexpectedly, relaunching.  Some resources might leak.\n"
            "Traceback (most recent call last):\n"
            '  File "/usr/lib/python3.11/multiprocessing/resource_tracker.py", line 209, in main\n'
            "    cache[rtype].remove(name)\nKeyError: '/mp-0a1b'\nKilled\n",
            id="the resource tracker went too",
        ),
    ],
)
def test_a_kill_of_its_own_making_hides_no_error(knowledge: KnowledgeBase, text: str) -> None:
    found = diagnose(text, knowledge=knowledge)
    assert classes(found) == []
    assert found.failure is not None
    assert found.failure.message.startswith("the GPU flux capacitor")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("loading shard 7\nKilled\n", id="nothing else"),
        pytest.param(f"{ERROR}restarted\nloading shard 7\nKilled\n", id="it went on after the error"),
        pytest.param(
            'Traceback (most recent call last):\n  File "/srv/a.py", line 3, in f\n    g()\n'
            "MemoryError: Unable to allocate 3.5 GiB for an array\nKilled\n",
            id="the error is of host memory too",
        ),
        pytest.param(
            "[2026-05-07 15:20:46] Child process unexpectedly failed with exit code -9. pid=43\n",
            id="a child was killed",
        ),
        pytest.param(
            f"{SIGQUIT}[1203417.88] Out of memory: Killed process 811 (python) total-vm:9kB\nKilled\n",
            id="the kernel says so",
        ),
        pytest.param(SHUTDOWN + "INFO step\n" * 100 + "Killed\n", id="long after"),
    ],
)
def test_any_other_kill_counts(knowledge: KnowledgeBase, text: str) -> None:
    assert GUESSED in classes(diagnose(text, knowledge=knowledge))


def test_a_guessed_kill_is_no_second_root(knowledge: KnowledgeBase) -> None:
    text = (
        "/pytorch/aten/src/ATen/native/cuda/Indexing.cu:1290: indexSelect: block: [3,0,0], thread: [7,0,0] "
        "Assertion `srcIndex < srcSelectDimSize` failed.\nRuntimeError: CUDA error: device-side assert "
        "triggered\n\nshutting down the workers\nKilled\n"
    )
    found = diagnose(text, knowledge=knowledge)
    assert [(finding.entry.id, finding.role.value) for finding in found.findings] == [
        ("cuda-device-assert", "root"),
        (GUESSED, "related"),
    ]
    assert found.findings[1].evidence[0].text == "Killed"


def test_many_kills_cost_no_more_than_their_number(knowledge: KnowledgeBase) -> None:
    text = f"{ERROR}\nKilled\n" * 400
    began = time.monotonic()
    assert diagnose(text, knowledge=knowledge).failure is not None
    assert time.monotonic() - began < 20.0
