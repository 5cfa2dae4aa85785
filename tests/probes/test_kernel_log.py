"""The kernel log: who may read it, how far back it goes, what it holds."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import pytest

from gpuhelp.probes.kernel_log import facts_of, kernel_log
from gpuhelp.probes.machine import Machine
from gpuhelp.probes.registry import ProbeProblem, ProbeStatus, ProbeTimeout, ProbeUnavailable
from gpuhelp.probes.runner import observe

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the made-up programs are shell scripts")

MakeMachine = Callable[..., Machine]

FIRST = "[    0.000000] Linux version 6.8.0-45-generic (buildd@lcy02) (x86_64-linux-gnu-gcc-13)\n"
XID = "[ 4242.191929] NVRM: Xid (PCI:0000:3d:00): 79, pid='<unknown>', GPU has fallen off the bus.\n"
XID_13 = "[ 4243.000000] NVRM: Xid (PCI:0000:3d:00): 13, pid=77, name=python, Graphics SM Warp Exception\n"
KILL = (
    "[ 5000.123456] oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),task=python,pid=4321,uid=1000\n"
    "[ 5000.123460] Out of memory: Killed process 4321 (python) total-vm:88888kB, anon-rss:66666kB\n"
)
LATER = "[ 9000.000000] usb 1-1: new high-speed USB device number 2\n"
REFUSED = "dmesg: read kernel buffer failed: Operation not permitted"
NO_JOURNAL = "No journal files were opened due to insufficient permissions."


def a_program(machine: Machine, name: str, prints: str = "", complains: str = "", status: int = 0) -> None:
    path = machine.path(f"/usr/bin/{name}")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.with_suffix(".out").write_text(prints, encoding="utf-8")
    script = f"#!/bin/sh\ncat '{path.with_suffix('.out')}'\necho '{complains}' >&2\nexit {status}\n"
    path.write_text(script, encoding="utf-8")
    path.chmod(0o755)


def test_a_whole_log_tells_each_error_once(make_machine: MakeMachine) -> None:
    machine = make_machine()
    a_program(machine, "dmesg", FIRST + XID + XID_13 * 3 + KILL)
    told = kernel_log(machine)
    assert told.facts == {
        "kernel.xids": [{"xid": 79, "pci": "0000:3d:00.0"}, {"xid": 13, "pci": "0000:3d:00.0"}],
        "kernel.oom_kills": [{"pid": 4321, "name": "python"}],
    }
    assert (told.source, told.detail) == ("kernel log (dmesg)", "")


def test_a_whole_log_without_errors_says_that_there_are_none(make_machine: MakeMachine) -> None:
    machine = make_machine()
    a_program(machine, "dmesg", FIRST + LATER)
    assert kernel_log(machine).facts == {"kernel.xids": [], "kernel.oom_kills": []}


def test_a_log_whose_beginning_is_lost_says_only_what_it_holds(make_machine: MakeMachine) -> None:
    machine = make_machine()
    a_program(machine, "dmesg", XID + LATER)
    told = kernel_log(machine)
    assert told.facts == {"kernel.xids": [{"xid": 79, "pci": "0000:3d:00.0"}]}
    assert "does not reach back" in told.detail


def test_the_journal_has_what_the_buffer_lost(make_machine: MakeMachine) -> None:
    machine = make_machine()
    a_program(machine, "dmesg", LATER)
    journal = (FIRST + KILL).replace("[ 5000.123460]", "Dec 01 04:24:11 node kernel:")
    a_program(machine, "journalctl", journal.replace("[    0.000000]", "Dec 01 03:00:00 node kernel:"))
    told = kernel_log(machine)
    assert told.facts == {"kernel.xids": [], "kernel.oom_kills": [{"pid": 4321, "name": "python"}]}
    assert told.source == "kernel log (journalctl)"


@pytest.mark.parametrize("journal", [None, NO_JOURNAL])
def test_who_may_not_read_it_is_told_so(make_machine: MakeMachine, journal: str | None) -> None:
    machine = make_machine()
    a_program(machine, "dmesg", complains=REFUSED, status=1)
    if journal:
        a_program(machine, "journalctl", complains=journal, status=1)
    with pytest.raises(ProbeUnavailable, match="no permission to read the kernel log"):
        kernel_log(machine)


def test_an_empty_journal_is_no_log(make_machine: MakeMachine) -> None:
    machine = make_machine()
    a_program(machine, "journalctl", "-- No entries --\n")
    with pytest.raises(ProbeUnavailable, match="neither dmesg nor journalctl"):
        kernel_log(machine)


def test_a_made_up_log_of_a_sandbox_is_not_believed(make_machine: MakeMachine) -> None:
    machine = make_machine()
    a_program(machine, "dmesg", "[   0.000000] Starting gVisor...\n[   0.200000] Checking naughty list...\n")
    with pytest.raises(ProbeUnavailable, match="gVisor"):
        kernel_log(machine)


def test_under_wsl_the_driver_writes_elsewhere(make_machine: MakeMachine) -> None:
    machine = make_machine({"/proc/sys/kernel/osrelease": "5.15.153.1-microsoft-standard-WSL2\n"})
    a_program(machine, "dmesg", FIRST + LATER)
    assert kernel_log(machine).facts == {"kernel.oom_kills": []}


def test_a_program_that_hangs_costs_only_this_probe(make_machine: MakeMachine) -> None:
    machine = make_machine()
    a_program(machine, "dmesg")
    machine.path("/usr/bin/dmesg").write_text("#!/bin/sh\nsleep 60\n", encoding="utf-8")
    started = time.monotonic()
    with pytest.raises(ProbeTimeout, match="dmesg did not answer"):
        kernel_log(machine)
    assert time.monotonic() - started < 3


def test_the_runner_reports_the_refusal_and_keeps_no_fact(make_machine: MakeMachine) -> None:
    machine = make_machine()
    a_program(machine, "dmesg", complains=REFUSED, status=1)
    seen = observe(["kernel.xids"], machine)
    assert [(each.id, each.status) for each in seen.reports] == [("kernel.log", ProbeStatus.UNAVAILABLE)]
    assert "permission" in seen.reports[0].detail
    assert not seen.facts


def test_other_systems_are_not_asked(make_machine: MakeMachine) -> None:
    with pytest.raises(ProbeProblem):
        kernel_log(make_machine(platform="macos"))


def test_noise_is_no_error() -> None:
    noise = "x\0\udcff" * 1000 + "\nNVRM: Xid without a number\nKilled process\n"
    assert facts_of(noise, whole=True) == {"kernel.xids": [], "kernel.oom_kills": []}
