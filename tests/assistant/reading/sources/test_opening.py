"""Sources are opened one at a time, tell what they are, and survive what happens to files."""

from __future__ import annotations

import gzip
import io
import os
import re
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from gpuhelp.errors import InputError
from gpuhelp.reading.sources import Notes, check, contents, open_sources
from gpuhelp.reading.sources.streams import LogFile
from gpuhelp.words import Words

OpenAll = Callable[..., "dict[str, str]"]
Told = Callable[[Notes], "dict[str, str]"]
NOTHING = io.BytesIO()


def open_files() -> int:
    """How many files this process has open."""
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def written(path: Path, data: bytes | str = "x\n") -> str:
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return str(path)


def test_a_source_knows_its_name_size_and_rank(tmp_path: Path) -> None:
    path = written(tmp_path / "rank3.log", "x\ny\n")
    (found,) = [
        (one.name, one.size_bytes, one.rank, one.skipped_lines) for one in open_sources([path], NOTHING)
    ]
    assert found == (path, 4, "3", 0)


def test_names_of_a_set_tell_ranks(tmp_path: Path) -> None:
    paths = [written(tmp_path / f"{number}.log") for number in range(3)]
    assert [one.rank for one in open_sources(paths, NOTHING)] == ["0", "1", "2"]


def test_a_plain_file_is_handed_out_unbuffered(tmp_path: Path) -> None:
    path = written(tmp_path / "a.log", "오류\n" * 50_000)
    for one in open_sources([path], NOTHING):
        assert isinstance(one.reader, io.FileIO)
        assert one.reader.readinto(bytearray(5)) == 5
        assert one.done_bytes() == 5


@pytest.mark.parametrize("data", [gzip.compress(b"x\n" * 999_999), "가\n".encode("cp949") * 99_999])
def test_progress_is_counted_where_the_file_lies(tmp_path: Path, data: bytes) -> None:
    path = written(tmp_path / "a.log", data)
    for one in open_sources([path], NOTHING):
        assert one.size_bytes == len(data)
        while one.reader.read(1 << 20):
            assert 0 < one.done_bytes() <= len(data)
        assert one.done_bytes() == len(data)


def test_a_pipe_has_no_size(tmp_path: Path) -> None:
    for one in open_sources(["-"], io.BytesIO(b"x\n")):
        assert (one.name, one.size_bytes, one.reader.read(), one.done_bytes()) == (
            "standard input",
            None,
            b"x\n",
            2,
        )


def test_readers_read_into_buffers_too(tmp_path: Path) -> None:
    for one in open_sources([written(tmp_path / "a", gzip.compress(b"hello"))], NOTHING):
        buffer = bytearray(3)
        assert one.reader.readinto(buffer) == 3  # type: ignore[attr-defined]
        assert bytes(buffer) == b"hel"
        assert one.reader.read() == b"lo"


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts open files in /proc")
def test_a_thousand_files_are_open_one_at_a_time(tmp_path: Path) -> None:
    paths = [written(tmp_path / f"rank{number}.log") for number in range(1000)]
    before = open_files()
    check(paths)
    most = max(open_files() for one in open_sources(paths, NOTHING))
    assert most <= before + 2
    assert open_files() == before


def test_a_reader_is_closed_when_the_next_is_asked_for(tmp_path: Path) -> None:
    sources = open_sources([written(tmp_path / "a"), written(tmp_path / "b")], NOTHING)
    first = next(sources)
    next(sources)
    assert first.base.closed
    sources.close()  # type: ignore[attr-defined]


def test_check_names_every_path_that_cannot_be_read(tmp_path: Path) -> None:
    good, binary = written(tmp_path / "good.log"), written(tmp_path / "a.bin", b"\x80\2}q\0(X\0\0")
    cut = written(tmp_path / "cut.gz", gzip.compress(b"x\n" * 99)[:10])
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(InputError) as caught:
        check([good, binary, "-", cut, str(tmp_path / "none"), str(empty)])
    for language, words in (("en", "no such file"), ("ko", "파일이 없습니다")):
        lines = caught.value.told(Words(language))
        assert [line.partition(":")[0] for line in lines] == [binary, cut, str(tmp_path / "none"), str(empty)]
        assert words in lines[2]


def test_check_is_silent_about_what_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "model.pt").write_bytes(b"\x80\2}q\0(X\0\0")
    check([written(tmp_path / "a.log"), written(tmp_path / "empty.log", ""), str(tmp_path), "-"])


def test_binaries_in_folders_are_noted_and_the_rest_is_read(
    opened: OpenAll, told: Told, tmp_path: Path
) -> None:
    for number in range(5):
        written(tmp_path / f"core.{number}", b"\x7fELF\2\1\1\0\0\0\0")
    path, notes = written(tmp_path / "a.log"), Notes()
    assert opened(tmp_path, notes=notes) == {path: "x\n"}
    names = ", ".join(str(tmp_path / f"core.{number}") for number in range(3))
    assert told(notes) == {"note.no_text": f"{names}, … (+2)"}


def test_a_folder_of_binaries_holds_no_logs(opened: OpenAll, tmp_path: Path) -> None:
    written(tmp_path / "core", b"\x7fELF\2\1\1\0\0\0\0")
    with pytest.raises(InputError, match="holds no log files"):
        opened(tmp_path)


def test_one_unreadable_file_does_not_hide_the_others(opened: OpenAll, told: Told, tmp_path: Path) -> None:
    binary, notes = written(tmp_path / "a.bin", b"\x80\2}q\0(X\0\0"), Notes()
    assert opened(binary, "-", stdin=b"x\n", notes=notes) == {"standard input": "x\n"}
    assert told(notes) == {"error.not_text": binary}


