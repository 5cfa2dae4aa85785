"""ELF files and the GPU code in them: what nvcc and clang write, and damaged files."""

from __future__ import annotations

import io
import shutil
import struct
import subprocess
import time
from pathlib import Path

import pytest

from gpuhelp.probes.elf import Dynamic, NotElf, dynamic, module_information, sections
from gpuhelp.probes.fatbin import TooLate, Uncertain, architectures, in_order
from gpuhelp.probes.loader_cache import parse_loader_cache
from tests.probes.made_elf import a_library, a_loader_cache, amd_code, an_elf, gpu_code

SOON = float("inf")


def told(section: str, code: bytes) -> tuple[str, ...]:
    return architectures(io.BytesIO(an_elf({section: code})), SOON)


def test_a_library_says_what_it_needs_and_where_it_looks() -> None:
    library = a_library(
        "liba.so.1", needed=["libb.so.2", "libc.so.6"], rpath="$ORIGIN:/opt/x", runpath="/opt/y"
    )
    assert dynamic(io.BytesIO(library)) == Dynamic(
        "liba.so.1", ("libb.so.2", "libc.so.6"), ("$ORIGIN", "/opt/x"), ("/opt/y",)
    )


def test_a_program_without_libraries_says_nothing() -> None:
    assert dynamic(io.BytesIO(an_elf({".text": b"x"}))) == Dynamic()


def test_a_kernel_module_tells_its_version() -> None:
    text = b"license=Dual MIT/GPL\0version=550.90.07\0supported=external\0alias=x\0alias=y\0"
    assert module_information(io.BytesIO(an_elf({".modinfo": text}))) == {
        "license": "Dual MIT/GPL", "version": "550.90.07", "supported": "external", "alias": "x",
    }  # fmt: skip


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\x7fELF",
        b"#!/bin/sh\n" * 20,
        b"\x7fELF\x01\x01" + bytes(100),
        an_elf({".text": b"x"})[:-70],
        an_elf({".text": b"x"})[:64],
        b"\x7fELF\x02\x01" + b"\xff" * 100,
    ],
    ids=["empty", "short", "script", "32 bits", "cut", "no sections", "nonsense"],
)
def test_what_is_no_elf_file_is_refused(raw: bytes) -> None:
    with pytest.raises(NotElf):
        sections(io.BytesIO(raw))


def test_any_cut_of_a_file_is_read_or_refused() -> None:
    whole = a_library("liba.so", needed=["libb.so"], parts={".nv_fatbin": gpu_code(["sm_80"])})
    outcomes = set()
    for end in range(0, len(whole), 7):
        try:
            architectures(io.BytesIO(whole[:end]), SOON)
            dynamic(io.BytesIO(whole[:end]))
            outcomes.add("read")
        except (NotElf, Uncertain):
            outcomes.add("refused")
    assert outcomes == {"refused"}


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (gpu_code(["sm_80", "sm_90", "compute_90"]), ("sm_80", "sm_90", "compute_90")),
        (gpu_code(["sm_120"], ["sm_90a"], ["sm_100f"]), ("sm_90a", "sm_100f", "sm_120")),
        (gpu_code(["sm_75"], ["sm_86"], padding=16), ("sm_75", "sm_86")),
        (b"", ()),
    ],
    ids=["PTX", "letters", "padding", "none"],
)
def test_gpu_code_names_its_architectures(code: bytes, expected: tuple[str, ...]) -> None:
    assert told(".nv_fatbin", code) == expected


def test_a_library_without_gpu_code_has_no_architectures() -> None:
    assert architectures(io.BytesIO(a_library("liba.so")), SOON) == ()


def test_gpu_code_in_an_unknown_form_is_not_guessed_at() -> None:
    with pytest.raises(Uncertain):
        told(".nv_fatbin", b"\x01" * 64)
    with pytest.raises(Uncertain):
        told(".nv_fatbin", gpu_code(["sm_80"])[:40].ljust(200, b"\x02"))
    longer = struct.pack("<IHHQ", 0xBA55ED50, 1, 16, 1 << 40)
    with pytest.raises(Uncertain):
        told(".nv_fatbin", longer.ljust(256, b"\0"))


def test_a_piece_of_no_length_does_not_go_on_for_ever() -> None:
    piece = struct.pack("<HHIQIIHHIIIQ", 2, 0x101, 0, 0, 0, 0, 8, 1, 80, 0, 0, 0)
    with pytest.raises(Uncertain):
        told(".nv_fatbin", struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(piece)) + piece)


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="needs nvcc")
def test_what_nvcc_writes_is_read(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text("__global__ void k(float *x) { x[0] = 1; }\n", encoding="utf-8")
    wanted = [
        "-gencode",
        "arch=compute_90a,code=sm_90a",
        "-gencode",
        "arch=compute_80,code=[sm_80,compute_80]",
    ]
    command = ["nvcc", "-shared", "-Xcompiler", "-fPIC", *wanted, "k.cu", "-o", "k.so"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    with (tmp_path / "k.so").open("rb") as file:
        found = architectures(file, SOON)
    assert set(found) >= {"sm_80", "sm_90a", "compute_80"}  # the runtime linked in may add its own


def test_amd_code_names_its_targets_unless_it_is_compressed() -> None:
    assert told(".hip_fatbin", amd_code("gfx90a", "gfx942", "gfx1100")) == ("gfx90a", "gfx942", "gfx1100")
    with pytest.raises(Uncertain, match="compressed"):
        told(".hip_fatbin", b"CCOB".ljust(64, b"\1"))


def test_the_time_is_kept() -> None:
    with pytest.raises(TooLate):
        architectures(io.BytesIO(an_elf({".nv_fatbin": gpu_code(["sm_80"])})), time.monotonic() - 1)


def test_machine_code_comes_before_ptx_and_by_number() -> None:
    assert in_order(["compute_80", "sm_120", "sm_90", "sm_90"]) == ("sm_90", "sm_120", "compute_80")


def test_the_cache_of_the_loader_is_read_in_its_order() -> None:
    pairs = [
        ("libcuda.so.1", "/lib/a/libcuda.so.1"),
        ("libcuda.so.1", "/lib32/libcuda.so.1"),
        ("libz.so.1", "/lib/z"),
    ]
    assert parse_loader_cache(b"ld.so-1.7.0".ljust(40, b"\0") + a_loader_cache(pairs)) == {
        "libcuda.so.1": ("/lib/a/libcuda.so.1", "/lib32/libcuda.so.1"),
        "libz.so.1": ("/lib/z",),
    }


def test_a_damaged_cache_is_read_as_far_as_it_goes() -> None:
    whole = a_loader_cache([("liba.so", "/lib/liba.so")])
    assert parse_loader_cache(b"nothing of the kind") == {}
    assert parse_loader_cache(whole[:40]) == {}
    assert parse_loader_cache(whole[:60]) == {}
