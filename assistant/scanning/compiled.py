"""hyperscan's compiled literals, kept in the cache as data. A cache that does not fit is compiled anew."""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gpuhelp.kb.regexes import parts
from gpuhelp.kb.store import checksum, read_regular, write_cached

_HEAD_BYTES = 40
_FEWEST = 1800
"""Literals: for a little fewer than 1,650, hyperscan 5.4 takes a table with which it needs twice the time."""
_NONE = (1 << 32) - 1


def database_of_literals(hyperscan: Any, forms: Sequence[tuple[int, bytes]], cache_dir: Path | None) -> Any:
    """The database of literals, each told wherever it stands: from the cache, else compiled and put there."""
    rows = [(number, form, hyperscan.HS_FLAG_CASELESS) for number, form in forms]
    if len(rows) > _FEWEST // 2:
        rows += [(_NONE, _held_by_no_text(number), 0) for number in range(_FEWEST - len(rows))]
    return _cached(hyperscan, rows, True, cache_dir)


def _held_by_no_text(number: int) -> bytes:
    return b"\1" + hashlib.sha1(b"%d" % number).hexdigest()[:16].encode()


def database_of_expressions(hyperscan: Any, expressions: Mapping[int, str], cache_dir: Path | None) -> Any:
    """The database of RE2 expressions, each told once for what is scanned: from the cache, else compiled."""
    once, caseless = hyperscan.HS_FLAG_MULTILINE | hyperscan.HS_FLAG_SINGLEMATCH, hyperscan.HS_FLAG_CASELESS
    rows = [
        (number, _widened(text).encode(), once | (caseless if text.startswith("(?im)") else 0))
        for number, text in expressions.items()
    ]
    return _cached(hyperscan, rows, False, cache_dir)


_Row = tuple[int, bytes, int]
"""Number, what to look for, flags."""


def _cached(hyperscan: Any, rows: Sequence[_Row], literal: bool, cache_dir: Path | None) -> Any:
    if cache_dir is None:
        return _compile(hyperscan, rows, literal)
    path = cache_dir / f"scan-{_key(hyperscan, rows, literal)}.hsdb"
    database = _read(hyperscan, path)
    if database is None:
        database = _compile(hyperscan, rows, literal)
        data = hyperscan.dumpb(database)
        write_cached(path, _digest(data) + data)
    return database


def _key(hyperscan: Any, rows: Sequence[_Row], literal: bool) -> str:
    """What the database depends on; hyperscan itself refuses one made for another processor."""
    listed = b"\n".join(b"%d %s %d" % row for row in rows)
    return checksum(listed, f"{getattr(hyperscan, '__version__', '')} {literal}")


def _compile(hyperscan: Any, rows: Sequence[_Row], literal: bool) -> Any:
    numbers, expressions, flags = zip(*rows, strict=True)
    database = hyperscan.Database()
    database.compile(expressions=expressions, ids=numbers, flags=flags, literal=literal)
    return database


_FLAGS = r"^\(\?i?m\)"
_GROUP_NAME = r"\(\?P<\w+>"
_OTHER_SCRIPTS = r"\x80-\xff"
_ANYTHING = r"""(?x)
    ( \[\^ \]? (?: \\. | [^\]\\] )* \] | (?<!\\) \. | \\[WSD]           # what takes a character of any script
    | \[ \]? (?: \\. | [^\]\\] )* (?: \\[WSD] | \\x80-\\xff ) (?: \\. | [^\]\\] )* \] )
    ( [*?] | \{0? , \d+ \} )? ( \+ | \{ \d+ (?: , \d* )? \} )? \??         # and how often
"""


def _widened(expression: str) -> str:
    """What hyperscan takes and soon compiles: no flags, no names of groups, runs of anything not counted."""
    bare = re.sub(_GROUP_NAME, "(?:", re.sub(_FLAGS, "", expression))
    bytewise = "".join(_bytewise(part) for part in _up_to_next_line(parts(bare)))
    return re.sub(_ANYTHING, lambda found: found[1] + ("*" if found[2] else "+"), bytewise)


_NEXT_LINE = (["\\n"], ["(", "?", ":", "\\n"], ["(", "?", ":", "[^\\n]", "*", "\\n"])


def _up_to_next_line(whole: list[str]) -> list[str]:
    """The parts before the first that takes a line break: each match holds them; the rest compiles slowly."""
    depth, cut = 0, len(whole)
    for index, part in enumerate(whole):
        if depth == 0 and part == "|":
            return whole
        if (
            depth == 0
            and index < cut
            and any(whole[index : index + len(form)] == form for form in _NEXT_LINE)
        ):
            cut = index
        depth += (part == "(") - (part == ")")
    return whole[:cut] or whole


def _bytewise(part: str) -> str:
    """A part of an expression whose characters may be several bytes long."""
    if part.isascii():
        return part
    if not part.startswith("["):
        return f"(?:{part})"
    ascii_part = re.sub(r"[^\x00-\x7f](?:-[^\x00-\x7f])?", "", part)
    if part.startswith("[^"):
        return ascii_part if len(ascii_part) > len("[^]") else r"[^\x01]"
    return f"{ascii_part[:-1]}{_OTHER_SCRIPTS}]"


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
