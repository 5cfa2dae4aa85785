"""Our facts of a real GPU, field by field, against what nvidia-smi says. Skipped where there is none."""

from __future__ import annotations

import csv
import shutil
import subprocess
from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest

from gpuhelp.probes.machine import Machine
from gpuhelp.probes.runner import observe

LIMIT_S = 60
MIB = 1 << 20
Reading = Callable[[str], object]


def _queried(*fields: str) -> list[dict[str, str]]:
    """One mapping a GPU, as nvidia-smi prints it; skips the tests where it answers nothing."""
    program = shutil.which("nvidia-smi")
    if program is None:
        pytest.skip("no GPU to compare with: nvidia-smi is not here")
    command = [program, f"--query-gpu={','.join(fields)}", "--format=csv,noheader,nounits"]
    asked = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    if asked.returncode:
        pytest.skip(f"no GPU to compare with: nvidia-smi ended with {asked.returncode}")
    rows = csv.reader(StringIO(asked.stdout), skipinitialspace=True)
    return [dict(zip(fields, (cell.strip() for cell in row), strict=True)) for row in rows if row]


@pytest.fixture(scope="module")
def gpus() -> list[dict[str, Any]]:
    """The GPUs as our probes tell them."""
    _queried("index")
    fact = observe(["gpus"], Machine.here()).facts.get("gpus")
    assert fact is not None, "nvidia-smi answers, and our probes tell no GPU"
    found: list[dict[str, Any]] = fact.value  # type: ignore[assignment]
    return found


def _switch(cell: str) -> bool:
    return cell == "Enabled"


FIXED: list[tuple[str, str, Reading]] = [
    ("index", "index", int),
    ("uuid", "uuid", str),
    ("name", "name", str),
    ("compute_cap", "compute_capability", str),
    ("memory.total", "memory_total_bytes", lambda cell: int(cell) * MIB),
    ("pcie.link.gen.max", "pcie_generation_max", int),
    ("pcie.link.width.max", "pcie_width_max", int),
    ("persistence_mode", "persistence_mode", _switch),
    ("mig.mode.current", "mig_mode", _switch),
    ("power.limit", "power_limit_watts", float),
    ("ecc.errors.uncorrected.volatile.total", "ecc_uncorrected", int),
    ("ecc.errors.uncorrected.aggregate.total", "ecc_uncorrected_aggregate", int),
]
"""What does not change between two looks, by nvidia-smi's name and by ours."""

MOVING: list[tuple[str, str, float]] = [
    ("temperature.gpu", "temperature_celsius", 10.0),
    ("power.draw", "power_watts", 150.0),
    ("memory.used", "memory_used_bytes", 2048.0 * MIB),
]
"""What may differ a little between two looks, and how much at most, in our unit."""


def _told(cell: str) -> bool:
    return not cell.startswith("[") and cell.lower() not in ("n/a", "")


@pytest.mark.parametrize(("theirs", "ours", "reading"), FIXED, ids=[row[1] for row in FIXED])
def test_what_stands_still_is_equal(
    gpus: list[dict[str, Any]], theirs: str, ours: str, reading: Reading
) -> None:
    told = _queried(theirs)
    assert len(told) == len(gpus)
    for row, gpu in zip(told, gpus, strict=True):
        if _told(row[theirs]):
            assert gpu[ours] == pytest.approx(reading(row[theirs]), rel=0.001)
        else:
            assert gpu.get(ours) is None


@pytest.mark.parametrize(("theirs", "ours", "most"), MOVING, ids=[row[1] for row in MOVING])
def test_what_moves_is_near(gpus: list[dict[str, Any]], theirs: str, ours: str, most: float) -> None:
    unit = MIB if ours.endswith("_bytes") else 1
    for row, gpu in zip(_queried(theirs), gpus, strict=True):
        if _told(row[theirs]):
            assert abs(gpu[ours] - float(row[theirs]) * unit) <= most


def test_the_driver_version_is_equal() -> None:
    told = _queried("driver_version")
    fact = observe(["driver.version"], Machine.here()).facts["driver.version"]
    assert fact.value == told[0]["driver_version"]
