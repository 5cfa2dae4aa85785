"""When what stands on a line happened, as far as it can be compared with other lines of other sources. Pure.

A time without a date or a year gets it from times around it. Clocks that cannot be compared never are: places
are then in the order of their sources.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

from gpuhelp.reading.chains import speaker
from gpuhelp.reading.evidence import Document, Evidence, Wrapping
from gpuhelp.reasoning.clocks import BOOT, DAY_S, LOCAL, UTC, YEAR_2000_S, Stamp, parse_time

_LOOK_BACK_LINES = 400
_MOST_SAMPLES = 20_000
_FEWEST_SAMPLES = 16
"""Times read of all sources together, and at least of each: enough to see where midnights and years lie."""
_TIME_OF_DAY = "time of day"
"""The clock of sources that tell no date, where the dates of the others are days apart."""
Key = tuple[int, float, int, int]


class Moment(NamedTuple):
    """Seconds on a clock. It is not `exact` where the line itself has no time: it happened later then."""

    clock: str
    seconds: float
    exact: bool


class _Sample(NamedTuple):
    line: int
    stamp: Stamp


class _Track(NamedTuple):
    """The clock of one document, and moments on it in the order of lines."""

    clock: str
    lines: tuple[int, ...] = ()
    seconds: tuple[float, ...] = ()


class Timeline:
    """The times of all evidence on as few clocks as can be."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence

    def moment(self, document: int, line: int) -> Moment | None:
        """The time of a line: its own, else of the nearest earlier line of its process, else of any."""
        track = self._tracks[document]
        if not track.clock:
            return None
        lines = self._evidence[document].lines
        own = _stamp_on(lines[line].wrapping, track)
        if own is not None:
            return Moment(track.clock, self._seconds(own, line, track), exact=True)
        earlier = self._earlier(document, line)
        if earlier is not None:
            return Moment(track.clock, self._seconds(earlier.stamp, earlier.line, track), exact=False)
        return Moment(track.clock, track.seconds[max(0, bisect_right(track.lines, line) - 1)], exact=False)

    def key(self, document: int, line: int) -> Key:
        """Sorts places: by time within a clock, else by source and line."""
        moment = self.moment(document, line)
        return self._streams[document], 0.0 if moment is None else moment.seconds, document, line

    def gap_s(self, one: tuple[int, int], other: tuple[int, int]) -> float | None:
        """Seconds from one place to the other; None if a time is not exact, or they are of two clocks."""
        first, second = self.moment(*one), self.moment(*other)
        if (
            first is None
            or second is None
            or first.clock != second.clock
            or not (first.exact and second.exact)
        ):
            return None
        return second.seconds - first.seconds

    def began(self, clock: str) -> Iterator[tuple[int, float]]:
        """For each document on that clock its number and its first time."""
        for number, track in enumerate(self._tracks):
            if track.clock == clock:
                yield number, track.seconds[0]

    def _seconds(self, stamp: Stamp, line: int, track: _Track) -> float:
        if stamp.is_whole:
            return stamp.placed(0.0)
        before = bisect_right(track.lines, line) - 1
        return stamp.placed(track.seconds[max(0, before)], forward=before >= 0)

    def _earlier(self, document: int, line: int) -> _Sample | None:
        """The nearest earlier time of the same process, else of any, within bounds."""
        lines = self._evidence[document].lines
        own = speaker(lines[line])
        nearest: _Sample | None = None
        for index in range(line - 1, max(-1, line - 1 - _LOOK_BACK_LINES), -1):
            wrapping = lines[index].wrapping
            stamp = _stamp_on(wrapping, self._tracks[document]) if wrapping.time else None
            if stamp is None:
                continue
            nearest = nearest or _Sample(index, stamp)
            if not any(own) or speaker(lines[index]) == own:
                return _Sample(index, stamp)
        return nearest

    @cached_property
    def _streams(self) -> tuple[int, ...]:
        """Documents on one clock are one stream, named after the first of them; others are their own."""
        first: dict[str, int] = {}
        return tuple(
            first.setdefault(track.clock, number) if track.clock else number
            for number, track in enumerate(self._tracks)
        )

    @cached_property
    def _tracks(self) -> tuple[_Track, ...]:
        most = max(_FEWEST_SAMPLES, _MOST_SAMPLES // max(1, len(self._evidence)))
        sampled = [tuple(_samples(document, most)) for document in self._evidence]
        whole = [
            sample.stamp.placed(0.0)
            for samples in sampled
            for sample in samples
            if sample.stamp.clock == LOCAL and sample.stamp.is_whole
        ]
        anchors = _Anchors(whole, [sample.stamp for samples in sampled for sample in samples])
        return tuple(_track(number, samples, anchors) for number, samples in enumerate(sampled))


class _Anchors:
    """Where stamps of a document that tells no year, or no date, are placed: near those of others."""

    def __init__(self, whole: list[float], stamps: Iterable[Stamp]) -> None:
        self._whole = (min(whole), max(whole)) if whole else None
        dated = next((stamp for stamp in stamps if stamp.clock == LOCAL and stamp.date[1]), None)
        self._dated = dated.placed(YEAR_2000_S + DAY_S) if dated and not whole else None
        self._time_of_day: float | None = None

    def near(self, first: Stamp) -> tuple[str, float]:
        """The clock of a document that begins so, and the moment its first stamp lies near."""
        if not first.is_time_of_day:
            place = self._whole[0] if self._whole else self._dated
            return LOCAL, YEAR_2000_S if place is None else place
        if self._whole is not None and self._whole[1] - self._whole[0] < DAY_S / 2:
            return LOCAL, self._whole[0]
        if self._time_of_day is None:
            self._time_of_day = first.seconds
        return _TIME_OF_DAY, self._time_of_day


def _samples(document: Document, most: int) -> Iterator[_Sample]:
    """Times of a document, evenly spread over its lines."""
    timed = [index for index, line in enumerate(document.lines) if line.wrapping.time]
    for index in timed[:: max(1, -(-len(timed) // most))]:
        stamp = parse_time(document.lines[index].wrapping.time)
        if stamp is not None:
            yield _Sample(index, stamp)


def _track(number: int, samples: tuple[_Sample, ...], anchors: _Anchors) -> _Track:
    if not samples:
        return _Track("")
    clock = Counter(sample.stamp.clock for sample in samples).most_common(1)[0][0]
    samples = tuple(sample for sample in samples if sample.stamp.clock == clock)
    if clock != LOCAL:  # of what machine the seconds since its start are is known of one source at best
        name = f"{BOOT} {number}" if clock == BOOT else UTC
        return _Track(name, tuple(s.line for s in samples), tuple(s.stamp.placed(0.0) for s in samples))
    whole = next((sample.stamp for sample in samples if sample.stamp.is_whole), None)
    name, near = (LOCAL, whole.placed(0.0)) if whole else anchors.near(samples[0].stamp)
    seconds: list[float] = []
    for sample in samples:
        seconds.append(sample.stamp.placed(seconds[-1] if seconds else near, forward=bool(seconds)))
    return _Track(name, tuple(sample.line for sample in samples), tuple(seconds))


def _stamp_on(wrapping: Wrapping, track: _Track) -> Stamp | None:
    """The line's own time, if it is one of the document's clock."""
    stamp = parse_time(wrapping.time) if wrapping.time else None
    family = LOCAL if track.clock == _TIME_OF_DAY else track.clock.split(" ")[0]
    return stamp if stamp is not None and stamp.clock == family else None
