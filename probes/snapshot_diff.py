"""What differs between two snapshots, fact by fact; what changes by itself is set apart. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from gpuhelp.probes.facts import Facts, FactValue

MOVING = frozenset(
    {
        "host.ram_available_bytes", "host.shm_free_bytes", "host.disk_free_bytes", "scheduler.job_id",
        "gpu.memory_used_bytes", "gpu.memory_free_bytes", "gpu.utilization_percent",
        "gpu.temperature_celsius", "gpu.memory_temperature_celsius", "gpu.power_watts",
        "gpu.pcie_generation", "gpu.processes", "gpu.mig_instances",
    }
)  # fmt: skip
"""Facts that differ from one minute to the next; an idle GPU lowers the speed of its link."""
IDLE_REASONS = frozenset({"gpu_idle", "sw_power_cap", "applications_clocks_setting", "display_clock_setting"})
"""Reasons for lowered clocks that come and go with the load."""
Gpu = Mapping[str, FactValue]


@dataclass(frozen=True, slots=True)
class Change:
    """One fact that differs. `name` as conditions spell it (`gpu.name`), `place` is the GPU's index.

    `knows_good` and `knows_bad`: whether that snapshot tells the fact at all; where one does not, its
    value is None. `moves`: it changes by itself.
    """

    name: str
    good: FactValue
    bad: FactValue
    knows_good: bool = True
    knows_bad: bool = True
    place: str = ""

    @property
    def moves(self) -> bool:
        """Whether it is one of those that change by themselves."""
        return self.name in MOVING


def differences(good: Facts, bad: Facts) -> tuple[Change, ...]:
    """All that differs, by name; of records what only one side has. GPUs go by UUID, else by index."""
    names = sorted((set(good) | set(bad)) - {"gpus"})
    return (*(each for name in names for each in _of_name(name, good, bad)), *_of_gpus(good, bad))


def _of_name(name: str, good: Facts, bad: Facts) -> Iterator[Change]:
    one, other = good.get(name), bad.get(name)
    before = None if one is None else one.value
    after = None if other is None else other.value
    if one is not None and other is not None:
        if before == after:
            return
        if _are_records(before) and _are_records(after):
            before, after = _only_in(before, after), _only_in(after, before)
            if not before and not after:
                return
    yield Change(name, before, after, one is not None, other is not None)


def _are_records(value: FactValue) -> bool:
    return isinstance(value, list) and all(isinstance(each, Mapping) for each in value)


def _only_in(one: FactValue, other: FactValue) -> list[FactValue]:
    others = other if isinstance(other, list) else []
    return [each for each in one if each not in others] if isinstance(one, list) else []


def _of_gpus(good: Facts, bad: Facts) -> Iterator[Change]:
    if ("gpus" in good) != ("gpus" in bad):
        yield from _of_name("gpus", good, bad)
        return
    one, other = _records(good), _records(bad)
    if {gpu.get("uuid") for gpu in one} & {gpu.get("uuid") for gpu in other} - {None}:
        before, after = _by_uuid(one, other), _by_uuid(other, one)
    else:  # two machines: their GPUs are compared in order
        before, after = _by_number(one), _by_number(other)
    for key in dict.fromkeys((*before, *after)):
        yield from _of_gpu(key, before.get(key), after.get(key))


def _of_gpu(key: str, good: Gpu | None, bad: Gpu | None) -> Iterator[Change]:
    place = str((good or bad or {}).get("index", key))
    if good is None or bad is None:
        yield Change("gpus", _called(good), _called(bad), good is not None, bad is not None, place)
        return
    broken = bool(good.get("error")) != bool(
        bad.get("error")
    )  # then it tells nothing else, which says nothing
    for field in ["error"] if broken else sorted((set(good) | set(bad)) - {"uuid", "index"}):
        before, after = good.get(field), bad.get(field)
        if field == "throttle_reasons":
            before, after = _lasting(before), _lasting(after)
        if before != after:
            known = (True, True) if broken else (field in good, field in bad)
            yield Change(f"gpu.{field}", before, after, *known, place)


def _called(gpu: Gpu | None) -> FactValue:
    return None if gpu is None else gpu.get("name") or gpu.get("error") or "GPU"


def _lasting(reasons: FactValue) -> FactValue:
    if not isinstance(reasons, list):
        return reasons
    return [reason for reason in reasons if reason not in IDLE_REASONS] or None


def _records(facts: Facts) -> list[Gpu]:
    gpus = facts["gpus"].value if "gpus" in facts else None
    return [gpu for gpu in gpus if isinstance(gpu, Mapping)] if isinstance(gpus, list) else []


def _by_uuid(gpus: Iterable[Gpu], others: Iterable[Gpu]) -> dict[str, Gpu]:
    """A GPU that does not answer tells no UUID: it is the one that has its index on the other side."""
    known = {gpu.get("index"): gpu.get("uuid") for gpu in others if gpu.get("uuid")}
    return {str(gpu.get("uuid") or known.get(gpu.get("index")) or gpu.get("index")): gpu for gpu in gpus}


def _by_number(gpus: Iterable[Gpu]) -> dict[str, Gpu]:
    return {str(number): gpu for number, gpu in enumerate(gpus)}
