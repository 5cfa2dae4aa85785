"""Which PyTorch index fits, what a wheel holds, and where its code runs."""

from __future__ import annotations

import pytest

from gpuhelp.kb.lookups import Tables

INDEX = "https://download.pytorch.org/whl/"
APIS = ("11.0", "11.4", "11.8", "12.0", "12.2", "12.4", "12.6", "12.8", "12.9", "13.0", "13.2", "13.4")


# which PyTorch index fits


@pytest.mark.parametrize(
    ("gpu", "api", "variant"),
    [
        ("NVIDIA GeForce RTX 5090", "12.8", "cu128"),
        ("NVIDIA GeForce RTX 5090", "12.9", "cu128"),  # cu129 is not in the release matrix
        ("NVIDIA GeForce RTX 5090", "13.0", "cu130"),
        ("NVIDIA GeForce RTX 5090", "13.2", "cu132"),
        ("NVIDIA B200", "12.8", "cu128"),
        ("NVIDIA B300", "13.0", "cu130"),  # sm_103 runs sm_100 code
        ("GeForce GTX 1080 Ti", "12.2", "cu126"),  # sm_61 runs sm_60 code
        ("GeForce GTX 1080 Ti", "11.4", "cu118"),
        ("NVIDIA GeForce GTX 1080 Ti", "13.0", "cu126"),  # no cu13x wheel holds Pascal
        ("NVIDIA GeForce GTX 980", "12.2", "cu126"),
        ("Tesla V100-SXM2-32GB", "12.8", "cu126"),  # 2.11 took Volta out of cu128
        ("Tesla T4", "12.4", "cu126"),  # minor-version compatibility: 12.4 runs 12.6
        ("Tesla T4", "12.0", "cu126"),
        ("NVIDIA H100 80GB HBM3", "12.2", "cu126"),
        ("NVIDIA H100 80GB HBM3", "13.0", "cu130"),
        ("NVIDIA GeForce RTX 4090", "12.4", "cu126"),  # sm_89 runs sm_86 code
        ("NVIDIA GeForce RTX 3060", "11.7", "cu118"),
    ],
)
def test_the_index_fits_gpu_and_driver(tables: Tables, gpu: str, api: str, variant: str) -> None:
    capability = tables.compute_capability_of(gpu)
    assert capability is not None
    sm = f"sm_{capability.replace('.', '')}"
    assert tables.torch_index(sm, api) == INDEX + variant
    assert tables.torch_index(capability, api) == INDEX + variant


@pytest.mark.parametrize(
    ("sm", "api"),
    [
        ("sm_37", "11.4"),  # K80: cu118 lists it, its cuDNN 9 does not run there
        ("sm_35", "11.4"),
        ("sm_30", "10.2"),
        ("sm_75", "10.2"),  # only wheels older than what is advised
        ("sm_120", "11.8"),
        ("sm_72", "12.2"),  # Jetson
        ("sm_87", "12.6"),
        ("sm_110", "13.0"),
        ("gfx1100", "12.4"),
        ("sm_86", "unknown"),
        ("a fast one", "12.4"),
        ("", ""),
    ],
)
def test_no_index_is_better_than_a_wrong_one(tables: Tables, sm: str, api: str) -> None:
    assert tables.torch_index(sm, api) is None


@pytest.mark.parametrize(
    ("sm", "api", "python", "platform", "variant"),
    [
        ("sm_86", "12.2", "3.8", None, "cu121"),  # 2.4 is the last for Python 3.8
        ("sm_86", "12.2", "3.9.18", None, "cu126"),
        ("sm_86", "12.2", "3.10", "linux", "cu126"),
        ("sm_70", "12.8", "3.9", None, "cu128"),  # 2.8 still has Volta in cu128
        ("sm_120", "12.8", "3.13", "windows", "cu128"),
        ("sm_61", "12.8", None, "windows", "cu126"),
        ("sm_90", "12.4", None, "linux_aarch64", "cu126"),  # Grace Hopper
        ("sm_121", "13.0", None, "linux_aarch64", "cu130"),  # GB10
        ("sm_110", "13.0", None, "linux_aarch64", "cu130"),  # Thor is listed there by name
    ],
)
def test_the_index_respects_python_and_platform(
    tables: Tables, sm: str, api: str, python: str | None, platform: str | None, variant: str
) -> None:
    assert tables.torch_index(sm, api, python_version=python, platform=platform) == INDEX + variant


@pytest.mark.parametrize(
    ("python", "platform"), [("2.7", None), ("3.7", None), ("4.0", None), (None, "darwin")]
)
def test_there_is_no_index_for_a_python_or_platform_without_wheels(
    tables: Tables, python: str | None, platform: str | None
) -> None:
    assert tables.torch_index("sm_86", "12.4", python_version=python, platform=platform) is None


