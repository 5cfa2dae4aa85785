"""What the readers share: how tools spell numbers, sizes and versions, and where their output begins."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from gpuhelp.probes.facts import FactValue

Span = tuple[int, int]
"""First and last index of the lines of one output."""
Record = dict[str, FactValue]

MIB = 1 << 20
LARGEST_BYTES = 1 << 60
COMPUTE_MODES = {
    "Default": "default",
    "Exclusive_Process": "exclusive_process",
    "Exclusive_Thread": "exclusive_thread",
    "Prohibited": "prohibited",
}
"""As `nvidia-smi -q` and `--query-gpu` spell them; the table has shorter names."""
_POWERS = {"": 0, "b": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
_SIZE = re.compile(r"(\d{1,15}(?:\.\d{1,9})?) ?([kKmMgGtTpPbB]?)(i[bB]?|[bB])?")
_NUMBER = re.compile(r"-?\d{1,15}(?:\.\d{1,9})?")
_VERSION = re.compile(r"\d{1,5}\.\d\w{0,20}(?:\.\w{1,20}){0,4}(?:[+-][\w.]{1,40})?")
_PLACEHOLDER = re.compile(r"(?:^|\.)[xXyYzZ]{1,3}(?:\.|$)")
_PROMPT = re.compile(
    r"(?:\([^()]{1,60}\) ?){0,3}"
    r"(?:[\w.@~:/\\\[\] -]{0,120}?[$#%>❯] ?|PS [^>]{1,120}> ?|!|In ?\[\d{1,6}\]: ?!?)"
)


def integer(text: str) -> int | None:
    """The whole number at the beginning: "33 %", "87C", "16x"."""
    found = re.match(r"\s{0,80}(-?\d{1,15})(?![\d.])", text)
    return int(found[1]) if found else None


def number(text: str) -> float | None:
    """The number at the beginning: "45.21 W"."""
    found = _NUMBER.match(text.strip())
    return float(found[0]) if found else None


def size_bytes(text: str, unit: str = "") -> int | None:
    """A size in units that are powers of 1024: "64M", "62Gi", "24564 MiB"; `unit` is for one without."""
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        return None
    power = _POWERS[(found[2] or unit).lower()]
    size = float(found[1]) * 1024**power
    return int(size) if size <= LARGEST_BYTES else None


def version(text: str) -> str | None:
    """The version that a text is or begins with; None for "N/A" and other words, and for "3.10.x"."""
    found = _VERSION.match(text.strip())
    return found[0] if found and not _PLACEHOLDER.search(found[0]) else None


def major_minor(text: str) -> str | None:
    """12.4 of 12.4.131."""
    found = re.match(r"\s{0,20}(\d{1,3}\.\d{1,3})(?:\.|\s|,|$)", text)
    return found[1] if found else None


def without_none(record: Mapping[str, FactValue]) -> Record:
    """The fields that are told."""
    return {name: value for name, value in record.items() if value is not None}


def torch_facts(text: str) -> Record:
    """Facts of a version of PyTorch; its local part says what it was built for: +cu124, +cpu, +rocm6.2."""
    told = version(text)
    if told is None:
        return {}
    facts: Record = {"torch.version": told, "torch.installed": True}
    local = told.partition("+")[2]
    cuda = re.match(r"cu(\d{2,3})(?:\.|$)", local)
    if cuda:
        facts["torch.cuda_runtime_version"] = f"{cuda[1][:-1]}.{cuda[1][-1]}"
        facts["torch.hip_version"] = None
    elif local == "cpu":
        facts |= {"torch.cuda_runtime_version": None, "torch.hip_version": None}
    elif rocm := re.match(r"rocm(\d{1,2}\.\d{1,2}(?:\.\d{1,2})?)", local):
        facts |= {"torch.cuda_runtime_version": None, "torch.hip_version": rocm[1]}
    return facts


def platform_facts(text: str) -> Record:
    """Facts of Python's name of a platform: Linux-5.15.0-91-generic-x86_64-with-glibc2.35."""
    system, _, rest = text.strip().partition("-")
    names = {"Linux": "linux", "Windows": "windows", "macOS": "macos", "Darwin": "macos"}
    if system not in names:
        return {}
    facts: Record = {"os.platform": names[system]}
    kernel = re.match(r"(\d[\w.+~-]{0,100}?)-(?:x86_64|aarch64|ppc64le|arm64|amd64|AMD64)(?:-|$)", rest)
    if system == "Linux" and kernel:
        facts["os.kernel"] = kernel[1]
        facts["os.wsl"] = "microsoft" in kernel[1].lower()
    return facts


def distribution_facts(text: str) -> Record:
    """Facts of a distribution's name: Ubuntu 22.04.4 LTS (x86_64), Microsoft Windows 11 Pro."""
    name = re.sub(r" \((?:x86_64|aarch64|arm64|ppc64le|64-bit|10\.[\w. -]{1,30})\)$", "", text.strip())
    if not name or name in ("N/A", "Could not collect") or len(name) > 100:
        return {}
    lowered = name.lower()
    platform = "windows" if "windows" in lowered else "macos" if lowered.startswith("mac") else "linux"
    return {"os.distribution": name, "os.platform": platform}


def pci_address(text: str) -> str | None:
    """0000:01:00.0 of 00000000:01:00.0, however many digits the domain has."""
    found = re.match(r"([0-9A-Fa-f]{4,8}):([0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-9A-Fa-f])", text.strip())
    return f"{int(found[1], 16):04x}:{found[2].lower()}" if found else None


def program_of(command: str) -> str:
    """The program of a process, without its path and its arguments."""
    command = command.strip()
    if "\\" in command:
        return command.rpartition("\\")[2]
    first = command.split()[0] if command else ""
    return first.rpartition("/")[2] or first


def command_of(line: str) -> str | None:
    """The command that a person typed on this line, None for a line without a prompt before it."""
    found = _PROMPT.match(line.strip()[:400])
    rest = line.strip()[found.end() :] if found else ""
    return rest.strip() or None


def stretch(lines: Sequence[str], start: int, most: int, end: re.Pattern[str] | None = None) -> int:
    """The last index of an output that begins at `start`: before what `end` finds, or a second empty line."""
    empty = 0
    last = start
    for index in range(start + 1, min(len(lines), start + most)):
        line = lines[index]
        if end is not None and end.match(line):
            break
        empty = 0 if line.strip() else empty + 1
        if empty > 1:
            break
        last = index if line.strip() else last
    return last


def indexes(lines: Sequence[str], *marks: str) -> Iterator[int]:
    """The indexes of lines that hold one of these marks."""
    return (index for index, line in enumerate(lines) if any(mark in line for mark in marks))
