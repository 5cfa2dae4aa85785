"""The tables of failed workers are read in every form in which torchelastic printed them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gpuhelp.reading import kinds
from gpuhelp.reading.evidence import Document
from gpuhelp.reading.workers import FailedWorker, failure_table

ReadText = Callable[[str], Document]
NEW = """torch.distributed.elastic.multiprocessing.errors.ChildFailedError: 
============================================================
train.py FAILED
------------------------------------------------------------
Failures:
[1]:
  time      : 2024-05-17_08:24:01
  host      : gpu01.cluster
  rank      : 9 (local_rank: 1)
  exitcode  : -15 (pid: 970612)
  error_file: <N/A>
  traceback : Signal 15 (SIGTERM) received by PID 970612
------------------------------------------------------------
Root Cause (first observed failure):
[0]:
  time      : 2024-05-17_08:24:00
  host      : gpu01.cluster
  rank      : 8 (local_rank: 0)
  exitcode  : 1 (pid: 970611)
  error_file: /tmp/torchelastic_x/attempt_0/0/error.json
  traceback : Traceback (most recent call last):
    File "/opt/conda/lib/python3.10/site-packages/torch/x.py", line 355, in wrapper
      return f(*args, **kwargs)
    File "/home/user/train.py", line 12, in main
      step()
  ValueError: nothing fits
  
============================================================
done
"""  # noqa: W291, W293
OLD = """*****************************************
            tools/train.py FAILED        
=========================================
Root Cause:
[0]:
  time: 2025-02-20_22:01:20
  rank: 0 (local_rank: 0)
  exitcode: 1 (pid: 866229)
  error_file: <N/A>
  msg: "Process failed with exitcode 1"
=========================================
Other Failures:
[1]:
  time: 2025-02-20_22:01:21
  rank: 1 (local_rank: 1)
  exitcode: -9 (pid: 866230)
  error_file: <N/A>
  msg: "Signal 9 (SIGKILL) received by PID 866230"
*****************************************
"""  # noqa: W291
ROOT = FailedWorker(
    "8", "0", "1", "970611", "gpu01.cluster", "2024-05-17_08:24:00",
    "/tmp/torchelastic_x/attempt_0/0/error.json", "Traceback (most recent call last):", True, 18,
)  # fmt: skip


def workers(document: Document) -> tuple[FailedWorker, ...]:
    (episode,) = (one for one in document.episodes if one.kind == kinds.FAILURE_TABLE)
    return failure_table(document, episode)


def test_a_table_names_every_worker_and_which_failed_first(document: ReadText) -> None:
    other, root = workers(document(NEW))
    assert root == ROOT
    assert (other.rank, other.exit_code, other.error_file, other.is_root) == ("9", "-15", "", False)
    assert other.message == "Signal 15 (SIGTERM) received by PID 970612"


def test_the_line_that_tells_is_how_the_root_ended(document: ReadText) -> None:
    found = document(NEW)
    (episode,) = (one for one in found.episodes if one.kind == kinds.FAILURE_TABLE)
    assert (found.lines[episode.telling].text, episode.first, episode.last) == (
        "  exitcode  : 1 (pid: 970611)",
        1,
        27,
    )


def test_the_traceback_in_a_table_is_an_error_with_its_place(document: ReadText) -> None:
    error = document(NEW).errors[-1]
    assert (error.type, error.message, error.user_frame and error.user_frame.place) == (
        "ValueError",
        "nothing fits",
        "/home/user/train.py:12",
    )


def test_the_table_of_old_versions_has_its_root_first(document: ReadText) -> None:
    assert [(w.rank, w.exit_code, w.pid, w.is_root, w.message) for w in workers(document(OLD))] == [
        ("0", "1", "866229", True, "Process failed with exitcode 1"),
        ("1", "-9", "866230", False, "Signal 9 (SIGKILL) received by PID 866230"),
    ]


def test_newest_versions_name_the_signal_behind_the_exit_code(document: ReadText) -> None:
    (root,) = workers(document(NEW[: NEW.index("Failures:")] + NEW[NEW.index("Root Cause") :].replace(
        "exitcode  : 1 (pid: 970611)", "exitcode  : -9 (pid: 970611) (SIGKILL)"
    )))  # fmt: skip
    assert (root.exit_code, root.pid) == ("-9", "970611")


@pytest.mark.parametrize(
    ("begin", "end", "ranks"),
    [
        ("Failures:", "\nRoot Cause", [("9", False)]),
        ("Root Cause", "  error_file: /tmp", [("8", True)]),
        ("  rank      : 8", "  error_file: /tmp", [("8", False)]),
    ],
)
def test_a_table_that_was_cut_is_read_as_far_as_it_goes(
    document: ReadText, begin: str, end: str, ranks: list[tuple[str, bool]]
) -> None:
    text = NEW[NEW.index(begin) :]
    found = workers(document(text[: text.index(end)]))
    assert [(worker.rank, worker.is_root) for worker in found] == ranks


def test_a_table_in_a_rank_log_is_read_without_its_prefix(document: ReadText) -> None:
    text = "".join(f"[default0]:{line}\n" for line in NEW.splitlines())
    assert [worker.rank for worker in workers(document(text))] == ["9", "8"]


def test_the_warning_of_torch_1_9_is_a_table_of_one(document: ReadText) -> None:
    text = "Child process 820989 (local_rank 3) FAILED (exitcode -9)\nError msg: Signal 9 (SIGKILL)\n"
    (worker,) = workers(document(text))
    assert (worker.pid, worker.local_rank, worker.exit_code, worker.rank) == ("820989", "3", "-9", "")


@pytest.mark.parametrize(
    "text",
    [
        "tests/test_x.py::test_a FAILED\n",
        "=======\nFAILED\n=======",
        "Root Cause: bad luck",
        "rank: 3",
        "  rank: 0\n",
    ],
)
def test_other_lines_are_no_table(document: ReadText, text: str) -> None:
    assert [one for one in document(text).episodes if one.kind == kinds.FAILURE_TABLE] == []
