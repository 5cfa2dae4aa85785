"""Writes ELF files that hold what probes read, and nothing that runs: sections, a dynamic table, GPU code."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

_TAGS = {"needed": 1, "soname": 14, "rpath": 15, "runpath": 29}


def an_elf(parts: Mapping[str, bytes] | None = None, *, links: Mapping[str, str] | None = None) -> bytes:
    """A 64-bit little-endian ELF file with these sections; `links` names the section whose texts one uses."""
    named = {"": b"", **(parts or {})}
    names = b"\0".join(name.encode() for name in [*named, ".shstrtab"]) + b"\0"
    named[".shstrtab"] = names
    order = list(named)
    body, headers = bytearray(64), b""
    for name, data in named.items():
        link = order.index((links or {}).get(name, "")) if name in (links or {}) else 0
        place = names.find(name.encode() + b"\0") if name else len(names) - 1
        headers += struct.pack("<IIQQQQIIQQ", place, 1, 0, 0, len(body), len(data), link, 0, 1, 0)
        body += data
    head = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
    head += struct.pack(
        "<HHIQQQIHHHHHH", 3, 62, 1, 0, 0, len(body), 0, 64, 0, 0, 64, len(order), len(order) - 1
    )
    return bytes(head + body[64:] + headers)


def a_library(
    soname: str = "",
    *,
    needed: Sequence[str] = (),
    rpath: str = "",
    runpath: str = "",
    parts: Mapping[str, bytes] | None = None,
) -> bytes:
    """A shared library that says this of itself to the loader."""
    told = [("needed", name) for name in needed]
    told += [
        (tag, text) for tag, text in (("soname", soname), ("rpath", rpath), ("runpath", runpath)) if text
    ]
    strings, table = b"\0", b""
    for tag, text in told:
        table += struct.pack("<qQ", _TAGS[tag], len(strings))
        strings += text.encode() + b"\0"
    table += struct.pack("<qQ", 0, 0)
    sections = {**(parts or {}), ".dynstr": strings, ".dynamic": table}
    return an_elf(sections, links={".dynamic": ".dynstr"})


def gpu_code(*containers: Sequence[str], padding: int = 0) -> bytes:
    """The bytes of .nv_fatbin: one container for each argument, which is a list of architectures."""
    return bytes(padding).join(_container(each) for each in containers)


def amd_code(*targets: str) -> bytes:
    """The bytes of .hip_fatbin: one bundle for the host and these targets."""
    names = [
        b"host-x86_64-unknown-linux-gnu-",
        *(f"hipv4-amdgcn-amd-amdhsa--{each}".encode() for each in targets),
    ]
    entries = b"".join(struct.pack("<QQQ", 4096, 16, len(name)) + name for name in names)
    return b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", len(names)) + entries


def _container(names: Sequence[str]) -> bytes:
    pieces = b"".join(_piece(name) for name in names)
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(pieces)) + pieces


def _piece(name: str) -> bytes:
    kind, _, number = name.partition("_")
    flags = {"a": 0x100000, "f": 0x200000}.get(number[-1], 0) | 0x11
    code = b"\x7fELF" + bytes(60)
    digits = int(number.rstrip("af"))
    fields = (1 if kind == "compute" else 2, 0x101, 64, len(code), 0, 0, 8, 1, digits, 0, 0, flags)
    return struct.pack("<HHIQIIHHIIIQ", *fields).ljust(64, b"\0") + code


def a_loader_cache(paths: Sequence[tuple[str, str]]) -> bytes:
    """The bytes of /etc/ld.so.cache for these names and paths."""
    strings, entries = b"", b""
    offset = 48 + 24 * len(paths)
    for name, path in paths:
        entries += struct.pack(
            "<iIIIQ", 0x0303, offset + len(strings), offset + len(strings) + len(name) + 1, 0, 0
        )
        strings += name.encode() + b"\0" + path.encode() + b"\0"
    return (
        b"glibc-ld.so.cache1.1"
        + struct.pack("<II", len(paths), len(strings)).ljust(28, b"\0")
        + entries
        + strings
    )
