"""`nvidia-smi --query-gpu=… --format=csv[,noheader,nounits]` and --query-compute-apps, as commas part them.

Source: `nvidia-smi --help-query-gpu`. The names of the columns come from the header, else from the command.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from gpuhelp.probes.facts import FactValue
from gpuhelp.probes.pasted.values import (
    COMPUTE_MODES,
    MIB,
    Record,
    Span,
    command_of,
    integer,
    number,
    pci_address,
    program_of,
    size_bytes,
)

_COMMAND = re.compile(r"--query-(gpu|compute-apps)[= ][\"']?([a-zA-Z_.,\d ]{2,900}?)[\"']?(?: -|$)")
_UNIT = re.compile(r" \[(?:MiB|%|W|MHz|us|C)\]")
_MOST_ROWS = 256
_SWITCHES = {
    "Enabled": True,
    "Disabled": False,
    "Yes": True,
    "No": False,
    "Active": True,
    "Not Active": False,
}
_NOT_TOLD = (
    "",
    "N/A",
    "[N/A]",
    "[Not Supported]",
    "[Unknown Error]",
    "[GPU is lost]",
    "[Insufficient Permissions]",
)


def _mebibytes(text: str) -> int | None:
    return int(text) * MIB if text.isdecimal() and len(text) < 12 else size_bytes(text)


def _text(text: str) -> str | None:
    return text[:100]


_FIELDS: dict[str, tuple[str, Callable[[str], FactValue]]] = {
    "index": ("index", integer),
    "uuid": ("uuid", _text),
    "gpu_uuid": ("uuid", _text),
    "name": ("name", _text),
    "gpu_name": ("name", _text),
    "pci.bus_id": ("pci", pci_address),
    "gpu_bus_id": ("pci", pci_address),
    "compute_cap": ("compute_capability", _text),
    "driver_model.current": ("driver_model", _text),
    "memory.total": ("memory_total_bytes", _mebibytes),
    "memory.used": ("memory_used_bytes", _mebibytes),
    "memory.free": ("memory_free_bytes", _mebibytes),
    "utilization.gpu": ("utilization_percent", integer),
    "temperature.gpu": ("temperature_celsius", integer),
    "temperature.memory": ("memory_temperature_celsius", integer),
    "power.draw": ("power_watts", number),
    "power.draw.instant": ("power_watts", number),
    "power.limit": ("power_limit_watts", number),
    "enforced.power.limit": ("power_limit_watts", number),
    "ecc.errors.uncorrected.volatile.total": ("ecc_uncorrected", integer),
    "ecc.errors.uncorrected.aggregate.total": ("ecc_uncorrected_aggregate", integer),
    "remapped_rows.pending": ("row_remap_pending", _SWITCHES.get),
    "remapped_rows.failure": ("row_remap_failure", _SWITCHES.get),
    "pcie.link.gen.current": ("pcie_generation", integer),
    "pcie.link.gen.gpucurrent": ("pcie_generation", integer),
    "pcie.link.gen.max": ("pcie_generation_max", integer),
    "pcie.link.width.current": ("pcie_width", integer),
    "pcie.link.width.max": ("pcie_width_max", integer),
    "mig.mode.current": ("mig_mode", _SWITCHES.get),
    "compute_mode": ("compute_mode", COMPUTE_MODES.get),
    "persistence_mode": ("persistence_mode", _SWITCHES.get),
}
_OTHERS = {"driver_version", "timestamp", "count", "pid", "process_name", "serial", "used_gpu_memory",
           "used_memory", "memory.reserved", "pstate", "vbios_version", "fan.speed"}  # fmt: skip
_FAMILIES = (
    "clocks", "ecc.", "utilization.", "retired_pages.", "remapped_rows.", "gom.", "power.", "encoder.",
    "inforom.", "pci.", "mig.", "pcie.", "fabric.", "gsp.", "temperature.", "display_",
)  # fmt: skip


def blocks(lines: Sequence[str]) -> Iterator[Span]:
    """Each command or header, with the rows of as many cells that stand below."""
    for start, line in enumerate(lines):
        columns = _columns(line)
        if not columns:
            continue
        if start + 1 < len(lines) and _COMMAND.search(line) and _header(lines[start + 1]):
            continue  # its header tells more
        last = start
        while last + 1 < min(len(lines), start + _MOST_ROWS) and _cells(lines[last + 1], len(columns)):
            last += 1
        if last > start:
            yield start, last


def read(text: str) -> Mapping[str, FactValue]:
    """`gpus` and `driver.version`; of a list of processes, the GPUs that it names with their processes."""
    head, *rows = text.split("\n")
    columns = _columns(head)
    records = [dict(zip(columns, cells, strict=True)) for row in rows if (cells := _cells(row, len(columns)))]
    if not columns or not records:
        return {}
    if "pid" in columns:
        return _processes(records)
    facts: dict[str, FactValue] = {}
    drivers = {record["driver_version"] for record in records if "driver_version" in record}
    if len(drivers) == 1 and re.fullmatch(r"\d{2,4}(?:\.\d{1,4}){1,3}", driver := next(iter(drivers))):
        facts |= {"driver.version": driver, "driver.error": None}
    gpus = [_gpu(place, record) for place, record in enumerate(records)]
    if any(len(gpu) > 1 for gpu in gpus):
        facts["gpus"] = gpus
    return facts


def _gpu(place: int, record: Mapping[str, str]) -> Record:
    gpu: Record = {"index": place}
    for column, told in record.items():
        if told == "[GPU is lost]":
            gpu["error"] = "GPU is lost"
        if column in _FIELDS and told not in _NOT_TOLD:
            name, read_value = _FIELDS[column]
            value = read_value(told)
            gpu |= {} if value is None else {name: value}
    capability = gpu.get("compute_capability")
    if isinstance(capability, str) and re.fullmatch(r"\d{1,2}\.\d", capability):
        gpu["sm"] = f"sm_{capability.replace('.', '')}"
    else:
        gpu.pop("compute_capability", None)
    return gpu


def _processes(records: Sequence[Mapping[str, str]]) -> Mapping[str, FactValue]:
    by_gpu: dict[str, list[FactValue]] = {}
    for record in records:
        pid = integer(record["pid"])
        if pid is None:
            continue
        process: Record = {"pid": pid}
        if name := program_of(record.get("process_name", record.get("name", ""))):
            process["name"] = name
        held = record.get("used_gpu_memory", record.get("used_memory", ""))
        memory = None if held in _NOT_TOLD else _mebibytes(held)
        process |= {} if memory is None else {"memory_bytes": memory}
        by_gpu.setdefault(record.get("gpu_uuid", ""), []).append(process)
    gpus: list[FactValue] = [
        {**({"uuid": uuid} if uuid else {}), "processes": processes} for uuid, processes in by_gpu.items()
    ]
    return {"gpus": gpus} if gpus else {}


def _columns(line: str) -> list[str]:
    """The columns that a header or a command names; [] where the line is neither."""
    if (
        command := _COMMAND.search(line)
        if command_of(line) or line.lstrip().startswith("nvidia-smi")
        else None
    ):
        return [name.strip() for name in command[2].split(",") if name.strip()]
    return _header(line)


def _header(line: str) -> list[str]:
    names = [_UNIT.sub("", name.strip()) for name in line.split(",")] if len(line) < 1500 else []
    if not names or not all(
        name in _FIELDS or name in _OTHERS or name.startswith(_FAMILIES) for name in names
    ):
        return []
    return names if len(names) > 1 or "[" in line or "." in line else []


def _cells(line: str, count: int) -> list[str]:
    """The cells of a row, [] where it is none."""
    cells = [cell.strip() for cell in line.split(",")]
    is_row = len(cells) == count and any(cells) and not _COMMAND.search(line)
    return cells if is_row else []
