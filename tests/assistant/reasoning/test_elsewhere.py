"""When the cause is not in the text, the answer says so and names whose output holds it; else never."""

from __future__ import annotations

import pytest

from gpuhelp.diagnosis import Diagnosis, Status, diagnose
from gpuhelp.kb.load import KnowledgeBase

TABLE = """\
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
============================================================
train.py FAILED
------------------------------------------------------------
Failures:
  <NO_OTHER_FAILURES>
------------------------------------------------------------
Root Cause (first observed failure):
[0]:
  time      : 2026-01-15_05:44:28
  host      : node3
  rank      : 17 (local_rank: 1)
  exitcode  : 1 (pid: 6174)
  error_file: <N/A>
  traceback : To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html
============================================================
"""
TORCHRUN = (
    "W0115 05:44:28.552000 2635 torch/distributed/elastic/multiprocessing/api.py:897] Sending process "
    "6175 closing "
    "signal SIGTERM\n"
    "E0115 05:44:28.638000 2635 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: 1) "
    "local_rank: 1 (pid: 6174) of binary: /opt/conda/bin/python\n"
    'Traceback (most recent call last):\n  File "/opt/conda/bin/torchrun", line 8, in <module>\n'
    "    sys.exit(main())\n"
    '  File "/opt/conda/lib/python3.11/site-packages/torch/distributed/launcher/api.py", line 269, in '
    "launch_agent\n"
    "    raise ChildFailedError(\n" + TABLE
)
SLURM = (
    "srun: error: node3: task 17: Exited with exit code 1\n"
    "slurmstepd: error: *** STEP 30399.0 ON node0 CANCELLED AT 2026-01-15T05:44:30 ***\n"
    "srun: error: node0: tasks 0-7: Terminated\n"
)
TIMEOUT = (
    "[rank{rank}]:[E1114 03:22:18.4 ProcessGroupNCCL.cpp:629] [Rank {rank}] Watchdog caught collective "
    "operation "
    "timeout: WorkNCCL(SeqNum=18, OpType=ALLREDUCE, NumelIn=6, NumelOut=6, Timeout(ms)=600000) ran for "
    "600082 "
    "milliseconds before timing out.\n"
)
ODD = (
    '[rank17]: Traceback (most recent call last):\n[rank17]:   File "/home/user/train.py", line 8, in main\n'
    "[rank17]:     go()\n[rank17]: gpuhelp_test.VeryOdd: the flux capacitor is out of jigawatts\n"
)
OOM = (
    "[rank17]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.76 GiB. GPU 1 has a total "
    "capacity of "
    "79.15 GiB of which 1.10 GiB is free.\n"
)


def found(knowledge: KnowledgeBase, text: str) -> Diagnosis:
    return diagnose(text, knowledge=knowledge)


@pytest.mark.parametrize(
    ("text", "who"),
    [
        (TORCHRUN, ("17", "node3", "6174", "1")),
        (TABLE, ("17", "node3", "6174", "1")),
        (SLURM, ("17", "node3", "", "1")),
        (SLURM + TORCHRUN, ("17", "node3", "6174", "1")),
        ("epoch 1\n['/usr/bin/python', '-u', 'train.py'] exits with return code = 1\n", ("", "", "", "1")),
        ("RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}\n",
         ("", "", "", "")),
        ("Error: ShardCannotStart\n", ("", "", "", "")),
    ],
)  # fmt: skip
def test_a_text_that_only_reports_says_who_failed(
    knowledge: KnowledgeBase, text: str, who: tuple[str, ...]
) -> None:
    diagnosis = found(knowledge, text)
    assert diagnosis.elsewhere is not None
    one = diagnosis.elsewhere
    assert (one.rank, one.host, one.pid, one.exit_code) == who
    assert one.certain
    assert diagnosis.status is not Status.HEALTHY
    assert diagnosis.findings or diagnosis.failure is not None


@pytest.mark.parametrize(
    "text",
    [
        ODD + TORCHRUN,
        ODD + SLURM,
        OOM + TORCHRUN,
        OOM + SLURM,
        OOM + "".join(TIMEOUT.format(rank=rank) for rank in range(4)),
        ODD,
        "epoch 1\n",
        "RuntimeError: CUDA error: out of memory\nsubprocess.CalledProcessError: Command "
        "'['/usr/bin/python', "
        "'train.py']' returned non-zero exit status 1.\n",
    ],
    ids=[
        "odd, torchrun",
        "odd, slurm",
        "oom, torchrun",
        "oom, slurm",
        "oom, waiting",
        "odd",
        "healthy",
        "accelerate",
    ],
)
def test_a_text_with_a_cause_points_nowhere_else(knowledge: KnowledgeBase, text: str) -> None:
    assert found(knowledge, text).elsewhere is None


def test_the_process_s_own_words_are_shown_before_the_launcher_s(knowledge: KnowledgeBase) -> None:
    diagnosis = found(knowledge, ODD + TORCHRUN)
    if diagnosis.findings:
        assert diagnosis.findings[0].evidence[0].line == 4
    else:
        assert diagnosis.failure is not None
        assert diagnosis.failure.exception == "gpuhelp_test.VeryOdd"


def test_ranks_that_waited_point_to_the_one_that_did_not(knowledge: KnowledgeBase) -> None:
    text = "world size 8\n" + "".join(TIMEOUT.format(rank=rank) for rank in range(8) if rank != 3)
    diagnosis = found(knowledge, text)
    assert diagnosis.elsewhere is not None
    assert (diagnosis.elsewhere.rank, diagnosis.elsewhere.certain) == ("3", False)
    assert diagnosis.findings[0].ranks is not None
    assert (diagnosis.findings[0].ranks.on, diagnosis.findings[0].ranks.of) == (7, 8)


def test_where_all_waited_for_one_another_nobody_is_pointed_to(knowledge: KnowledgeBase) -> None:
    text = "world size 8\n" + "".join(TIMEOUT.format(rank=rank) for rank in range(8))
    assert found(knowledge, text).elsewhere is None


def test_of_one_waiting_rank_nobody_knows_for_whom(knowledge: KnowledgeBase) -> None:
    elsewhere = found(knowledge, TIMEOUT.format(rank=0)).elsewhere
    assert elsewhere is not None
    assert (elsewhere.rank, elsewhere.certain) == ("", False)


def test_a_question_about_such_a_line_is_answered(knowledge: KnowledgeBase) -> None:
    assert found(knowledge, "what does exit code 137 in docker mean?").elsewhere is None


def test_being_stopped_is_no_failure_by_itself(knowledge: KnowledgeBase) -> None:
    diagnosis = found(knowledge, "epoch 1\nSending process 6175 closing signal SIGTERM\n")
    assert (diagnosis.status, diagnosis.elsewhere, diagnosis.failure) == (Status.HEALTHY, None, None)
