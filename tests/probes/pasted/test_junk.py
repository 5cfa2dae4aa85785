"""Texts that look like outputs of tools and are none: instructions, code, logs and prose give no facts."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuhelp.probes.facts import Facts
from gpuhelp.probes.names import is_fact_name
from gpuhelp.probes.pasted.merging import facts_of
from gpuhelp.probes.pasted.outputs import TOOLS, read_pasted

FIXTURES = [path.read_text(encoding="utf-8") for path in (Path(__file__).parent / "fixtures").glob("*.txt")]
KB = Path(__file__).parents[3] / "kb"
LIMIT_S = 5.0
"""For 1 MB; one regex that runs back and forth needs minutes."""

JUNK = {
    "a guide with a made-up version": """
+-----------------------------------------------------------------------------+
| NVIDIA-SMI 535.xx       Driver Version: 535.xx       CUDA Version: 12.2    |
|-------------------------------+----------------------+----------------------+
|   0  NVIDIA GeForce RTX 3060  | 00000000:01:00.0  On |                  N/A |
""",
    "a template": "| NVIDIA-SMI 5XX.XX       Driver Version: 5XX.XX       CUDA Version: 11.X   |",
    "a test of another program": """
classic = "| NVIDIA-SMI 566.14    Driver Version: 566.14    CUDA Version: 12.7     |"
printf("| NVIDIA-SMI 551.86               Driver Version: 551.86       CUDA Version: 12.4    |\\n");
#   "| NVIDIA-SMI 581.15   Driver Version: 581.15   CUDA Version: 13.0  |"
""",
    "code that parses the table": """
    header = "| NVIDIA-SMI {v}    Driver Version: {v}    CUDA Version: {c} |"
    match = re.search(r"CUDA Version: (\\d+\\.\\d+)", output)
""",
    "prose about nvidia-smi": "Run nvidia-smi, look at Driver Version and CUDA Version: both are new.",
    "requirements": "torch==2.1.0\nnumpy==1.26.4\ntransformers==4.36.0\n",
    "a pip install": "$ pip install torch==2.1.0\nCollecting torch==2.1.0\n  Downloading torch-2.1.0\n",
    "a resolver error": "ERROR: torchvision 0.16.0 has requirement torch==2.1.0, but you have 2.2.0.",
    "code that asks torch": """
import torch
print(torch.__version__)
print(torch.cuda.is_available())
True
""",
    "a prompt with an error for an answer": """
>>> torch.cuda.is_available()
Traceback (most recent call last):
  File "<stdin>", line 1, in <module>
NameError: name 'torch' is not defined
""",
    "a bug form nobody filled in": "PyTorch version: 2.x.x\nIs debug build: ?\nCUDA used to build PyTorch:\n",
    "a question about collect_env": "PyTorch version: I do not know how to find it",
    "a training log": "GPU0 utilization 97\nGPU1 utilization 96\nMem: 10.2G\nindex, loss, name\n",
    "a table of data": "index, name, memory.notes\n0, cat, furry\n1, dog, loud\n",
    "a CSV of a metric": "name, value, pid, note\nloss, 0.1, 4, fine\n",
    "an environment by hand": "dependencies:\n  - python=3.10\n  - pytorch\n  - pip:\n    - transformers\n",
    "a Dockerfile": "FROM nvidia/cuda:12.4.1-base\nRUN pip install torch==2.4.0\nRUN nvidia-smi -L || true\n",
    "docker compose": "services:\n  a:\n    runtime: nvidia\nRuntimes: many\n",
    "a kernel message in prose": "they say Killed process 42 (python) means that memory ran out",
    "ulimit in prose": "set max locked memory to unlimited before you start",
    "a df of something else": "Filesystem of choice: ext4\nMounted on the wall\n",
    "a Python version in prose": "Python 3.10 or higher is needed\nPython 3.x.y works\n",
    "pip show of a person": "Name: Kim\nVersion: 2.0\nSummary of my day: fine\n",
    "a rocm-smi of a guide": """
