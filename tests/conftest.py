"""Fixtures that tests of more than one folder use."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

FAKE_NVML = Path(__file__).parent / "probes" / "fake_nvml"
FakeNvml = Callable[..., "dict[str, str]"]


@pytest.fixture(scope="session")
def fake_nvml_library(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Folders with a made-up libnvidia-ml.so.1, each built once; `old` leaves newer functions out of it."""
    if sys.platform != "linux":
        pytest.skip("the fake NVML library is built for Linux")
    compiler = os.environ.get("CC") or next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
    if compiler is None:
        pytest.skip("there is no C compiler to build the fake NVML library with")
    built: dict[bool, Path] = {}

    def library(*, old: bool = False) -> Path:
        if old not in built:
            folder = tmp_path_factory.mktemp("nvml-old" if old else "nvml")
            defines = ["-DOLD_DRIVER"] if old else []
            target = ["-shared", "-fPIC", "-o", str(folder / "libnvidia-ml.so.1"), str(FAKE_NVML / "nvml.c")]
            subprocess.run([*compiler.split(), *defines, *target], check=True, timeout=120)
            built[old] = folder
        return built[old]

    return library


@pytest.fixture
def fake_nvml(fake_nvml_library: Callable[..., Path], tmp_path: Path) -> FakeNvml:
    """`fake_nvml(scenario, old=False)`: environment variables under which NVML tells that scenario.

    A scenario is the name of a file in probes/fake_nvml/scenarios, or the text of one (a text has line ends).
    "no-driver" is a machine without the library.
    """

    def environment(scenario: str, *, old: bool = False) -> dict[str, str]:
        if scenario == "no-driver":
            # An empty file cannot be loaded, and it hides a library that this machine may have.
            (tmp_path / "libnvidia-ml.so.1").touch()
            return {"LD_LIBRARY_PATH": str(tmp_path)}
        path = FAKE_NVML / "scenarios" / f"{scenario}.txt"
        if "\n" in scenario:
            path = tmp_path / "scenario.txt"
            path.write_text(scenario, encoding="utf-8")
        assert path.is_file(), f"there is no scenario {scenario!r}"
        return {"LD_LIBRARY_PATH": str(fake_nvml_library(old=old)), "FAKE_NVML_SCENARIO": str(path)}

    return environment
