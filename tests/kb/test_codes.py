"""The tables of codes are whole, and what people type finds its code."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuhelp.kb.code_words import find_codes, names_near
from gpuhelp.kb.codes import CODE_TABLES, SPACES, CodeBook

_IDS = """
cublas-alloc-failed cublas-execution-failed cublas-invalid-value cublas-not-initialized
cuda-cooperative-launch cuda-device-assert cuda-devices-busy cuda-driver-too-old cuda-ecc-uncorrectable
cuda-forward-compat cuda-graph-capture cuda-hardware-contained cuda-illegal-address cuda-illegal-instruction
cuda-initialization-error cuda-invalid-argument cuda-invalid-configuration cuda-invalid-device-function
cuda-invalid-device-ordinal cuda-invalid-handle cuda-invalid-image cuda-jit-compiler-missing
cuda-launch-failure cuda-launch-resources cuda-launch-timeout cuda-misaligned-address cuda-mps-server
cuda-no-device cuda-no-kernel-image cuda-not-supported cuda-nvlink-uncorrectable cuda-oom cuda-other-error
cuda-peer-access cuda-shared-lib-missing cuda-symbol-not-found cuda-system-not-ready cuda-unknown-error
cuda-unsupported-ptx cudnn-execution-failed cudnn-not-initialized cudnn-not-supported cudnn-version-mismatch
cusolver-cufft-cusparse dataloader-shm gpu-app-fault gpu-engine-fault gpu-fell-off-bus gpu-gsp-timeout
gpu-init-failed gpu-memory-error gpu-nvlink-error gpu-power-throttle gpu-recovery-required host-alloc-failed
host-oom-killed job-time-limit nccl-cuda-error nccl-internal-error nccl-invalid-usage nccl-remote-error
nccl-system-error nccl-timeout nvidia-driver-missing nvml-unsupported nvml-version-mismatch nvrtc-failed
rocm-no-binary rocm-no-device segmentation-fault windows-dll-load-failed wsl-gpu
"""
ENTRIES = frozenset(_IDS.split())
"""Every entry that a code may name; some are still to be written."""
FOLDER = Path(__file__).parents[2] / "kb"
ALL_ENTRIES = 150


def _read(stem: str) -> dict[str, Any]:
    text = (FOLDER / "tables" / f"{stem}.yaml").read_text("utf-8")
    table: dict[str, Any] = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return table


DATA = {stem: _read(stem) for stem in sorted(CODE_TABLES)}
BOOK = CodeBook(DATA)
ROWS = [(name, row) for name, space in SPACES.items() for row in DATA[space.table][space.rows]]


def found(words: str) -> list[tuple[str, int]]:
    return [(code.space, code.number) for code in find_codes(BOOK, words)]


# the tables


def test_a_table_says_its_sources_and_its_date() -> None:
    for stem, table in DATA.items():
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", table["as_of"]), stem
        assert table["source"], stem


@pytest.mark.parametrize("space", SPACES)
def test_every_row_has_a_name_of_its_own_and_a_sentence_in_both_languages(space: str) -> None:
    rows = [row for name, row in ROWS if name == space]
    keys = [
        (row.get("code", row.get("number")), row.get("name", row.get("runtime", row.get("driver"))))
        for row in rows
    ]
    assert rows
    assert len(keys) == len(set(keys))
    for row in rows:
        assert row["en"].endswith("."), row
        assert row["ko"].endswith("."), row
        assert re.search("[가-힣]", row["ko"]), row
        assert not re.search("[가-힣]", row["en"]), row
        assert space == "exit" or row.get("name") or row.get("runtime") or row.get("driver"), row


def test_every_row_names_an_entry_that_there_is_or_will_be() -> None:
    named = {row["entry"] for _, row in ROWS if "entry" in row}
    assert named == ENTRIES
    written = {path.stem for path in (FOLDER / "entries").glob("*/*.yaml") if not path.stem.endswith(".ko")}
    assert len(written) < ALL_ENTRIES or named <= written


def test_only_what_is_no_failure_has_no_entry() -> None:
    spaces = set(SPACES) - {"exit", "signal", "windows", "winerror"}
    without = {
        (code.space, code.number) for code in BOOK.everything() if code.space in spaces and not code.entry
    }
    in_progress = {("nccl", 7), ("cudnn", 1006)}
    assert {one for one in without if one[1] != 0} == in_progress


def test_a_thing_to_do_is_written_out_in_both_languages() -> None:
    for stem in ("xids", "sxids"):
        actions, told = DATA[stem]["actions"], DATA[stem]["codes"]
        named = {row[key] for row in told for key in ("action", "repeated") if key in row}
        named |= {key for row in told for part in row.get("subcodes", ()) for key in part["actions"]}
        assert named == set(actions)
        assert all(set(action) == {"en", "ko"} for action in actions.values())


def test_the_xids_of_nvlink_5_name_their_units_and_154_its_recoveries() -> None:
    parts = {row["code"]: row["subcodes"] for row in DATA["xids"]["codes"] if "subcodes" in row}
    assert set(parts) == {*range(144, 151), 154}
    assert [part["code"] for part in parts[154]] == list(range(8))
    assert all(part["en"] and re.search("[가-힣]", part["ko"]) for one in parts.values() for part in one)


def test_every_code_is_found_by_its_number_and_by_each_of_its_names() -> None:
    for code in BOOK.everything():
        assert code in BOOK.numbered(code.space, code.number)
        assert BOOK.find(code.space, code.number) == code
        for old, _ in code.former:
            assert code in BOOK.numbered(code.space, old)
        for name in code.names:
            assert code in find_codes(BOOK, name.swapcase()), name
            assert BOOK.find(code.space, name) is not None


# what people type


@pytest.mark.parametrize(
    ("words", "first"),
    [
        ("700", ("cuda", 700)),
        ("error 700", ("cuda", 700)),
        ("CUDA error 700", ("cuda", 700)),
        ("CUDA error 2", ("cuda", 2)),
        ("cuda runtime error (59)", ("cuda", 710)),
        ("cuda runtime error (59) : device-side assert triggered at Foo.cu:42", ("cuda", 710)),
        ("cuda runtime error (4)", ("cuda", 719)),
        ("cudaErrorLaunchFailure", ("cuda", 719)),
        ("CUDAERRORLAUNCHFAILURE", ("cuda", 719)),
        ("CUDA_ERROR_OUT_OF_MEMORY", ("cuda", 2)),
        ("RuntimeError: CUDA error: an illegal memory access was encountered", ("cuda", 700)),
        ("all CUDA-capable devices are busy or unavailable", ("cuda", 46)),
        ("Xid 79", ("xid", 79)),
        ("xid=79", ("xid", 79)),
        ("NVRM: Xid (PCI:0000:3b:00): 31, pid=12, name=python", ("xid", 31)),
        ("Xid 144", ("xid", 144)),
        ("SXid 20034", ("sxid", 20034)),
        ("20034", ("sxid", 20034)),
        ("79", ("xid", 79)),
        ("46", ("cuda", 46)),
        ("9", ("cuda", 9)),
        ("100", ("cuda", 100)),
        ("137", ("exit", 137)),
        ("exit 137", ("exit", 137)),
        ("exitcode: -9", ("exit", -9)),
        ("exit code -11", ("exit", -11)),
        ("-9", ("exit", -9)),
        ("signal 9", ("signal", 9)),
        ("SIGBUS", ("signal", 7)),
        ("sigkill", ("signal", 9)),
        ("Segmentation fault", ("signal", 11)),
        ("0xC0000005", ("windows", 0xC0000005)),
        ("3221225477", ("windows", 0xC0000005)),
        ("-1073741819", ("windows", 0xC0000005)),
        ("WinError 126", ("winerror", 126)),
        ("NCCL 5", ("nccl", 5)),
        ("NCCL error 5", ("nccl", 5)),
        ("ncclRemoteError", ("nccl", 6)),
        ("unhandled system error", ("nccl", 2)),
        ("cublas 13", ("cublas", 13)),
        ("CUBLAS_STATUS_NOT_SUPPORTED", ("cublas", 15)),
        ("cublas not supported", ("cublas", 15)),
        ("cudnn 8", ("cudnn", 5000)),
        ("cuDNN status 5000", ("cudnn", 5000)),
        ("CUDNN_STATUS_BAD_PARAM_NULL_POINTER", ("cudnn", 2002)),
        ("NVML_ERROR_GPU_IS_LOST", ("nvml", 15)),
        ("Driver/library version mismatch", ("nvml", 18)),
        ("hipErrorNoBinaryForGpu", ("hip", 209)),
        ("HIP error 100", ("hip", 100)),
        ("cufft 2", ("cufft", 2)),
        ("NVRTC_ERROR_COMPILATION", ("nvrtc", 6)),
    ],
)
def test_what_people_type_finds_its_code(words: str, first: tuple[str, int]) -> None:
    assert found(words)[0] == first


@pytest.mark.parametrize(
    ("words", "all_of"),
    [
        ("9", {("cuda", 9), ("signal", 9), ("nvml", 9), ("hip", 9)}),
        ("46", {("cuda", 46), ("xid", 46)}),
        ("79", {("xid", 79), ("cuda", 219)}),
        ("100", {("cuda", 100), ("xid", 100), ("curand", 100)}),
        ("137", {("exit", 137), ("xid", 137)}),
        ("700", {("cuda", 700), ("hip", 700)}),
        ("CUDA error 4", {("cuda", 4), ("cuda", 719)}),
    ],
)
def test_a_number_with_several_meanings_gives_all_of_them(words: str, all_of: set[tuple[str, int]]) -> None:
    assert all_of <= set(found(words))


@pytest.mark.parametrize(
    ("asked", "near"),
    [
        ("CUDNN_STATUS_BAD_PARAM_SOMETHING_NEW", "CUDNN_STATUS_BAD_PARAM"),
        ("CUDNN_STATUS_NOT_SUPPORTED_SHAPE_3D", "CUDNN_STATUS_NOT_SUPPORTED_SHAPE"),
        ("cudaErrorLaunchFailur", "cudaErrorLaunchFailure"),
    ],
)
def test_an_unknown_name_of_a_known_family_gives_the_nearest_and_says_so(asked: str, near: str) -> None:
    (code,) = find_codes(BOOK, asked)
    assert code.names[0] == near
    assert code.extra["asked"] == asked


@pytest.mark.parametrize(
    "words",
    ["", " ", "Xid 999", "hello world", "CUDA error", str(10**30), "NCCL 99", "exit 42", "\U0001f642",
     "x" * 4096, "0x", "_" * 50, "-", "9" * 4096, "CUDNN_STATUS", "\x1b[31m\x00", "(((((", "Xid (" * 800],
)  # fmt: skip
def test_what_is_no_code_finds_nothing(words: str) -> None:
    assert found(words) == []


def test_a_misspelled_name_has_neighbours() -> None:
    assert names_near(BOOK, "CUBLAS_STATUS_UNSUPPORTED")[0].startswith("CUBLAS_STATUS_")
    assert names_near(BOOK, "qqqq") == ()


@settings(max_examples=60, deadline=None, database=None)
@given(st.text(max_size=200))
def test_no_text_breaks_the_search(words: str) -> None:
    for code in find_codes(BOOK, words):
        assert code.space in SPACES


def test_absent_tables_know_nothing() -> None:
    assert find_codes({}, "700") == ()
    assert names_near({}, "cudaErrorAssert") == ()
