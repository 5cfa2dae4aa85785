"""Whose facts count: those of the text, of this machine, or those given; and what differs is kept."""

from __future__ import annotations

from typing import Any

import pytest

from gpuhelp.probes.facts import Fact, Facts
from gpuhelp.reading.pieces import Piece, RawText
from gpuhelp.reasoning.pasted import (
    Contradiction,
    Pastes,
    Whose,
    is_other_host,
    pasted_in,
    weigh,
)

HERE: dict[str, Any] = {
    "driver.version": "550.90.07",
    "driver.error": None,
    "gpus": [{"index": 0, "name": "NVIDIA A100-SXM4-80GB"}, {"index": 1, "name": "NVIDIA A100-SXM4-80GB"}],
    "os.platform": "linux",
    "torch.version": "2.6.0+cu124",
    "torch.installed": True,
    "python.version": "3.11.4",
    "host.ram_available_bytes": 1000,
}


def pasted(**facts: Any) -> Facts:
    return Facts.of({name.replace("__", "."): value for name, value in facts.items()}, "pasted")


def live(**facts: Any) -> Facts:
    return Facts.of({**HERE, **{name.replace("__", "."): value for name, value in facts.items()}}, "nvml")


def names(found: tuple[Contradiction, ...]) -> list[str]:
    return [each.name for each in found]


SAME = [
    {"driver__version": "550.90.07"},
    {"gpus": [{"index": 0, "name": "NVIDIA A100-SXM4-80GB"}]},  # CUDA_VISIBLE_DEVICES, or a cut table
    {"gpus": [{"index": 0, "name": "A100-SXM4-80GB"}]},  # older drivers leave the vendor out
    {"gpus": [{"index": 0}]},  # a name that was cut off
    {"torch__version": "2.6.0", "python__version": "3.11"},  # pip list without the local part
    {"driver__error": "Driver/library version mismatch"},  # the failure itself, not a mark of the machine
    {"gpus": []},
    {"gpus": [{"error": "GPU is lost", "pci": "0000:01:00.0"}]},
    {"host__ram_available_bytes": 5},
    {"os__kernel": "5.15.0-1"},
]


@pytest.mark.parametrize("facts", SAME, ids=str)
def test_a_text_of_this_machine_is_completed_by_it(facts: dict[str, Any]) -> None:
    weighed = weigh(pasted(**facts), live())
    assert weighed.whose is Whose.HERE
    assert weighed.facts.values_by_name() == {**pasted(**facts).values_by_name(), **HERE}


ELSEWHERE = [
    ({"driver__version": "535.183.01"}, "driver.version"),
    ({"gpus": [{"index": 0, "name": "NVIDIA H100 80GB HBM3"}]}, "gpus"),
    ({"os__platform": "windows"}, "os.platform"),
]


@pytest.mark.parametrize(("facts", "name"), ELSEWHERE, ids=str)
def test_of_another_machine_only_the_text_counts(facts: dict[str, Any], name: str) -> None:
    weighed = weigh(pasted(**facts), live())
    assert weighed.whose is Whose.ELSEWHERE
    assert weighed.facts == pasted(**facts)
    assert names(weighed.contradictions) == [name]


def test_a_machine_without_a_driver_is_another_one() -> None:
    here = live(driver__version=None, driver__error="NVML Shared Library Not Found", gpus=[])
    weighed = weigh(pasted(driver__version="550.90.07", driver__error=None), here)
    assert weighed.whose is Whose.ELSEWHERE
    assert [each.both_have for each in weighed.contradictions] == [False, False]


def test_a_driver_that_is_loaded_here_but_does_not_start_is_this_one() -> None:
    here = live(
        driver__version=None,
        driver__error="Driver/library version mismatch",
        driver__kernel_module_version="550.90.07",
    )
    weighed = weigh(pasted(driver__version="550.90.07", driver__error=None), here)
    assert weighed.whose is Whose.HERE
    assert weighed.facts["driver.error"].value == "Driver/library version mismatch"


def test_another_environment_on_this_machine_keeps_the_machine() -> None:
    weighed = weigh(pasted(torch__version="2.1.0+cpu", packages__numpy="1.26.4"), live())
    assert weighed.whose is Whose.ENVIRONMENT
    assert names(weighed.contradictions) == ["torch.version"]
    values = weighed.facts.values_by_name()
    assert values["torch.version"] == "2.1.0+cpu"
    assert values["driver.version"] == "550.90.07"
    assert "python.version" not in values  # that of an interpreter that did not run the job


def test_another_host_counts_as_another_machine() -> None:
    assert weigh(pasted(driver__version="550.90.07"), live(), other_host=True).whose is Whose.ELSEWHERE


@pytest.mark.parametrize(
    ("named", "here", "other"),
    [
        ({"node7"}, "laptop", True),
        ({"node7", "laptop"}, "laptop.example.org", False),
        ({"Node7.cluster"}, "node7", False),
        (set(), "laptop", False),
        ({"node7"}, "", False),
        ({"node7"}, "3f2a1b4c5d6e", False),
    ],
)
def test_hosts(named: set[str], here: str, other: bool) -> None:
    assert is_other_host(named, here) is other


def test_where_nobody_looked_there_is_nothing_to_compare() -> None:
    weighed = weigh(pasted(driver__version="550.90.07"), Facts(), other_host=True)
    assert (weighed.whose, weighed.contradictions) == (Whose.HERE, ())
    assert weighed.facts == pasted(driver__version="550.90.07")


def test_what_was_given_wins_and_what_differs_is_kept() -> None:
    given = Facts({"driver.version": Fact("570.86.15", "snapshot")})
    weighed = weigh(pasted(driver__version="535.183.01"), Facts(), given)
    assert weighed.facts["driver.version"] == Fact("570.86.15", "snapshot")
    assert weighed.whose is Whose.GIVEN
    expected = Contradiction("driver.version", Fact("535.183.01", "pasted"), given["driver.version"])
    assert weighed.contradictions == (expected,)


def test_parts_of_the_kernel_log_are_put_together() -> None:
    old, new = {"xid": 79, "pci": "0000:01:00.0"}, {"xid": 31, "pci": "0000:02:00.0"}
    weighed = weigh(pasted(kernel__xids=[old]), live(kernel__xids=[new, old]))
    assert weighed.facts["kernel.xids"].value == [old, new]


def test_a_look_asks_for_what_tells_machines_apart() -> None:
    def wanted(**facts: Any) -> frozenset[str]:
        return Pastes((), pasted(**facts), frozenset()).names_to_compare

    assert wanted(host__memlock_bytes=1) == frozenset()
    assert wanted(torch__version="2.1.0") == {"torch.version"}
    assert {"gpus", "driver.version", "driver.error"} <= wanted(gpus=[])


def test_lines_are_those_of_the_source() -> None:
    nvcc = "$ nvcc -V\nCuda compilation tools, release 12.4, V12.4.131\n"
    pieces = (Piece(1, "starting\n"), Piece(5_001, f"{nvcc}done\n"))
    found = pasted_in((RawText("a.log", (Piece(1, "fine\n"),), 5, 1), RawText("b.log", pieces, 99, 6_000)))
    assert found is not None
    assert [(part.source, part.tool, part.first_line, part.last_line) for part in found.parts] == [
        ("b.log", "nvcc", 5_002, 5_002)
    ]
    assert found.hold("b.log", 5_002)
    assert not found.hold("a.log", 5_002)
    assert pasted_in((RawText("a.log", (Piece(1, "fine\n"),), 5, 1),)) is None
