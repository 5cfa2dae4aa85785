"""Asks the program nvidia-smi, field by field, where NVML cannot be loaded into a process of ours."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from gpuhelp.probes.children import ChildResult, ChildStatus
from gpuhelp.probes.facts import FactValue
from gpuhelp.probes.machine import Machine
from gpuhelp.probes.nvml_account import field_words
from gpuhelp.probes.nvml_fields import (
    MAX_COUNT,
    MAX_MEMORY_BYTES,
    MAX_MILLIWATTS,
    MILLIWATTS_PER_WATT,
    reasons_of,
)  # fmt: skip
from gpuhelp.probes.processes import Owners
from gpuhelp.probes.registry import ProbeProblem, ProbeTimeout, ProbeUnavailable, Told

SOURCE = "nvidia-smi"
PLACES = ("/usr/bin/nvidia-smi", "/usr/lib/wsl/lib/nvidia-smi", "/usr/local/nvidia/bin/nvidia-smi")
MEBIBYTE = 1 << 20
MAX_UNKNOWN = 8  # fields that this nvidia-smi does not know, dropped one at a time
LEAST_S = 0.2
LONGEST_COUNT = 12
NOT_THERE = {"n/a", "not supported", "not available", "requested functionality has been deprecated"}
NEWER_NAMES = {"clocks_throttle_reasons.active": "clocks_event_reasons.active"}
LOST = ("gpu is lost", "gpu requires reset")

Reading = Callable[[str], FactValue]
Field = tuple[str, str, Reading]


def _text(cell: str) -> FactValue:
    return cell


def _plausible(value: float, most: float) -> float:
    """The value; ValueError where it cannot be meant, as for "nan"."""
    if not -most <= value <= most:
        raise ValueError(value)
    return value


def _number(cell: str) -> FactValue:
    return int(_plausible(float(cell), MAX_COUNT))


def _watts(cell: str) -> FactValue:
    return _plausible(float(cell), MAX_MILLIWATTS / MILLIWATTS_PER_WATT)


def _bytes(cell: str) -> FactValue:
    return int(_plausible(int(cell) * MEBIBYTE, MAX_MEMORY_BYTES))


def _switch(cell: str) -> FactValue:
    return {"enabled": True, "disabled": False}[cell.lower()]


def _mode(cell: str) -> FactValue:
    return cell.lower().replace(" ", "_")


def _pci(cell: str) -> FactValue:
    return cell.lower().removeprefix("0000")


def _reasons(cell: str) -> FactValue:
    return reasons_of(int(cell, 16))


FIELDS: tuple[Field, ...] = (
    ("index", "index", _number),
    ("driver_version", "driver_version", _text),
    ("uuid", "uuid", _text),
    ("name", "name", _text),
    ("pci", "pci.bus_id", _pci),
    ("compute_capability", "compute_cap", _text),
    ("memory_total_bytes", "memory.total", _bytes),
    ("memory_used_bytes", "memory.used", _bytes),
    ("memory_free_bytes", "memory.free", _bytes),
    ("utilization_percent", "utilization.gpu", _number),
    ("temperature_celsius", "temperature.gpu", _number),
    ("memory_temperature_celsius", "temperature.memory", _number),
    ("power_watts", "power.draw", _watts),
    ("power_limit_watts", "enforced.power.limit", _watts),
    ("throttle_reasons", "clocks_throttle_reasons.active", _reasons),
    ("ecc_uncorrected", "ecc.errors.uncorrected.volatile.total", _number),
    ("ecc_uncorrected_aggregate", "ecc.errors.uncorrected.aggregate.total", _number),
    ("retired_pages_single", "retired_pages.single_bit_ecc.count", _number),
    ("retired_pages_double", "retired_pages.double_bit.count", _number),
    ("pcie_generation", "pcie.link.gen.current", _number),
    ("pcie_generation_max", "pcie.link.gen.max", _number),
    ("pcie_width", "pcie.link.width.current", _number),
    ("pcie_width_max", "pcie.link.width.max", _number),
    ("mig_mode", "mig.mode.current", _switch),
    ("compute_mode", "compute_mode", _mode),
    ("persistence_mode", "persistence_mode", _switch),
    ("driver_model", "driver_model.current", _text),
)


def ask_nvidia_smi(machine: Machine, problem: ProbeProblem, left_s: float) -> Told:
    """Facts of nvidia-smi, within `left_s` seconds; `problem` is why NVML was of no use.

    Raises `problem` where there is no nvidia-smi, and unavailable with its own words where it fails too.
    """
    program = find_nvidia_smi(machine)
    if program is None:
        raise problem
    asking = _Asking(machine, program, time.monotonic() + left_s)
    result = asking.gpus()
    if result.status is ChildStatus.TIMEOUT:
        raise ProbeTimeout(f"{problem.detail}; nvidia-smi did not answer", problem.facts)
    if not result.ok:
        raise _both(problem, result)
    facts, failed = facts_of(result.stdout.splitlines(), asking.fields)
    facts.update(asking.cuda_api_version())
    _add_processes(facts, asking.processes(), Owners.of(machine))
    detail = "; ".join((f"asked nvidia-smi, because: {problem.detail}", *failed))
    return Told(facts, detail, SOURCE)


def find_nvidia_smi(machine: Machine) -> str | None:
    """The program on this machine's PATH, or where drivers put it."""
    from shutil import which

    found = which("nvidia-smi", path=machine.environ.get("PATH", ""))
    return found or next((str(machine.path(place)) for place in PLACES if machine.is_file(place)), None)


def _both(problem: ProbeProblem, result: ChildResult) -> ProbeUnavailable:
    """Neither way works: what nvidia-smi says becomes `driver.error` where NVML could not say anything."""
    words = _complaint(result)
    facts = {"driver.error": words, **problem.facts} if words else problem.facts
    return ProbeUnavailable(f"{problem.detail}; nvidia-smi: {words or 'failed without words'}", facts)


