"""The kernel log: errors of the NVIDIA driver (Xids), and processes killed for memory.

`dmesg` shows the kernel's own buffer, of which old lines drop off; `journalctl -k` what was kept of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gpuhelp.probes.children import ChildStatus
from gpuhelp.probes.facts import FactValue
from gpuhelp.probes.host import is_wsl
from gpuhelp.probes.machine import Machine
from gpuhelp.probes.programs import find_program, plain_environ
from gpuhelp.probes.registry import ProbeTimeout, ProbeUnavailable, Told, probe

TIMEOUT_S = 3.0
DMESG_S, JOURNALCTL_S = 0.8, 2.0  # a journal of gigabytes takes its time
MOST_LINES = 40_000  # some 4 MiB; children keep 8 MiB, and would keep the oldest lines
FACTS = ("kernel.xids", "kernel.oom_kills")

_JOURNALCTL = ("--dmesg", "--boot", "--no-pager", "--quiet", "--output=short", f"--lines={MOST_LINES}")
_FIRST_LINE = "Linux version "  # what a kernel says first
_REFUSALS = ("permission", "not permitted", "not seeing messages")


@dataclass(frozen=True, slots=True)
class KernelLog:
    """What one program told: the text, whether it begins where the kernel did, or else why there is none."""

    program: str
    text: str = ""
    whole: bool = False
    refused: bool = False
    late: bool = False


@probe("kernel.log", facts=FACTS, timeout_s=TIMEOUT_S, source="kernel log")
def kernel_log(machine: Machine) -> Told:
    """Xids and kills since the last start, each once. An empty list only of a log that is whole.

    Under WSL the driver is Windows': no Xids are told. Errors: unavailable where the log may not be read.
    """
    if machine.platform != "linux":
        raise ProbeUnavailable("the kernel log is read on Linux only")
    logs = [_asked(machine, DMESG_S, "dmesg")]
    if not logs[0].whole:
        logs.append(_asked(machine, JOURNALCTL_S, "journalctl", *_JOURNALCTL))
    texts = [log for log in logs if log.text]
    if not texts:
        raise _unreadable(logs)
    if any("gVisor" in line for log in texts for line in log.text.splitlines()[:20]):
        raise ProbeUnavailable("this is a sandbox (gVisor), whose kernel log is made up")
    best = next((log for log in texts if log.whole), texts[-1])
    facts = facts_of(best.text, whole=best.whole)
    if is_wsl(machine):
        facts.pop("kernel.xids", None)
    detail = "" if best.whole else "the log does not reach back to the start of this machine"
    return Told(facts, detail, f"kernel log ({best.program})")


def facts_of(text: str, *, whole: bool) -> dict[str, FactValue]:
    """Facts of the text of a log. What a part of a log does not hold is not known."""
    from gpuhelp.probes.pasted.kernel_messages import read

    told: Mapping[str, FactValue] = read(text)
    return {name: _each_once(told.get(name)) for name in FACTS if whole or told.get(name)}


def _each_once(records: FactValue) -> list[FactValue]:
    kept: list[FactValue] = []
    for record in records if isinstance(records, list) else []:
        if record not in kept:  # one fault of a program may write a hundred Xids
            kept.append(record)
    return kept


def _asked(machine: Machine, timeout_s: float, name: str, *arguments: str) -> KernelLog:
    program = find_program(machine, name)
    if program is None:
        return KernelLog(name)
    result = machine.children.run(
        (str(machine.path(program)), *arguments), timeout_s=timeout_s, env=plain_environ(machine)
    )
    if result.ok and result.stdout.strip() and "-- No entries --" not in result.stdout[:200]:
        return KernelLog(name, result.stdout, _FIRST_LINE in "\n".join(result.stdout.splitlines()[:20]))
    refused = any(word in result.stderr.lower() for word in _REFUSALS)
    return KernelLog(name, refused=refused, late=result.status is ChildStatus.TIMEOUT)


def _unreadable(logs: list[KernelLog]) -> ProbeUnavailable | ProbeTimeout:
    if any(log.refused for log in logs):
        return ProbeUnavailable(
            "no permission to read the kernel log (root, or the groups adm and systemd-journal, may)"
        )
    late = next((log.program for log in logs if log.late), None)
    if late is not None:
        return ProbeTimeout(f"{late} did not answer in time")
    return ProbeUnavailable("the kernel log cannot be read here: neither dmesg nor journalctl shows it")