def test_a_file_that_vanished_after_the_check_is_noted(told: Told, tmp_path: Path) -> None:
    paths, notes = [written(tmp_path / "a.log"), written(tmp_path / "b.log")], Notes()
    sources = open_sources(paths, NOTHING, notes=notes)
    assert next(sources).reader.read() == b"x\n"
    Path(paths[1]).unlink()
    assert list(sources) == []
    assert told(notes) == {"error.no_file": paths[1]}


@pytest.mark.skipif(sys.platform == "win32", reason="open files cannot be deleted there")
def test_a_file_that_vanishes_while_it_is_read_is_read_to_its_end(told: Told, tmp_path: Path) -> None:
    path, notes = written(tmp_path / "a.log", "x\n" * 500_000), Notes()
    for one in open_sources([path], NOTHING, notes=notes):
        start = one.reader.read(10)
        Path(path).unlink()
        assert len(start + one.reader.read()) == 1_000_000
    assert told(notes) == {}


@pytest.mark.parametrize("size", [0, 30, 3_000_000])
def test_a_file_that_grows_or_shrinks_is_read_as_it_is(told: Told, tmp_path: Path, size: int) -> None:
    path, notes = written(tmp_path / "a.log", "x\n" * 500_000), Notes()
    for one in open_sources([path], NOTHING, notes=notes):
        start = one.reader.read(10)
        os.truncate(path, size)
        assert len(start + one.reader.read()) == max(10, size)
    assert told(notes) == {"note.changed": path}


def test_a_disk_that_fails_ends_the_file_with_a_note(
    told: Told, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, notes, reads = written(tmp_path / "a.log", "x\n" * 200_000), Notes(), []

    class Failing(LogFile):
        """A network file system that goes away."""

        def read(self, size: int | None = -1, /) -> bytes:
            reads.append(size)
            if len(reads) > 2:  # after a look at the beginning and the end
                self._on_fault(OSError(116, "Stale file handle"))
                return b""
            return super().read(size)

    monkeypatch.setattr("gpuhelp.reading.sources.contents.LogFile", Failing)
    ((text),) = (one.reader.read() for one in open_sources([path], NOTHING, notes=notes))
    assert text == b""
    assert told(notes) == {"note.cut_off": path}


@pytest.mark.skipif(sys.platform == "win32", reason="needs a folder that can be opened")
def test_an_error_while_reading_is_an_end(tmp_path: Path) -> None:
    faults: list[OSError] = []
    file = LogFile(written(tmp_path / "a.log"), faults.append)
    descriptor = os.open(tmp_path, os.O_RDONLY)
    os.dup2(descriptor, file.fileno())
    os.close(descriptor)
    assert (file.read(5), file.readinto(bytearray(5)), file.readall()) == (b"", 0, b"")
    assert len(faults) == 3
    file.close()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_named_pipe_is_read_once(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(b"\xef\xbb\xbf" + "오류\n".encode() * 50_000,))
    check([str(path)])
    writer.start()
    ((size, text),) = ((one.size_bytes, one.reader.read()) for one in open_sources([str(path)], NOTHING))
    writer.join()
    assert (size, text.decode()) == (None, "오류\n" * 50_000)


@pytest.mark.skipif(not Path("/proc/version").exists(), reason="needs /proc")
def test_files_without_a_size_are_read(opened: OpenAll) -> None:
    check(["/proc/version"])
    assert opened("/proc/version")["/proc/version"].startswith("Linux")


def test_the_null_device_is_empty(opened: OpenAll) -> None:
    check([os.devnull])
    assert opened(os.devnull) == {os.devnull: ""}


def test_input_that_fails_is_noted(told: Told) -> None:
    class Broken(io.BytesIO):
        """A terminal that went away after some bytes."""

        def read1(self, size: int | None = -1, /) -> bytes:
            part = super().read1(2)
            if not part:
                raise OSError(5, "Input/output error")
            return part

    notes = Notes()
    ((text),) = (one.reader.read() for one in open_sources(["-"], Broken(b"abcd"), notes=notes))
    assert text == b"abcd"
    assert told(notes) == {"note.cut_off": "standard input"}


def test_no_names_are_no_sources() -> None:
    assert list(open_sources([], NOTHING)) == []


def test_every_note_and_error_has_its_words() -> None:
    source = "".join(path.read_text("utf-8") for path in Path(contents.__file__).parent.glob("*.py"))
    kinds = set(re.findall(r'(?:notes\.add\(|notes\.append\(|notes \+= \[)"(\w+)"', source))
    errors = set(re.findall(r'(?:refusal\(|Saying\("error\.)"?(\w+)"', source))
    assert len(kinds) >= 9
    assert len(errors) >= 10
    for language in ("en", "ko"):
        words = Words(language)
        keys = [*(f"note.{kind}" for kind in kinds), *(f"error.{error}" for error in errors)]
        assert [key for key in keys if words.find(key) is None] == []


def test_an_empty_file_of_a_folder_is_not_waited_for(
    tmp_path: Path, opened: OpenAll, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path / "empty.log", "")
    monkeypatch.setattr(LogFile, "read", lambda *_: pytest.fail("the files of /proc have no size and no end"))
    assert opened(tmp_path) == {str(tmp_path / "empty.log"): ""}


@pytest.mark.skipif(not Path("/proc/version").exists(), reason="Linux only")
def test_a_named_file_of_proc_is_read_although_it_has_no_size(opened: OpenAll) -> None:
    assert opened("/proc/version")["/proc/version"].startswith("Linux")