======================= ROCm System Management Interface =======================
GPU[0]  : AMD Radeon RX 7700 XT (gfx1102)
GPU[0]  : Temp: 45°C | Power: 15W | VRAM Used: 0MB / 12288MB
""",
    "an amd-smi in a table": "| amd-smi | in ROCm | AMD-SMI 24 is for MI300X |\nTARGET_GRAPHICS_VERSION\n",
    "nvcc in prose": "Cuda compilation tools, release 12, are needed",
    "a made-up UUID": "GPU 0: NVIDIA A100 (UUID: GPU-...)\n  MIG 3g.20gb     Device  0: (UUID: MIG-...)\n",
    "lspci in prose": "It is a 3D controller of NVIDIA Corporation, I think",
}


def facts(text: str) -> Facts:
    return facts_of(read_pasted(text))


@pytest.mark.parametrize("name", sorted(JUNK))
def test_junk_gives_no_facts(name: str) -> None:
    assert facts(JUNK[name]).values_by_name() == {}


def test_there_is_enough_junk() -> None:
    assert len(JUNK) >= 15


@pytest.mark.parametrize("path", sorted((KB / "healthy").iterdir()), ids=lambda path: path.stem)
def test_logs_of_healthy_runs_tell_of_no_trouble(path: Path) -> None:
    found = facts(path.read_text(encoding="utf-8"))
    assert [name for name in found if not is_fact_name(name)] == []
    assert not {"kernel.xids", "kernel.oom_kills"} & set(found)
    assert "driver.error" not in found or found["driver.error"].value is None


def test_texts_of_entries_give_only_what_stands_in_them() -> None:
    """Each value of one line is a piece of the text; so nothing is made up from words that look alike."""
    for path in sorted((KB / "entries").rglob("*.yaml")):
        if path.name.endswith(".ko.yaml"):
            continue
        entry = yaml.load(path.read_text(encoding="utf-8"), getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        for example in (*(entry.get("examples") or ()), *(entry.get("not_examples") or ())):
            text = example if isinstance(example, str) else example.get("text", "")
            for name in ("driver.version", "torch.version", "toolkit.nvcc_version", "python.version"):
                fact = facts(text).get(name)
                assert fact is None or str(fact.value) in text, (path.name, name)


# hostile


PIECES = st.sampled_from(
    [
        *(mark for tool in TOOLS for mark in (*tool.marks, *tool.also)),
        *(line for text in FIXTURES for line in text.splitlines()),
        "|", "+---+", "0", "N/A", "ERR!", "MiB /", "GPU 0: ", "\t", " " * 80, "=" * 60, ": ",
        "\x1b[1m", "가", "\x00",
    ]
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES, max_size=30), st.sampled_from(["\n", "", " "]))
def test_no_text_raises(pieces: list[str], between: str) -> None:
    found = facts(between.join(pieces))
    assert all(is_fact_name(name) for name in found)


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(FIXTURES), st.data())
def test_no_damaged_output_raises(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    cut = data.draw(st.integers(start, len(text)))
    noise = data.draw(st.text(max_size=20))
    assert all(is_fact_name(name) for name in facts(text[:start] + noise + text[cut:]))


NEAR = {
    "tables": "| NVIDIA-SMI 550.90.07 Driver Version: " + "|" * 200 + "\n",
    "rows": "|   0  A" + " " * 300 + "On  | 00000000:07:00.0 Off | 0 |\n",
    "spaces": "| NVIDIA-SMI Driver Version: 5" + " " * 1900 + "x\n",
    "pairs": "PyTorch version: 2.1\nIs debug build" + " a" * 400 + "\n",
    "freeze": "numpy==" + "1." * 500 + "\n",
    "freeze rows": "numpy==1.26.4\n",
    "csv": "index, " * 250 + "[MiB]\n",
    "csv rows": "index, name, memory.total [MiB]\n",
    "prompts": ">>> torch.__version__" + " torch.version.cuda" * 80 + "\n",
    "topology": "GPU0\tGPU1\n" + "GPU0 X NV1\n",
    "agents": "Agent 1\n  Marketing Name: \n",
    "docker": " Runtimes: nvidia\n",
    "xids": "[1.000000] NVRM: Xid (PCI:0000:3b:00): 79\n",
    "kills": "Killed process " + "1" * 900 + "\n",
    "dots": "Python 3." + "1." * 900 + "\n",
    "freeze command": "pip freeze numpy==" + "a" * 1500 + "\n",
    "df": "/dev/shm " * 200 + "Mounted on\n",
    "limits": "max locked memory" + " " * 1500 + "(\n",
    "prompt signs": "a" * 50 + "@" * 20 + "$ " * 500 + "conda list\n",
}


@pytest.mark.parametrize("name", sorted(NEAR))
def test_a_megabyte_of_near_matches_takes_linear_time(name: str) -> None:
    line = NEAR[name]
    text = line * (1_000_000 // len(line))
    began = time.perf_counter()
    read_pasted(text)
    took = time.perf_counter() - began
    assert took < LIMIT_S, f"{name}: {took:.1f} s"


def test_all_of_it_in_one_line() -> None:
    began = time.perf_counter()
    assert facts("".join(NEAR.values()).replace("\n", " ") * 50).get("driver.version") is None
    assert time.perf_counter() - began < LIMIT_S
