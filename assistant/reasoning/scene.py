"""What decides the order of findings besides their entries: time, rank, and whether the run went on. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cached_property
from typing import Any

from gpuhelp.matching.symptoms import Match
from gpuhelp.matching.view import View
from gpuhelp.reading.episodes import swallowed
from gpuhelp.reasoning.kills import follows_an_error, is_bare_kill
from gpuhelp.reasoning.pointers import Pointer, find_pointers, most_telling
from gpuhelp.reasoning.reports import without_reports
from gpuhelp.reasoning.speakers import Speaker, Speakers, number
from gpuhelp.reasoning.survival import Survival
from gpuhelp.reasoning.timeline import Key, Timeline

_BEFORE_THE_RUN_S = 600.0
_KILLS_WITHIN_LINES = 60
"""From the line that says so to the kill; before it in logs that show the last line first."""
Rows = Callable[[str], Iterable[Mapping[str, Any]]]


class Scene:
    """Nothing known but places: sources in the order given, lines in the order of each source."""

    def key(self, match: Match) -> Key:
        """Sorts matches by when they happened."""
        return 0, 0.0, match.document, match.first

    def speaker(self, match: Match) -> Speaker:
        """Who printed the match."""
        return Speaker(number(match.captured.get("rank", "")))

    def gap_s(self, one: Match, other: Match) -> float | None:
        """Seconds from one match to the other, where both times are certain; else None."""
        return None

    def ended_the_run(self, match: Match) -> bool:
        """False if the run went on after it, or began after it."""
        return True

    def of_note(self, matches: Iterable[Match], fallbacks: Collection[str]) -> tuple[Match, ...]:
        """The matches that say something of their own; `fallbacks` know only the kind of a failure."""
        return tuple(matches)

    @property
    def pointed_rank(self) -> str:
        """The rank that a launcher says failed first."""
        return ""

    @property
    def ranks(self) -> frozenset[str]:
        """Every rank that is named."""
        return frozenset()

    @property
    def world_size(self) -> int:
        """How many ranks the text says there are; 0 where it does not."""
        return 0


class EvidenceScene(Scene):
    """All that the evidence tells, each part worked out when it is first asked for.

    `rows` gives the rows of a table of patterns by its name.
    """

    def __init__(self, views: tuple[View, ...], rows: Rows) -> None:
        self._views = views
        self._rows = rows

    def key(self, match: Match) -> Key:
        return self._timeline.key(match.document, match.first)

    def speaker(self, match: Match) -> Speaker:
        return self._speakers.of(match)

    def gap_s(self, one: Match, other: Match) -> float | None:
        return self._timeline.gap_s((one.document, one.first), (other.document, other.first))

    def ended_the_run(self, match: Match) -> bool:
        return not (self._survival.survived(match) or self._is_before_the_run(match))

    def of_note(self, matches: Iterable[Match], fallbacks: Collection[str]) -> tuple[Match, ...]:
        own = tuple(match for match in matches if not self._by_own_hand(match))
        return without_reports(own, fallbacks, self._views, self._swallowed.__getitem__)

    def _by_own_hand(self, match: Match) -> bool:
        """True for a kill by the program itself, or by what started it, after it had said what went wrong."""
        if not is_bare_kill(match):
            return False
        said_so = any(
            pointer.kills
            and pointer.document == match.document
            and abs(match.first - pointer.last) <= _KILLS_WITHIN_LINES
            for pointer in self.pointers
        )
        return said_so or follows_an_error(
            match, self._views[match.document].document, self._swallowed[match.document]
        )

    def speaker_at(self, document: int, line: int) -> Speaker:
        """Who printed a line."""
        return self._speakers.at(document, line)

    @property
    def pointed_rank(self) -> str:
        return number(self.pointer.rank) if self.pointer is not None and not self.pointer.waits else ""

    @property
    def ranks(self) -> frozenset[str]:
        return self._speakers.ranks

    @property
    def world_size(self) -> int:
        return self._speakers.world_size

    @cached_property
    def pointers(self) -> tuple[Pointer, ...]:
        """What launchers say of processes that failed."""
        return find_pointers(self._views, self._rows("root_pointers"))

    @cached_property
    def pointer(self) -> Pointer | None:
        """The one that tells most."""
        return most_telling(self.pointers)

    def _is_before_the_run(self, match: Match) -> bool:
        """True if every other source on the same clock begins well after it: an old line of a system log."""
        moment = self._timeline.moment(match.document, match.first)
        if moment is None or not moment.exact:
            return False
        others = [start for number, start in self._timeline.began(moment.clock) if number != match.document]
        return bool(others) and min(others) > moment.seconds + _BEFORE_THE_RUN_S

    @cached_property
    def _swallowed(self) -> tuple[frozenset[int], ...]:
        """For each document the numbers of the errors that ended nothing."""
        return tuple(swallowed(view.document) for view in self._views)

    @cached_property
    def _timeline(self) -> Timeline:
        return Timeline(tuple(view.document for view in self._views))

    @cached_property
    def _speakers(self) -> Speakers:
        return Speakers(self._views, self._rows("speakers"))

    @cached_property
    def _survival(self) -> Survival:
        return Survival(self._views, self._rows("survivals"))
