"""Two snapshots compared: what changed, on which GPU, and what changes by itself."""

from __future__ import annotations

import pytest

from gpuhelp.probes.facts import Facts, FactValue
from gpuhelp.probes.names import is_fact_name
from gpuhelp.probes.snapshot_diff import MOVING, Change, differences


def facts(**values: FactValue) -> Facts:
    return Facts.of({name.replace("__", "."): value for name, value in values.items()}, "snapshot")


def gpu(index: int, **more: FactValue) -> dict[str, FactValue]:
    return {"index": index, "uuid": f"GPU-{index}", "name": "NVIDIA L4", **more}


def test_the_same_facts_do_not_differ() -> None:
    one = facts(driver__version="550.54", gpus=[gpu(0)], torch__hip_version=None)
    assert differences(one, one) == ()


def test_a_changed_fact_has_both_values() -> None:
    (change,) = differences(facts(driver__version="550.54"), facts(driver__version="535.1"))
    assert change == Change("driver.version", "550.54", "535.1")
    assert not change.moves


def test_a_fact_that_only_one_knows_is_told_from_one_that_is_none() -> None:
    (gone,) = differences(facts(driver__version="550.54"), facts())
    (none,) = differences(facts(driver__version="550.54"), facts(driver__version=None))
    assert (gone.knows_good, gone.knows_bad) == (True, False)
    assert (none.knows_good, none.knows_bad, none.bad) == (True, True, None)


def test_of_records_what_was_added_or_is_gone_is_told() -> None:
    old, new = {"xid": 13, "pci": "0000:01:00"}, {"xid": 79, "pci": "0000:01:00"}
    (change,) = differences(facts(kernel__xids=[old]), facts(kernel__xids=[old, new]))
    assert (change.good, change.bad) == ([], [new])


def test_records_in_another_order_do_not_differ() -> None:
    one, other = {"path": "/dev/nvidia0"}, {"path": "/dev/nvidiactl"}
    assert differences(facts(host__device_nodes=[one, other]), facts(host__device_nodes=[other, one])) == ()


def test_fields_of_gpus_are_compared_one_by_one() -> None:
    good = facts(gpus=[gpu(0, ecc_uncorrected=0), gpu(1, ecc_uncorrected=0)])
    bad = facts(gpus=[gpu(0, ecc_uncorrected=0), gpu(1, ecc_uncorrected=2)])
    assert differences(good, bad) == (Change("gpu.ecc_uncorrected", 0, 2, place="1"),)


def test_gpus_are_matched_by_uuid_when_their_order_changed() -> None:
    first, second = {**gpu(0), "uuid": "GPU-b"}, {**gpu(1), "uuid": "GPU-a"}
    good = facts(gpus=[{**gpu(0), "uuid": "GPU-a"}, {**gpu(1), "uuid": "GPU-b"}])
    assert differences(good, facts(gpus=[first, second])) == ()


def test_gpus_of_two_machines_are_compared_in_order() -> None:
    good, bad = facts(gpus=[gpu(0)]), facts(gpus=[{**gpu(0), "uuid": "GPU-z", "name": "NVIDIA T4"}])
    assert differences(good, bad) == (Change("gpu.name", "NVIDIA L4", "NVIDIA T4", place="0"),)


def test_a_gpu_that_was_lost_is_one_change() -> None:
    good = facts(gpus=[gpu(0), gpu(1, temperature_celsius=40)])
    bad = facts(gpus=[gpu(0), {"index": 1, "error": "GPU is lost"}])
    assert differences(good, bad) == (Change("gpu.error", None, "GPU is lost", place="1"),)


def test_a_gpu_that_is_gone_is_named() -> None:
    (change,) = differences(facts(gpus=[gpu(0), gpu(1)]), facts(gpus=[gpu(0)]))
    assert (change.name, change.good, change.knows_bad, change.place) == ("gpus", "NVIDIA L4", False, "1")


def test_what_changes_by_itself_is_set_apart() -> None:
    good = facts(
        host__ram_available_bytes=1, gpus=[gpu(0, temperature_celsius=40, throttle_reasons=["gpu_idle"])]
    )
    bad = facts(
        host__ram_available_bytes=2, gpus=[gpu(0, temperature_celsius=70, throttle_reasons=["sw_power_cap"])]
    )
    changes = differences(good, bad)
    assert {change.name for change in changes} == {"host.ram_available_bytes", "gpu.temperature_celsius"}
    assert all(change.moves for change in changes)


def test_a_reason_for_lowered_clocks_that_is_trouble_counts() -> None:
    good = facts(gpus=[gpu(0, throttle_reasons=["gpu_idle"])])
    bad = facts(gpus=[gpu(0, throttle_reasons=["sw_power_cap", "hw_thermal_slowdown"])])
    assert differences(good, bad) == (
        Change("gpu.throttle_reasons", None, ["hw_thermal_slowdown"], place="0"),
    )


@pytest.mark.parametrize("name", sorted(MOVING))
def test_what_moves_is_a_name_of_the_contract(name: str) -> None:
    assert is_fact_name(name)


@pytest.mark.parametrize("odd", ["none", 3, [None, "x"], {"a": 1}])
def test_odd_gpus_break_nothing(odd: FactValue) -> None:
    assert differences(facts(gpus=odd), facts(gpus=odd)) == ()
