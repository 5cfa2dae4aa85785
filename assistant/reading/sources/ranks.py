"""Which rank wrote a log, as the names of files tell it: one alone, or several that differ in a number."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import re

_FOLDERS_READ = 2
"""A log lies at most so deep under the folder named for its rank: `rank_3/logs/stderr`."""


def rank_of_name(name: str) -> str:
    """The rank that one name tells, without leading zeros; empty where it tells none.

    Told by a word (`rank3.log`, `log.rank-03`, `worker_3/out.txt`, Open MPI's `1/rank.3/stdout`) or by the
    folders of torchrun's --log-dir (`attempt_0/3/stderr.log`: the local rank). The rank of a node, and
    a local rank where the name calls it so, are not taken for it.
    """
    if not any(character.isdigit() for character in name):
        return ""
    for file in reversed(name.replace("\\", "/").split(":")):  # a member of an archive, then the archive
        if found := _by_word().findall(file.rpartition("/")[2]):
            return _plain(found[-1])
    parts = _parts(name)
    for folder in parts[-2 : -2 - _FOLDERS_READ : -1]:
        if match := _folder_by_word().fullmatch(folder):
            return _plain(match[1])
    return _torchrun_rank(parts)


def ranks_of_names(names: Sequence[str]) -> tuple[str, ...]:
    """The rank of each of several names. What one name does not tell, a set of alike names may.

    Numbered alone (`0.log` … `7.log`): all numbers from 0 are there. After a job's number (`job-4711.0.out`,
    Slurm's `%j.%t`): two or more differ in the last number only. Kubeflow counts its workers without the
    master, and torchrun's folders of several nodes repeat each number: there the numbers are no ranks.
    """
    ranks = [rank_of_name(name) for name in names]
    if len(names) > 1:
        _drop_workers_beside_master(names, ranks)
        _drop_repeated_local_ranks(names, ranks)
        for members in _sets(names, ranks):
            for place, number in members:
                ranks[place] = _plain(number)
    return tuple(ranks)


@lru_cache(1)
def _by_word() -> re.Pattern[str]:
    import re

    return re.compile(
        r"(?i)(?<![a-z])(?<!local[_\-. ])(?<!node[_\-. ])(?:global[_\-.]?rank|rank|worker|task|proc|process)"
        r"[_\-.=]?(\d{1,5})(?![0-9a-z])"
    )


@lru_cache(1)
def _folder_by_word() -> re.Pattern[str]:
    """Nothing but the word and the number: folders are called after tasks, runs and people too."""
    import re

    return re.compile(r"(?i)(?:(?:global[_\-.]?)?rank|worker|proc|process)[_\-.=]?(\d{1,5})")


def _plain(number: str) -> str:
    return number.lstrip("0") or "0"


def _torchrun_rank(parts: Sequence[str]) -> str:
    if len(parts) < 3 or not parts[-3].startswith("attempt_") or not parts[-2].isdecimal():
        return ""
    return _plain(parts[-2]) if parts[-1].partition(".")[0] in ("stdout", "stderr", "error") else ""


def _drop_workers_beside_master(names: Sequence[str], ranks: list[str]) -> None:
    import re

    if any(re.search(r"master-0(?!\d)", name) for name in names):
        for place, name in enumerate(names):
            if re.search(r"worker-\d", name):
                ranks[place] = ""


def _drop_repeated_local_ranks(names: Sequence[str], ranks: list[str]) -> None:
    """A run's folder holds each local rank once; two runs with the same one are two nodes."""
    runs: dict[str, set[str]] = {}
    places = [place for place, name in enumerate(names) if "attempt_" in name and ranks[place]]
    of_torchrun = [place for place in places if _torchrun_rank(_parts(names[place]))]
    for place in of_torchrun:
        runs.setdefault(ranks[place], set()).add("/".join(_parts(names[place])[:-3]))
    if any(len(folders) > 1 for folders in runs.values()):
        for place in of_torchrun:
            ranks[place] = ""


def _parts(name: str) -> list[str]:
    return name.replace("\\", "/").replace(":", "/").split("/")


def _sets(names: Sequence[str], ranks: Sequence[str]) -> Iterable[list[tuple[int, str]]]:
    """Places and numbers of names that have no rank yet and differ in one number alone."""
    import re

    form = re.compile(
        r"(?P<before>(?:.*[/:])?(?:[^/:]*\d{3}\.)?)(?P<number>\d{1,5})(?P<after>\.(?:out|err|log|txt)\b.*)"
    )
    groups: dict[tuple[str, str], list[tuple[int, str]]] = {}
    for place, name in enumerate(names):
        match = form.fullmatch(name.replace("\\", "/"))
        if match and not ranks[place]:
            groups.setdefault((match["before"], match["after"]), []).append((place, match["number"]))
    for (before, _), members in groups.items():
        numbers = {int(number) for _, number in members}
        after_job = before.endswith(".")
        if len(members) == len(numbers) > 1 and (after_job or numbers == set(range(len(numbers)))):
            yield members
