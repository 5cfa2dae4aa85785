"""Bytes of any encoding become UTF-8: told by marks, by the places of NUL bytes, by common characters."""

from __future__ import annotations

import random
import struct
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuhelp.errors import InputError
from gpuhelp.reading.sources import encodings
from gpuhelp.reading.sources.encodings import code_page_of, is_padded_text, legible, wide_encoding
from gpuhelp.reading.sources.streams import Chunks

OpenAll = Callable[..., "dict[str, str]"]
ERROR = "Traceback (most recent call last):\nRuntimeError: CUDA error: out of memory\n"
SENTENCES = {
    "cp949": [
        "OSError: [WinError 126] 지정된 모듈을 찾을 수 없습니다",
        "[WinError 1455] 이 작업을 완료하기 위한 페이징 파일이 너무 작습니다",
        "PermissionError: [WinError 5] 액세스가 거부되었습니다",
        "오류: 메모리가 부족합니다.",
        "검증 정확도 0.91, 최고 기록 갱신",
        "그래픽 카드 드라이버를 업데이트하세요",
        "파일 이름, 디렉터리 이름 또는 볼륨 레이블 구문이 잘못되었습니다",
        "학습 시작\nepoch 1 손실 0.3",
    ],
    "gbk": [
        "OSError: [WinError 126] 找不到指定的模块。",
        "[WinError 1455] 页面文件太小，无法完成操作。",
        "PermissionError: [WinError 5] 拒绝访问。",
        "显存不足，请减小批量大小",
        "错误：内存不足",
        "系统找不到指定的路径。",
        "开始训练 第1轮 损失 0.3",
    ],
    "cp932": [
        "OSError: [WinError 126] 指定されたモジュールが見つかりません。",
        "[WinError 1455] ページング ファイルが小さすぎるため、この操作を完了できません。",
        "アクセスが拒否されました。",
    ],
    "cp1252": [
        "OSError: [WinError 126] Le module spécifié est introuvable",
        "Das angegebene Modul wurde nicht gefunden: für Größe",
        "El archivo de paginación es demasiado pequeño para completar la operación.",
        "température 80°C",
        "it’s “quoted” – ok",
        "Ça, déjà vu naïve où ça là-bas",
    ],
}
WIDE = ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"]
cases = [(encoding, sentence) for encoding, sentences in SENTENCES.items() for sentence in sentences]


@pytest.mark.parametrize(("encoding", "sentence"), cases)
def test_a_code_page_is_told_by_a_sentence(encoding: str, sentence: str) -> None:
    assert code_page_of(sentence.encode(encoding)) == encoding
    assert code_page_of(sentence.encode()) == "utf-8"


@pytest.mark.parametrize(("encoding", "sentence"), cases)
def test_a_late_sentence_of_a_code_page_is_read(
    opened: OpenAll, tmp_path: Path, encoding: str, sentence: str
) -> None:
    text = "step 1 loss 0.5\n" * 6_000 + sentence + "\n"
    path = tmp_path / "train.log"
    path.write_bytes(text.encode(encoding))
    assert opened(path) == {str(path): text}
    assert opened("-", stdin=text.encode(encoding)) == {"standard input": text}


@pytest.mark.parametrize("strays", [1, 5, 50])
@pytest.mark.parametrize(
    ("text", "bytes_"),
    [
        (ERROR * 20, b"\xff\xfe\x81\x8d"),  # others of them may well be letters
        ("오류: 메모리가 부족합니다.\n" * 20, b"\xff\xfe\xc0\xf5\xf9\x81\xb0"),
        ("°C é\n" * 60, b"\xff\xfe\xc0\xf5\xf9\x81\xb0"),
    ],
)
def test_stray_bytes_leave_utf8_what_it_is(opened: OpenAll, text: str, bytes_: bytes, strays: int) -> None:
    data = bytearray(text.encode())
    dice = random.Random(strays)
    for _ in range(strays):
        place = dice.choice([at for at, value in enumerate(data) if value in b"\n "])
        data[place:place] = bytes([dice.choice(bytes_)])
    found = opened("-", stdin=bytes(data))["standard input"]
    assert found.replace("\ufffd", "") == text


@pytest.mark.parametrize("data", [b"bo\xffom", b"\xc3", b"\xe9", b"\xb0\xa1", b"a\x80\x81\x82\x83"])
def test_too_little_tells_nothing(data: bytes) -> None:
    assert code_page_of(data) == ""


