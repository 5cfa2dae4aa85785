"""The cache is plain JSON, whole or refused, and written in one step."""

from __future__ import annotations

import json
import os
import re
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuhelp.kb.store import FORMAT, BrokenStore, checksum, pack, read_cached, unpack, write_cached

KB = Path(__file__).parents[2] / "kb"
SECTIONS: dict[str, Any] = {
    "table/b": [1, 2.5, None, "한국어 \u2028 \ud800"],
    "table/a": {"x": {"y": [True]}},
    "entry/e": {"title": "a\nb"},
}


def contents(data: bytes) -> dict[str, Any]:
    store = unpack(data)
    return {name: store.read(name) for name in store.names("")}


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_what_is_packed_is_unpacked() -> None:
    store = unpack(pack(SECTIONS))
    assert contents(pack(SECTIONS)) == SECTIONS
    assert store.names("table/") == ("a", "b")
    assert "entry/e" in store
    assert "entry/f" not in store
    with pytest.raises(KeyError):
        store.read("entry/f")


def test_an_empty_store_is_a_store() -> None:
    assert unpack(pack({})).names("") == ()


def test_every_line_is_json_and_nothing_else() -> None:
    head, *lines = pack(SECTIONS).split(b"\n")
    assert json.loads(head)["format"] == FORMAT
    assert [json.loads(line) for line in lines] == list(SECTIONS.values())


def test_no_module_of_the_knowledge_base_loads_code_from_data() -> None:
    forbidden = re.compile(r"\b(?:pickle|marshal|shelve|dill|yaml\.load|yaml\.unsafe\w*|eval|exec)\b *[(.\n]")
    found = {path.name for path in KB.glob("*.py") if forbidden.search(path.read_text("utf-8"))}
    assert found == set()


# broken stores


def test_a_changed_byte_is_refused_or_means_the_same() -> None:
    data = pack(SECTIONS)
    for position in range(len(data)):
        for change in (1, 2, 16, 32, 128):
            broken = bytearray(data)
            broken[position] ^= change
            try:
                found = contents(bytes(broken))
            except BrokenStore:
                continue
            assert found == SECTIONS, position


def test_a_store_cut_short_or_made_longer_is_refused() -> None:
    data = pack(SECTIONS)
    for length in range(len(data)):
        with pytest.raises(BrokenStore):
            unpack(data[:length])
    with pytest.raises(BrokenStore):
        unpack(data + b"\n")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n",
        b"null\n",
        b"[]\n",
        b"{}\n",
        b"\x80\x04\x95",
        b"\xff\xfe\n",
        b"[" * 100_000,
        b'{"a":' * 100_000 + b"\n",
        b'{"format": 0, "digest": "", "contents": {}}\n',
        json.dumps({"format": FORMAT, "digest": checksum(b""), "contents": {}}).encode() + b"\nx",
        json.dumps({"format": FORMAT, "digest": "", "contents": {"a": [1]}}).encode() + b"\n",
        json.dumps({"format": FORMAT, "digest": "", "contents": {"a": ["x", "y"]}}).encode() + b"\n",
        json.dumps({"format": FORMAT, "digest": "", "contents": []}).encode() + b"\n",
        b'{"format": %d, "digest": "", "contents": {"a": [Infinity, 1]}}\n' % FORMAT,
    ],
    ids=lambda data: repr(data[:24]),
)
def test_what_is_no_store_is_refused(data: bytes, tmp_path: Path) -> None:
    with pytest.raises(BrokenStore):
        unpack(data)
    (tmp_path / "kb-x.jsonl").write_bytes(data)
    assert read_cached(tmp_path / "kb-x.jsonl") is None


def test_a_store_of_another_format_is_refused() -> None:
    data = pack(SECTIONS).replace(b'"format": %d' % FORMAT, b'"format": %d' % (FORMAT - 1), 1)
    with pytest.raises(BrokenStore, match=f"format {FORMAT - 1}"):
        unpack(data)


@settings(max_examples=200, deadline=None, database=None)
@given(st.binary(max_size=60))
def test_any_bytes_are_refused_or_read(data: bytes) -> None:
    try:
        unpack(data)
    except BrokenStore as error:
        assert error.args  # noqa: PT017