def test_an_advised_index_always_runs_on_the_driver_and_the_gpu(tables: Tables) -> None:
    for capability in tables.gpus["capabilities"]:
        for api in APIS:
            url = tables.torch_index(capability, api)
            if url is None:
                continue
            variant = url.removeprefix(INDEX)
            assert tables.driver_runs(api, tables.torch_wheels["runtimes"][variant])
            newest = next(
                row["variants"][variant]
                for row in tables.torch_wheels["series"].values()
                if variant in row["variants"]
            )
            archs = tables.torch_wheels["arch_sets"][newest["linux_x86_64"]["sm"]]
            assert tables.arch_runs_on(capability, archs), f"{capability} {api}"


def test_a_newer_driver_never_loses_the_index(tables: Tables) -> None:
    for capability in tables.gpus["capabilities"]:
        found = [tables.torch_index(capability, api) is not None for api in APIS]
        assert found == sorted(found), capability


# what a wheel holds


@pytest.mark.parametrize(
    ("version", "archs"),
    [
        ("2.6.0+cu124", "sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 sm_90"),
        ("2.6.0", "sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 sm_90"),
        ("2.7.1+cu128", "sm_75 sm_80 sm_86 sm_90 sm_100 sm_120"),
        ("2.7.1", "sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 sm_90"),  # PyPI served cu126
        ("2.8.0", "sm_70 sm_75 sm_80 sm_86 sm_90 sm_100 sm_120"),  # PyPI served cu128
        ("2.10.0+cu128", "sm_70 sm_75 sm_80 sm_86 sm_90 sm_100 sm_120"),
        ("2.11.0+cu128", "sm_75 sm_80 sm_86 sm_90 sm_100 sm_120"),
        ("2.14.1", "sm_75 sm_80 sm_86 sm_90 sm_100 sm_120"),  # PyPI served cu130
        ("1.13.1+cu117.with.pypi.cudnn", "sm_37 sm_50 sm_60 sm_70 sm_75 sm_80 sm_86"),
        ("1.12.1", "sm_37 sm_50 sm_60 sm_70"),
        ("2.3.0+rocm6.0", "gfx900 gfx906 gfx908 gfx90a gfx1030 gfx1100 gfx942"),
        ("2.5.1+cpu", ""),
        ("2.0.1+cpu.cxx11.abi", ""),
    ],
)
def test_a_released_wheel_holds_these_architectures(tables: Tables, version: str, archs: str) -> None:
    assert tables.wheel_archs(version) == tuple(archs.split())


@pytest.mark.parametrize(
    "version",
    [
        "2.7.0.dev20250310+cu128",
        "2.6.0a0+ecf3bae40a.nv25.01",
        "2.6.9",
        "3.0.0",
        "2.6.0+git1a2b3c",
        "2.5.1+cu130",
        "",
    ],
)
def test_a_build_that_was_never_released_is_not_guessed(tables: Tables, version: str) -> None:
    assert tables.wheel_archs(version) is None


def test_windows_wheels_differ_from_linux_ones(tables: Tables) -> None:
    windows = tables.wheel_archs("2.6.0+cu124", platform="windows")
    assert windows is not None
    assert "sm_61" in windows
    assert tables.wheel_archs("2.6.0", platform="windows") == ()  # PyPI has CPU wheels for Windows
    assert tables.wheel_archs("2.6.0", platform="darwin") is None


# which code runs where


@pytest.mark.parametrize(
    ("sm", "archs", "runs"),
    [
        ("sm_86", "sm_80", True),
        ("sm_89", "sm_80 sm_86 sm_90", True),
        ("sm_61", "sm_50 sm_60 sm_70", True),
        ("sm_75", "sm_70", True),
        ("sm_52", "sm_50", True),
        ("sm_121", "sm_120", True),
        ("sm_103", "sm_100", True),
        ("sm_80", "sm_86", False),
        ("sm_120", "sm_90 sm_100", False),
        ("sm_70", "sm_75", False),
        ("sm_120", "sm_90 compute_90", True),
        ("sm_80", "compute_90", False),
        ("sm_90", "sm_90a", True),
        ("sm_103", "sm_100a compute_100a", False),
        ("sm_103", "sm_100f", True),
        ("sm_110", "sm_100f", False),
        ("sm_87", "sm_80 sm_86", False),  # Jetson stands apart
        ("sm_72", "sm_70", False),
        ("sm_89", "sm_87", False),
        ("sm_87", "sm_87", True),
        ("sm_110", "sm_101", True),  # one chip, renamed
        ("sm_110", "sm_100 sm_120", False),
        ("8.9", "sm_86", True),
        ("sm_86", "", False),
        ("gfx90a", "gfx90a:sramecc+:xnack-", True),
        ("gfx1031", "gfx1030", False),
    ],
)
def test_machine_code_runs_within_its_major(tables: Tables, sm: str, archs: str, runs: bool) -> None:
    assert tables.arch_runs_on(sm, archs.split()) is runs


def test_an_unreadable_architecture_is_unknown_not_unsupported(tables: Tables) -> None:
    assert tables.arch_runs_on("Ampere", ["sm_80"]) is None
