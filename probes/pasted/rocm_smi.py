"""`rocm-smi`: its table of every generation, and lists such as --showproductname and --showmeminfo."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from gpuhelp.probes.facts import FactValue
from gpuhelp.probes.pasted.values import Record, Span, integer, number

_MARK = "ROCm System Management Interface"
_END = "End of ROCm SMI Log"
_ROW = re.compile(r"\s{0,4}(\d{1,3})\s{1,12}(\S.{4,200})$")
_VALUE = re.compile(r"GPU\[(\d{1,3})\]\s{0,8}: ?(.{1,60}?):\s{1,8}(\S.{0,120}?)\s{0,20}$")
_WATTS = r"(\d{1,4}(?:\.\d{1,3})?)W"
_MOST_LINES = 2_000


def blocks(lines: Sequence[str]) -> Iterator[Span]:
    """From each heading to the end that the tool prints."""
    for start, line in enumerate(lines):
        if _MARK in line:
            following = range(start, min(len(lines), start + _MOST_LINES))
            yield start, next((index for index in following if _END in lines[index]), start)


def read(text: str) -> Mapping[str, FactValue]:
    """`gpus`, as the tool numbers them."""
    gpus: dict[int, Record] = {}
    is_table = False
    for line in text.split("\n"):
        if re.match(r"(?:GPU|Device)\s{1,12}(?:Node|Temp|\[Model)", line.strip()):
            is_table = True
        elif is_table and (found := _ROW.match(line)):
            gpus.setdefault(int(found[1]), {"index": int(found[1])}).update(_cells(found[2]))
        elif found := _VALUE.match(line.strip()):
            gpus.setdefault(int(found[1]), {"index": int(found[1])}).update(
                _value(found[2].strip(), found[3])
            )
    known = [gpus[index] for index in sorted(gpus)]
    return {"gpus": known} if any(len(gpu) > 1 for gpu in known) else {}


def _cells(row: str) -> Record:
    """Temperature, beside it power, and the limit of power; the share of the GPU stands last."""
    gpu: Record = {}
    if temperature := re.search(
        rf"(?:^|\s)(\d{{1,3}})(?:\.\d{{1,2}})?°?[cC]\s{{1,12}}(?:{_WATTS}|N/A)\s", row
    ):
        gpu["temperature_celsius"] = int(temperature[1])
        gpu |= {"power_watts": float(temperature[2])} if temperature[2] else {}
        limits = re.findall(rf"\s{_WATTS}(?=\s)", row[temperature.end() - 1 :])
        gpu |= {"power_limit_watts": float(limits[-1])} if limits and float(limits[-1]) else {}
    if share := re.search(r"\s(\d{1,3})%\s{0,8}$", row):
        gpu["utilization_percent"] = int(share[1])
    return gpu


def _value(name: str, value: str) -> Record:
    if (
        name in ("Card series", "Card Series", "Device Name")
        and value != "N/A"
        and not value.startswith("0x")
    ):
        return {"name": value}
    if name == "GFX Version" and value.startswith("gfx"):
        return {"gfx": value}
    names = {"VRAM Total Memory (B)": "memory_total_bytes", "VRAM Total Used Memory (B)": "memory_used_bytes",
             "GPU use (%)": "utilization_percent"}  # fmt: skip
    if name in names and (whole := integer(value)) is not None:
        return {names[name]: whole}
    if name in ("Temperature (Sensor junction) (C)", "Temperature (Sensor edge) (C)"):
        degrees = number(value)
        return {} if degrees is None else {"temperature_celsius": int(degrees)}
    watts = number(value) if "Power (W)" in name and name.startswith(("Average", "Current")) else None
    return {} if watts is None else {"power_watts": watts}
