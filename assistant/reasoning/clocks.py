"""Times as wrappers give them, read: which clock they are of, and how much of a date they tell. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

LOCAL, UTC, BOOT = "local", "utc", "boot"
"""A date without a zone, one with a zone, and seconds since the machine started: no two can be compared."""
DAY_S = 86_400.0
YEAR_2000_S = 10_957 * DAY_S
"""Where stamps without a year are placed if nothing tells one: in a leap year, so that every day exists."""
_LONGEST = 64
"""Characters; no form of time is longer."""
_OLDEST_YEAR = 2012
"""No log of a GPU job is older: tells 24/03/05 (year first) from 03/05/24."""


class Stamp(NamedTuple):
    """One time as read. `date` is (year, month, day), zeros where not told; BOOT has seconds only."""

    clock: str
    date: tuple[int, int, int]
    seconds: float

    @property
    def is_whole(self) -> bool:
        """True if nothing has to be guessed to place it on its clock."""
        return self.clock == BOOT or self.date[0] > 0

    @property
    def is_time_of_day(self) -> bool:
        return self.clock != BOOT and not self.date[1]

    def placed(self, near: float, *, forward: bool = False) -> float:
        """Seconds on its clock; what the stamp does not say is chosen so that it lies near.

        `forward`: it was printed after that moment, so it is the first one that is not clearly before it.
        """
        if self.is_whole:
            return days_since_1970(*self.date) * DAY_S + self.seconds if self.clock != BOOT else self.seconds
        if self.is_time_of_day:
            return self.seconds + DAY_S * _turns(near - self.seconds, DAY_S, 3600.0 if forward else None)
        year = 1970 + int(near // (365.2425 * DAY_S))
        places = [self._in_year(year + step) for step in (-1, 0, 1)]
        if forward:
            return next((place for place in places if place >= near - DAY_S), places[-1])
        return min(places, key=lambda place: abs(place - near))

    def _in_year(self, year: int) -> float:
        return days_since_1970(year, *self.date[1:]) * DAY_S + self.seconds


def _turns(distance: float, period: float, slack: float | None) -> int:
    """How many periods to add: to come nearest, or (with a slack) not to lie further back than that."""
    if slack is None:
        return round(distance / period)
    return -int(-(distance - slack) // period)


def days_since_1970(year: int, month: int, day: int) -> int:
    """Days of the calendar; the 29th of February of another year counts as the 1st of March."""
    from datetime import date

    try:
        return date(year, month, day).toordinal() - 719_163
    except ValueError:
        return date(year, 3, 1).toordinal() - 719_163


_CLOCK = (
    r"(?P<h>\d{1,2}):(?P<m>[0-5]\d)(?::(?P<s>[0-6]\d)(?:[.,:](?P<f>\d{1,9}))?)?(?: ?(?P<half>[AaPp])[Mm]\b)?"
)
_ZONE = r"(?: ?(?P<zone>Z|UTC|GMT|[+-]\d\d(?::?\d\d)?)\b)?"
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_FORMS = (
    # 2024-03-05T10:00:00.123456Z, 2024/03/05 10:00:00, 2024-03-05_10:00:00
    r"(?P<year>\d{4})[-/.](?P<month>\d\d?)[-/.](?P<day>\d\d?)[T _]{1,2}" + _CLOCK + _ZONE,
    # 10:00:00.123
    _CLOCK,
    # 04-15 00:31:11
    r"(?P<month>\d\d)-(?P<day>\d\d) " + _CLOCK,
    # glog: E1114 03:22:18.482214241, and c10's W304 12:17:18
    r"[A-Z]?(?P<month>\d{1,2})(?P<day>\d\d) " + _CLOCK,
    # Jan  5 10:00:00, Tue Mar  5 10:00:00 2024, Tue Mar  5 10:00:00 AM KST 2024
    r"(?:[A-Za-z]{3},? )?(?P<name>[A-Za-z]{3}) +(?P<day>\d{1,2}) " + _CLOCK
    + r"(?: [A-Z]{3,4})?(?: (?P<year>\d{4}))?",
    # in Korean, Japanese and Chinese: 3월  5 10:00:00, 화  3월  5 10:00:00 2024
    r"(?:\S{1,4} {1,2})?(?P<month>\d{1,2})[월月] +(?P<day>\d{1,2})[일日]? " + _CLOCK
    + r"(?: (?P<year>\d{4}))?",
    # 03/05/2024 10:00:00, 5/3/24, 10:00 AM
    r"(?P<a>\d{1,2})[/.-](?P<b>\d{1,2})[/.-](?P<c>\d{4}|\d\d),? " + _CLOCK,
    # 05/Mar/2024:10:00:00 +0000
    r"(?P<day>\d{1,2})[/ -](?P<name>[A-Za-z]{3})[/ -](?P<year>\d{4})[: ]" + _CLOCK + _ZONE,
    # 1709632800 or 1709632800.123 since 1970, 12345.678901 since the start
    r"(?P<epoch>1\d{9})(?:\.(?P<f>\d{1,9}))?|(?P<boot>\d{1,9}\.\d{3,9})",
)  # fmt: skip


@lru_cache(maxsize=1)
def _compiled() -> tuple[Callable[[str], re.Match[str] | None], ...]:
    return tuple(re.compile(form).fullmatch for form in _FORMS)


@lru_cache(maxsize=8192)
def parse_time(text: str) -> Stamp | None:
    """The stamp, None for what is no time in any form that is known."""
    text = text.strip()
    if not 5 <= len(text) <= _LONGEST:
        return None
    for form in _compiled():
        found = form(text)
        stamp = _stamp(found.groupdict()) if found else None
        if stamp is not None:
            return stamp
    return None


def _stamp(told: dict[str, str | None]) -> Stamp | None:
    if told.get("boot"):
        return Stamp(BOOT, (0, 0, 0), float(told["boot"] or 0))
    if told.get("epoch"):
        return Stamp(UTC, (1970, 1, 1), float(told["epoch"] or 0) + _fraction(told))
    seconds = _time_of_day(told)
    date = _date(told)
    if seconds is None or date is None:
        return None
    zone = told.get("zone")
    return Stamp(LOCAL, date, seconds) if zone is None else Stamp(UTC, date, seconds - _offset_s(zone))


def _time_of_day(told: dict[str, str | None]) -> float | None:
    hours, half = int(told["h"] or 0), (told.get("half") or "").lower()
    if hours > (12 if half else 24):
        return None
    if half:
        hours = hours % 12 + (12 if half == "p" else 0)
    return hours * 3600.0 + int(told["m"] or 0) * 60.0 + int(told["s"] or 0) + _fraction(told)


def _fraction(told: dict[str, str | None]) -> float:
    return float(f"0.{told['f']}") if told.get("f") else 0.0


def _offset_s(zone: str) -> float:
    if not zone.startswith(("+", "-")):
        return 0.0
    digits = zone[1:].replace(":", "").ljust(4, "0")
    return (int(digits[:2]) * 3600.0 + int(digits[2:]) * 60.0) * (-1 if zone.startswith("-") else 1)


def _date(told: dict[str, str | None]) -> tuple[int, int, int] | None:
    """Year, month and day, zeros where the text does not say; None for a date that cannot be."""
    if told.get("a"):
        return _turned(int(told["a"] or 0), int(told["b"] or 0), int(told["c"] or 0))
    year, month, day = (int(told.get(name) or 0) for name in ("year", "month", "day"))
    name = (told.get("name") or "").lower()
    if name:
        month = _MONTHS.index(name) + 1 if name in _MONTHS else 0
    if not month and not day and not name:
        return 0, 0, 0
    return (year, month, day) if 1 <= month <= 12 and 1 <= day <= 31 else None


def _turned(a: int, b: int, c: int) -> tuple[int, int, int] | None:
    """A date of three numbers in the order of the United States, else of Europe, else year first."""
    for year, month, day in ((c, a, b), (c, b, a), (a, b, c)):
        year += 2000 if year < 100 else 0
        if year >= _OLDEST_YEAR and 1 <= month <= 12 and 1 <= day <= 31:
            return year, month, day
    return None