def test_checksums_depend_on_every_part() -> None:
    sums = {checksum(data, start) for data in (b"", b"a", b"b", b"ab") for start in ("", "x")}
    assert len(sums) == 8


# files


def test_a_cache_file_is_written_and_read(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "kb-1.jsonl"
    assert read_cached(path) is None
    assert write_cached(path, pack(SECTIONS))
    store = read_cached(path)
    assert store is not None
    assert store.read("entry/e") == SECTIONS["entry/e"]
    assert names(path.parent) == ["kb-1.jsonl"]


def test_a_file_is_replaced_never_written_into(tmp_path: Path) -> None:
    path, link = tmp_path / "kb-1.jsonl", tmp_path / "link"
    write_cached(path, pack({"a": 1}))
    os.link(path, link)
    assert write_cached(path, pack({"a": 2}))
    assert contents(link.read_bytes()) == {"a": 1}
    assert contents(path.read_bytes()) == {"a": 2}


def test_readers_beside_writers_see_a_whole_store(tmp_path: Path) -> None:
    path = tmp_path / "kb-1.jsonl"
    versions = [pack({"a": ["x" * 50_000, number]}) for number in range(4)]
    write_cached(path, versions[0])
    seen: list[bool] = []

    def write(data: bytes) -> None:
        for _ in range(20):
            write_cached(path, data)

    def look() -> None:
        for _ in range(60):
            seen.append(read_cached(path) is not None)

    threads = [threading.Thread(target=write, args=(data,)) for data in versions]
    threads += [threading.Thread(target=look) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [True] * 120
    assert names(tmp_path) == ["kb-1.jsonl"]


def test_the_oldest_caches_go_and_other_files_stay(tmp_path: Path) -> None:
    for number in range(6):
        path = tmp_path / f"kb-{number}.jsonl"
        write_cached(path, b"x", keep=100)
        os.utime(path, (number, number))
    for other in ("history.jsonl", "kb-ledger.json", "notes.txt"):
        (tmp_path / other).write_text("mine")
        os.utime(tmp_path / other, (0, 0))
    assert write_cached(tmp_path / "kb-new.jsonl", b"x", keep=3)
    kept = {"kb-new.jsonl", "kb-5.jsonl", "kb-4.jsonl", "history.jsonl", "kb-ledger.json", "notes.txt"}
    assert set(names(tmp_path)) == kept


def unwritable(tmp_path: Path, kind: str) -> Path:
    if kind == "folder is a file":
        (tmp_path / "cache").write_text("I was here first")
        return tmp_path / "cache" / "kb-1.jsonl"
    if kind == "path is a folder":
        (tmp_path / "kb-1.jsonl" / "inside").mkdir(parents=True)
        return tmp_path / "kb-1.jsonl"
    if kind == "folder of the kernel":
        if not sys.platform.startswith("linux"):
            pytest.skip("needs /proc")
        return Path("/proc/self/kb-1.jsonl")
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    tmp_path.chmod(0o500)
    return tmp_path / "kb-1.jsonl"


@pytest.mark.parametrize(
    "kind", ["folder is a file", "path is a folder", "folder of the kernel", "read-only folder"]
)
def test_a_place_that_cannot_be_written_is_said_not_raised(tmp_path: Path, kind: str) -> None:
    path = unwritable(tmp_path, kind)
    before = names(tmp_path)
    assert write_cached(path, pack(SECTIONS)) is False
    assert read_cached(path) is None
    assert names(tmp_path) == before


@pytest.mark.parametrize("name", ["kb-a\0b.jsonl", "kb-\ud800.jsonl", f"kb-{'a' * 5000}.jsonl"])
def test_a_name_that_no_file_can_have_is_no_store(tmp_path: Path, name: str) -> None:
    """Such a name stands in a ledger that was altered."""
    assert read_cached(tmp_path / name) is None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
def test_a_pipe_in_the_place_of_the_cache_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "kb-a.jsonl")
    assert read_cached(tmp_path / "kb-a.jsonl") is None


def test_a_giant_in_the_place_of_the_cache_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "kb-a.jsonl"
    path.write_bytes(pack(SECTIONS))
    os.truncate(path, 1 << 40)
    assert read_cached(path) is None
