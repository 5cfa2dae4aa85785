"""What follows from several facts together, for the conditions of kb/tables/checks.yaml. Pure.

`shadowing_libraries`  paths of CUDA libraries that come before those of the environment's wheels
`devices_beyond`       numbers in CUDA_VISIBLE_DEVICES that no GPU has
`first_device_beyond`  whether the first of all is one: then a program sees no GPU, else it sees fewer
`infiniband_interfaces` network interfaces of InfiniBand cards, by their names

A name that cannot be told is left out: it is not known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gpuhelp.probes.facts import Facts

NEEDED: Mapping[str, tuple[str, ...]] = {
    "shadowing_libraries": ("libraries.loaded", "python.prefix", "packages.nvidia_*"),
    "devices_beyond": ("env.CUDA_VISIBLE_DEVICES", "gpus"),
    "first_device_beyond": ("env.CUDA_VISIBLE_DEVICES", "gpus"),
    "infiniband_interfaces": ("host.network_interfaces",),
}
"""The facts that each is made of."""


def derived(facts: Facts) -> dict[str, Any]:
    """The values that can be told, by name."""
    return {**_shadowing(facts), **_beyond(facts), **_infiniband(facts)}


def _shadowing(facts: Facts) -> dict[str, Any]:
    loaded = facts.get("libraries.loaded")
    if loaded is None or not isinstance(loaded.value, (list, tuple)):
        return {}
    prefix = facts.get("python.prefix")
    inside = f"{prefix.value}/" if prefix is not None and prefix.value else None
    wheels = tuple(_wheels(facts))
    records = [record for record in loaded.value if isinstance(record, Mapping)]
    foreign = [record for record in records if _is_foreign(record.get("path"), inside)]
    return {"shadowing_libraries": [record["path"] for record in foreign if _has(wheels, record)]}


def _wheels(facts: Facts) -> Iterator[str]:
    """`cudnn_cu12` of the package nvidia-cudnn-cu12 that is installed."""
    for name, fact in facts.items():
        if name.startswith("packages.nvidia_") and fact.value is not None:
            yield name.removeprefix("packages.nvidia_")


def _is_foreign(path: object, inside: str | None) -> bool:
    if not isinstance(path, str) or "-packages/" in path:
        return False
    return inside is None or not path.startswith(inside)


def _has(wheels: tuple[str, ...], record: Mapping[str, object]) -> bool:
    """Whether one of the wheels brings that library: libcudnn_ops.so.9 is of nvidia-cudnn-cu12."""
    stem = str(record.get("soname", "")).removeprefix("lib").partition(".so")[0].lower()
    stem = stem.partition("_")[0].removesuffix("lt")
    return bool(stem) and any(wheel == stem or wheel.startswith(f"{stem}_cu") for wheel in wheels)


def _beyond(facts: Facts) -> dict[str, Any]:
    """Numbers only: a UUID names its GPU by itself, and what follows a word CUDA does not read."""
    visible, gpus = facts.get("env.CUDA_VISIBLE_DEVICES"), facts.get("gpus")
    if visible is None or gpus is None or not isinstance(gpus.value, (list, tuple)) or not gpus.value:
        return {}
    listed = [part.strip() for part in str(visible.value or "").split(",")]
    numbers = [int(part) for part in listed if part.isascii() and part.isdecimal()]
    beyond = [number for number in numbers if number >= len(gpus.value)]
    return {"devices_beyond": beyond, "first_device_beyond": bool(beyond) and listed[0] == str(beyond[0])}


def _infiniband(facts: Facts) -> dict[str, Any]:
    """Linux calls them ib0, ibs3, ibp12s0: only InfiniBand's names begin so (udev's net_id names them)."""
    interfaces = facts.get("host.network_interfaces")
    if interfaces is None or not isinstance(interfaces.value, (list, tuple)):
        return {}
    return {"infiniband_interfaces": [name for name in interfaces.value if str(name).startswith("ib")]}
