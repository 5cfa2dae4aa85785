"""Several outputs of one machine as one set of facts: GPUs are put together by index and UUID."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gpuhelp.probes.facts import Fact, Facts, FactValue
from gpuhelp.probes.pasted import SOURCE
from gpuhelp.probes.pasted.outputs import Pasted

GPUS = "gpus"
_LISTS = ("kernel.xids", "kernel.oom_kills")
Gpu = dict[str, FactValue]


def facts_of(pasted: Iterable[Pasted]) -> Facts:
    """All facts. Of one that two outputs state the later counts: a person pastes again to show what changed.

    What a later output knows less of stays: a version of PyTorch keeps its local part, and None (looked,
    there is none) does not undo a value.
    """
    known: dict[str, Fact] = {}
    gpus: list[Gpu] = []
    are_told = False
    for each in pasted:
        for name, value in each.facts.items():
            if name == GPUS:
                gpus = _joined(gpus, value)
                are_told = True
            else:
                known[name] = _later(name, known.get(name), Fact(value, SOURCE))
    if are_told:
        known[GPUS] = Fact(_numbered(gpus), SOURCE)
    return Facts(known)


def _later(name: str, before: Fact | None, now: Fact) -> Fact:
    if before is None:
        return now
    old, new = before.value, now.value
    if name in _LISTS and isinstance(old, list) and isinstance(new, list):
        return Fact([*old, *new], now.source)
    if isinstance(old, str) and isinstance(new, str) and old.partition("+")[0] == new:
        return before
    return before if new is None and old is not None else now


def _joined(known: list[Gpu], value: FactValue) -> list[Gpu]:
    """The GPUs known so far with what one more output says of them."""
    told = (
        [dict(gpu) for gpu in value if isinstance(gpu, Mapping)] if isinstance(value, (list, tuple)) else []
    )
    joined = [dict(gpu) for gpu in known]
    for gpu in told:
        same = next((each for each in joined if _is_same(each, gpu, len(joined))), None)
        if same is None:
            joined.append(gpu)
        elif _contradict(same, gpu):
            continue  # of another machine: the first one counts
        else:
            same.update({key: told for key, told in gpu.items() if key != "index" or key not in same})
    return joined


def _is_same(one: Gpu, other: Gpu, count: int) -> bool:
    if "uuid" in one and "uuid" in other:
        return one["uuid"] == other["uuid"]
    if "index" in one and "index" in other:
        return one["index"] == other["index"]
    if "pci" in one and "pci" in other:
        return one["pci"] == other["pci"]
    if "index" not in other and "uuid" not in other and "error" not in other:
        return count == 1 or ("name" in other and one.get("name") == other["name"])
    return False


def _contradict(one: Gpu, other: Gpu) -> bool:
    return "name" in one and "name" in other and one["name"] != other["name"]


def _numbered(gpus: list[Gpu]) -> list[Gpu]:
    """The GPUs by index. A single one that no output numbers is the first."""
    if len(gpus) == 1 and "index" not in gpus[0] and "error" not in gpus[0]:
        gpus = [{"index": 0, **gpus[0]}]
    return sorted(gpus, key=_index)


def _index(gpu: Gpu) -> int:
    index = gpu.get("index")
    return index if isinstance(index, int) else 1 << 30
