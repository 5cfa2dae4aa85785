"""Whatever lies in a file, opening it ends in text or one refusal; what was packed or encoded comes back."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import tarfile
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuhelp.errors import InputError
from gpuhelp.reading.sources import ALL, Notes, Selection, check, open_sources

MAGIC = [
    b"\x1f\x8b\x08\0", b"BZh91AY&SY", b"\xfd7zXZ\0",
    b"(\xb5/\xfd", b"P*M\x18\4\0\0\0abcd", b"PK\3\4", b"PK\1\2",
    b"PK\5\6" + bytes(18),
    b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\xff\xfe\0\0", b"\0\0\xfe\xff", b"\0" * 40,
    b"\0", b'{"cells": [{"cell_type": 1}]}', b'{"name":', b'"message": "m", "stack": "s"}', b"ustar", b"\n",
    b"Traceback\n", gzip.compress(b"x"), bz2.compress(b"x"), lzma.compress(b"x"), "오류".encode("cp949"),
    "오류".encode("utf-16"), b"2026-03-04 10:00:00 x\n",
]  # fmt: skip
BYTES = st.lists(st.sampled_from(MAGIC) | st.binary(max_size=20), max_size=8).map(b"".join)
# Without what is left out (NUL) and what is put in for damage; texts that are no notebook and no archive.
TEXT = st.text(
    alphabet=st.characters(exclude_characters="\0\ufeff\ufffd\r", exclude_categories=["Cs", "Cc"])
    | st.just("\n"),
    max_size=200,
)
SELECTIONS = st.sampled_from([ALL, Selection(last_lines=2), Selection(last_bytes=9), Selection(since="1h")])


def text_of(data: bytes) -> str:
    """The text of the only source in the data."""
    ((text),) = (one.reader.read().decode("utf-8") for one in open_sources(["-"], io.BytesIO(data)))
    return text


@settings(max_examples=300, deadline=None)
@given(BYTES, SELECTIONS)
def test_any_bytes_end_in_text_or_a_refusal(data: bytes, selection: Selection) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.log")
        path.write_bytes(data)
        for names, stdin in (([str(path)], b""), (["-"], data), ([folder], b"")):
            notes, count, refusals = Notes(), 0, 0
            try:
                check(names)
                for one in open_sources(names, io.BytesIO(stdin), selection, notes):
                    count += isinstance(one.reader.read(), bytes)
            except InputError as error:
                refusals = len(error.sayings)
            assert refusals == (not count)
            assert len({str(saying) for saying in notes.sayings}) == len(notes.sayings)


def tar(data: bytes) -> bytes:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w:gz") as archive:
        info = tarfile.TarInfo("rank0.log")
        info.size = len(data)
        archive.addfile(info, io.BytesIO(data))
    return target.getvalue()


def zipped(data: bytes) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("rank0.log", data)
    return target.getvalue()


@pytest.mark.parametrize(
    "pack", [gzip.compress, bz2.compress, lzma.compress, tar, zipped], ids=lambda pack: pack.__name__
)
@settings(max_examples=60, deadline=None)
@given(st.lists(TEXT, max_size=3))
def test_what_was_packed_comes_back(pack: Callable[[bytes], bytes], parts: list[str]) -> None:
    text = "log\n" + "".join(parts)
    assert text_of(pack(text.encode())) == text


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "utf-16-le", "utf-32-be"])
@settings(max_examples=60, deadline=None)
@given(TEXT)
def test_what_was_encoded_comes_back(encoding: str, text: str) -> None:
    # Without a mark it takes the letters and spaces that a log has.
    text = "Traceback (most recent call last):\n" * (20 if encoding.endswith(("le", "be")) else 1) + text
    assert text_of(text.encode(encoding)) == text


@settings(max_examples=60, deadline=None)
@given(st.lists(TEXT.filter(bool), min_size=1, max_size=4))
def test_what_cells_printed_comes_back(texts: list[str]) -> None:
    cells = [{"cell_type": "code", "outputs": [{"output_type": "stream", "text": text}]} for text in texts]
    found = text_of(json.dumps({"cells": cells, "nbformat": 4}).encode())
    assert found == "".join(
        f"# cell {number}\n{text}" + "\n" * (not text.endswith("\n")) for number, text in enumerate(texts, 1)
    )
