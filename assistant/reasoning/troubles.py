"""What the rows of kb/tables/checks.yaml find in facts: trouble, GPU by GPU where a row asks for that. Pure.

Each is judged like a finding, through the causes of the entry that explains it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from gpuhelp.kb.entry import Entry
from gpuhelp.kb.evaluation import truth
from gpuhelp.kb.expressions import names_in
from gpuhelp.probes.facts import Fact, Facts
from gpuhelp.reasoning.judge import Judgement, Used, Verdict, judge, value_of
from gpuhelp.reasoning.scope import Scope, scope_of

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something wrong: the entry that explains it, and the layer it is in.

    `names` are those that showed it, with their values in `scope`. `gpus` are the indices of the GPUs that
    have it, where it is the trouble of single ones. `cause` is the cause that the row proves, if it says so.
    """

    entry: str
    layer: str
    names: tuple[str, ...]
    scope: Scope
    gpus: tuple[int, ...] = ()
    cause: str = ""


def find_troubles(rows: Iterable[Row], scope: Scope) -> tuple[Trouble, ...]:
    """All trouble, each entry once: told by its first row that fires, on all GPUs on which that one does."""
    found: dict[str, Trouble] = {}
    for row in rows:
        for trouble in _of_row(row, scope):
            first = found.setdefault(trouble.entry, trouble)
            if first.names == trouble.names:
                gpus = tuple(dict.fromkeys((*first.gpus, *trouble.gpus)))
                found[trouble.entry] = replace(first, gpus=gpus)
    return tuple(found.values())


def judged(trouble: Trouble, entry: Entry) -> tuple[Judgement, ...]:
    """The causes of the entry as these facts judge them, best supported first.

    A cause that the row proves is confirmed by the values the row looked at.
    """
    judgements = judge(entry.causes, trouble.scope)
    proven = [each for each in judgements if each.cause.id == trouble.cause]
    if not proven:
        return judgements
    first = Judgement(proven[0].cause, Verdict.CONFIRMED, used_values(trouble), ())
    return (first, *(each for each in judgements if each.cause.id != trouble.cause))


def used_values(trouble: Trouble) -> tuple[Used, ...]:
    """The values that showed the trouble, with their sources; names without a known value are left out."""
    values = (_used(name, trouble.scope) for name in trouble.names)
    return tuple(value for value in values if value is not None)


def _of_row(row: Row, scope: Scope) -> Iterator[Trouble]:
    names = tuple(sorted(names_in(row["when"])))
    for each in _SCOPES[row.get("each", "")](scope):
        if truth(row["when"], each.lookup, each.functions) is True:
            index = each.gpu.get("index") if row.get("each") else None
            gpus = (index,) if isinstance(index, int) else ()
            yield Trouble(row["entry"], row["layer"], names, each, gpus, row.get("cause", ""))


def _whole(scope: Scope) -> list[Scope]:
    return [scope]


def per_gpu(scope: Scope) -> list[Scope]:
    """A scope for each GPU; the one there is where no GPUs are listed, for a text may tell of its GPU."""
    gpus = scope.facts.get("gpus")
    records = _records(gpus)
    if gpus is None or not records:
        return [scope]
    alone = (scope.facts.merged(Facts({"gpus": Fact([gpu], gpus.source)})) for gpu in records)
    return [scope._replace(gpu=scope_of(facts, {}, {}, scope.functions).gpu) for facts in alone]


def _per_xid(scope: Scope) -> list[Scope]:
    """A scope for each Xid of the kernel log, as if a text had told it, with the GPU at its address."""
    by_address = {_address(each.gpu.get("pci")): each.gpu for each in per_gpu(scope) if each.gpu.get("pci")}
    told = []
    for record in _records(scope.facts.get("kernel.xids")):
        values = {"xid": str(record.get("xid")), "pci": str(record.get("pci", ""))}
        gpu = by_address.get(_address(record.get("pci")), scope.gpu)
        told.append(scope._replace(values={**scope.values, **values}, gpu=gpu))
    return told


_SCOPES = {"": _whole, "gpus": per_gpu, "kernel.xids": _per_xid}


def _records(fact: Fact | None) -> list[Mapping[str, Any]]:
    value = fact.value if fact is not None else None
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, (list, tuple)) else []


def _address(pci: object) -> str:
    """Bus and device: the domain and the function are spelled in several ways, or left out."""
    return str(pci or "").lower().rpartition(".")[0][-5:] or str(pci or "").lower()[-5:]


def _used(name: str, scope: Scope) -> Used | None:
    used = value_of(name, scope)
    log = scope.facts.get("kernel.xids") if name in ("xid", "pci") else None
    return used._replace(source=log.source) if used is not None and log is not None else used
