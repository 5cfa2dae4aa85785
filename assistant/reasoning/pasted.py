"""What a text shows of a machine, weighed against what this machine shows: whose facts count.

gpuhelp often runs on another machine than the one that failed, so facts of the two must not be mixed:

- A driver, GPUs, a platform or a host that differ from those of this machine: the text is of another machine
  (or of this one as it was). The pasted facts win, and nothing that was seen here counts.
- Only PyTorch, Python, packages or the toolkit differ: it is this machine, but another environment. The
  pasted facts of the environment win, and of what was seen here the rest counts.
- No such difference: it is this machine. What was seen here wins, for it is newer and more complete; what it
  did not tell is filled up from the text.

What is given beforehand (--env, answers) wins over both: then nobody looks at this machine. Whatever differs
is kept with both values, to be told. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import NamedTuple

from gpuhelp.probes.facts import Fact, Facts, FactValue
from gpuhelp.probes.pasted.merging import facts_of
from gpuhelp.probes.pasted.outputs import TOOLS, hosts_of, read_pasted
from gpuhelp.probes.pasted.values import command_of
from gpuhelp.reading.pieces import RawText


class Part(NamedTuple):
    """The output of one tool in a source; lines count from 1. `tells_failure`: it is a failure by itself."""

    source: str
    tool: str
    first_line: int
    last_line: int
    tells_failure: bool = False


class Pastes(NamedTuple):
    """The outputs that texts hold, in order, what they state together, and the machines that they name."""

    parts: tuple[Part, ...]
    facts: Facts
    hosts: frozenset[str]

    def hold(self, source: str, line: int, text: str = "") -> bool:
        """Whether that line is of one of them, or its command or heading: `$ nvidia-smi`, "My GPU:"."""
        of_source = [part for part in self.parts if part.source == source]
        if of_source and text.rstrip().endswith((":", "：")) and "?" not in text:
            return True
        if any(part.first_line <= line <= part.last_line for part in of_source):
            return True
        above = any(part.first_line - _MOST_ABOVE <= line < part.first_line for part in of_source)
        return above and _is_command(text)

    def named(self, source: str) -> Pastes:
        """The same, all from that source."""
        return self._replace(parts=tuple(part._replace(source=source) for part in self.parts))

    @property
    def show_a_machine(self) -> bool:
        """False where all that stands there are errors: a log that names hosts, as before."""
        return not all(part.tells_failure for part in self.parts)

    @property
    def names_to_compare(self) -> frozenset[str]:
        """The facts of this machine that tell whether the texts are of it."""
        machine = {name for name in _MACHINE if name in self.facts}
        if machine - {"os.platform", "os.wsl"}:
            machine |= {"driver.version", "driver.error", "gpus"}
        return frozenset(machine | {name for name in _TELLING if name in self.facts})


def _is_command(text: str) -> bool:
    """A prompt with the name of a tool behind it, or the name alone; and the fence around its output."""
    text = text.strip()
    named = {tool.name.partition(" ")[0] for tool in TOOLS}
    first = (command_of(text) or text).partition(" ")[0].lstrip("!./\\")
    return first.removesuffix(".exe") in named | {"cat", "sudo"} or text.startswith("```")


_MOST_ABOVE = 3
"""Lines between a command and the first that is recognised of its output."""
NO_FACTS = Facts()


class Contradiction(NamedTuple):
    """A fact of which the text and something else state different values."""

    name: str
    pasted: Fact
    other: Fact

    @property
    def both_have(self) -> bool:
        """False where there is no such thing on one side."""
        missing: tuple[FactValue, ...] = (None, False, [])
        return self.pasted.value not in missing and self.other.value not in missing


class Whose(Enum):
    """Where a text comes from, as far as its facts tell."""

    HERE = "here"
    ENVIRONMENT = "environment"
    ELSEWHERE = "elsewhere"
    GIVEN = "given"


class Weighed(NamedTuple):
    """The facts to judge by, what differed, and why these were taken."""

    facts: Facts
    contradictions: tuple[Contradiction, ...] = ()
    whose: Whose = Whose.HERE

    @property
    def is_elsewhere(self) -> bool:
        """Whether nothing that was seen here counts."""
        return self.whose is Whose.ELSEWHERE


_MACHINE = ("driver.version", "driver.error", "driver.kernel_module_version", "gpus", "os.platform", "os.wsl")
_ENVIRONMENT = ("torch.", "packages.", "python.", "extensions.", "toolkit.")
_TELLING = ("torch.version", "torch.installed", "torch.cuda_runtime_version", "torch.hip_version",
            "python.version", "toolkit.nvcc_version")  # fmt: skip


def pasted_in(texts: Iterable[RawText]) -> Pastes | None:
    """All outputs of tools that the texts hold, None where there are none."""
    found = [
        (raw.name, piece.first_line - 1, pasted)
        for raw in texts
        for piece in raw.pieces
        for pasted in read_pasted(piece.text)
    ]
    if not found:
        return None
    parts = tuple(
        Part(name, each.tool, before + each.first_line, before + each.last_line, each.tells_failure)
        for name, before, each in found
    )
    return Pastes(parts, facts_of(each for _, _, each in found), hosts_of(each for _, _, each in found))


def is_other_host(named: Iterable[str], here: str) -> bool:
    """Whether the text names machines, and this one is not among them; `here` may not be known.

    Docker calls a container by a number: that is the name of no machine.
    """
    short = {name.partition(".")[0].lower() for name in named}
    if not here or not short or re.fullmatch(r"[0-9a-f]{12}", here):
        return False
    return here.partition(".")[0].lower() not in short


def weigh(pasted: Facts, live: Facts, given: Facts = NO_FACTS, *, other_host: bool = False) -> Weighed:
    """The facts of the text, of this machine and of those known beforehand; see above which of them win."""
    return _with_given(_of_text_and_machine(pasted, live, other_host), pasted, given)


def _of_text_and_machine(pasted: Facts, live: Facts, other_host: bool) -> Weighed:
    if not live:
        return Weighed(pasted)
    differing = contradictions(pasted, live)
    names = {each.name for each in differing}
    if other_host or (any(map(_identifies, differing)) and not _is_this_driver(pasted, live)):
        return Weighed(pasted, differing, Whose.ELSEWHERE)
    if any(name.startswith(_ENVIRONMENT) for name in names):
        kept = {name: fact for name, fact in live.items() if not name.startswith(_ENVIRONMENT)}
        theirs = {name: fact for name, fact in pasted.items() if name.startswith(_ENVIRONMENT)}
        here = Facts({**kept, **theirs, **_both_logs(pasted, live)})
        return Weighed(pasted.merged(here), differing, Whose.ENVIRONMENT)
    return Weighed(pasted.merged(live).merged(_both_logs(pasted, live)), differing)


def _identifies(each: Contradiction) -> bool:
    """A machine by what it has. That a driver fails in the text is the failure, not the mark of a machine."""
    if each.name not in _MACHINE:
        return False
    if each.name == "gpus":
        return isinstance(each.pasted.value, list) and any(each.pasted.value)  # names that are told
    return each.name != "driver.error" or each.pasted.value is None


def _both_logs(pasted: Facts, live: Facts) -> Facts:
    """Of the kernel log the text and this machine may each hold a part."""
    both = [name for name in ("kernel.xids", "kernel.oom_kills") if name in pasted and name in live]
    told = {name: (pasted[name].value, live[name].value) for name in both}
    return Facts(
        {
            name: Fact([*one, *(each for each in other if each not in one)], live[name].source)
            for name, (one, other) in told.items()
            if isinstance(one, list) and isinstance(other, list)
        }
    )


def _with_given(weighed: Weighed, pasted: Facts, given: Facts) -> Weighed:
    differing = contradictions(pasted, given)
    told = {each.name for each in differing}
    others = (each for each in weighed.contradictions if each.name not in told)
    whose = Whose.GIVEN if differing else weighed.whose
    return Weighed(weighed.facts.merged(given), (*differing, *others), whose)


def contradictions(pasted: Facts, other: Facts) -> tuple[Contradiction, ...]:
    """What both know and state differently, of all that does not change from one minute to the next."""
    found = []
    for name in sorted(set(pasted) & set(other)):
        if name in _MACHINE or name in _TELLING or name.startswith("packages."):
            one, two = _comparable(name, pasted[name].value), _comparable(name, other[name].value)
            if not _agree(name, one, two):
                sides = Fact(one, pasted[name].source), Fact(two, other[name].source)
                found.append(Contradiction(name, *sides))
    return tuple(found)


def _comparable(name: str, value: FactValue) -> FactValue:
    """GPUs by their names: what else is told of them changes."""
    if name != "gpus":
        return value
    records = value if isinstance(value, (list, tuple)) else ()
    return [str(gpu.get("name", "")) for gpu in records if isinstance(gpu, Mapping)]


def _agree(name: str, one: FactValue, other: FactValue) -> bool:
    if name == "driver.error":
        return (one is None) == (other is None)
    if isinstance(one, list) and isinstance(other, list):
        return _are_among(one, other)
    if isinstance(one, str) and isinstance(other, str):
        short, long = sorted((one.lower(), other.lower()), key=len)
        return short == long or long.startswith((f"{short}.", f"{short}+"))
    return one == other


def _are_among(pasted: list[FactValue], here: list[FactValue]) -> bool:
    """Whether these GPUs may be some of this machine's. A name that was cut off is any GPU's."""
    if not pasted or not here:
        return not pasted and not here
    names = [_bare(name) for name in here]
    return all(not name or not all(names) or _bare(name) in names for name in pasted)


def _bare(name: FactValue) -> str:
    """Older drivers leave the vendor out: Tesla V100-SXM2-16GB, NVIDIA A100-SXM4-40GB."""
    return str(name).lower().removeprefix("nvidia ").removeprefix("tesla ").strip()


def _is_this_driver(pasted: Facts, live: Facts) -> bool:
    """The driver is the one that is loaded here, though NVML does not start at the moment."""
    module, told = live.get("driver.kernel_module_version"), pasted.get("driver.version")
    error = live.get("driver.error")
    is_broken = error is not None and error.value is not None
    return is_broken and module is not None and told is not None and module.value == told.value
