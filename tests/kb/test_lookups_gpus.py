"""Drivers and GPUs are known by the names and numbers that programs print."""

from __future__ import annotations

import pytest

from gpuhelp.kb.lookups import Tables

# drivers


@pytest.mark.parametrize(
    ("runtime", "platform", "driver"),
    [
        ("12.4", "linux", "525.60.13"),
        ("12.8", "windows", "528.33"),
        ("11.8", "linux", "450.80.02"),
        ("11.8", "windows", "452.39"),
        ("13.0", "linux", "580.65.06"),
        ("13.2.86", "linux", "580.65.06"),
        ("10.2", "linux", "440.33"),  # no minor-version compatibility before 11
        ("10.1", "windows", "418.96"),
        ("9.0", "linux", "384.81"),
        ("14.0", "linux", None),
        ("12.4", "darwin", None),
        ("newest", "linux", None),
    ],
)
def test_a_runtime_needs_this_driver(tables: Tables, runtime: str, platform: str, driver: str | None) -> None:
    assert tables.minimum_driver(runtime, platform) == driver


def test_ptx_of_a_release_needs_the_driver_listed_with_it(tables: Tables) -> None:
    assert tables.full_features_driver("12.4", "linux") == "550.54.14"
    assert tables.full_features_driver("12.8", "linux") == "570.26"
    assert tables.full_features_driver("13.5", "linux") is None


@pytest.mark.parametrize(
    ("driver", "api"),
    [
        ("550.90.07", "12.4"),
        ("535.183.01", "12.2"),
        ("470.256.02", "11.4"),
        ("525.60.13", "12.0"),
        ("565.57.01", "12.7"),
        ("570.172.08", "12.8"),
        ("580.126.09", "13.0"),
        ("390.157", "9.1"),
        ("526.98", "12.0"),  # Windows numbers
        ("532.09", "12.1"),
        ("512.95", "11.6"),
        ("561.09", "12.6"),
        ("591.74", "13.1"),
        ("620.10", None),  # not established
        ("999.1", None),
        ("304.137", None),
        ("N/A", None),
    ],
)
def test_a_driver_reports_this_cuda_driver_api_version(tables: Tables, driver: str, api: str | None) -> None:
    assert tables.cuda_api_of_driver(driver) == api


@pytest.mark.parametrize(
    ("api", "runtime", "runs"),
    [
        ("12.4", "12.9", True),
        ("12.4", "13.0", False),
        ("12.4", "11.8", True),
        ("13.0", "13.4", True),
        ("11.4", "12.1", False),
        ("10.1", "10.2", False),
        ("10.2", "10.1", True),
        ("", "12.1", None),
    ],
)
def test_a_driver_runs_its_own_major_and_everything_older(
    tables: Tables, api: str, runtime: str, runs: bool | None
) -> None:
    assert tables.driver_runs(api, runtime) is runs


# GPU names


@pytest.mark.parametrize(
    ("name", "capability"),
    [
        ("NVIDIA GeForce RTX 5090", "12.0"),
        ("NVIDIA GeForce RTX 4090 Laptop GPU", "8.9"),
        ("NVIDIA GeForce RTX 2050", "8.6"),  # Ampere despite the number
        ("GeForce GTX 1080 Ti", "6.1"),
        ("Tesla T4", "7.5"),
        ("Tesla K80", "3.7"),
        ("Tesla P100-PCIE-16GB", "6.0"),
        ("NVIDIA A100-SXM4-80GB MIG 3g.40gb", "8.0"),
        ("NVIDIA H100 80GB HBM3", "9.0"),
        ("NVIDIA GB10", "12.1"),
        ("NVIDIA B300 SXM6 AC", "10.3"),
        ("Quadro RTX 6000", "7.5"),
        ("NVIDIA RTX A6000", "8.6"),
        ("NVIDIA RTX 6000 Ada Generation", "8.9"),
        ("NVIDIA RTX PRO 6000 Blackwell Server Edition", "12.0"),
        ("GRID T4-8Q", "7.5"),
        ("NVIDIA A10-24Q", "8.6"),
        ("nvidia  a100", "8.0"),
        ("V100", "7.0"),
        ("3080ti", "8.6"),
        ("RTX 6000", None),  # three generations carry this name
        ("NVIDIA GeForce GT 730", None),  # sold with two chips
        ("AMD Radeon RX 7900 XTX", None),
        ("Graphics Device", None),
        ("", None),
        ("RTX 3090" + " " * 200 + "x", None),
    ],
)
def test_a_name_tells_the_compute_capability(tables: Tables, name: str, capability: str | None) -> None:
    assert tables.compute_capability_of(name) == capability


def test_a_model_tells_memory_and_precisions(tables: Tables) -> None:
    model = tables.gpu_model("NVIDIA GeForce RTX 3060")
    assert model is not None
    assert model.memory_bytes == (8 * 2**30, 12 * 2**30)
    assert (model.architecture, model.bf16, model.fp8) == ("Ampere", True, False)
    older = tables.gpu_model("Tesla V100-PCIE-16GB")
    assert older is not None
    assert (older.bf16, older.last_driver_branch) == (False, "580")


@pytest.mark.parametrize(
    ("name", "gfx"),
    [
        ("AMD Radeon RX 7900 XTX", "gfx1100"),
        ("Radeon RX 6800 XT", "gfx1030"),
        ("AMD Instinct MI300X", "gfx942"),
        ("AMD Instinct MI250X / MI250", "gfx90a"),
        ("AMD Radeon(TM) 8060S Graphics", "gfx1151"),
        ("NVIDIA A100", None),
        ("", None),
    ],
)
def test_an_amd_name_tells_the_gfx_target(tables: Tables, name: str, gfx: str | None) -> None:
    assert tables.gfx_of(name) == gfx
