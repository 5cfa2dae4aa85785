"""The table that `nvidia-smi` prints, of every generation from 331 to 615: driver, GPUs, MIG, processes.

Source: tables in public issues; the manual page of nvidia-smi for what the columns mean. Since driver 610 the
header says `KMD Version` and `CUDA UMD Version`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from gpuhelp.probes.facts import FactValue
from gpuhelp.probes.pasted.values import MIB, Record, Span, integer, number, pci_address, program_of

MARK = "| NVIDIA-SMI "
_MOST_LINES = 400
_HEADER = re.compile(r"[^\"'`={(\\]{0,80}NVIDIA-SMI {1,3}\d[\d.]{1,20} {1,40}(?:Driver|KMD) Version: ")
_DRIVER = re.compile(r"(?:Driver|KMD) Version: {0,20}(\d{3}\.\d{1,3}(?:\.\d{1,3})?)(?![\w.])")
_CUDA = re.compile(r"CUDA (?:UMD )?Version: {0,20}(\d{1,3}\.\d{1,3})")
_BUS = re.compile(r"[0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-9A-Fa-f]")
_FIRST = re.compile(r"\s{0,8}(\d{1,3})\s{1,8}(\S.{0,80}?)\s{1,40}(On|Off|N/A|WDDM|TCC|MCDM|ERR!)\s{0,8}")
_MEMORY = re.compile(r"\s{0,40}(\d{1,9})Mi?B\s{0,8}/\s{0,8}(\d{1,9})Mi?B\s{0,8}")
_PROCESS = re.compile(
    r"\|\s{1,8}(\d{1,3})\s{1,8}(?:(?:\d{1,4}|N/A)\s{1,8}(?:\d{1,4}|N/A)\s{1,20})?(\d{1,10})\s{1,8}"
    r"(?:C\+G|M\+C\+G|M\+C|C|G|M|N/A)\s{1,8}(\S.{0,200}?)\s{1,120}(\d{1,9}MiB|N/A|ERR!)?\s{0,20}\|"
)
_MIG = re.compile(
    r"\|\s{1,8}(\d{1,3})\s{1,8}(\d{1,3})\s{1,8}(\d{1,3})\s{1,8}(\d{1,3})\s{0,8}\|"
    r"\s{0,40}(\d{1,9})MiB\s{0,8}/\s{0,8}(\d{1,9})MiB"
)
_MODES = {
    "Default": "default",
    "E. Process": "exclusive_process",
    "E. Thread": "exclusive_thread",
    "Prohibited": "prohibited",
}
_SWITCHES = {"On": True, "Off": False}
_DATE = re.compile(r"\s{0,8}[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d [\d:]{8} \d{4}\s{0,8}$")
_MIG_MODES = {"Enabled": True, "Enabled*": True, "Disabled": False, "Disabled*": False}
SHOWS_ERRORS = "nvidia-smi shows ERR!"


def blocks(lines: Sequence[str]) -> Iterator[Span]:
    """From each header, or the date above it, to the last line of the table, its processes included."""
    starts = [index for index, line in enumerate(lines) if _HEADER.match(line)]
    for start, following in zip(starts, [*starts[1:], len(lines)], strict=False):
        last, width = start, _prefix_width(lines[start])
        for index in range(start, min(following, start + _MOST_LINES)):
            line = lines[index][width:].strip()
            if line.startswith(("|", "+")) or "GPU is lost" in line:
                last = index
            elif index - last > 4:
                break
        first = start - 1 if start and lines[start - 1][width:].strip().startswith("+") else start
        yield (first - 1 if first and _DATE.match(lines[first - 1][width:]) else first), last


def read(text: str) -> Mapping[str, FactValue]:
    """Facts of one table; {} for what is none."""
    header = next((line for line in text.split("\n") if _HEADER.match(line)), "")
    driver, width = _DRIVER.search(header), _prefix_width(header)
    lines = [line[width:].strip() for line in text.split("\n")]
    told = driver[1] if driver else None
    if told is None:
        return {}
    facts: dict[str, FactValue] = {"driver.version": told, "driver.error": None}
    if cuda := _CUDA.search(header):
        facts["driver.cuda_api_version"] = cuda[1]
    gpus = _gpus(lines)
    if gpus:
        _add_instances(lines, gpus)
        _add_processes(lines, gpus)
        facts["gpus"] = [gpus[index] for index in sorted(gpus)]
    return facts


def _prefix_width(header: str) -> int:
    """What a launcher wrote before each line: the rank of srun -l, a time, a container's name."""
    return max(0, header.find(MARK))


