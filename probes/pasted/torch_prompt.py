"""What PyTorch says of itself at a prompt: `>>> torch.__version__` and `python -c "import torch; print(…)"`.

Only where the prompt was pasted too: a bare "12.4" is nobody's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from gpuhelp.probes.facts import FactValue
from gpuhelp.probes.pasted.values import Record, Span, torch_facts

_ASKED = re.compile(
    r"torch\.(__version__|version\.cuda|version\.hip|cuda\.is_available\(\)|cuda\.get_arch_list\(\)"
    r"|cuda\.get_device_capability\((?:0|device=0)?\)|cuda\.get_device_name\((?:0)?\)|cuda\.device_count\(\)"
    r"|backends\.cudnn\.version\(\)|cuda\.nccl\.version\(\))"
)
_PROMPT = re.compile(r"\s{0,8}(?:>>> |In ?\[\d{1,6}\]: |.{0,160}\bpython[\d.]{0,5}(?:\.exe)? -c )")
_ANY_PROMPT = re.compile(r"\s{0,8}(?:>>> |\.\.\. |In ?\[\d{1,6}\]:|\S{0,80}[$#] )")
_ANSWERS = {
    "__version__": r"'?(\d{1,2}\.\d{1,3}\.\w{1,12}(?:\+[\w.]{1,40})?)'?",
    "version.cuda": r"'?(\d{1,3}\.\d{1,3}|None)'?",
    "version.hip": r"'?(\d{1,2}\.\d{1,3}[\w.-]{0,30}|None)'?",
    "cuda.is_available()": r"(True|False)",
    "cuda.get_arch_list()": r"\[((?:'\w{2,20}'(?:, )?){0,40})\]",
    "cuda.get_device_capability": r"\((\d{1,2}, \d)\)",
    "cuda.get_device_name": r"'?((?:NVIDIA|AMD|Tesla|GeForce|Quadro|Radeon)[\w .+/-]{2,60})'?",
    "cuda.device_count()": r"(\d{1,3})",
    "backends.cudnn.version()": r"(\d{4,6}|None)",
    "cuda.nccl.version()": r"\((\d{1,2}, \d{1,3}, \d{1,3})\)",
}
_MOST_ANSWER_LINES = 12
_OUT = r"\s{0,20}(?:Out\[\d{1,6}\]: )?"


def blocks(lines: Sequence[str]) -> Iterator[Span]:
    """Each prompt that asks, with the lines that answer."""
    for start, line in enumerate(lines):
        if _PROMPT.match(line) and _ASKED.search(line):
            last = start
            while last + 1 < min(len(lines), start + _MOST_ANSWER_LINES) and not _ends(lines[last + 1]):
                last += 1
            yield start, last


def read(text: str) -> Mapping[str, FactValue]:
    """What was answered, question by question; nothing after the first that has no answer."""
    question, _, answer = text.partition("\n")
    facts: dict[str, FactValue] = {}
    gpu: Record = {}
    place = 0
    for asked in _ASKED.finditer(question):
        name = re.sub(r"\((?:0|device=0)?\)$", "", asked[1])
        name = name if name in _ANSWERS else asked[1]
        found = re.compile(_OUT + _ANSWERS[name]).match(answer, place)
        if found is None:
            break
        place = found.end()
        facts |= _facts(name, found[1], gpu)
    return {**facts, **({"gpus": [{"index": 0, **gpu}]} if gpu else {})}


def _facts(name: str, value: str, gpu: Record) -> Record:
    """The facts of one answer; those of the GPU go to `gpu`."""
    if name == "cuda.get_device_name":
        gpu["name"] = value
    elif name == "cuda.get_device_capability":
        gpu |= {"compute_capability": value.replace(", ", "."), "sm": f"sm_{value.replace(', ', '')}"}
    elif name == "__version__":
        return torch_facts(value)
    elif name in ("version.cuda", "version.hip"):
        fact = "torch.cuda_runtime_version" if name == "version.cuda" else "torch.hip_version"
        return {fact: None if value == "None" else value}
    elif name == "cuda.is_available()":
        return {"torch.cuda_available": value == "True"}
    elif name == "cuda.get_arch_list()":
        return {"torch.arch_list": re.findall(r"'(\w{2,20})'", value)}
    elif name == "cuda.nccl.version()":
        return {"torch.nccl_version": value.replace(", ", ".")}
    elif name == "backends.cudnn.version()" and value != "None":
        return {"torch.cudnn_version": _cudnn(int(value))}
    return {}


def _cudnn(number: int) -> str:
    """8902 is 8.9.2, and since cuDNN 9 90100 is 9.1.0."""
    if number >= 90_000:
        return f"{number // 10_000}.{number // 100 % 100}.{number % 100}"
    return f"{number // 1000}.{number // 100 % 10}.{number % 100}"


def _ends(line: str) -> bool:
    return not line.strip() or _ANY_PROMPT.match(line) is not None or line.startswith("Traceback")
