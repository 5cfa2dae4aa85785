"""The loader's cache of libraries, /etc/ld.so.cache, in the format of glibc 2.2 and later."""

from __future__ import annotations

import struct

_MAGIC = b"glibc-ld.so.cache1.1"  # elf/dl-cache.h of glibc: CACHEMAGIC_VERSION_NEW
_HEADER_BYTES = 48
_ENTRY = struct.Struct("<iIIIQ")  # flags, offset of the name, offset of the path, -, -
MOST_ENTRIES = 100_000


def parse_loader_cache(raw: bytes) -> dict[str, tuple[str, ...]]:
    """Paths by name, in the order in which the loader tries them; {} for a text that is no such cache.

    A cache may hold the same library for several machine types; who opens a file sees which it is.
    """
    start = raw.find(_MAGIC)  # caches that older programs can read too have theirs before it
    if start < 0 or len(raw) < start + _HEADER_BYTES:
        return {}
    cache = memoryview(raw)[start:]
    (count,) = struct.unpack_from("<I", cache, len(_MAGIC))
    found: dict[str, list[str]] = {}
    for index in range(min(count, MOST_ENTRIES)):
        place = _HEADER_BYTES + index * _ENTRY.size
        if place + _ENTRY.size > len(cache):
            break
        _flags, name, path, _version, _capabilities = _ENTRY.unpack_from(cache, place)
        found.setdefault(_text(raw, start + name), []).append(_text(raw, start + path))
    return {name: tuple(paths) for name, paths in found.items()}


def _text(raw: bytes, offset: int) -> str:
    end = raw.find(b"\0", offset)
    return raw[offset : end if end >= 0 else offset].decode("utf-8", "replace")
