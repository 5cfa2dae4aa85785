"""Codes are found by number, name and text; conditions and texts can tell them; the tables are one object."""

from __future__ import annotations

import pytest

from gpuhelp.kb.evaluation import TABLE_FUNCTIONS, render
from gpuhelp.kb.expressions import parse_template
from gpuhelp.kb.lookups import ReadTables, Tables

# codes of one space


@pytest.mark.parametrize(
    ("space", "key", "number", "entry"),
    [
        ("cuda", 700, 700, "cuda-illegal-address"),
        ("cuda", "710", 710, "cuda-device-assert"),
        ("cuda", "cudaErrorNoKernelImageForDevice", 209, "cuda-no-kernel-image"),
        ("cuda", "CUDA_ERROR_NO_BINARY_FOR_GPU", 209, "cuda-no-kernel-image"),
        ("cuda", "cuda_error_out_of_memory", 2, "cuda-oom"),
        ("cudnn", 8, 5000, "cudnn-execution-failed"),
        ("hip", "hipErrorMemoryAllocation", 2, "cuda-oom"),
        ("xid", 79, 79, "gpu-fell-off-bus"),
        ("exit", 137, 137, "host-oom-killed"),
        ("exit", -9, -9, "host-oom-killed"),
        ("exit", "-11", -11, "segmentation-fault"),
        ("exit", 139, 139, "segmentation-fault"),
        ("exit", 134, 134, None),
        ("exit", 255, 255, None),
        ("exit", 127, 127, None),
        ("exit", "0xC0000005", 0xC0000005, "segmentation-fault"),
        ("exit", 3221225477, 0xC0000005, "segmentation-fault"),
        ("exit", -1073741819, 0xC0000005, "segmentation-fault"),
        ("signal", "SIGBUS", 7, "dataloader-shm"),
        ("winerror", 126, 126, "windows-dll-load-failed"),
    ],
)
def test_a_code_is_found_by_number_or_name(
    tables: Tables, space: str, key: int | str, number: int, entry: str | None
) -> None:
    code = tables.code(space, key)
    assert code is not None
    assert (code.number, code.entry) == (number, entry)


@pytest.mark.parametrize(("old", "today"), [(39, 214), (48, 209), (59, 710), (74, 716), (77, 700)])
def test_a_number_that_only_older_releases_used_leads_to_the_error_of_today(
    tables: Tables, old: int, today: int
) -> None:
    code = tables.code("cuda", old)
    assert code is not None
    assert code.number == today
    assert (old, "10.0") in code.former


@pytest.mark.parametrize(
    ("old", "today"), [(4, 719), (6, 702), (7, 701), (8, 98), (9, 9), (33, 400), (100, 100)]
)
def test_a_number_that_moved_means_the_error_of_today_first(tables: Tables, old: int, today: int) -> None:
    found = [code.number for code in tables.codes.numbered("cuda", old)]
    assert found[-1] == today
    assert found[0] in (old, today)


@pytest.mark.parametrize(
    ("space", "key"),
    [
        ("cuda", 700_000),
        ("cuda", "cudaErrorNothing"),
        ("cuda", ""),
        ("cuda", -1),
        ("cuda", "9" * 50),
        ("cuda", 10**30),
        ("cuda", "1e5"),
        ("cuda", None),
        ("nothing", 700),
        ("exit", 42),
        ("exit", -99),
        ("exit", 250),
        ("exit", "0xDEADBEEF"),
        ("signal", "SIGNOTHING"),
        ("winerror", 1),
    ],
)
def test_an_unknown_code_is_none(tables: Tables, space: str, key: object) -> None:
    assert tables.code(space, key) is None
    assert tables.code_meaning(space, key) is None
    assert tables.code_name(space, key) is None


def test_errors_that_end_the_context_say_so(tables: Tables) -> None:
    lost, kept = tables.code("cuda", 700), tables.code("cuda", 2)
    assert lost is not None
    assert kept is not None
    assert lost.restart
    assert not kept.restart


def test_a_store_of_tables_has_texts_for_numbers_as_keys(tables: Tables) -> None:
    """JSON has no other keys."""
    table = {
        "errors": [{"code": 710, "runtime": "cudaErrorAssert", "en": "A.", "ko": "가."}],
        "before_10_1": {"59": 710},
    }
    code = Tables.from_data({"cuda_errors": table}).code("cuda", 59)
    assert code is not None
    assert code.number == 710


# in texts


@pytest.mark.parametrize(
    ("template", "told"),
    [
        ("{{ code_name('cuda', error_code) }}", "cudaErrorAssert"),
        (
            "{{ code_meaning('cuda', error_code) }}",
            "A check inside a kernel failed, mostly an index or label out of range.",
        ),
        ("{{ code_meaning('cuda', '123456') }}", "<?>"),
        ("{{ code_meaning('nothing', error_code) }}", "<?>"),
        ("{{ code_meaning('cuda', exit_code) }}", "<exit_code>"),
    ],
)
def test_a_text_can_tell_a_code(tables: Tables, template: str, told: str) -> None:
    from gpuhelp.kb.evaluation import Unknown

    values = {"error_code": "710"}
    text = render(
        parse_template(template), lambda name: values.get(name, Unknown([name])), tables.functions()
    )
    assert text == told


def test_a_meaning_comes_in_both_languages(tables: Tables) -> None:
    english, korean = (tables.code_meaning("xid", 79, language=language) for language in ("en", "ko"))
    assert english is not None
    assert korean is not None
    assert english.isascii()
    assert not korean.isascii()


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
    assert empty.code("cuda", 700) is None
    assert empty.code("exit", 137) is None


def test_a_table_is_read_when_it_is_asked_for() -> None:
    read: list[str] = []

    def table(name: str) -> object:
        read.append(name)
        return {}

    tables = Tables.from_data(ReadTables(table, ["gpus", "xids", "sxids", "scan"]))
    assert read == ["gpus"]
    assert tables.code("xid", 79) is None
    assert read == ["gpus", "xids"]


def test_a_table_that_is_no_mapping_is_refused() -> None:
    with pytest.raises(ValueError, match="gpus"):
        Tables.from_data({"gpus": []})
