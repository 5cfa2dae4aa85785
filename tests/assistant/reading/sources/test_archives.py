"""Archives of logs: each text in a tar or zip file is a source, and a hostile archive costs nothing."""

from __future__ import annotations

import gzip
import io
import struct
import tarfile
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from gpuhelp.errors import InputError
from gpuhelp.reading.sources import Notes, contents, open_sources

OpenAll = Callable[..., "dict[str, str]"]
Told = Callable[[Notes], "dict[str, str]"]
LONG = "run/" + "deep/" * 60 + "rank7.log"
FILES = {"run/rank10.log": "ten\n", "run/rank2.log": "two 오류\n", LONG: "long\n", "run/empty.log": ""}
LEFT_OUT = {
    "run/model.pt": b"\x80\2}q\0" * 50,
    "run/config.yaml": b"a: 1\n",
    "run/.hidden": b"x\n",
    "__MACOSX/run/._rank2.log": b"\0\5\x16\7",
    "run/data.log": b"\x7fELF\2\1\1\0" * 100,
}
MODES = ["w", "w:gz", "w:bz2", "w:xz"]


def tar(files: dict[str, bytes], mode: str = "w", form: int = tarfile.PAX_FORMAT) -> bytes:
    """A tar file."""
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode=mode, format=form) as archive:  # type: ignore[call-overload]
        folder = tarfile.TarInfo("run")
        folder.type = tarfile.DIRTYPE
        archive.addfile(folder)
        link = tarfile.TarInfo("run/latest.log")
        link.type, link.linkname = tarfile.SYMTYPE, "rank2.log"
        archive.addfile(link)
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return target.getvalue()


def zipped(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip file."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", method) as archive:
        archive.writestr("run/", b"")
        for name, data in files.items():
            archive.writestr(name, data)
    return target.getvalue()


def everything() -> dict[str, bytes]:
    return {**{name: text.encode() for name, text in FILES.items()}, **LEFT_OUT}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_every_text_in_a_tar_is_a_source(
    opened: OpenAll, told: Told, tmp_path: Path, mode: str, form: int
) -> None:
    if form == tarfile.USTAR_FORMAT:
        files = {name: data for name, data in everything().items() if len(name) < 100}
    else:
        files = everything()
    path, notes = tmp_path / "logs.archive", Notes()
    path.write_bytes(tar(files, mode, form))
    expected = {f"{path}:{name}": text for name, text in FILES.items() if name in files}
    assert opened(path, notes=notes) == expected
    assert told(notes) == {"note.no_text": f"{path}:run/data.log"}
    assert len(opened("-", stdin=path.read_bytes())) == len(expected)


@pytest.mark.parametrize(
    "method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]
)
def test_every_text_in_a_zip_is_a_source_in_natural_order(
    opened: OpenAll, tmp_path: Path, method: int
) -> None:
    path = tmp_path / "logs.zip"
    path.write_bytes(zipped(everything(), method))
    assert list(opened(path)) == [
        f"{path}:{name}" for name in (LONG, "run/empty.log", "run/rank2.log", "run/rank10.log")
    ]
    assert opened("-", stdin=path.read_bytes())["standard input:run/rank2.log"] == "two 오류\n"


def test_members_carry_their_rank_and_size(tmp_path: Path) -> None:
    path = tmp_path / "logs.tar"
    path.write_bytes(tar({"run/rank3.log": b"x\n", "run/main.log": b"yy\n"}))
    found = [
        (one.rank, one.size_bytes, one.reader.read(9), one.done_bytes())
        for one in open_sources([str(path)], io.BytesIO())
    ]
    assert found == [("3", 2, b"x\n", 2), ("", 3, b"yy\n", 3)]


def test_a_member_that_is_not_read_does_not_disturb_the_next(tmp_path: Path) -> None:
    path = tmp_path / "logs.tar.gz"
    path.write_bytes(tar({"a.log": b"a\n" * (1 << 20), "b.log": b"b\n"}, "w:gz"))
    assert [one.reader.read(2) for one in open_sources([str(path)], io.BytesIO())] == [b"a\n", b"b\n"]


def test_a_packed_member_and_an_archive_inside_are_read(opened: OpenAll, told: Told) -> None:
    innermost = tar({"c.log": b"c\n"})
    inner = {
        "rank0.log.gz": gzip.compress(b"packed\n"),
        "b.zip": zipped({"b.log": b"b\n", "deeper.tar": innermost}),
    }
    notes = Notes()
    assert opened("-", stdin=tar(inner, "w:gz"), notes=notes) == {
        "standard input:rank0.log.gz": "packed\n",
        "standard input:b.zip:b.log": "b\n",
    }
    assert told(notes) == {"note.nested": "standard input:b.zip:deeper.tar"}


