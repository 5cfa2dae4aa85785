"""The front of sources: names go in, and open sources come out, one at a time."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import closing
from io import BytesIO
from typing import BinaryIO

from gpuhelp.errors import InputError, Saying
from gpuhelp.reading.sources.contents import Opened, Opener
from gpuhelp.reading.sources.names import STANDARD_INPUT, Place, places_of, refusal
from gpuhelp.reading.sources.notes import Notes
from gpuhelp.reading.sources.selection import ALL, Selection


def check(paths: Iterable[str]) -> None:
    """Raises InputError that names every path which cannot be read. Pipes are left alone."""
    notes = Notes()
    faults: list[str | Saying] = []
    for path in paths:
        try:
            for place in places_of([path], notes):
                if place.is_named and _is_file(place.name):
                    _check_file(place)
        except InputError as error:
            faults += error.sayings
    if faults:
        raise InputError(*faults)


def open_sources(
    paths: Iterable[str], stdin: BinaryIO, selection: Selection = ALL, notes: Notes | None = None
) -> Iterator[Opened]:
    """Every source behind the names, in order; each is closed when the next is asked for.

    What cannot be read, or not to its end, is noted. Raises InputError where nothing at all can be read.
    """
    notes = Notes() if notes is None else notes
    paths = list(paths)
    places = places_of(paths, notes)
    opener = Opener(stdin, selection, notes)
    count = 0
    for place, rank in zip(places, _ranks(places), strict=True):
        with closing(opener.sources(place)) as sources:
            for opened in sources:
                count += 1
                yield opened._replace(rank=opened.rank or rank)
    if not count and paths:
        raise InputError(*(notes.faults or [Saying("error.no_logs", {"path": path}) for path in paths]))


def _ranks(places: tuple[Place, ...]) -> tuple[str, ...]:
    if not any(character.isdigit() for place in places for character in place.name):
        return ("",) * len(places)
    from gpuhelp.reading.sources.ranks import ranks_of_names

    return ranks_of_names([place.name for place in places])


def _is_file(name: str) -> bool:
    return name != STANDARD_INPUT and stat.S_ISREG(os.stat(name).st_mode)  # noqa: PTH116


def _check_file(place: Place) -> None:
    with closing(Opener(BytesIO(), ALL, Notes()).opened(place)) as sources:
        if next(sources, None) is None:
            raise refusal("no_logs", place.name)
