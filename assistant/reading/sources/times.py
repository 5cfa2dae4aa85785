"""When the lines of a log were written, for --since: the forms of time that loggers print, on one line."""

from __future__ import annotations

from calendar import monthrange
from datetime import datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import re

_READ_BYTES = 400
"""A time stands at the beginning of a line, behind ranks, hosts and levels; in JSON a little later."""
_LATEST_BARE_BYTES = 40
_MONTH_NAMES = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTHS = dict(zip(_MONTH_NAMES, range(1, 13), strict=True))


class Clock:
    """Reads times line by line. What a form leaves out (year, date) is what brings it near the time before.

    Zones are left as they stand: a log keeps to one.
    """

    def __init__(self, near: datetime | None, is_dated: bool = False) -> None:
        self._near = near
        self.is_dated = is_dated

    def time_of(self, line: bytes) -> datetime | None:
        """The time in a line; None without one. A time of day counts only where no line has a date."""
        bare: re.Match[bytes] | None = None
        for match in _form().finditer(line[:_READ_BYTES]):
            if match["dated"]:
                return self._read(match)
            bare = bare or match
        if bare is None or self.is_dated or not bare["second"] or bare.start() > _LATEST_BARE_BYTES:
            return None
        return self._read(bare)

    def _read(self, match: re.Match[bytes]) -> datetime | None:
        try:
            found = self._moment({name: value.decode() for name, value in match.groupdict(b"").items()})
        except (ValueError, OverflowError):  # digits that are no date
            return None
        self._near = found
        self.is_dated = self.is_dated or bool(match["dated"])
        return found

    def _moment(self, part: dict[str, str]) -> datetime:
        near = self._near or datetime(2000, 1, 1)
        clock = int(part["hour"]), int(part["minute"]), int(part["second"] or 0)
        year, month, day = (_first(part, name) for name in ("year", "month", "day"))
        month = str(_MONTHS.get(part["word"].lower(), "")) or month
        if not month:
            moment = datetime(near.year, near.month, near.day, *clock)
            return _nearest(moment, near) if self._near else moment
        if year or not self._near:
            return datetime(int(year or near.year), int(month), int(day), *clock)
        years = (near.year - 1, near.year, near.year + 1)
        moments = [
            datetime(one, int(month), int(day), *clock)
            for one in years
            if monthrange(one, int(month))[1] >= int(day)
        ]
        return min(moments, key=lambda moment: abs(moment - near))


def _first(part: dict[str, str], name: str) -> str:
    return next(
        (part[key] for key in (name, f"{name}2", f"{name}3", f"{name}4", f"{name}5") if part.get(key)), ""
    )


def _nearest(moment: datetime, near: datetime) -> datetime:
    day = timedelta(days=1)
    return min((moment - day, moment, moment + day), key=lambda one: abs(one - near))


@lru_cache(1)
def _form() -> re.Pattern[bytes]:
    """Dates: 2026-03-01T, 2026/03/01, 03/01/2026, 03-01, I0301, Mar  1. tqdm's 00:01<00:11 is no time."""
    import re

    return re.compile(
        rb"(?<![\d.:<])(?P<dated>"
        rb"(?P<year>(?:19|20)\d\d)[-/.](?P<month>\d\d)[-/.](?P<day>\d\d)[T ,_-]{1,2}"
        rb"|(?P<month2>\d\d)/(?P<day2>\d\d)/(?P<year2>(?:19|20)\d\d),? "
        rb"|(?P<month3>[01]\d)[-/](?P<day3>[0-3]\d) "
        rb"|(?<=[IWEFD])(?P<month4>[01]\d)(?P<day4>[0-3]\d) "
        rb"|(?P<word>[A-Z][a-z]{2}) {1,2}(?P<day5>\d{1,2}) "
        rb")?(?P<hour>[01]\d|2[0-3]):(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d))?(?![\d:<])"
    )
