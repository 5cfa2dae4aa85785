"""`nvidia-smi -q`, whole or of some sections (-d): all that a driver tells of its GPUs, as an indented list.

Source: manual page of nvidia-smi. Since driver 610 `Driver Version` and `CUDA Version` are called `KMD
Version` and `CUDA UMD Version`; the old names stay for a time, with a note.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from gpuhelp.probes.facts import FactValue
from gpuhelp.probes.pasted.values import (
    COMPUTE_MODES,
    Record,
    Span,
    integer,
    major_minor,
    number,
    pci_address,
    program_of,
    size_bytes,
    version,
)

_GPU = re.compile(r"GPU [0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-9A-Fa-f]")
_PAIR = re.compile(r"(\s{0,40})([^\s:][^:]{0,60}?)\s{0,60}(?::(?: (.{0,200})|$)|$)")
_MOST_LINES = 20_000
_SWITCHES = {"Enabled": True, "Disabled": False, "Yes": True, "No": False}
_REASONS = {
    "Applications Clocks Setting": "applications_clocks_setting",
    "SW Power Cap": "sw_power_cap",
    "SW Power Capping": "sw_power_cap",
    "HW Slowdown": "hw_slowdown",
    "HW Thermal Slowdown": "hw_thermal_slowdown",
    "HW Power Brake Slowdown": "hw_power_brake_slowdown",
    "HW Power Braking": "hw_power_brake_slowdown",
    "Sync Boost": "sync_boost",
    "SW Thermal Slowdown": "sw_thermal_slowdown",
    "Display Clock Setting": "display_clock_setting",
}
Path = tuple[str, ...]
Sheet = dict[Path, str]


def blocks(lines: Sequence[str]) -> Iterator[Span]:
    """From each heading to the last line of its list."""
    for start, line in enumerate(lines):
        if "NVSMI LOG" not in line:
            continue
        last = start
        for index in range(start + 1, min(len(lines), start + _MOST_LINES)):
            row = lines[index]
            is_row = _GPU.match(row) or row.startswith("    ") or re.match(r"[A-Z][\w ]{2,40} : ", row)
            if row.strip() and not is_row:
                break
            last = index if row.strip() else last
        yield start, last


def read(text: str) -> Mapping[str, FactValue]:
    """Facts of one list."""
    head, *parts = _parts(text.split("\n"))
    sheet, _ = _sheet(head)
    driver = version(sheet.get(("KMD Version",), "")) or version(sheet.get(("Driver Version",), ""))
    if driver is None and not parts:
        return {}
    facts: dict[str, FactValue] = {"driver.error": None}
    facts |= {"driver.version": driver} if driver else {}
    cuda = major_minor(sheet.get(("CUDA UMD Version",), "")) or major_minor(sheet.get(("CUDA Version",), ""))
    facts |= {"driver.cuda_api_version": cuda} if cuda else {}
    if parts:
        facts["gpus"] = [
            {"index": index, **_address(part[0]), **_gpu(*_sheet(part[1:]))}
            for index, part in enumerate(parts)
        ]
        states = {_sheet(part[1:])[0].get(("Fabric", "State"), "N/A") for part in parts} - {"N/A"}
        facts |= {"fabric.state": next(iter(states))} if len(states) == 1 else {}
    return facts


def _parts(lines: Sequence[str]) -> list[list[str]]:
    """What stands before the first GPU, then each GPU."""
    parts: list[list[str]] = [[]]
    for line in lines:
        if _GPU.match(line):
            parts.append([])
        parts[-1].append(line)
    return parts


def _sheet(lines: Sequence[str]) -> tuple[Sheet, list[Sheet]]:
    """The values by the path of their headings, and the processes, each a sheet of its own."""
    sheet: Sheet = {}
    processes: list[Sheet] = []
    path: list[tuple[int, str]] = []
    for line in lines:
        found = _PAIR.fullmatch(line)
        if found is None:
            continue
        indent, name, value = len(found[1]), found[2], (found[3] or "").strip()
        while path and path[-1][0] >= indent:
            path.pop()
        if name == "Process ID":
            processes.append({("Process ID",): value})
        elif name in ("Type", "Name", "Used GPU Memory") and processes:
            processes[-1][(name,)] = value
        elif ":" in line:
            sheet.setdefault((*(heading for _, heading in path), name), value)
        path.append((indent, name))
    return sheet, processes


def _gpu(sheet: Sheet, processes: Sequence[Sheet]) -> Record:
    gpu: Record = {}
    for name, (paths, read_value) in _FIELDS.items():
        told = next((sheet[path] for path in paths if sheet.get(path, "N/A") != "N/A"), None)
        value = None if told is None else read_value(told)
        gpu |= {} if value is None else {name: value}
    if any("ERR!" in value or "GPU is lost" in value for value in sheet.values()):
        gpu["error"] = next(value for value in sheet.values() if "ERR!" in value or "GPU is lost" in value)
    gpu |= _counted(sheet)
    reasons = {path[-1]: value for path, value in sheet.items() if path[0] in _REASON_HEADINGS}
    if any(name in _REASONS for name in reasons):
        active = [_REASONS[name] for name, value in reasons.items() if value == "Active" and name in _REASONS]
        gpu["throttle_reasons"] = list(dict.fromkeys(active))
    if processes or sheet.get(("Processes",)) == "None":
        gpu["processes"] = [_process(process) for process in processes]
    return gpu


def _address(head: str) -> Record:
    address = pci_address(head.removeprefix("GPU "))
    return {"pci": address} if address else {}


def _counted(sheet: Sheet) -> Record:
    """What is told in parts: uncorrected ECC errors by memory, retired pages and remapped rows by cause."""
    gpu: Record = {}
    causes = ("Single Bit ECC", "Double Bit ECC")
    errors = ("Correctable Error", "Uncorrectable Error")
    told = {
        "ecc_uncorrected": _uncorrected(sheet, "Volatile"),
        "ecc_uncorrected_aggregate": _uncorrected(sheet, "Aggregate"),
        "retired_pages": [sheet.get(("Retired Pages", cause), "") for cause in causes],
        "remapped_rows": [sheet.get(("Remapped Rows", error), "") for error in errors],
    }
    for name, texts in told.items():
        if counts := [count for text in texts if (count := integer(text)) is not None]:
            gpu[name] = sum(counts)
    return gpu


def _uncorrected(sheet: Sheet, since: str) -> list[str]:
    """The counts of each memory since the driver was loaded (Volatile) or the GPU was made (Aggregate)."""
    return [
        value
        for path, value in sheet.items()
        if path[:2] == ("ECC Errors", since)
        and ("Uncorrectable" in path[-1] or path[-2:] == ("Double Bit", "Total"))
    ]


def _process(sheet: Sheet) -> Record:
    process: Record = {}
    if (pid := integer(sheet.get(("Process ID",), ""))) is not None:
        process["pid"] = pid
    if name := program_of(sheet.get(("Name",), "")):
        process["name"] = name
    if (held := size_bytes(sheet.get(("Used GPU Memory",), ""))) is not None:
        process["memory_bytes"] = held
    return process


def _switch(text: str) -> bool | None:
    return _SWITCHES.get(text)


def _mode(text: str) -> str | None:
    return COMPUTE_MODES.get(text)


def _text(text: str) -> str | None:
    return text or None


_REASON_HEADINGS = ("Clocks Throttle Reasons", "Clocks Event Reasons")
_LINK = ("PCI", "GPU Link Info")
_POWER = ("Power Readings", "GPU Power Readings")
_FIELDS: dict[str, tuple[tuple[Path, ...], Callable[[str], FactValue]]] = {
    "name": ((("Product Name",),), _text),
    "uuid": ((("GPU UUID",),), _text),
    "driver_model": ((("Driver Model", "Current"),), _text),
    "memory_total_bytes": ((("FB Memory Usage", "Total"),), size_bytes),
    "memory_used_bytes": ((("FB Memory Usage", "Used"),), size_bytes),
    "memory_free_bytes": ((("FB Memory Usage", "Free"),), size_bytes),
    "utilization_percent": ((("Utilization", "Gpu"), ("Utilization", "GPU")), integer),
    "temperature_celsius": ((("Temperature", "GPU Current Temp"), ("Temperature", "Gpu")), integer),
    "memory_temperature_celsius": ((("Temperature", "Memory Current Temp"),), integer),
    "slowdown_temperature_celsius": ((("Temperature", "GPU Slowdown Temp"),), integer),
    "power_watts": (
        tuple(
            (heading, name)
            for heading in _POWER
            for name in ("Power Draw", "Average Power Draw", "Instantaneous Power Draw")
        ),
        number,
    ),
    "power_limit_watts": (
        tuple(
            (heading, name)
            for heading in _POWER
            for name in ("Enforced Power Limit", "Current Power Limit", "Power Limit")
        ),
        number,
    ),
    "row_remap_pending": ((("Remapped Rows", "Pending"),), _switch),
    "row_remap_failure": ((("Remapped Rows", "Remapping Failure Occurred"),), _switch),
    "pcie_generation": (((*_LINK, "PCIe Generation", "Current"),), integer),
    "pcie_generation_max": (((*_LINK, "PCIe Generation", "Max"),), integer),
    "pcie_width": (((*_LINK, "Link Width", "Current"),), lambda text: integer(text.removesuffix("x"))),
    "pcie_width_max": (((*_LINK, "Link Width", "Max"),), lambda text: integer(text.removesuffix("x"))),
    "mig_mode": ((("MIG Mode", "Current"),), _switch),
    "compute_mode": ((("Compute Mode",),), _mode),
    "persistence_mode": ((("Persistence Mode",),), _switch),
}
