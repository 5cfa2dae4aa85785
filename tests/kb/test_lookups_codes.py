"""CUDA errors and exit statuses are explained; the tables are one object."""

from __future__ import annotations

import pytest

from gpuhelp.kb.evaluation import TABLE_FUNCTIONS
from gpuhelp.kb.lookups import Tables

# CUDA errors and endings


@pytest.mark.parametrize(
    ("key", "code", "entry"),
    [
        (700, 700, "cuda-illegal-address"),
        ("710", 710, "cuda-device-assert"),
        ("cudaErrorNoKernelImageForDevice", 209, "cuda-no-kernel-image"),
        ("CUDA_ERROR_NO_BINARY_FOR_GPU", 209, "cuda-no-kernel-image"),
        ("cuda_error_out_of_memory", 2, "cuda-oom"),
        ("the provided PTX was compiled with an unsupported toolchain.", 222, "cuda-unsupported-ptx"),
        ("all CUDA-capable devices are busy or unavailable", 46, "cuda-devices-busy"),
        ("CUDA-capable device(s) is/are busy or unavailable", 46, "cuda-devices-busy"),
    ],
)
def test_a_cuda_error_is_found_by_number_name_or_text(
    tables: Tables, key: int | str, code: int, entry: str
) -> None:
    error = tables.cuda_error(key)
    assert error is not None
    assert (error.code, error.entry) == (code, entry)


@pytest.mark.parametrize(
    ("old", "today"),
    [(4, 719), (6, 702), (7, 701), (8, 98), (11, 1), (33, 400), (39, 214), (48, 209), (59, 710), (74, 716)],
)
def test_error_numbers_before_cuda_10_1_mean_other_errors(tables: Tables, old: int, today: int) -> None:
    error = tables.cuda_error(old, pre_10_1=True)
    assert error is not None
    assert error.code == today
    assert tables.cuda_error(old) != error


@pytest.mark.parametrize("key", [700_000, "cudaErrorNothing", "", -1, "9" * 50])
def test_an_unknown_cuda_error_is_none(tables: Tables, key: int | str) -> None:
    assert tables.cuda_error(key) is None


def test_errors_that_end_the_context_say_so(tables: Tables) -> None:
    lost, kept = tables.cuda_error(700), tables.cuda_error(2)
    assert lost is not None
    assert kept is not None
    assert lost.restart
    assert not kept.restart


@pytest.mark.parametrize(
    ("status", "name", "entry"),
    [
        (137, "SIGKILL", "host-oom-killed"),
        (-9, "SIGKILL", "host-oom-killed"),
        ("-11", "SIGSEGV", "segmentation-fault"),
        (139, "SIGSEGV", "segmentation-fault"),
        ("SIGBUS", "SIGBUS", "dataloader-shm"),
        (143, "SIGTERM", "job-time-limit"),
        (134, "SIGABRT", None),
        ("0xC0000005", "STATUS_ACCESS_VIOLATION", "segmentation-fault"),
        (3221225477, "STATUS_ACCESS_VIOLATION", "segmentation-fault"),
        (-1073741819, "STATUS_ACCESS_VIOLATION", "segmentation-fault"),
        (255, "exit status 255", None),
        (127, "exit status 127", None),
    ],
)
def test_an_exit_status_tells_how_a_process_ended(
    tables: Tables, status: int | str, name: str, entry: str | None
) -> None:
    ending = tables.ending(status)
    assert ending is not None
    assert (ending.name, ending.entry) == (name, entry)


@pytest.mark.parametrize("status", [42, -99, 250, "SIGNOTHING", "", "0xDEADBEEF"])
def test_a_status_without_meaning_is_none(tables: Tables, status: int | str) -> None:
    assert tables.ending(status) is None


def test_a_windows_loader_number_is_explained(tables: Tables) -> None:
    error = tables.loader_error(126)
    assert error is not None
    assert error.entry == "windows-dll-load-failed"
    assert tables.loader_error("1") is None


# the object


def test_expressions_get_every_function_they_know(tables: Tables) -> None:
    assert set(tables.functions()) == TABLE_FUNCTIONS


def test_an_absent_table_answers_nothing() -> None:
    empty = Tables.from_data({})
    assert empty.torch_index("sm_86", "12.4") is None
    assert empty.wheel_archs("2.6.0") is None
    assert empty.minimum_driver("12.4", "linux") is None
    assert empty.cuda_api_of_driver("550.54") is None
    assert empty.compute_capability_of("Tesla T4") is None
    assert empty.cuda_error(700) is None
    assert empty.ending(137) is None


def test_a_table_that_is_no_mapping_is_refused() -> None:
    with pytest.raises(ValueError, match="gpus"):
        Tables.from_data({"gpus": []})
