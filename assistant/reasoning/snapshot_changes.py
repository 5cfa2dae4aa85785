"""Which entries the differences between two snapshots touch, those whose verdicts change first. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from gpuhelp.kb.entry import Cause, Entry
from gpuhelp.kb.evaluation import Functions
from gpuhelp.kb.expressions import names_in
from gpuhelp.probes.facts import Facts
from gpuhelp.probes.snapshot_diff import Change, differences
from gpuhelp.reasoning.checkup import check
from gpuhelp.reasoning.derived import derived
from gpuhelp.reasoning.fixes import tools_of
from gpuhelp.reasoning.judge import Verdict, judge
from gpuhelp.reasoning.scope import Scope, scope_of
from gpuhelp.reasoning.troubles import Row


class Turn(NamedTuple):
    """A cause that is judged differently by the two snapshots."""

    entry: Entry
    cause: Cause
    good: Verdict
    bad: Verdict


@dataclass(frozen=True, slots=True)
class Comparison:
    """What differs, the causes that turn, the entries besides whose conditions look at what changed.

    `troubles_good` and `troubles_bad` are the entries that a checkup finds in one of the two only.
    """

    changes: tuple[Change, ...]
    turns: tuple[Turn, ...]
    touched: tuple[Entry, ...]
    troubles_good: tuple[str, ...]
    troubles_bad: tuple[str, ...]

    @property
    def differs(self) -> bool:
        """Whether anything differs that does not change by itself."""
        return any(not change.moves for change in self.changes)


def compare(
    good: Facts, bad: Facts, entries: Iterable[Entry], rows: Iterable[Row], functions: Functions
) -> Comparison:
    """The comparison; `entries` are those that may be touched, `rows` the table of checks."""
    changes, rows = differences(good, bad), tuple(rows)
    names = _names_of(changes)
    near = [entry for entry in entries if any(_looks_at(cause, names) for cause in entry.causes)]
    before, after = _scope(good, functions), _scope(bad, functions)
    found = [tuple(each.entry for each in check(facts, rows, functions).troubles) for facts in (good, bad)]
    only_good, only_bad = (tuple(id for id in one if id not in other) for one, other in (found, found[::-1]))
    turns = sorted((turn for entry in near for turn in _turns(entry, before, after)), key=_by_weight)
    turns.sort(key=lambda turn: turn.entry.id not in only_bad)
    told = {turn.entry.id for turn in turns}
    lasting = _names_of(change for change in changes if not change.moves)
    touched = (entry for entry in near if any(_looks_at(cause, lasting) for cause in entry.causes))
    others = tuple(entry for entry in touched if entry.id not in told)
    return Comparison(changes, tuple(turns), others, only_good, only_bad)


def _names_of(changes: Iterable[Change]) -> frozenset[str]:
    """Names as conditions use them. A GPU that came, went or broke changes the list of GPUs too."""
    names = {change.name for change in changes}
    lists = {"gpus"} if names & {"gpu.error", "gpu.name", "gpu.compute_mode", "gpu.mig_mode"} else set()
    return frozenset(names | lists)


def _looks_at(cause: Cause, names: frozenset[str]) -> bool:
    return bool(names_in([cause.when, cause.hint]) & names)


def _scope(facts: Facts, functions: Functions) -> Scope:
    return scope_of(facts, {}, {**tools_of(facts), **derived(facts)}, functions)


_SPOKEN_FOR = (Verdict.CONFIRMED, Verdict.LIKELY)


def _turns(entry: Entry, good: Scope, bad: Scope) -> list[Turn]:
    """Causes that the facts speak for in one of the two snapshots only."""
    before = {each.cause.id: each.verdict for each in judge(entry.causes, good)}
    return [
        Turn(entry, each.cause, before[each.cause.id], each.verdict)
        for each in judge(entry.causes, bad)
        if (before[each.cause.id] in _SPOKEN_FOR) != (each.verdict in _SPOKEN_FOR)
    ]


def _by_weight(turn: Turn) -> tuple[int, float, str]:
    """What became confirmed first: that is what may explain the failure."""
    order = {Verdict.CONFIRMED: 0, Verdict.LIKELY: 1}
    return order.get(turn.bad, 2), -turn.cause.weight, turn.entry.id
