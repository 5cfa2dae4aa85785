"""Lines of launchers are read for the process they point to, in the wording of the programs themselves."""

from __future__ import annotations

import time
from typing import Any

import pytest

from gpuhelp.kb.load import KnowledgeBase
from gpuhelp.matching.view import View
from gpuhelp.reading.pieces import from_text
from gpuhelp.reading.read import read
from gpuhelp.reasoning.pointers import Pointer, find_pointers, most_telling

TABLE = """\
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
============================================================
train.py FAILED
------------------------------------------------------------
Failures:
[1]:
  time      : 2026-01-15_05:44:29
  host      : node1
  rank      : 1 (local_rank: 1)
  exitcode  : -6 (pid: 6175)
  error_file: <N/A>
  traceback : Signal 6 (SIGABRT) received by PID 6175
------------------------------------------------------------
Root Cause (first observed failure):
[0]:
  time      : 2026-01-15_05:44:28
  host      : node3
  rank      : 17 (local_rank: 1)
  exitcode  : 1 (pid: 6174)
  error_file: /tmp/torchelastic_x/none_y/attempt_0/1/error.json
  traceback : To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html
============================================================
"""


def pointers(knowledge: KnowledgeBase, *texts: str) -> tuple[Pointer, ...]:
    documents = read(from_text(text, f"{number}.log") for number, text in enumerate(texts))
    return find_pointers(tuple(View(document) for document in documents), knowledge.rows("root_pointers"))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        pytest.param(
            TABLE,
            {"program": "torchrun", "rank": "17", "local_rank": "1", "host": "node3", "pid": "6174",
             "exit_code": "1", "log": "/tmp/torchelastic_x/none_y/attempt_0/1/error.json"},
            id="torchelastic's table",
        ),
        pytest.param(
            "Root Cause (first observed failure):\n[0]:\n  time      : 2026-02-20_05:44:28\n  host      "
            ": n1\n"
            "  rank      : 3 (local_rank: 3)\n  exitcode  : -11 (pid: 5277) (SIGSEGV)\n  error_file: <N/A>\n",
            {"rank": "3", "exit_code": "-11", "log": ""},
            id="with the signal's name",
        ),
        ("  time: 2021-10-05_08:44:42\n  rank: 2 (local_rank: 2)\n  exitcode: 1 (pid: 123)\n  "
         "error_file: <N/A>",
         {"rank": "2", "pid": "123", "exit_code": "1", "log": ""}),
        ("E0516 10:49:24.165000 10143 torch/distributed/elastic/multiprocessing/api.py:874] failed "
         "(exitcode: 1) "
         "local_rank: 4 (pid: 10209) of binary: /opt/venv/bin/python",
         {"local_rank": "4", "pid": "10209", "exit_code": "1", "rank": ""}),
        ("srun: error: node3: task 17: Exited with exit code 1",
         {"program": "slurm", "rank": "17", "host": "node3", "exit_code": "1"}),
        ("srun: error: gpu-07: task 2: Segmentation fault (core dumped)", {"rank": "2", "host": "gpu-07"}),
        ("srun: error: node[30-31]: tasks 0-1: Exited with exit code 2", {"rank": "", "exit_code": "2"}),
        ("mpirun noticed that process rank 17 with PID 13064 on node master exited on signal 11 "
         "(Segmentation fault).",
         {"program": "mpirun", "rank": "17", "pid": "13064", "host": "master", "signal": "11"}),
        ("prterun detected that one or more processes exited with non-zero status,\nthus causing the job "
         "to be "
         "terminated. The first process to do so was:\n\n   Process name: [prterun-ranma-147515@1,17]\n"
         "   Exit code:    6\n", {"rank": "17", "exit_code": "6"}),
        ("the job to be terminated. The first process to do so was:\n\n  Process name: [[43465,1],17]\n"
         "  Exit code:    1\n", {"rank": "17", "exit_code": "1"}),
        ("Horovod detected that one or more processes exited with non-zero status, thus causing the job "
         "to be "
         "terminated. The first process to do so was:\nProcess name: 3\nExit code:    1\n", {"rank": "3"}),
        ("MPI_ABORT was invoked on rank 3 in communicator MPI_COMM_WORLD\nwith errorcode 1.", {"rank": "3"}),
        ("=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n=   RANK 5 PID 4410 RUNNING AT node3\n"
         "=   KILLED BY SIGNAL: 11 (Segmentation fault)\n", {"rank": "5", "pid": "4410", "signal": "11"}),
        ("torch.multiprocessing.spawn.ProcessExitedException: process 3 terminated with exit code 1",
         {"program": "spawn", "rank": "3", "exit_code": "1"}),
        ("torch.multiprocessing.spawn.ProcessExitedException: process 3 terminated with signal SIGSEGV",
         {"rank": "3", "signal": "SIGSEGV"}),
        ("[2025-03-02 03:37:03,778] [ERROR] [launch.py:341:sigkill_handler] ['/usr/bin/python', '-u', "
         "'train.py', "
         "'--local_rank=3'] exits with return code = 1",
         {"program": "deepspeed", "local_rank": "3", "exit_code": "1"}),
        ("['/usr/bin/python', 'train.py', '--bf16'] exits with return code = -6", {"exit_code": "-6"}),
        ("ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this "
         "task.\n\tclass_name: W\n"
         "\tactor_id: f1a9\n\tpid: 3490362\n\tname: Ax0Dict_0:1\n\tnamespace: 33f0\n\tip: 172.18.1.7\n"
         "The actor is dead because its worker process has died. Worker exit type: SYSTEM_ERROR",
         {"program": "ray", "pid": "3490362", "host": "172.18.1.7"}),
        ("(raylet) A worker died or was killed while executing a task by an unexpected system error. To "
         "troubleshoot "
         "the problem, check the logs for the dead worker. RayTask ID: ff Worker ID: ab Node ID: cd "
         "Worker IP "
         "address: 10.0.0.5 Worker port: 10003 Worker PID: 7777", {"host": "10.0.0.5", "pid": "7777"}),
        ("ERROR 07-09 10:00:00 [multiproc_executor.py:140] Worker proc VllmWorker-2 died unexpectedly, "
         "shutting down "
         "executor.", {"program": "vllm", "rank": "2"}),
        ("Worker proc VllmWorker-2 died unexpectedly (exit code: -9), shutting down executor.",
         {"exit_code": "-9"}),
        ("RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}",
         {"program": "vllm"}),
        ("EngineDeadError: EngineCore encountered an issue. See stack trace (above) for the root cause.",
         {"program": "vllm"}),
        ("Exception: WorkerProc initialization failed due to an exception in a background process. See "
         "stack trace "
         "for root cause.", {"program": "vllm"}),
        ("[2026-08-10 09:47:36] Subprocess scheduler_0 (pid=3417555) crashed with exit code -3. "
         "Triggering SIGQUIT "
         "for cleanup...", {"program": "sglang", "pid": "3417555", "exit_code": "-3"}),
        ("CRITICAL 03-09 10:00:00 [core_client.py:359] Got fatal signal from worker processes, shutting "
         "down. See stack trace above for root cause issue.", {"program": "vllm", "kills": True}),
        ("[2026-05-07 15:47:06] Rank 3 scheduler is dead. Please check if there are relevant logs.\n"
         "[2026-05-07 15:47:06] Exit code: -7", {"program": "sglang", "rank": "3", "exit_code": "-7"}),
        ("[2026-05-07 15:20:46] Child process unexpectedly failed with an exit code 135. pid=4301",
         {"program": "sglang", "pid": "4301", "exit_code": "135", "kills": True}),
        ("Child process unexpectedly failed with exitcode=9. pid=77", {"pid": "77", "exit_code": "9"}),
        ("[2026-05-07 15:20:46] Received sigquit from a child proces. It usually means the child failed.",
         {"program": "sglang", "weak": True, "kills": True}),
        ("coordination_service.cc:954] /job:jax_worker/replica:0/task:12 has been set to ERROR in "
         "coordination service: UNAVAILABLE: Task /job:jax_worker/replica:0/task:12 heartbeat timeout. This "
         "indicates that the remote task has failed", {"program": "jax", "rank": "12"}),
        ("UNAVAILABLE: The following tasks are unhealthy (stopped sending heartbeats):\n"
         "/job:jax_worker/replica:0/task:3\n/job:jax_worker/replica:0/task:5\nThe tasks have crashed.",
         {"program": "jax", "rank": "3"}),
        ("F0911 17:42:48.594200 1044 client.h:77] Terminating process because the JAX distributed service "
         "detected fatal errors. This most likely indicates that another task died",
         {"program": "jax", "rank": ""}),
        ("ERROR shard-manager: text_generation_launcher: Shard process was signaled to shutdown with "
         "signal 4 rank=0",
         {"program": "tgi", "rank": "0", "signal": "4"}),
        ("2024-09-02T23:29:59.823812Z ERROR text_generation_launcher: Shard 3 failed to start",
         {"rank": "3"}),
        ("subprocess.CalledProcessError: Command '['/usr/bin/python3.10', 'train.py', '--lr', '1e-4']' "
         "returned "
         "non-zero exit status 1.", {"program": "launcher", "exit_code": "1"}),
        ("RuntimeError: DataLoader worker (pid(s) 123, 124) exited unexpectedly", {"pid": "123"}),
        ("Warning  BackOff  2s  kubelet  Back-off restarting failed container train in pod job-0_ns(1)",
         {"program": "kubernetes", "host": "job-0_ns"}),
        ("[Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1)",
         {"waits": True, "rank": ""}),
        ("[Rank 3] Some NCCL operations have failed or timed out.", {"waits": True}),
        ("Received a dump signal due to a collective timeout from  rank 7 and we will try our best",
         {"waits": True}),
        ("NCCL error: remote process exited or there was a network error, NCCL version 2.19.3",
         {"waits": True}),
        ("RuntimeError: [../gloo/transport/tcp/pair.cc:525] Connection closed by peer [10.0.0.5]:1234",
         {"waits": True}),
    ],
)  # fmt: skip
def test_what_a_launcher_says_is_read(knowledge: KnowledgeBase, text: str, told: dict[str, Any]) -> None:
    found = most_telling(pointers(knowledge, text))
    assert found is not None
    assert {name: getattr(found, name) for name in told} == told
    assert found.look["en"]
    assert found.look["ko"]


