"""An error that only reports another one is no answer where that one stands in the text."""

from __future__ import annotations

from gpuhelp.diagnosis import Diagnosis, diagnose
from gpuhelp.kb.load import KnowledgeBase

WORKER = (
    "(Worker pid=570) Traceback (most recent call last):\n"
    '(Worker pid=570)   File "/srv/worker.py", line 91, in step\n(Worker pid=570)     out = model(batch)\n'
    "(Worker pid=570) RuntimeError: the GPU flux capacitor ran dry\n"
)
SERVER = (
    "Traceback (most recent call last):\n"
    '  File "/srv/server.py", line 12, in serve\n    self.check()\n'
    "ChildProcessError: worker died\n"
)
COMPILER = (
    "[3/9] Building CUDA object kernels/gemm.cu.o\nFAILED: kernels/gemm.cu.o\n"
    "kernels/gemm.cuh:7:10: fatal error: cusparse.h: No such file or directory\n"
    "ninja: build stopped: subcommand failed.\n"
)
BUILDER = (
    "Traceback (most recent call last):\n"
    '  File "/srv/setup.py", line 88, in build\n    subprocess.check_call(command)\n'
    "subprocess.CalledProcessError: Command '['cmake', '--build', '.']' returned non-zero exit status 1.\n"
)


def told(found: Diagnosis) -> tuple[list[str], str]:
    return [finding.entry.id for finding in found.findings], found.failure.text if found.failure else ""


def test_the_worker_s_own_error_is_shown_before_the_server_s(knowledge: KnowledgeBase) -> None:
    found = diagnose(WORKER + SERVER, knowledge=knowledge)
    assert told(found) == ([], WORKER.splitlines()[-1])


def test_the_compiler_s_error_is_shown_before_the_builder_s(knowledge: KnowledgeBase) -> None:
    found = diagnose(COMPILER + BUILDER, knowledge=knowledge)
    assert told(found)[0] == ["extension-build-failed"]
    assert found.findings[0].evidence[0].text == COMPILER.splitlines()[2]


def test_a_crash_is_shown_before_the_end_of_file_that_another_process_got(knowledge: KnowledgeBase) -> None:
    crash = (
        "Fatal Python error: Segmentation fault\n\nThread 0x7f01 (most recent call first):\n"
        '  File "/srv/a.py", line 3 in f\n'
    )
    found = diagnose(
        f"{crash}\n{SERVER.replace('ChildProcessError: worker died', 'EOFError')}", knowledge=knowledge
    )
    assert told(found)[0][0] == "segmentation-fault"


def test_alone_the_report_is_the_answer(knowledge: KnowledgeBase) -> None:
    assert told(diagnose(SERVER, knowledge=knowledge))[0] == ["python-exception"]


def test_an_error_of_its_own_stays_the_answer(knowledge: KnowledgeBase) -> None:
    own = SERVER.replace("ChildProcessError: worker died", "KeyError: 'lm_head.weight'")
    assert told(diagnose(own + SERVER, knowledge=knowledge))[0] == ["python-exception"]


def test_an_error_within_the_launcher_is_the_launcher_s(knowledge: KnowledgeBase) -> None:
    launcher = (
        "failed (exitcode: 1) local_rank: 0 (pid: 31) of binary: /usr/bin/python\n"
        "Traceback (most recent call last):\n"
        '  File "/srv/bench.py", line 12, in main\n    launch()\n'
        '  File "/opt/env/torch/distributed/elastic/multiprocessing/api.py", line 90, in close\n'
        "    os.killpg(pid, signal)\nProcessLookupError: [Errno 3] No such process\n"
    )
    assert told(diagnose(launcher, knowledge=knowledge))[0] == ["worker-failed"]
