"""Who held the memory when an allocation failed: every wording, and what the parts come to."""

from __future__ import annotations

import pytest

from gpuhelp.diagnosis import diagnose
from gpuhelp.reasoning.memory_account import Holder, MemoryAccount, account_of

GIB = 1 << 30
NEW = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of"
    " 23.64 GiB of which {free} GiB is free. {more}Of the allocated memory 16.80 GiB is allocated by"
    " PyTorch, {pools}and 1.00 GiB is reserved by PyTorch but unallocated."
)
OWN = "Including non-PyTorch memory, this process has 18.30 GiB memory in use. "
OLD = (
    "RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 1; 7.93 GiB total capacity; 2.81 GiB"
    " already allocated; 25.38 MiB free; {rest})"
)


def account(text: str, **facts: object) -> MemoryAccount:
    """The account of the first finding."""
    found = account_of(diagnose(text, facts=facts).findings[0].scope)
    assert found is not None
    return found


def gib(found: MemoryAccount) -> dict[str, float]:
    return {part.holder.value: round(part.held_bytes / GIB, 2) for part in found.parts}


@pytest.mark.parametrize(
    ("text", "parts", "largest"),
    [
        (
            NEW.format(free="1.24", more="Process 77 has 4.10 GiB memory in use. " + OWN, pools=""),
            {"tensors": 16.8, "cache": 1.0, "context": 0.5, "others": 4.1, "free": 1.24},
            Holder.TENSORS,
        ),
        (
            NEW.format(
                free="5.00", more=OWN, pools="with 2.30 GiB allocated in private pools (e.g., CUDA Graphs), "
            ),
            {"tensors": 14.5, "graphs": 2.3, "cache": 1.0, "context": 0.5, "untold": 0.34, "free": 5.0},
            Holder.TENSORS,
        ),
        (
            # In a container the one process that is listed is this one, by the number the host gives it.
            NEW.format(free="0.04", more="Process 77 has 23.60 GiB memory in use. ", pools=""),
            {"tensors": 16.8, "cache": 1.0, "untold": 5.8, "free": 0.04},
            Holder.TENSORS,
        ),
        (
            OLD.format(rest="3.06 GiB reserved in total by PyTorch"),
            {"tensors": 2.81, "cache": 0.25, "untold": 4.85, "free": 0.02},
            Holder.UNTOLD,
        ),
        (
            OLD.format(rest="4.51 GiB cached"),
            {"tensors": 2.81, "cache": 4.51, "untold": 0.59, "free": 0.02},
            Holder.CACHE,
        ),
        (
            "HIP" + OLD.format(rest="3.06 GiB reserved in total by PyTorch").partition("CUDA")[2],
            {"tensors": 2.81, "cache": 0.25, "untold": 4.85, "free": 0.02},
            Holder.UNTOLD,
        ),
    ],
    ids=["others", "graphs", "container", "1.13", "1.2", "rocm"],
)
def test_the_parts_are_those_of_the_message(text: str, parts: dict[str, float], largest: Holder) -> None:
    found = account(text)
    assert gib(found) == pytest.approx(parts, abs=0.011)
    assert sum(part.held_bytes for part in found.parts) == found.capacity_bytes
    assert found.largest is not None
    assert found.largest.holder is largest


def test_a_cap_is_told_beside_what_is_free_beyond_it() -> None:
    text = NEW.format(free="5.84", more="17.80 GiB allowed; ", pools="")
    assert account(text).limit_bytes == int(17.8 * GIB)


def test_processes_of_the_facts_tell_what_the_message_does_not() -> None:
    text = OLD.format(rest="3.06 GiB reserved in total by PyTorch")
    other = {"pid": 7, "name": "python", "memory_bytes": 4 * GIB, "is_self": False}
    gpus = [{"index": 0}, {"index": 1, "memory_total_bytes": int(7.93 * GIB), "processes": [other]}]
    assert gib(account(text, gpus=gpus)) == pytest.approx(
        {"tensors": 2.81, "cache": 0.25, "others": 4.0, "context": 0.85, "free": 0.02}, abs=0.011
    )


def test_figures_that_cannot_be_make_no_account() -> None:
    text = OLD.format(rest="3.06 GiB reserved in total by PyTorch").replace(
        "25.38 MiB free", "25.38 GiB free"
    )
    assert account_of(diagnose(text).findings[0].scope) is None
