"""hyperscan's compiled literals, kept in the cache as data. A cache that does not fit is compiled anew."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gpuhelp.kb.store import checksum, read_regular, write_cached

_HEAD_BYTES = 40


def database_of(hyperscan: Any, forms: Sequence[tuple[int, bytes]], cache_dir: Path | None) -> Any:
    """The database of these literals: from the cache, else compiled and put there."""
    if cache_dir is None:
        return _compile(hyperscan, forms)
    path = cache_dir / f"scan-{_key(hyperscan, forms)}.hsdb"
    database = _read(hyperscan, path)
    if database is None:
        database = _compile(hyperscan, forms)
        data = hyperscan.dumpb(database)
        write_cached(path, _digest(data) + data)
    return database


def _key(hyperscan: Any, forms: Sequence[tuple[int, bytes]]) -> str:
    """What the database depends on; hyperscan itself refuses one made for another processor."""
    listed = b"\n".join(b"%d %s" % form for form in forms)
    return checksum(listed, getattr(hyperscan, "__version__", ""))


def _compile(hyperscan: Any, forms: Sequence[tuple[int, bytes]]) -> Any:
    database = hyperscan.Database()
    flags = hyperscan.HS_FLAG_CASELESS | hyperscan.HS_FLAG_SINGLEMATCH
    database.compile(
        expressions=[form for _, form in forms],
        ids=[number for number, _ in forms],
        flags=[flags] * len(forms),
        literal=True,
    )
    return database


def _read(hyperscan: Any, path: Path) -> Any:
    data = read_regular(path)
    if data is None or data[:_HEAD_BYTES] != _digest(data[_HEAD_BYTES:]):
        return None
    try:
        return hyperscan.loadb(data[_HEAD_BYTES:], hyperscan.HS_MODE_BLOCK)
    except hyperscan.error:
        return None


def _digest(data: bytes) -> bytes:
    return f"{zlib.crc32(data):08x}{len(data):x}".encode().ljust(_HEAD_BYTES)
