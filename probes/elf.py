"""The parts of an ELF file that probes read: its sections, the libraries it needs and where it looks."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import BinaryIO

MOST_SECTIONS = 20_000  # a kernel module with a section for each function has some thousands
MOST_TABLE_BYTES = 16 << 20  # names of symbols and libraries; the largest builds of PyTorch have 10 MiB
_HEADER_BYTES = 64
_SECTION = struct.Struct("<IIQQQQIIQQ")
_DYNAMIC = struct.Struct("<qQ")
_NEEDED, _SONAME, _RPATH, _RUNPATH = 1, 14, 15, 29  # DT_… of <elf.h>
_SHT_NOBITS = 8


class NotElf(ValueError):
    """The file is no 64-bit little-endian ELF file, or a damaged one."""


@dataclass(frozen=True, slots=True)
class Section:
    """A stretch of the file, in bytes; `link` is the index of the section that holds its texts."""

    offset: int
    size: int
    link: int = 0


@dataclass(frozen=True, slots=True)
class Dynamic:
    """What the loader is told: `rpath` comes before LD_LIBRARY_PATH and counts only without `runpath`."""

    soname: str | None = None
    needed: tuple[str, ...] = ()
    rpath: tuple[str, ...] = ()
    runpath: tuple[str, ...] = ()


def sections(file: BinaryIO) -> dict[str, Section]:
    """The sections that hold bytes, by name. Reads the headers only. Raises NotElf, or OSError."""
    headers, names_index = _headers(file)
    if names_index >= len(headers):
        raise NotElf("the table of section names is missing")
    names = _at(file, Section(headers[names_index][4], headers[names_index][5]))
    return {
        _text(names, header[0]): Section(header[4], header[5], header[6])
        for header in headers
        if header[1] != _SHT_NOBITS
    }


def dynamic(file: BinaryIO) -> Dynamic:
    """The dynamic section; an empty one for a file that has none. Raises NotElf, or OSError."""
    headers, _ = _headers(file)
    table = sections(file).get(".dynamic")
    if table is None or table.link >= len(headers):
        return Dynamic()
    strings = _at(file, Section(headers[table.link][4], headers[table.link][5]))
    raw = _at(file, table)
    pairs = list(_DYNAMIC.iter_unpack(raw[: len(raw) // _DYNAMIC.size * _DYNAMIC.size]))
    told = {tag: [_text(strings, value) for each, value in pairs if each == tag] for tag in _TAGS}
    return Dynamic(
        next(iter(told[_SONAME]), None),
        tuple(told[_NEEDED]),
        _folders(told[_RPATH]),
        _folders(told[_RUNPATH]),
    )


_TAGS = (_NEEDED, _SONAME, _RPATH, _RUNPATH)


def module_information(file: BinaryIO) -> Mapping[str, str]:
    """The first value of each name in a kernel module's .modinfo: version, license … Raises as `sections`."""
    section = sections(file).get(".modinfo")
    pairs = [] if section is None else _at(file, section).decode("utf-8", "replace").split("\0")
    told: dict[str, str] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if equals:
            told.setdefault(name, value)
    return told


def _headers(file: BinaryIO) -> tuple[list[tuple[int, ...]], int]:
    """The section headers, and the index of the one that holds their names."""
    file.seek(0)
    head = file.read(_HEADER_BYTES)
    if len(head) < _HEADER_BYTES or head[:6] != b"\x7fELF\x02\x01":
        raise NotElf("no 64-bit little-endian ELF file")
    (offset,) = struct.unpack_from("<Q", head, 0x28)
    size, count, names = struct.unpack_from("<HHH", head, 0x3A)
    if size != _SECTION.size or not 0 < count <= MOST_SECTIONS:
        raise NotElf("the section headers are missing")
    raw = _at(file, Section(offset, size * count))
    return list(_SECTION.iter_unpack(raw)), names


def _at(file: BinaryIO, place: Section) -> bytes:
    if place.size > MOST_TABLE_BYTES:
        raise NotElf("a table is too large")
    file.seek(place.offset)
    raw = file.read(place.size)
    if len(raw) < place.size:
        raise NotElf("the file ends early")
    return raw


def _text(strings: bytes, offset: int) -> str:
    return strings[offset : strings.find(b"\0", offset)].decode("utf-8", "replace")


def _folders(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(folder for value in values for folder in value.split(":") if folder)