@pytest.mark.parametrize("encoding", WIDE)
@pytest.mark.parametrize("text", [ERROR, "boom 오류\n", "오류: 메모리가 부족합니다. 다시 시도 가\n", "a\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_wide_characters_are_told_with_and_without_a_mark(
    opened: OpenAll, tmp_path: Path, encoding: str, text: str, mark: str
) -> None:
    data = (mark + text).encode(encoding)
    path = tmp_path / "train.log"
    path.write_bytes(data)
    assert opened(path) == {str(path): text}
    assert opened("-", stdin=data) == {"standard input": text}


def test_a_log_that_ends_within_a_wide_character_is_read(opened: OpenAll) -> None:
    data = ERROR.encode("utf-16")[:-1]
    assert opened("-", stdin=data)["standard input"].startswith(ERROR[:-1])


def test_a_mark_of_utf8_is_left_out(opened: OpenAll, tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    for text in (ERROR, "오류\n" + ERROR):
        path.write_bytes(b"\xef\xbb\xbf" + text.encode())
        assert opened(path) == {str(path): text}
        assert opened("-", stdin=path.read_bytes()) == {"standard input": text}


NUMBERS = struct.pack("<2000h", *[(number * 37) % 600 - 300 for number in range(2000)])
FLOATS = struct.pack("<2000f", *[number / 7 for number in range(2000)])


@pytest.mark.parametrize(
    "data",
    [
        b"\x80\x02}q\x00(X\x00\x00",
        b"\0",
        b"\0" * 9,
        NUMBERS,
        FLOATS,
        random.Random(1).randbytes(70_000),
        b"GGUF\3\0\0\0" + b"text " * 4000,
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
        b"SQLite format 3\0" + b"x" * 9000,
        b"a\0b\0\0c\0",
        b"HOME=/x\0PATH=/y\0" * 40,
    ],
)
def test_what_is_no_text_is_refused(opened: OpenAll, data: bytes) -> None:
    assert not wide_encoding(data)
    assert not is_padded_text(data)
    with pytest.raises(InputError, match="is not text"):
        opened("-", stdin=data)


HOLES = [0, 20, 5000, 1 << 17]


@pytest.mark.parametrize("before", HOLES)
@pytest.mark.parametrize("after", HOLES)
def test_room_that_was_reserved_or_truncated_is_left_out(
    opened: OpenAll, tmp_path: Path, before: int, after: int
) -> None:
    path = tmp_path / "train.log"
    path.write_bytes(bytes(before) + ERROR.encode() + bytes(after))
    assert opened(path) == {str(path): ERROR}
    assert opened("-", stdin=path.read_bytes()) == {"standard input": ERROR}


def test_a_few_stray_nuls_are_left_out(opened: OpenAll) -> None:
    data = ERROR.encode() * 9 + b"step\0 1\n" + ERROR.encode()
    assert opened("-", stdin=data)["standard input"] == ERROR * 9 + "step 1\n" + ERROR


def test_a_hole_before_a_code_page_changes_nothing(opened: OpenAll) -> None:
    text = SENTENCES["cp949"][0] + "\n"
    assert opened("-", stdin=bytes(4096) + text.encode("cp949"))["standard input"] == text


def slowly(data: bytes, size: int) -> Iterator[bytes]:
    yield from (data[at : at + size] for at in range(0, len(data), size))


@pytest.mark.parametrize("size", [1, 2, 3, 5, 1000])
@pytest.mark.parametrize("encoding", ["utf-8", "cp949"])
def test_the_size_of_blocks_changes_nothing(size: int, encoding: str) -> None:
    text = "step 1\n" * 3 + SENTENCES["cp949"][0] + "\n" + SENTENCES["cp949"][1]
    found = b"".join(legible(Chunks(slowly(text.encode(encoding), size))))
    assert found.decode() == text


def test_a_very_long_line_is_decided_without_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encodings, "_LONGEST_LINE_BYTES", 8)
    for text in ("x" * 20 + "é" + "y" * 20 + "é", "메모리가 부족합니다 " * 9):
        for size in (7, 21, 22, 23, 24):
            assert b"".join(legible(Chunks(slowly(text.encode(), size)))).decode() == text


@settings(max_examples=150, deadline=None)
@given(
    st.text(alphabet=st.characters(exclude_characters="\0\ufffd", exclude_categories=["Cs"]), max_size=300)
)
def test_any_text_in_utf8_stays_that_text(text: str) -> None:
    assert b"".join(legible(Chunks(slowly(text.encode(), 64)))).decode() == text


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes_keep_their_lines(data: bytes) -> None:
    found = b"".join(legible(Chunks(slowly(data, 50))))
    assert found.count(b"\n") == data.count(b"\n")
    assert wide_encoding(data) in ("", *WIDE)
    assert is_padded_text(data) in (True, False)


def test_noise_costs_no_more_than_text_of_its_size() -> None:
    noise = random.Random(3).randbytes(1 << 20).replace(b"\0", b"\n")
    start = time.perf_counter()
    read = sum(map(len, legible(Chunks(iter([noise] * 40)))))
    assert read == 40 << 20
    assert time.perf_counter() - start < 3


def test_after_much_noise_the_encoding_is_not_looked_for_any_more() -> None:
    noise = random.Random(3).randbytes(1 << 16).replace(b"\0", b"\n")
    korean = "오류: 메모리가 부족합니다\n".encode("cp949") * 1000
    blocks = [noise] * (encodings._MOST_UNTOLD + 2)
    assert b"".join(legible(Chunks(iter([*blocks, korean])))).endswith(korean)


def test_korean_late_in_a_large_block_of_plain_lines_is_read() -> None:
    text = "step 1 loss 0.1\n" * 40_000 + "오류: 메모리가 부족합니다. 할당 실패하였습니다\n" * 3_000
    assert b"".join(legible(Chunks(iter([text.encode("cp949")])))).decode() == text
