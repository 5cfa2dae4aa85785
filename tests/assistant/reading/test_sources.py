"""Files and streams become text, and what cannot be read is named in one line each."""

from __future__ import annotations

import gzip
import os
import sys
from importlib import import_module
from io import BytesIO
from pathlib import Path

import pytest

from gpuhelp.errors import InputError
from gpuhelp.reading import sources
from gpuhelp.reading.pieces import RawText, count_lines, from_text, whole
from gpuhelp.reading.sources import read_paths
from gpuhelp.words import Words

NOTHING = BytesIO()


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"RuntimeError: boom\n", "RuntimeError: boom\n"),
        ("오류: 메모리 부족\n".encode(), "오류: 메모리 부족\n"),
        (b"\xef\xbb\xbfboom", "boom"),
        ("boom 오류".encode("utf-16"), "boom 오류"),  # PowerShell's > writes it, with its mark
        (b"\xfe\xff" + "boom".encode("utf-16-be"), "boom"),
        (b"bo\xffom", "bo\ufffdom"),
        (b"\xc3", "\ufffd"),
        (b"", ""),
        (b"a\r\nb", "a\r\nb"),
    ],
)
def test_bytes_are_decoded_and_their_count_is_kept(tmp_path: Path, data: bytes, text: str) -> None:
    path = tmp_path / "train.log"
    path.write_bytes(data)
    assert read_paths([str(path)], NOTHING) == (
        RawText(str(path), whole(text), len(data), count_lines(text)),
    )
    assert read_paths(["-"], BytesIO(data)) == (
        RawText("standard input", whole(text), len(data), count_lines(text)),
    )


def test_texts_come_in_the_order_of_the_paths(tmp_path: Path) -> None:
    for name in ("b", "a"):
        (tmp_path / name).write_text(name, encoding="utf-8")
    texts = read_paths([str(tmp_path / "b"), "-", str(tmp_path / "a")], BytesIO(b"in"))
    assert [text.text for text in texts] == ["b", "in", "a"]


def test_data_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.bin"
    path.write_bytes(b"\x80\x02}q\x00(X\x00\x00")
    with pytest.raises(InputError, match=r"model\.bin: is not text") as caught:
        read_paths([str(path)], NOTHING)
    assert len(caught.value.sayings) == 1


def test_a_folder_is_read_as_the_logs_in_it(tmp_path: Path) -> None:
    for name in ("rank10.log", "rank2.log", "train.py"):
        (tmp_path / name).write_text(name, encoding="utf-8")
    assert [text.text for text in read_paths([str(tmp_path)], NOTHING)] == ["rank2.log", "rank10.log"]


def test_a_folder_without_logs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no log files"):
        read_paths([str(tmp_path)], NOTHING)


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="every file is readable here")
def test_a_file_without_permission_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "secret.log"
    path.write_text("x", encoding="utf-8")
    path.chmod(0)
    with pytest.raises(InputError, match="not readable by this user"):
        read_paths([str(path)], NOTHING)


def test_a_name_no_file_can_have_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        read_paths(["a\0b"], NOTHING)
    assert len(caught.value.sayings) == 1


def test_every_unreadable_file_is_named_at_once(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read_paths([str(tmp_path / "one"), str(tmp_path), str(tmp_path / "two")], NOTHING)
    assert [line.partition(":")[0] for line in caught.value.told(Words("ko"))] == [
        str(tmp_path / "one"),
        str(tmp_path),
        str(tmp_path / "two"),
    ]


def test_a_text_in_memory_keeps_its_size_in_bytes() -> None:
    assert from_text("오류", "text") == RawText("text", whole("오류"), 6, 1)


def test_halves_of_surrogate_pairs_become_the_replacement_character() -> None:
    assert from_text("a\udcffb", "text").text == "a\ufffdb"
    assert from_text("\ud83d\ude80", "text").text == "🚀"


@pytest.mark.parametrize("module", ["gzip", "bz2", "lzma"])
def test_a_compressed_log_is_read(tmp_path: Path, module: str) -> None:
    path = tmp_path / "rank0.log.packed"
    path.write_bytes(import_module(module).compress("오류\n".encode()))
    assert [text.text for text in read_paths([str(path)], NOTHING)] == ["오류\n"]


@pytest.mark.parametrize("module", ["gzip", "bz2", "lzma"])
def test_a_damaged_compressed_log_is_refused_where_nothing_is_left(tmp_path: Path, module: str) -> None:
    path = tmp_path / "rank0.log.packed"
    path.write_bytes(import_module(module).compress(b"loss 0.1\n" * 200)[:10])
    with pytest.raises(InputError, match="the compressed file is damaged"):
        read_paths([str(path)], NOTHING)


def test_a_compressed_log_that_is_cut_off_gives_what_it_holds(tmp_path: Path) -> None:
    path = tmp_path / "rank0.log.gz"
    path.write_bytes(gzip.compress(b"loss 0.1\n" * 200)[:-9])
    assert read_paths([str(path)], NOTHING)[0].text.startswith("loss 0.1\n")


def test_a_text_that_is_too_large_to_be_held_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "_MOST_BYTES", 1 << 20)
    path = tmp_path / "bomb.gz"
    path.write_bytes(gzip.compress(b" " * (3 << 20)))
    with pytest.raises(InputError, match="unpacks to more than 1 MiB"):
        read_paths([str(path)], NOTHING)


def test_a_refusal_is_told_in_both_languages(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read_paths([str(tmp_path / "none.log")], NOTHING)
    assert "no such file" in str(caught.value)
    assert "파일이 없습니다" in caught.value.told(Words("ko"))[0]
