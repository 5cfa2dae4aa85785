"""What goes with a torch: torchvision and torchaudio, and the C++ ABI of wheels."""

from __future__ import annotations

import pytest

from gpuhelp.kb.lookups import Tables


@pytest.mark.parametrize(
    ("package", "version", "torch_version", "fits"),
    [
        ("torchvision", "0.8.2", "1.7.1", True),
        ("torchvision", "0.19.1+cu121", "2.4.1+cu121", True),
        ("torchvision", "0.21.0+cu124", "2.5.1+cu124", False),
        ("torchvision", "0.26.0", "2.11.0", True),
        ("torchvision", "0.10.0", "2.1.0", False),
        ("torchaudio", "2.6.0", "2.6.0+cpu", True),
        ("torchaudio", "0.13.1", "1.13.1", True),
        ("torchaudio", "2.1.0", "2.2.0", False),
        ("torchvision", "0.99.0", "9.9.0", None),
        ("torchvision", "0a0+unknown", "2.1.0", None),
        ("torchtext", "0.18.0", "2.3.0", None),
    ],
)
def test_companions_fit_one_torch(
    tables: Tables, package: str, version: str, torch_version: str, fits: bool | None
) -> None:
    assert tables.fits_torch(package, version, torch_version) is fits


def test_the_companion_is_told_by_its_release(tables: Tables) -> None:
    assert tables.companion_release("torchvision", "2.6.0+cu124") == "0.21"
    assert tables.companion_release("torchvision", "no version") is None


@pytest.mark.parametrize(
    ("torch_version", "abi"),
    [
        ("2.0.0+cu118", False),
        ("2.4.1+cu121", False),
        ("2.6.0+cu124", False),
        ("2.6.0+cu126", True),
        ("2.7.1+cu118", True),
        ("2.10.0+cu128", True),
        ("2.4.1", None),
        ("", None),
    ],
)
def test_the_abi_of_a_wheel_follows_its_release(tables: Tables, torch_version: str, abi: bool | None) -> None:
    assert tables.wheel_cxx11_abi(torch_version) is abi
