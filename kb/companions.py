"""What has to go with a torch release. Pure look-ups in kb/tables/torch_companions.yaml."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpuhelp.kb.drivers import version_numbers


def companion_release(table: Mapping[str, Any], package: str, torch_version: str) -> str | None:
    """The release ("0.21") of torchvision or torchaudio that was built for this torch; None if not known."""
    release = _release(torch_version)
    found = table.get("companions", {}).get(package, {}).get(release)
    return None if found is None else str(found)


def fits_torch(
    table: Mapping[str, Any], package: str, package_version: str, torch_version: str
) -> bool | None:
    """Whether these versions were built for each other; None if the table knows one of them not."""
    wanted, release = companion_release(table, package, torch_version), _release(package_version)
    return None if wanted is None or release is None else wanted == release


def wheel_cxx11_abi(table: Mapping[str, Any], torch_version: str) -> bool | None:
    """Whether a pip wheel for Linux on x86-64 has the C++11 ABI.

    None for a version without the variant of a wheel ("2.4.1+cu121"): conda's have none, and differ.
    """
    rows, release = table.get("cxx11_abi", {}), _release(torch_version)
    _, plus, variant = torch_version.partition("+") if isinstance(torch_version, str) else ("", "", "")
    if not rows or release is None or not plus:
        return None
    if variant in rows.get("earlier", {}).get(release, ()):
        return True
    return version_numbers(release) >= version_numbers(rows["since"])  # type: ignore[operator]


def _release(version: str) -> str | None:
    """ "2.6" of "2.6.0+cu124"; None for what is no version."""
    numbers = version_numbers(version)
    return ".".join(map(str, numbers[:2])) if numbers and len(numbers) > 1 else None