def _complaint(result: ChildResult) -> str:
    """The first line it printed, without what every such line begins with."""
    lines = [line.strip() for line in (result.stdout + "\n" + result.stderr).splitlines() if line.strip()]
    first = lines[0][:300] if lines else result.error
    return first.removeprefix("Failed to initialize NVML:").strip()


class _Asking:
    """The runs of nvidia-smi, all within one limit. `fields` shrinks to those that this version knows."""

    def __init__(self, machine: Machine, program: str, deadline: float) -> None:
        self._machine, self._program, self._deadline = machine, program, deadline
        self.fields = FIELDS

    def _run(self, *arguments: str) -> ChildResult:
        left_s = max(self._deadline - time.monotonic(), 0.0)
        if left_s < LEAST_S:
            return ChildResult(ChildStatus.TIMEOUT, "", "", 0.0)
        argv = (self._program, *arguments)
        return self._machine.children.run(argv, timeout_s=left_s, env=self._machine.environ)

    def gpus(self) -> ChildResult:
        """A row for each GPU. A version that lacks one of the fields refuses the whole question."""
        for _ in range(MAX_UNKNOWN):
            names = ",".join(name for _, name, _ in self.fields)
            result = self._run(f"--query-gpu={names}", "--format=csv,noheader,nounits")
            refused = re.search(r'Field "([\w.]{1,80})" is not a valid field', result.stdout + result.stderr)
            if refused is None:
                return result
            self.fields = tuple(_renamed(self.fields, refused[1]))
        return result

    def cuda_api_version(self) -> dict[str, FactValue]:
        """No field of a query tells it, but the head of every long answer does."""
        text = self._run("-q", "-d", "COMPUTE").stdout
        found = re.search(r"^CUDA (?:UMD )?Version\s*:\s*(\d{1,3}\.\d{1,3})\s*$", text, re.MULTILINE)
        return {"driver.cuda_api_version": found[1]} if found else {}

    def processes(self) -> list[list[str]] | None:
        """GPU, process id, memory in MiB and program of each compute process; None without an answer."""
        query = "--query-compute-apps=gpu_uuid,pid,used_memory,process_name"
        result = self._run(query, "--format=csv,noheader,nounits")
        if not result.ok:
            return None
        rows = [[cell.strip() for cell in line.split(",", 3)] for line in result.stdout.splitlines()]
        return [row for row in rows if len(row) == 4 and _is_count(row[1])]


def _renamed(fields: tuple[Field, ...], refused: str) -> Iterator[Field]:
    """The fields without the refused one, or with the name it has today."""
    for field in fields:
        if field[1] != refused:
            yield field
        elif refused in NEWER_NAMES:
            yield (field[0], NEWER_NAMES[refused], field[2])


def facts_of(lines: list[str], fields: tuple[Field, ...]) -> tuple[dict[str, FactValue], list[str]]:
    """Facts of the rows, and a few words for each cell that is neither a value nor plainly lacking."""
    gpus: list[FactValue] = []
    failed: list[str] = []
    versions = set()
    for line in lines:
        cells = [cell.strip() for cell in line.split(",")]
        if len(cells) != len(fields):
            continue
        record, trouble = gpu_of(cells, fields)
        record.setdefault("index", len(gpus))
        versions.add(record.pop("driver_version", None))
        gpus.append(record)
        failed += [f"{field_words(name)} (GPU {record['index']}): {why}" for name, why in trouble.items()]
    facts: dict[str, FactValue] = {"driver.error": None, "gpus": gpus}
    version = next(filter(None, versions), None)
    return ({**facts, "driver.version": version} if version else facts), failed[:12]


def gpu_of(cells: list[str], fields: tuple[Field, ...]) -> tuple[dict[str, Any], dict[str, str]]:
    """The record of one row, and why fields are missing from it."""
    record: dict[str, Any] = {}
    trouble: dict[str, str] = {}
    for (name, _, read), cell in zip(fields, cells, strict=True):
        plain = cell.strip("[]").lower()
        if plain in NOT_THERE or not plain:
            continue
        try:
            record[name] = None if cell.startswith("[") else read(cell)
        except (ValueError, KeyError):
            record[name] = None
        if record[name] is None:
            del record[name]
            trouble[name] = plain[:60]
            if plain in LOST:
                record["error"] = cell.strip("[]")
    return finished(record), trouble


def finished(record: dict[str, Any]) -> dict[str, Any]:
    """With the fields that follow from others."""
    single, double = record.pop("retired_pages_single", None), record.pop("retired_pages_double", None)
    if single is not None and double is not None:
        record["retired_pages"] = single + double
    if "compute_capability" in record:
        record["sm"] = "sm_" + record["compute_capability"].replace(".", "")
    return record


def _add_processes(facts: Mapping[str, Any], rows: list[list[str]] | None, owners: Owners) -> None:
    if rows is None:
        return
    for gpu in facts["gpus"]:
        own = [_process(row) for row in rows if row[0] == gpu.get("uuid")]
        gpu["processes"] = [owners.describe(each) for each in sorted(own, key=lambda each: each["pid"])]


def _process(row: list[str]) -> dict[str, Any]:
    _, pid, used, program = row
    known = {"pid": int(pid), "program": "" if program.startswith("[") else program}
    return {**known, "memory_bytes": int(used) * MEBIBYTE} if _is_count(used) else known


def _is_count(cell: str) -> bool:
    """Whether the cell is a number of usual length: other scripts have digits too, and int() refuses some."""
    return cell.isascii() and cell.isdecimal() and len(cell) <= LONGEST_COUNT
