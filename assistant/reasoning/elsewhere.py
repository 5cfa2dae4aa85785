"""Whether the cause stands in the text at all, and if not, whose output holds it. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from gpuhelp.kb.entry import Signature
from gpuhelp.matching.failure import UnknownFailure
from gpuhelp.matching.view import View
from gpuhelp.reasoning.incidents import Candidate
from gpuhelp.reasoning.pointers import Pointer
from gpuhelp.reasoning.scene import EvidenceScene

_MOST_MISSING = 3
"""So many ranks can be named as the ones that others waited for; more say nothing."""


class Elsewhere(NamedTuple):
    """The process whose own output holds the cause. Values are strings as they stand, else empty.

    `says` is the line that points there, at `line` of `source`. `look` says by language where such output is.
    It is not `certain` where ranks only waited for another one.
    """

    program: str
    look: Mapping[str, str]
    certain: bool
    rank: str
    local_rank: str
    host: str
    pid: str
    exit_code: str
    signal: str
    log: str
    says: str
    source: str
    line: int


def led_to(signatures: Iterable[Signature]) -> frozenset[str]:
    """Entries that can be the consequence of another one, its more specific kinds left out."""
    return frozenset(
        other for signature in signatures for other in signature.leads_to if other not in signature.refines
    )


def root_elsewhere(
    candidates: tuple[Candidate, ...],
    failure: UnknownFailure | None,
    views: tuple[View, ...],
    scene: EvidenceScene,
    consequences: Callable[[], frozenset[str]],
) -> Elsewhere | None:
    """Whose output holds the cause; None where the text may hold it, or shows no failure.

    `failure` is what the text shows if there is no candidate. `consequences` gives the ids that `led_to`
    finds; it is asked only when a pointer stands in the text.
    """
    pointer = scene.pointer
    if pointer is None or (pointer.weak and not candidates and failure is None):
        return None
    told = _Told(views, scene.pointers)
    if failure is not None and not candidates and not told.holds_failure(failure):
        return None
    if not all(told.echoes(candidate, consequences) for candidate in candidates):
        return None
    if not pointer.waits:
        return _elsewhere(pointer, views)
    waited_for = _waited_for(scene)
    return None if waited_for is None else _elsewhere(pointer._replace(rank=waited_for), views)


def pointed_failure(elsewhere: Elsewhere) -> UnknownFailure:
    """The failure that only a pointer shows."""
    return UnknownFailure("", "", "", elsewhere.source, elsewhere.line, elsewhere.says)


class _Told:
    """The lines that pointers stand on, with the whole of the errors that they are the message of."""

    def __init__(self, views: tuple[View, ...], pointers: Iterable[Pointer]) -> None:
        self._views = views
        self._lines: set[tuple[int, int]] = set()
        for pointer in pointers:
            self._add(pointer.document, pointer.first, pointer.last)
        for number, view in enumerate(views):
            for error in view.document.errors:
                if self._holds_any(number, *error.said):
                    self._add(number, error.first, error.last)

    def _add(self, document: int, first: int, last: int) -> None:
        self._lines.update((document, line) for line in range(first, last + 1))

    def _holds_any(self, document: int, first: int, last: int) -> bool:
        return any((document, line) in self._lines for line in range(first, last + 1))

    def holds_failure(self, failure: UnknownFailure) -> bool:
        """True if the line that shows the failure is one that points elsewhere."""
        return any(
            view.document.source.name == failure.source
            and any(
                n == number and view.document.lines[line].number == failure.line for n, line in self._lines
            )
            for number, view in enumerate(self._views)
        )

    def echoes(self, candidate: Candidate, consequences: Callable[[], frozenset[str]]) -> bool:
        """True if the candidate is only what pointers say, in other words."""
        if any(match.kind == "question" for match in candidate.matches):
            return False
        held = [self._holds_any(match.document, match.first, match.last) for match in candidate.matches]
        if candidate.signature.fallback:
            warns = [match.warning for match in candidate.matches]
            return all(is_held or warned for is_held, warned in zip(held, warns, strict=True)) and any(held)
        return any(held) and candidate.signature.id in consequences()


def _waited_for(scene: EvidenceScene) -> str | None:
    """The ranks that the others waited for, "" if that is not known; None if every rank waited."""
    waiting = {
        scene.speaker_at(pointer.document, pointer.first).rank for pointer in scene.pointers if pointer.waits
    } - {""}
    everyone = {str(number) for number in range(scene.world_size)} | scene.ranks
    missing = everyone - waiting
    if len(waiting) > 1 and not missing:
        return None
    return ", ".join(sorted(missing, key=int)) if waiting and len(missing) <= _MOST_MISSING else ""


def _elsewhere(pointer: Pointer, views: tuple[View, ...]) -> Elsewhere:
    document = views[pointer.document].document
    lines = document.lines[pointer.first : pointer.last + 1]
    says = lines[0].raw if len(lines) == 1 else " ".join(" ".join(line.text for line in lines).split())
    return Elsewhere(
        pointer.program,
        pointer.look,
        not pointer.waits,
        pointer.rank,
        pointer.local_rank,
        pointer.host,
        pointer.pid,
        pointer.exit_code,
        pointer.signal,
        pointer.log,
        says,
        document.source.name,
        lines[0].number,
    )