@pytest.mark.parametrize(
    "text",
    [
        "srun: job 463531 queued and waiting for resources",
        "srun: error: Unable to allocate resources: Invalid partition",
        "['/usr/bin/python', 'train.py'] exits with return code = 0",
        "[INFO] [launch.py:347:main] Process 123 exits successfully.",
        "process 3 terminated with exit code 0",
        "failed (exitcode: 0) local_rank: 4 (pid: 1) of binary: python",
        "subprocess.CalledProcessError: Command '['ninja', '-v']' returned non-zero exit status 1.",
        "subprocess.CalledProcessError: Command '['/usr/bin/gcc', 'main.c']' returned non-zero exit "
        "status 1.",
        "Subprocess detokenizer (pid=31379) crashed with exit code -15. Triggering SIGQUIT for cleanup...",
        "The engine is dead simple to use",
        "Shard 3 of 8 loaded",
        "Child process unexpectedly failed with an exit code 0. pid=12",
        "/job:jax_worker/replica:0/task:2 has connected to coordination service. Incarnation: 1",
        "Rank 0 scheduler is ready",
        "see the stack trace of the traceback module",
        "watchdog thread started",
        "-- Process 3 terminated with the following error:",
    ],
)
def test_what_looks_like_it_points_nowhere(knowledge: KnowledgeBase, text: str) -> None:
    assert [one for one in pointers(knowledge, text) if not one.weak] == []


