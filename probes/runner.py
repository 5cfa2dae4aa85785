"""Runs probes side by side, each under its own limit and all under one; nothing a probe does escapes."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from gpuhelp.probes.facts import Facts, FactValue
from gpuhelp.probes.machine import Machine
from gpuhelp.probes.registry import Probe, ProbeProblem, ProbeStatus, Told, all_probes, probes_for

GRACE_S = 0.4  # for a child to be killed and its half answer to be read, after the limit


@dataclass(frozen=True, slots=True)
class ProbeReport:
    """How one probe went: `facts` are the names (or patterns) it should have given, `seconds` wall time."""

    id: str
    status: ProbeStatus
    seconds: float
    detail: str
    facts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Observation:
    """What a look at the machine gave: facts, and a report for each probe that was asked, by id."""

    facts: Facts
    reports: tuple[ProbeReport, ...]


def observe(
    wanted: Iterable[str] | None,
    machine: Machine,
    *,
    limit_s: float = 5.0,
    probes: tuple[Probe, ...] | None = None,
) -> Observation:
    """The wanted facts, as far as they can be had within `limit_s` (seconds, all probes together).

    None wants all. Never raises, and comes back within `limit_s` + 0.5 s; what a probe had learned before it
    was stopped is kept. `probes` replaces the registered ones.
    """
    chosen = sorted(_chosen(wanted) if probes is None else probes, key=lambda each: each.id)
    started = time.monotonic()
    tasks: list[_Task] = []
    try:
        tasks.extend(_Task(each, machine, started, limit_s) for each in chosen)
        outcomes = [task.outcome() for task in tasks]
    finally:
        for task in tasks:
            task.stop()
    facts = Facts()
    for each in outcomes:
        facts = facts.merged(Facts.of(each.values, each.source))
    return Observation(facts, tuple(each.report for each in outcomes))


def skip(wanted: Iterable[str] | None, why: str) -> Observation:
    """No facts, and each probe that would have been asked as skipped: for a person who wants no probes."""
    reports = (ProbeReport(each.id, ProbeStatus.SKIPPED, 0.0, why, each.facts) for each in _chosen(wanted))
    return Observation(Facts(), tuple(reports))


def _chosen(wanted: Iterable[str] | None) -> tuple[Probe, ...]:
    return all_probes() if wanted is None else probes_for(wanted)


@dataclass(frozen=True, slots=True)
class _Outcome:
    report: ProbeReport
    values: Mapping[str, FactValue]
    source: str


class _Task:
    """One probe on a thread of its own, which is left behind if it hangs."""

    def __init__(self, probe: Probe, machine: Machine, started: float, limit_s: float) -> None:
        self._probe = probe
        self._started = started
        self._deadline = started + min(probe.timeout_s, limit_s)
        self._machine = replace(machine, children=machine.children.until(self._deadline))
        self._done: _Outcome | None = None
        self._thread = threading.Thread(target=self._look, name=f"probe {probe.id}", daemon=True)
        try:
            self._thread.start()
        except RuntimeError as problem:  # this user's limit of threads is used up
            self._done = self._as_outcome(ProbeStatus.ERROR, str(problem), {})

    def outcome(self) -> _Outcome:
        """How it went; waits until the probe's limit and the grace are over."""
        if self._done is None:
            self._thread.join(max(self._deadline + GRACE_S - time.monotonic(), 0.0))
        late = f"no answer within {self._deadline - self._started:.1f} s"
        return self._done or self._as_outcome(ProbeStatus.TIMEOUT, late, {})

    def stop(self) -> None:
        """End its children; without effect on a probe that is done."""
        self._machine.children.stop()

    def _look(self) -> None:
        try:
            answer = self._probe.look(self._machine)
            told = answer if isinstance(answer, Told) else Told(answer)
            self._done = self._as_outcome(ProbeStatus.OK, told.detail, told.facts, told.source)
        except ProbeProblem as problem:
            self._done = self._as_outcome(problem.status, problem.detail, problem.facts)
        except Exception as defect:  # noqa: BLE001  a broken probe must not cost the answer
            self._done = self._as_outcome(ProbeStatus.ERROR, f"{type(defect).__name__}: {defect}", {})

    def _as_outcome(
        self, status: ProbeStatus, detail: str, values: Mapping[str, FactValue], source: str = ""
    ) -> _Outcome:
        seconds = round(time.monotonic() - self._started, 4)
        return _Outcome(
            ProbeReport(self._probe.id, status, seconds, detail, self._probe.facts),
            dict(values),
            source or self._probe.source,
        )
