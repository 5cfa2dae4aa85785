"""Whatever stands around a failure, the answer is the same: the first finding, and what it captured."""

from __future__ import annotations

import html
import json
from collections.abc import Callable
from functools import lru_cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuhelp.diagnosis import diagnose_texts
from gpuhelp.kb.load import KnowledgeBase, load
from gpuhelp.reading.pieces import from_text

FAILURES = [
    ("cuda-oom", 0), ("cuda-oom", 1), ("cuda-oom-fragmentation", 0), ("cuda-device-assert", 0),
    ("cuda-illegal-address", 0), ("cuda-no-kernel-image", 0), ("cublas-not-initialized", 0),
    ("cublas-alloc-failed", 0), ("nccl-timeout", 0), ("gpu-fell-off-bus", 0), ("nvml-version-mismatch", 0),
    ("cuda-driver-too-old", 0), ("tensors-on-different-devices", 0), ("dataloader-shm", 0),
    ("host-oom-killed", 0), ("python-missing-module", 0), ("cuda-invalid-device-ordinal", 0),
    ("torch-cpu-only-build", 0), ("cuda-not-available", 0), ("python-exception", 0), ("bf16-unsupported", 0),
]  # fmt: skip
Wrap = Callable[[str], str]


def each(prefix: str, suffix: str = "") -> Wrap:
    """Every line between these."""
    return lambda text: "".join(f"{prefix}{line}{suffix}\n" for line in text.splitlines())


def numbered(text: str) -> str:
    return "".join(f"{number}: {line}\n" for number, line in enumerate(text.splitlines(), 7))


def docker(text: str) -> str:
    lines = (
        {"log": f"{line}\n", "stream": "stderr", "time": "2024-01-01T00:00:00Z"} for line in text.splitlines()
    )
    return "".join(json.dumps(line) + "\n" for line in lines)


def record(text: str) -> str:
    return json.dumps({"level": "ERROR", "message": "failed", "exc_info": text.rstrip("\n"), "pid": 7}) + "\n"


def joined(text: str) -> str:
    return (
        "Mar  5 10:00:00 gpu01 python[7]: "
        + text.rstrip("\n").replace("\t", "#011").replace("\n", "#012")
        + "#012\n"
    )


WRAPS: dict[str, Wrap] = {
    "torchrun": each("[rank3]: "),
    "torchrun twice": each("[default3]:[rank11]: "),
    "lightning": each("[rank: 3] "),
    "slurm": each("3: "),
    "slurm padded": each("003: "),
    "hydra": each("[3] "),
    "mpirun": each("[1,3]<stderr>:"),
    "mpirun 5": each("[prterun-gpu01-77@1,3]<stderr>: "),
    "mpirun xml": each('<stderr rank="3">', "</stderr>"),
    "pdsh": each("node1: "),
    "ray": each("\x1b[36m(train_fn pid=123, ip=10.0.0.7)\x1b[0m "),
    "vllm": each("(EngineCore_0 pid=123) ERROR 04-15 00:31:11 [core.py:708] "),
    "vllm old": each("ERROR 04-15 00:31:11 worker_base.py:574] "),
    "sglang": each("[2025-01-01 10:00:00 TP3] "),
    "tensorrt-llm": each("[TensorRT-LLM][ERROR] "),
    "deepspeed": each("[2024-01-01 12:00:00,123] [ERROR] [logging.py:96:log_dist] [Rank 0] "),
    "logging": each("2024-01-01 12:00:00,123 - core - ERROR - "),
    "basic logging": each("ERROR:root:"),
    "loguru": each("2024-01-01 12:00:00.123 | ERROR    | __main__:main:12 - "),
    "nemo": each("[NeMo E 2026-06-08 14:47:46 common:644] "),
    "compose": each("trainer-1  | "),
    "docker": docker,
    "cri": each("2024-01-01T00:00:00.123456789Z stderr F "),
    "kubectl": each("[pod/trainer-0/main] "),
    "stern": each("trainer-7c9f main "),
    "syslog": each("Mar  5 10:00:00 gpu01 python[7]: "),
    "syslog 5424": each("<3>1 2024-03-05T10:00:00Z gpu01 t 7 - - "),
    "journald": each("3월 05 10:00:00 gpu01 python[7]: "),
    "rsyslog joined": joined,
    "dmesg": each("[12345.678901] "),
    "dmesg human": each("[Tue Mar  5 10:00:00 2024] "),
    "dmesg decoded": each("kern  :err   : [화  3월  5 10:00:00 2024] "),
    "github": each("2024-01-01T00:00:00.0000000Z "),
    "gitlab": each("2024-01-01T00:00:00.000000Z 01E "),
    "gh": each("train\tRun tests\t2024-01-01T00:00:00.0000000Z "),
    "docker build": each("#12 45.678 "),
    "cloudwatch": each("2024-01-01T00:00:00.000Z\t"),
    "ts": each("Mar 05 10:00:00 "),
    "quoted": each("> "),
    "quoted twice": each("> > "),
    "numbered": numbered,
    "colour": each("\x1b[31m", "\x1b[0m"),
    "lost colour": each("[38;2;1;2;3m", "[0m"),
    "windows": each("", "\r"),
    "redrawn": lambda text: f" 10%|█ | 1/9\r 20%|██ | 2/9\r{text}",
    "bar": lambda text: f" 12%|█▏ | 3/25 [00:01<00:11,  2.27it/s]{text}",
    "html": lambda text: html.escape(text),
    "record": record,
    "bytes": lambda text: f"{text.encode()!r}\n",
    "json": lambda text: json.dumps(text) + "\n",
    "repeated": each("(f pid=1) ", " [repeated 3x across cluster]"),
    "grep": each("logs/rank3.err:"),
}
ONE_LINE = {"rsyslog joined", "record", "bytes", "json"}
OF_THE_PASTE = {"slurm", "slurm padded", "hydra", "pdsh", "compose", "stern", "gh", "numbered", "grep"}
HEALTHY = [f"2024-01-01 12:00:{second:02} - trainer - INFO - step {second} loss 0.3" for second in range(60)]
QUIET = settings(max_examples=80, deadline=None, derandomize=True, database=None)
failures = st.sampled_from(FAILURES)
names = st.sampled_from(sorted(WRAPS))