def _gpus(lines: Sequence[str]) -> dict[int, Record]:
    """The rows of GPUs: two lines each, since driver 450 three."""
    is_windows = any("TCC/WDDM" in line or "Driver-Model" in line for line in lines)
    found: dict[int, Record] = {}
    for place, line in enumerate(lines):
        cells = line.split("|")
        first = _FIRST.fullmatch(cells[1]) if len(cells) == 5 and _BUS.search(cells[2]) else None
        if first is None:
            continue
        gpu: Record = {"index": int(first[1])}
        if not first[2].endswith("...") and not first[2].startswith("ERR!"):
            gpu["name"] = first[2]  # a name that is cut would be another GPU's
        if is_windows:
            gpu |= {"driver_model": first[3]} if first[3] in ("WDDM", "TCC", "MCDM") else {}
        elif first[3] in _SWITCHES:
            gpu["persistence_mode"] = _SWITCHES[first[3]]
        gpu |= {**_ecc(cells[3]), **_address(cells[2])}
        below = [row for row in lines[place + 1 : place + 3] if row.startswith("|") and row.count("|") == 4]
        gpu |= _second(below[0].split("|")) if below else {}
        gpu |= _third(below[1].split("|")) if len(below) > 1 else {}
        if sum(row.count("ERR!") for row in (line, *below)) > 1:
            gpu.setdefault("error", SHOWS_ERRORS)
        found[int(first[1])] = gpu
    return found


def _ecc(cell: str) -> Record:
    count = integer(cell)
    return {} if count is None else {"ecc_uncorrected": count}


def _address(cell: str) -> Record:
    address = pci_address(cell)
    return {"pci": address} if address else {}


def _second(cells: Sequence[str]) -> Record:
    """Temperature, power, memory, utilization and compute mode."""
    gpu: Record = {}
    if temperature := re.search(r"(?:^|\s)(\d{1,3})C(?:\s|$)", cells[1]):
        gpu["temperature_celsius"] = int(temperature[1])
    power, slash, limit = cells[1].rpartition("/")
    if slash:
        drawn = number(power.split()[-1]) if power.split() and power.endswith(("W", "W ")) else None
        gpu |= {} if drawn is None else {"power_watts": drawn}
        allowed = number(limit) if "W" in limit else None
        gpu |= {} if allowed is None else {"power_limit_watts": allowed}
    if memory := _MEMORY.fullmatch(cells[2]):
        used, total = int(memory[1]) * MIB, int(memory[2]) * MIB
        gpu |= {"memory_used_bytes": used, "memory_total_bytes": total}
        gpu["memory_free_bytes"] = max(0, total - used)  # the driver keeps some hundred MiB of it
    elif "GPU is lost" in cells[2]:
        gpu["error"] = "GPU is lost"
    share = re.match(r"\s{0,20}(\d{1,3})%", cells[3])
    gpu |= {"utilization_percent": int(share[1])} if share else {}
    mode = next((word for told, word in _MODES.items() if cells[3].rstrip().endswith(told)), None)
    return gpu | ({"compute_mode": mode} if mode else {})


def _third(cells: Sequence[str]) -> Record:
    if cells[1].strip() or cells[2].strip():
        return {}
    mode = _MIG_MODES.get(cells[3].strip())
    return {} if mode is None else {"mig_mode": mode}


def _add_instances(lines: Sequence[str], gpus: dict[int, Record]) -> None:
    """MIG instances, where the table has a part for them."""
    if not any("MIG devices:" in line for line in lines):
        return
    for gpu in gpus.values():
        if gpu.get("mig_mode"):
            gpu["mig_instances"] = []
    for line in lines:
        found = _MIG.match(line)
        if found and int(found[1]) in gpus:
            instance: Record = {
                "gpu_instance_id": int(found[2]),
                "compute_instance_id": int(found[3]),
                "memory_used_bytes": int(found[5]) * MIB,
                "memory_total_bytes": int(found[6]) * MIB,
            }
            known = gpus[int(found[1])].get("mig_instances")
            gpus[int(found[1])]["mig_instances"] = [*(known if isinstance(known, list) else ()), instance]


def _add_processes(lines: Sequence[str], gpus: dict[int, Record]) -> None:
    """Processes, where the table was pasted down to them; a GPU without a row has none."""
    start = next((place for place, line in enumerate(lines) if "rocesses:" in line), None)
    if start is None or any("Not Supported" in line for line in lines[start:]):
        return
    rows: dict[int, list[FactValue]] = {index: [] for index in gpus}
    for line in lines[start:]:
        if found := _PROCESS.match(line):
            process: Record = {"pid": int(found[2]), "name": program_of(found[3])}
            held = integer((found[4] or "").removesuffix("MiB"))
            process |= {} if held is None else {"memory_bytes": held * MIB}
            rows.setdefault(int(found[1]), []).append(process)
    if not any(rows.values()) and not any("No running " in line for line in lines[start:]):
        return
    for index, processes in rows.items():
        if index in gpus:
            gpus[index]["processes"] = processes
