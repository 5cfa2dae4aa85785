"""`amd-smi`: its table, and the lists of `static`, `list` and `metric`. Source: amdsmi_cli in ROCm/amdsmi."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from gpuhelp.probes.facts import FactValue
from gpuhelp.probes.pasted.values import MIB, Record, Span, number, size_bytes

_TABLE = re.compile(r"\|\s{1,4}AMD-SMI \S")
_FIRST = re.compile(
    r"\|\s{1,4}[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.\d\s{1,30}(\S.{0,60}?)\s{1,30}\|(.{0,80})\|?"
)
_SECOND = re.compile(r"\|\s{1,6}(\d{1,3})\s.{0,60}\|(.{0,80})\|?")
_GPU = re.compile(r"GPU: (\d{1,3})\s{0,4}$")
_PAIR = re.compile(r"\s{4,16}([A-Z][A-Z0-9_ ]{1,40}): (\S.{0,100}?)\s{0,20}$")
_MOST_LINES = 4_000


def blocks(lines: Sequence[str]) -> Iterator[Span]:
    """Each table, and each list from its first GPU."""
    index = 0
    while index < len(lines):
        line = lines[index]
        if _TABLE.match(line.strip()):
            last = _while(lines, index, ("|", "+"))
            yield index, last
            index = last
        elif _GPU.match(line):
            last = _while(lines, index, (" ", "GPU: "))
            command = index and "amd-smi" in lines[index - 1]
            yield index - bool(command), last
            index = last
        index += 1


def _while(lines: Sequence[str], start: int, beginnings: tuple[str, ...]) -> int:
    last = start
    for index in range(start, min(len(lines), start + _MOST_LINES)):
        line = lines[index]
        if line.startswith(beginnings):
            last = index
        elif line.strip():
            break
    return last


def read(text: str) -> Mapping[str, FactValue]:
    """`gpus`, as the tool numbers them."""
    gpus = _of_table(text.split("\n")) or _of_list(text.split("\n"))
    known = [gpu for gpu in gpus if len(gpu) > 1]
    return {"gpus": known} if known else {}


def _of_table(lines: Sequence[str]) -> list[Record]:
    gpus: list[Record] = []
    for place, line in enumerate(lines[:-1]):
        first, second = _FIRST.match(line.strip()), _SECOND.match(lines[place + 1].strip())
        if first is None or second is None:
            continue
        gpu: Record = {"index": int(second[1]), "name": first[1]}
        if temperature := re.search(r"(\d{1,3}) °C", first[2]):
            gpu["temperature_celsius"] = int(temperature[1])
        if power := re.search(r"(\d{1,4})(?:/(\d{1,4}))? W", first[2]):
            gpu["power_watts"] = float(power[1])
            gpu |= {"power_limit_watts": float(power[2])} if power[2] else {}
        if share := re.match(r"\s{0,8}(\d{1,3}) %", second[2]):
            gpu["utilization_percent"] = int(share[1])
        if memory := re.search(r"(\d{1,9})/(\d{1,9}) MB", second[2]):
            gpu |= {"memory_used_bytes": int(memory[1]) * MIB, "memory_total_bytes": int(memory[2]) * MIB}
        gpus.append(gpu)
    return gpus


def _of_list(lines: Sequence[str]) -> list[Record]:
    gpus: list[Record] = []
    section = ""
    for line in lines:
        if found := _GPU.match(line):
            gpus.append({"index": int(found[1])})
        elif heading := re.match(r"    ([A-Z][A-Z0-9_]{1,30}):\s{0,4}$", line):
            section = heading[1]
        elif gpus and (found := _PAIR.match(line)) and found[2] != "N/A":
            gpus[-1] |= _value(section, found[1], found[2])
    return gpus


def _value(section: str, name: str, value: str) -> Record:
    if name in ("MARKET_NAME", "UUID"):
        return {"name" if name == "MARKET_NAME" else "uuid": value}
    if name == "TARGET_GRAPHICS_VERSION" and re.fullmatch(r"gfx[0-9a-f]{3,5}", value):
        return {"gfx": value}
    sizes = {
        "TOTAL_VRAM": "memory_total_bytes",
        "USED_VRAM": "memory_used_bytes",
        "FREE_VRAM": "memory_free_bytes",
    }
    told = sizes.get(name) or ("memory_total_bytes" if (section, name) == ("VRAM", "SIZE") else None)
    if told and (size := size_bytes(value)) is not None:
        return {told: size}
    watts = number(value) if name == "SOCKET_POWER" else None
    return {} if watts is None else {"power_watts": watts}
