"""What PyTorch's wheels hold and which index fits a machine. Pure look-ups in kb/tables/torch_wheels.yaml."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gpuhelp.kb.architectures import Architecture, arch_runs_on, parse_architecture
from gpuhelp.kb.drivers import driver_runs, version_numbers

_RELEASE = re.compile(
    r"(?P<release>\d{1,3}\.\d{1,3}\.\d{1,3})(?:\+(?P<variant>cpu|cu\d+|rocm[\d.]*\d)(?:[._].*)?)?", re.ASCII
)
_PLATFORMS = {
    None: "linux_x86_64",
    "linux": "linux_x86_64",
    "windows": "windows_x86_64",
    "linux_x86_64": "linux_x86_64",
    "linux_aarch64": "linux_aarch64",
    "windows_x86_64": "windows_x86_64",
}


@dataclass(frozen=True, slots=True)
class _Offer:
    """What pip takes from the index of one variant: the newest series with wheels for this Python."""

    variant: str
    runtime: str
    series: str
    row: Mapping[str, Any]
    cell: Mapping[str, Any]


def wheel_archs(
    wheels: Mapping[str, Any], torch_version: str, *, platform: str | None = None
) -> tuple[str, ...] | None:
    """The architectures (sm_XX, or gfx names) whose machine code a released wheel holds; () for a CPU wheel.

    torch_version: "2.6.0+cu124", or "2.6.0" for the wheel that PyPI serves. platform: "linux" (default),
    "windows" or "linux_aarch64". None for nightlies, builds from source, and what the table does not know.
    """
    found = _RELEASE.fullmatch(torch_version.strip()) if isinstance(torch_version, str) else None
    key = _PLATFORMS.get(platform)
    row = _series_with(wheels, found["release"]) if found else None
    if found is None or row is None or key is None:
        return None
    variant = found["variant"] or row["pypi"].get(key)
    if variant == "cpu":
        return ()
    if str(variant).startswith("rocm"):
        targets = row.get("rocm", {}).get(variant)
        return tuple(targets) if targets else None
    cell = row["variants"].get(variant, {}).get(key)
    return _archs(wheels, cell) if cell else None


def torch_index(
    wheels: Mapping[str, Any],
    capabilities: Mapping[str, Any],
    drivers: Mapping[str, Any],
    sm: str,
    cuda_driver_api_version: str,
    *,
    python_version: str | None = None,
    platform: str | None = None,
) -> str | None:
    """URL of the index whose newest PyTorch holds machine code for this GPU and runs on this driver, or None.

    Newest PyTorch first; of one release a CUDA runtime that the driver covers fully, PyPI's own choice before
    others; else the lowest that minor-version compatibility allows. capabilities: block of the GPU table.
    """
    device = parse_architecture(sm)
    if device is None or version_numbers(cuda_driver_api_version) is None:
        return None
    fitting = [
        offer
        for offer in _offers(wheels, _PLATFORMS.get(platform), python_version)
        if _advised(wheels, offer, device)
        and arch_runs_on(capabilities, device.sm, _archs(wheels, offer.cell))
        and driver_runs(drivers, cuda_driver_api_version, offer.runtime)
    ]
    best = max(fitting, key=lambda offer: _rank(offer, cuda_driver_api_version), default=None)
    return f"{wheels['index']}{best.variant}" if best else None


def _offers(wheels: Mapping[str, Any], platform: str | None, python_version: str | None) -> Iterator[_Offer]:
    newest_first = sorted(wheels.get("series", {}), key=_numbers, reverse=True)
    for variant, runtime in wheels.get("runtimes", {}).items():
        for series in newest_first:
            row = wheels["series"][series]
            cell = row["variants"].get(variant, {}).get(platform)
            if cell and _has_python(row, python_version):
                yield _Offer(variant, runtime, series, row, cell)
                break


def _advised(wheels: Mapping[str, Any], offer: _Offer, device: Architecture) -> bool:
    """Not too old, in PyTorch's own release matrix, and bundled libraries that run on the device."""
    listed = offer.row["variants"][offer.variant].get("listed", True)
    recent = _numbers(offer.series) >= _numbers(wheels["advise_from"])
    floors = [
        floor["compute_capability"]
        for floor in wheels.get("library_floor", ())
        if _numbers(offer.series) >= _numbers(floor["from"])
    ]
    able = all((device.major, device.minor) >= _numbers(floor) for floor in floors)
    return bool(listed) and offer.cell.get("sure") != "low" and recent and able


def _rank(offer: _Offer, cuda_driver_api_version: str) -> tuple[object, ...]:
    runtime = _numbers(offer.runtime)
    covered = runtime <= _numbers(cuda_driver_api_version)[:2]
    default = covered and offer.row["pypi"].get("linux_x86_64") == offer.variant
    nearest = runtime if covered else tuple(-part for part in runtime)
    return _numbers(offer.series), covered, default, nearest


def _has_python(row: Mapping[str, Any], python_version: str | None) -> bool:
    if python_version is None:
        return True
    wanted, known = version_numbers(python_version), row.get("python")
    if wanted is None or not known:
        return False
    return _numbers(known[0]) <= wanted[:2] <= _numbers(known[1])


def _series_with(wheels: Mapping[str, Any], release: str) -> Mapping[str, Any] | None:
    row: Mapping[str, Any] | None = wheels.get("series", {}).get(release.rpartition(".")[0])
    return row if row and release in row["releases"] else None


def _archs(wheels: Mapping[str, Any], cell: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(wheels["arch_sets"][cell["sm"]])


def _numbers(version: str) -> tuple[int, ...]:
    return version_numbers(version) or ()
