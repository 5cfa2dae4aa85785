"""Compressed logs are streams: any number of members, cut off or damaged ones up to there, bombs bounded."""

from __future__ import annotations

import bz2
import gzip
import lzma
import sys
import tracemalloc
from collections.abc import Callable
from functools import partial
from io import BytesIO
from pathlib import Path

import pytest

from gpuhelp.errors import InputError
from gpuhelp.reading.sources import Notes, contents, open_sources
from gpuhelp.reading.sources.packing import packing_of

OpenAll = Callable[..., "dict[str, str]"]
Told = Callable[[Notes], "dict[str, str]"]
Pack = Callable[[bytes], bytes]
LOG = "".join(f"step {number * 7919 % 10007} 손실 {number % 97 / 97:.6f}\n" for number in range(20_000))


def zstd(data: bytes) -> bytes:
    """One Zstandard frame."""
    if sys.version_info >= (3, 14):
        from compression import zstd as standard

        return standard.compress(data)
    import zstandard

    return zstandard.ZstdCompressor().compress(data)


PACKS: dict[str, Pack] = {"gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress, "zstd": zstd}
every_packing = pytest.mark.parametrize("pack", PACKS.values(), ids=PACKS.keys())


@every_packing
def test_a_packed_log_is_told_by_its_content(opened: OpenAll, tmp_path: Path, pack: Pack) -> None:
    path = tmp_path / "rank0.log"
    path.write_bytes(pack(LOG.encode()))
    assert opened(path) == {str(path): LOG}
    assert opened("-", stdin=pack(LOG.encode())) == {"standard input": LOG}


@every_packing
def test_members_after_one_another_are_one_log(opened: OpenAll, pack: Pack) -> None:
    parts = [pack(part.encode()) for part in ("eins\n", "", LOG, "zwei\n")]
    assert opened("-", stdin=b"".join(parts))["standard input"] == f"eins\n{LOG}zwei\n"


def test_padding_between_members_is_skipped(opened: OpenAll) -> None:
    packed = gzip.compress(b"a\n") + b"\0" * 512 + gzip.compress(b"b\n") + b"\0" * 512
    assert opened("-", stdin=packed)["standard input"] == "a\nb\n"


@every_packing
def test_a_log_that_is_cut_off_gives_what_it_holds(
    opened: OpenAll, told: Told, pack: Pack, tmp_path: Path
) -> None:
    path, notes = tmp_path / "rank0.log.packed", Notes()
    packed = pack(LOG.encode()) * 2
    path.write_bytes(packed[: len(packed) - 40])
    text = opened(path, notes=notes)[str(path)]
    assert text.startswith(LOG)
    assert told(notes) == {"note.cut_off": str(path)}


@every_packing
def test_damage_in_the_middle_ends_the_log_there(opened: OpenAll, told: Told, pack: Pack) -> None:
    first, second, notes = pack(LOG.encode()), bytearray(pack(LOG.encode())), Notes()
    second[40:80] = b"\xff" * 40
    assert opened("-", stdin=first + bytes(second), notes=notes)["standard input"].startswith(LOG)
    assert told(notes) == {"note.cut_off": "standard input"}


def test_what_comes_after_the_last_member_is_noted(opened: OpenAll, told: Told) -> None:
    notes = Notes()
    assert opened("-", stdin=gzip.compress(b"a\n") + b"not gzip", notes=notes) == {"standard input": "a\n"}
    assert told(notes) == {"note.cut_off": "standard input"}


@every_packing
def test_a_packed_file_that_gives_nothing_is_refused(opened: OpenAll, pack: Pack) -> None:
    with pytest.raises(InputError, match="the compressed file is damaged"):
        opened("-", stdin=pack(LOG.encode())[:14])


@every_packing
def test_nothing_packed_is_nothing(opened: OpenAll, pack: Pack) -> None:
    assert opened("-", stdin=pack(b"")) == {"standard input": ""}


def test_a_log_that_was_packed_twice_is_read(opened: OpenAll) -> None:
    assert opened("-", stdin=zstd(gzip.compress(b"boom\n"))) == {"standard input": "boom\n"}


@every_packing
def test_a_bomb_costs_no_memory(pack: Pack, tmp_path: Path) -> None:
    path = tmp_path / "bomb"
    path.write_bytes(pack(b" " * (32 << 20)) * 2)
    tracemalloc.start()
    (size,) = (
        sum(map(len, iter(partial(source.reader.read, 1 << 20), b"")))
        for source in open_sources([str(path)], BytesIO())
    )
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert size == 64 << 20
    assert peak < 24 << 20


def test_a_bomb_is_read_to_the_limit_with_a_note(
    opened: OpenAll, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contents, "MOST_UNPACKED_BYTES", 3 << 20)
    notes = Notes()
    text = opened("-", stdin=gzip.compress(b"x\n" * (4 << 20)), notes=notes)["standard input"]
    assert 2 << 20 <= len(text) <= 3 << 20
    assert told(notes) == {"note.too_large": "standard input"}


@pytest.mark.parametrize(
    ("head", "packing"),
    [
        (b"BZh9 is how bzip2 files begin", ""),
        (b"BZh", ""),
        (b"BZh91AY&SY", "bzip2"),
        (b"\x1f\x8b", "gzip"),
        (b"\x1f", ""),
        (b"\x50\x2a\x4d\x18\4\0\0\0", "zstd"),
        (b"P*M", ""),
        (b"(\xb5/\xfd", "zstd"),
        (b"", ""),
        (b"Traceback", ""),
    ],
)
def test_only_what_begins_like_it_is_unpacked(head: bytes, packing: str) -> None:
    assert packing_of(head) == packing


def test_text_that_begins_almost_like_a_packing_is_text(opened: OpenAll) -> None:
    assert opened("-", stdin=b"BZh9 is how it begins\n")["standard input"].startswith("BZh9")


@pytest.mark.parametrize(
    "head", [b"7z\xbc\xaf\x27\x1c\0\4", b"Rar!\x1a\x07\1\0", b"\x04\x22\x4d\x18\x64\x40"]
)
def test_other_packings_are_refused_with_what_to_do(opened: OpenAll, head: bytes) -> None:
    with pytest.raises(InputError, match="unpack it"):
        opened("-", stdin=head + b"data" * 10)
