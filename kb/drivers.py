"""Which NVIDIA driver runs which CUDA runtime. Pure look-ups in kb/tables/cuda_drivers.yaml.

Three versions: the driver version (550.54.15), the CUDA driver API version that it reports (12.4, shown by
nvidia-smi), and the CUDA runtime version that a program was built with (torch.version.cuda).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_NUMBERS = re.compile(r"\d{1,6}(?:\.\d{1,6}){0,4}(?!\d)", re.A)


def version_numbers(text: str) -> tuple[int, ...] | None:
    """(2, 6, 0) of "2.6.0+cu124"; None if the text does not begin with a version."""
    found = _NUMBERS.match(text.strip()) if isinstance(text, str) else None
    return tuple(int(part) for part in found[0].split(".")) if found else None


def driver_runs(
    drivers: Mapping[str, Any], cuda_driver_api_version: str, cuda_runtime_version: str
) -> bool | None:
    """Whether a driver of this CUDA driver API version runs programs built with this CUDA runtime.

    A newer driver runs every older runtime; within one major from 11 on, any driver runs any runtime
    (minor-version compatibility; PTX and new features of the newer one aside). None if either is no version.
    """
    api, runtime = version_numbers(cuda_driver_api_version), version_numbers(cuda_runtime_version)
    if api is None or runtime is None:
        return None
    if api[0] == runtime[0] and _major_row(drivers, runtime[0]):
        return True
    return _minor(api) >= _minor(runtime)


def minimum_driver(drivers: Mapping[str, Any], cuda_runtime_version: str, os_platform: str) -> str | None:
    """The oldest driver version that runs this CUDA runtime on "linux" or "windows"; None if not known.

    From CUDA 11 on the first driver of that major; before, the driver listed with the release itself.
    """
    runtime = version_numbers(cuda_runtime_version)
    if runtime is None:
        return None
    row = _major_row(drivers, runtime[0]) or _runtime_row(drivers, runtime)
    return row.get(os_platform) if row else None


def full_features_driver(
    drivers: Mapping[str, Any], cuda_runtime_version: str, os_platform: str
) -> str | None:
    """The driver version listed with this CUDA runtime: its PTX and new features work from there."""
    runtime = version_numbers(cuda_runtime_version)
    row = _runtime_row(drivers, runtime) if runtime else None
    return row.get(os_platform) if row else None


def cuda_api_of_driver(drivers: Mapping[str, Any], driver_version: str) -> str | None:
    """The CUDA driver API version, "12.4", that this driver version reports; None if not known."""
    numbers = version_numbers(driver_version)
    if numbers is None:
        return None
    below = [row for row in drivers.get("branches", ()) if row["branch"] <= numbers[0]]
    return max(below, key=lambda row: row["branch"]).get("cuda_driver_api") if below else None


def _minor(version: tuple[int, ...]) -> tuple[int, int]:
    return version[0], version[1] if len(version) > 1 else 0


def _major_row(drivers: Mapping[str, Any], major: int) -> Mapping[str, Any] | None:
    return next((row for row in drivers.get("majors", ()) if row["major"] == major), None)


def _runtime_row(drivers: Mapping[str, Any], runtime: tuple[int, ...]) -> Mapping[str, Any] | None:
    wanted = "{}.{}".format(*_minor(runtime))
    return next((row for row in drivers.get("runtimes", ()) if row["cuda"] == wanted), None)