@pytest.mark.parametrize("mode", ["w", "w:gz"])
def test_an_archive_that_is_cut_off_gives_what_it_holds(opened: OpenAll, told: Told, mode: str) -> None:
    data, notes = tar({"a.log": b"a\n" * 1000, "b.log": bytes(range(65, 91)) * 40_000}, mode), Notes()
    cut = data[: len(data) * 2 // 3]
    found = opened("-", stdin=cut, notes=notes)
    assert found["standard input:a.log"] == "a\n" * 1000
    assert "note.cut_off" in told(notes)


def test_a_zip_without_its_end_is_refused(opened: OpenAll) -> None:
    with pytest.raises(InputError, match="damaged"):
        opened("-", stdin=zipped({"a.log": b"a\n" * 1000})[:-30])


def test_a_damaged_member_of_a_zip_is_noted_and_the_others_are_read(opened: OpenAll, told: Told) -> None:
    data, notes = bytearray(zipped({"a.log": b"a" * 4000, "b.log": b"b\n"}, zipfile.ZIP_STORED)), Notes()
    data[data.index(b"aaaa")] = 98
    found = opened("-", stdin=bytes(data), notes=notes)
    assert found["standard input:b.log"] == "b\n"
    assert told(notes)["note.cut_off" if "standard input:a.log" in found else "error.broken_archive"]


def test_an_encrypted_member_is_told_and_the_others_are_read(opened: OpenAll, told: Told) -> None:
    data, notes = bytearray(zipped({"a.log": b"a\n", "b.log": b"b\n"})), Notes()
    for start, flags in (
        (data.index(b"PK\3\4", 4), 6),
        (data.index(b"PK\1\2", data.index(b"PK\1\2") + 4), 8),
    ):
        assert data[start:].find(b"a.log") in (30, 46)
        data[start + flags] |= 1
    assert opened("-", stdin=bytes(data), notes=notes) == {"standard input:b.log": "b\n"}
    assert told(notes) == {"error.broken_archive": "standard input:a.log"}


@pytest.mark.parametrize("name", ["archive/data.pkl", "[Content_Types].xml", "META-INF/MANIFEST.MF"])
def test_a_zip_of_another_kind_holds_no_logs(opened: OpenAll, name: str) -> None:
    with pytest.raises(InputError, match="holds no log files"):
        opened("-", stdin=zipped({name: b"x", "archive/version": b"3\n"}))


@pytest.mark.parametrize("cut", [0, 30])
def test_a_model_is_no_text_though_it_is_a_zip(opened: OpenAll, tmp_path: Path, cut: int) -> None:
    path = tmp_path / "model.pt"
    data = zipped({"archive/data.pkl": b"\x80\2}q\0", "archive/version": b"3\n"})
    path.write_bytes(data[: len(data) - cut])
    with pytest.raises(InputError, match="is not text"):
        opened(path)


def test_an_archive_without_logs_is_refused(opened: OpenAll) -> None:
    with pytest.raises(InputError, match="holds no log files"):
        opened("-", stdin=tar(LEFT_OUT))


def test_archives_in_folders_stay_closed(opened: OpenAll, told: Told, tmp_path: Path) -> None:
    (tmp_path / "shard").write_bytes(tar({"a.log": b"a\n"}))
    (tmp_path / "a.log").write_bytes(b"a\n")
    notes = Notes()
    assert list(opened(tmp_path, notes=notes)) == [str(tmp_path / "a.log")]
    assert told(notes) == {"note.archive_in_folder": str(tmp_path / "shard")}


def test_archives_that_a_pattern_asks_for_are_opened(opened: OpenAll, tmp_path: Path) -> None:
    (tmp_path / "logs.tar").write_bytes(tar({"a.log": b"a\n"}))
    assert list(opened(tmp_path / "*.tar")) == [f"{tmp_path / 'logs.tar'}:a.log"]


def header(kind: bytes, size: int, name: bytes = b"x.log") -> bytes:
    """A tar header that says so."""
    block = bytearray(
        struct.pack("100s8s8s8s12s12s8sc", name, b"0644", b"0", b"0", b"%011o" % size, b"0", b" " * 8, kind)
    )
    block += bytes(512 - len(block))
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block)


@pytest.mark.parametrize("kind", [b"x", b"g", b"L", b"K", b"S"])
def test_a_header_of_gigabytes_costs_no_memory(opened: OpenAll, kind: bytes) -> None:
    start = tar({"a.log": b"a\n"}).rstrip(b"\0")
    data = start + bytes(-len(start) % 512) + header(kind, 7 << 30) + b" " * (8 << 20)
    tracemalloc.start()
    found = opened("-", stdin=gzip.compress(data))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.get("standard input:a.log") == "a\n"
    assert peak < 64 << 20


def test_a_sparse_member_gives_its_text(opened: OpenAll) -> None:
    block = bytearray(header(b"S", 4))
    block[482] = 1
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    data = bytes(block) + bytes(512) + b"boom".ljust(512, b"\0") + bytes(1024)
    assert opened("-", stdin=data) == {"standard input:x.log": "boom"}


def test_all_members_share_one_limit(opened: OpenAll, told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contents, "MOST_UNPACKED_BYTES", 3 << 20)
    notes = Notes()
    files = {f"rank{number}.log": b"x\n" * (1 << 20) for number in range(4)}
    found = opened("-", stdin=zipped(files), notes=notes)
    assert sum(map(len, found.values())) <= 3 << 20
    assert told(notes) == {"note.too_large": "standard input"}


def test_of_an_archive_so_many_members_are_read(
    opened: OpenAll, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contents, "MOST_FILES", 3)
    notes = Notes()
    found = opened("-", stdin=tar({f"rank{number}.log": b"x\n" for number in range(5)}), notes=notes)
    assert list(found) == [f"standard input:rank{number}.log" for number in range(3)]
    assert told(notes) == {"note.too_many": "standard input"}
