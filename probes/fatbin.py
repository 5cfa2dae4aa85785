"""Architectures of the GPU code in a compiled library: reads the header of each piece, never the code."""

from __future__ import annotations

import re
import struct
import time
from collections.abc import Iterable
from typing import BinaryIO

from gpuhelp.probes.elf import NotElf, Section, sections

NVIDIA_SECTIONS = (".nv_fatbin", "__nv_relfatbin")
AMD_SECTION = ".hip_fatbin"
MOST_PIECES = 200_000  # the largest library seen has about 30 000

# Layout as nvcc 13.0 writes it, and as github.com/n-eiling/cuda-fatbin-decompression describes it.
_CONTAINER = struct.Struct("<IHHQ")  # magic, version, size of this header, size of what follows
_MAGIC = 0xBA55ED50
_PIECE = struct.Struct("<HHIQIIHHIIIQ")  # kind, -, header size, size, -, -, -, -, architecture, -, -, flags
_KINDS = {1: "compute", 2: "sm"}  # PTX and machine code; others, such as NVVM, run nowhere by themselves
_SUFFIXES = ((0x100000, "a"), (0x200000, "f"))  # seen in what nvcc 13.0 writes for sm_90a and sm_100f

_BUNDLE = b"__CLANG_OFFLOAD_BUNDLE__"  # clang.llvm.org/docs/ClangOffloadBundler.html
_BUNDLE_ENTRY = struct.Struct("<QQQ")  # offset, size, length of the name that follows
_MOST_NAME_BYTES = 256


class Uncertain(ValueError):
    """The code is packed in a way that is not known here, so that its architectures cannot be told."""


class TooLate(Exception):
    """The time was over before the end."""


def architectures(file: BinaryIO, deadline: float) -> tuple[str, ...]:
    """Names as PyTorch spells them: sm_80, compute_90 (PTX), gfx90a; () for a library without GPU code.

    `deadline` is on the monotonic clock. Raises NotElf, Uncertain, TooLate, or OSError.
    """
    found: set[str] = set()
    present = sections(file)
    for name in NVIDIA_SECTIONS:
        if name in present:
            found |= _nvidia(file, present[name], deadline)
    if AMD_SECTION in present:
        found |= _amd(file, present[AMD_SECTION])
    return in_order(found)


def in_order(names: Iterable[str]) -> tuple[str, ...]:
    """Machine code before PTX, each by number: sm_90, sm_120, compute_90."""
    return tuple(sorted(set(names), key=_rank))


def _rank(name: str) -> tuple[bool, int, str]:
    number = re.search(r"\d+", name)
    return name.startswith("compute"), int(number[0]) if number else 0, name


def _nvidia(file: BinaryIO, section: Section, deadline: float) -> set[str]:
    """Walks the containers of a section, which stand one after the other, each aligned to 8 bytes."""
    found: set[str] = set()
    place, end = section.offset, section.offset + section.size
    for _ in range(MOST_PIECES):
        if place + _CONTAINER.size > end:
            return found
        magic, _version, header, size = _CONTAINER.unpack(_read(file, place, _CONTAINER.size))
        if magic == 0:
            place += 8
            continue
        if magic != _MAGIC or place + header + size > end:
            raise Uncertain("GPU code in a form that is not known")
        found |= _pieces(file, place + header, place + header + size, deadline)
        place += (header + size + 7) // 8 * 8
    raise Uncertain("too many pieces of GPU code")


def _pieces(file: BinaryIO, place: int, end: int, deadline: float) -> set[str]:
    found: set[str] = set()
    while place + _PIECE.size <= end:
        if time.monotonic() > deadline:
            raise TooLate
        fields = _PIECE.unpack(_read(file, place, _PIECE.size))
        kind, header, size, number, flags = fields[0], fields[2], fields[3], fields[8], fields[11]
        if header < _PIECE.size or not 10 <= number < 1000:
            raise Uncertain("GPU code in a form that is not known")
        if kind in _KINDS:
            suffix = next((letter for bit, letter in _SUFFIXES if flags & bit), "")
            found.add(f"{_KINDS[kind]}_{number}{suffix}")
        place += header + size
    return found


def _amd(file: BinaryIO, section: Section) -> set[str]:
    """Targets of the first bundle: a library is built for the same ones throughout."""
    if _read(file, section.offset, len(_BUNDLE)) != _BUNDLE:
        raise Uncertain("GPU code that is compressed")
    place = section.offset + len(_BUNDLE)
    (count,) = struct.unpack("<Q", _read(file, place, 8))
    place += 8
    found: set[str] = set()
    for _ in range(min(count, MOST_PIECES)):
        _offset, _size, length = _BUNDLE_ENTRY.unpack(_read(file, place, _BUNDLE_ENTRY.size))
        if length > _MOST_NAME_BYTES:
            raise Uncertain("GPU code in a form that is not known")
        name = _read(file, place + _BUNDLE_ENTRY.size, length).decode("ascii", "replace")
        place += _BUNDLE_ENTRY.size + length
        if target := re.search(r"gfx[0-9a-f]{3,5}", name):
            found.add(target[0])
    return found


def _read(file: BinaryIO, place: int, size: int) -> bytes:
    file.seek(place)
    raw = file.read(size)
    if len(raw) < size:
        raise NotElf("the file ends early")
    return raw
