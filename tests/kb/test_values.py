"""Sizes and versions are read as programs print them."""

from __future__ import annotations

import math

import pytest

from gpuhelp.kb.evaluation import Unknown, evaluate, format_bytes, parse_bytes
from gpuhelp.kb.expressions import parse_expression


def value(source: str) -> object:
    return evaluate(parse_expression(source), lambda name: Unknown([name]))


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("2.00 GiB", 2 * 2**30),
        ("512MiB", 512 * 2**20),
        ("20.94 GB", 20_940_000_000),
        ("1 kb", 1000),
        ("4 KiB", 4096),
        ("1.5 TiB", 3 * 2**39),
        ("150 bytes", 150),
        ("1 Byte", 1),
        ("7 B", 7),
        ("150", 150),
        (" 1 MiB ", 2**20),
        (150, 150),
        (1.5, 1),
    ],
)
def test_sizes_are_read_as_programs_print_them(text: object, size: int) -> None:
    assert parse_bytes(text) == size


@pytest.mark.parametrize(
    "text", ["", "GiB", "-1 GiB", "1 GiB free", "1.2.3 MiB", True, None, [], math.inf, "9" * 400]
)
def test_what_is_no_size_is_unknown(text: object) -> None:
    assert parse_bytes(text) == Unknown()


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 bytes"),
        (1023, "1023 bytes"),
        (1024, "1.0 KiB"),
        (3 * 2**30, "3.0 GiB"),
        (5 * 2**50, "5120.0 TiB"),
        (-(2**20), "-1.0 MiB"),
        (10**400, "inf TiB"),
    ],
)
def test_sizes_are_told_in_binary_units(count: int, text: str) -> None:
    assert format_bytes(count) == text


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("12.4", "12.10"),
        ("550.54.14", "550.54.15"),
        ("2.6.0+cu124", "2.7.0+cu118"),
        ("v1.9", "1.10"),
        ("9", "10.0.1"),
    ],
)
def test_versions_compare_by_their_numbers(older: str, newer: str) -> None:
    assert value(f"version('{older}') < version('{newer}')") is True
    assert value(f"version('{newer}') <= version('{older}')") is False
    assert value(f"max(version('{older}'), version('{newer}')) == version('{newer}')") is True


def test_the_local_part_of_a_version_does_not_count() -> None:
    assert value("version('2.6.0+cu124') == version('2.6.0+cpu')") is True
