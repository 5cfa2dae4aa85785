"""`rocminfo`: the agents of ROCm; those that are GPUs, with their architecture."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from gpuhelp.probes.facts import FactValue
from gpuhelp.probes.pasted.values import Record, Span

_AGENT = re.compile(r"Agent \d{1,3}\s{0,4}$")
_PAIR = re.compile(r"\s{1,12}([A-Z][\w ]{1,30}):\s{1,60}(\S.{0,100}?)\s{0,60}$")
_MOST_LINES = 4_000


def blocks(lines: Sequence[str]) -> Iterator[Span]:
    """From the first agent to the last line of the last."""
    start = next((index for index, line in enumerate(lines) if _AGENT.match(line)), None)
    if start is None:
        start = next(
            (index for index, line in enumerate(lines) if re.match(r"\s{1,4}Name:\s{4}", line)), None
        )
    if start is not None:
        last = start
        for index in range(start, min(len(lines), start + _MOST_LINES)):
            line = lines[index]
            if line.startswith((" ", "*", "Agent")):
                last = index
            elif line.strip():
                break
        yield start, last


def read(text: str) -> Mapping[str, FactValue]:
    """`gpus` in the order of the agents, with name, gfx, uuid and memory."""
    agents: list[dict[str, str]] = [{}]
    for line in text.split("\n"):
        if _AGENT.match(line) or (re.match(r"  Name:", line) and "Name" in agents[-1]):
            agents.append({})
        if found := _PAIR.match(line):
            agents[-1].setdefault(found[1], found[2])
    gpus = [_gpu(agent) for agent in agents if agent.get("Device Type") == "GPU"]
    gpus = [{"index": index, **gpu} for index, gpu in enumerate(gpus) if gpu]
    return {"gpus": gpus} if gpus else {}


def _gpu(agent: Mapping[str, str]) -> Record:
    gpu: Record = {}
    if re.fullmatch(r"gfx[0-9a-f]{3,5}", agent.get("Name", "")):
        gpu["gfx"] = agent["Name"]
    if agent.get("Marketing Name"):
        gpu["name"] = agent["Marketing Name"]
    if agent.get("Uuid", "GPU-XX") != "GPU-XX":
        gpu["uuid"] = agent["Uuid"]
    size = re.match(r"(\d{1,12})\(0x[0-9a-f]{1,12}\) KB", agent.get("Size", ""))
    return gpu | ({"memory_total_bytes": int(size[1]) * 1024} if size and "Segment" in agent else {})