@lru_cache(maxsize=1)
def knowledge() -> KnowledgeBase:
    return load()


@lru_cache(maxsize=64)
def text_of(failure: tuple[str, int]) -> str:
    entry, number = failure
    return knowledge().entry(entry).examples[number].text.strip("\n") + "\n"


def answer(*texts: str) -> tuple[str, dict[str, str]]:
    """The first finding of these files, and what it captured. The rank is what the wrapper says."""
    told = diagnose_texts(
        [from_text(text, f"{n}.log") for n, text in enumerate(texts)], knowledge=knowledge()
    )
    if not told.findings:
        return "", {}
    first = told.findings[0]
    return first.entry.id, {name: value for name, value in first.captured.items() if name != "rank"}


@lru_cache(maxsize=64)
def plain_answer(failure: tuple[str, int]) -> tuple[str, dict[str, str]]:
    return answer(text_of(failure))


def assert_same(failure: tuple[str, int], found: tuple[str, dict[str, str]]) -> None:
    entry, captured = plain_answer(failure)
    assert found[0] == entry
    assert {name: found[1].get(name) for name in captured} == captured


@pytest.mark.parametrize("failure", FAILURES, ids=str)
def test_each_failure_is_found_without_a_wrapper(failure: tuple[str, int]) -> None:
    assert plain_answer(failure)[0] == failure[0]


@QUIET
@given(failures, names)
def test_a_wrapper_changes_no_answer(failure: tuple[str, int], name: str) -> None:
    assert_same(failure, answer(WRAPS[name](text_of(failure))))


@QUIET
@given(failures, names, names)
def test_a_wrapper_around_a_wrapper_changes_no_answer(
    failure: tuple[str, int], inner: str, outer: str
) -> None:
    if inner == outer or (inner in ONE_LINE and outer in OF_THE_PASTE):
        return  # a prefix that could be anything is none on one line
    assert_same(failure, answer(WRAPS[outer](WRAPS[inner](text_of(failure)))))


@QUIET
@given(failures, names, st.integers(0, 3))
def test_healthy_logs_of_other_ranks_in_other_files_change_no_answer(
    failure: tuple[str, int], name: str, place: int
) -> None:
    files = ["\n".join(HEALTHY[rank * 9 : rank * 9 + 9]) + "\n" for rank in range(3)]
    files.insert(place, WRAPS[name](text_of(failure)))
    assert_same(failure, answer(*files))


RANKED = {
    "torchrun": "[rank{}]: ",
    "slurm": "{}: ",
    "mpirun": "[1,{}]<stderr>:",
    "hydra": "[{}] ",
    "lightning": "[rank: {}] ",
    "sglang": "[2025-01-01 10:00:00 TP{}] ",
    "ray": "(train_fn pid=400{}) ",
    "pdsh": "node{}: ",
    "kubectl": "[pod/trainer-{}/main] ",
}


@QUIET
@given(
    st.sampled_from(FAILURES),
    st.sampled_from(sorted(RANKED)),
    st.lists(st.booleans(), min_size=60, max_size=60),
)
def test_the_lines_of_a_healthy_rank_between_change_no_answer(
    failure: tuple[str, int], name: str, order: list[bool]
) -> None:
    healthy = iter(HEALTHY)
    text = RANKED[name].format(0) + next(healthy) + "\n"
    for place, line in enumerate(text_of(failure).splitlines()):
        text += f"{RANKED[name].format(1)}{line}\n"
        if order[place % len(order)] and (other := next(healthy, None)):
            text += f"{RANKED[name].format(0)}{other}\n"
    assert_same(failure, answer(text))
