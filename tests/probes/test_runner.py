"""Looking at a machine with probes that fail, hang and crash."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping

import pytest

from gpuhelp.probes.facts import FactValue
from gpuhelp.probes.machine import Machine
from gpuhelp.probes.registry import (
    Look,
    Probe,
    ProbeFailed,
    ProbeStatus,
    ProbeTimeout,
    ProbeUnavailable,
)
from gpuhelp.probes.runner import observe, skip

HERE = Machine(environ={})


def a_probe(id: str, look: Look, *, timeout_s: float = 3.0, source: str = "test") -> Probe:
    return Probe(id, ("os.platform",), timeout_s, source, look)


def telling(values: Mapping[str, FactValue]) -> Look:
    return lambda _: values


def waiting(event: threading.Event) -> Look:
    def look(_: Machine) -> Mapping[str, FactValue]:
        event.wait(30)
        return {}

    return look


def raising(problem: Exception) -> Look:
    def look(_: Machine) -> Mapping[str, FactValue]:
        raise problem

    return look


def test_facts_carry_the_source_of_their_probe() -> None:
    seen = observe(None, HERE, probes=(a_probe("host.os", telling({"os.platform": "linux"}), source="nvml"),))
    assert seen.facts["os.platform"].source == "nvml"
    assert [(each.id, each.status, each.detail) for each in seen.reports] == [("host.os", ProbeStatus.OK, "")]
    assert seen.reports[0].facts == ("os.platform",)


def test_reports_come_by_id_whoever_is_first_to_end() -> None:
    def slow(_: Machine) -> Mapping[str, FactValue]:
        time.sleep(0.2)
        return {}

    seen = observe(
        None, HERE, probes=(a_probe("b.b", telling({})), a_probe("c.c", telling({})), a_probe("a.a", slow))
    )
    assert [each.id for each in seen.reports] == ["a.a", "b.b", "c.c"]


@pytest.mark.parametrize(
    ("problem", "status", "detail"),
    [
        (ProbeUnavailable("no /proc here"), ProbeStatus.UNAVAILABLE, "no /proc here"),
        (ProbeTimeout("no answer"), ProbeStatus.TIMEOUT, "no answer"),
        (ProbeFailed("it crashed"), ProbeStatus.ERROR, "it crashed"),
        (KeyError("oops"), ProbeStatus.ERROR, "KeyError: 'oops'"),
    ],
)
def test_a_probe_that_fails_costs_only_itself(problem: Exception, status: ProbeStatus, detail: str) -> None:
    good = a_probe("good.one", telling({"os.wsl": False}))
    seen = observe(None, HERE, probes=(a_probe("bad.one", raising(problem)), good))
    assert [(each.status, each.detail) for each in seen.reports] == [(status, detail), (ProbeStatus.OK, "")]
    assert dict(seen.facts.values_by_name()) == {"os.wsl": False}


def test_what_a_probe_had_learned_before_it_stopped_is_kept() -> None:
    look = raising(ProbeTimeout("the rest did not answer", {"driver.version": "550.90.07"}))
    seen = observe(None, HERE, probes=(a_probe("nvml.x", look),))
    assert seen.facts["driver.version"].value == "550.90.07"
    assert seen.reports[0].status is ProbeStatus.TIMEOUT


def test_a_probe_that_tells_nonsense_is_an_error() -> None:
    seen = observe(None, HERE, probes=(a_probe("bad.one", lambda _: None),))  # type: ignore[arg-type, return-value]
    assert seen.reports[0].status is ProbeStatus.ERROR


def test_a_probe_that_hangs_is_left_behind() -> None:
    never = threading.Event()
    hanging = a_probe("bad.one", waiting(never), timeout_s=0.2)
    started = time.monotonic()
    seen = observe(None, HERE, probes=(hanging, a_probe("good.one", telling({"os.wsl": False}))))
    assert time.monotonic() - started < 1.5
    assert [each.status for each in seen.reports] == [ProbeStatus.TIMEOUT, ProbeStatus.OK]
    assert "0.2 s" in seen.reports[0].detail
    never.set()


def test_all_probes_together_keep_to_the_limit() -> None:
    never = threading.Event()
    hanging = tuple(a_probe(f"bad.{n}", waiting(never), timeout_s=9) for n in range(5))
    started = time.monotonic()
    seen = observe(None, HERE, limit_s=0.3, probes=hanging)
    assert time.monotonic() - started < 0.3 + 0.5
    assert {each.status for each in seen.reports} == {ProbeStatus.TIMEOUT}
    never.set()


def test_a_person_who_wants_no_probes_gets_none_of_them_run() -> None:
    seen = skip(["gpus", "os.platform"], "--no-probes")
    assert len(seen.facts) == 0
    assert [(each.id, each.status.value) for each in seen.reports] == [
        ("amd.gpus", "skipped"),
        ("host.os", "skipped"),
        ("nvml.driver", "skipped"),
    ]


def test_only_what_is_wanted_is_looked_at() -> None:
    seen = observe(["os.platform"], HERE)
    assert [each.id for each in seen.reports] == ["host.os"]
    assert seen.facts["os.platform"].value == HERE.platform