def test_of_several_tables_the_earliest_failure_is_told(knowledge: KnowledgeBase) -> None:
    later = TABLE.replace("05:44:28", "05:44:50").replace("rank      : 17", "rank      : 40")
    found = most_telling(pointers(knowledge, later, TABLE))
    assert found is not None
    assert (found.rank, found.document) == ("17", 1)


def test_a_process_that_only_gave_up_waiting_is_not_the_first(knowledge: KnowledgeBase) -> None:
    aborted = TABLE.replace("exitcode  : 1 (pid", "exitcode  : -6 (pid").replace("05:44:28", "05:44:20")
    found = most_telling(pointers(knowledge, aborted.replace(": 17", ": 40"), TABLE))
    assert found is not None
    assert found.rank == "17"


def test_what_a_launcher_says_of_one_process_is_put_together(knowledge: KnowledgeBase) -> None:
    text = (
        "failed (exitcode: 1) local_rank: 1 (pid: 6174) of binary: python\n"
        "  rank      : 17 (local_rank: 1)\n  exitcode  : 1 (pid: 6174)\n  error_file: <N/A>\n"
    )
    found = most_telling(pointers(knowledge, text))
    assert found is not None
    assert (found.rank, found.pid, found.local_rank) == ("17", "6174", "1")


def test_no_text_points_nowhere(knowledge: KnowledgeBase) -> None:
    assert most_telling(pointers(knowledge, "")) is None


@pytest.mark.parametrize(
    "text",
    ["srun: error: " + "a" * 10**6, "BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES " + "= " * 10**5,
     "Root Cause (first observed failure): [0]: time " + " " * 10**6,
     "CalledProcessError: Command '['" + "python'," * 10**5],
)  # fmt: skip
def test_a_hostile_text_costs_little_time(knowledge: KnowledgeBase, text: str) -> None:
    began = time.perf_counter()
    pointers(knowledge, text)
    assert time.perf_counter() - began < 10
