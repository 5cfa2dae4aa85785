"""Which part of each log to read: its last bytes or lines, or what was written since a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from gpuhelp.errors import InputError, Saying

if TYPE_CHECKING:
    from datetime import datetime

# As tail counts: kB is 1000 bytes, K and KiB are 1024.
_UNITS = {"": 0, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "kb": 10**3, "mb": 10**6, "gb": 10**9}
_UNITS |= {"kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "line": 0, "lines": 0}


class Selection(NamedTuple):
    """The part of each source to read; all of it where nothing is set. `since` is as the person wrote it."""

    last_bytes: int | None = None
    last_lines: int | None = None
    since: str = ""


ALL = Selection()


def selection_from(last: str | None, since: str | None) -> Selection:
    """The selection that --last and --since ask for. Raises InputError for what is no amount, or no time."""
    last_bytes, last_lines = _amount(last) if last else (None, None)
    if since:
        since_of(since)
    return Selection(last_bytes, last_lines, since or "")


def _amount(text: str) -> tuple[int | None, int | None]:
    """Bytes or lines: 10MB, 500KB, 2GB, 5000, 5000lines."""
    import re

    match = re.fullmatch(r"(\d{1,15}(?:\.\d{1,6})?) ?([a-z]*)", text.strip().lower(), re.ASCII)
    unit = _UNITS.get(match[2], -1) if match else -1
    amount = int(float(match[1]) * (unit or 1)) if match else 0
    if unit < 0 or not amount or (not unit and "." in text):
        raise InputError(Saying("error.last", {"text": text}))
    return (amount, None) if unit else (None, amount)


def since_of(text: str) -> Callable[[datetime], datetime]:
    """From the last time in a log, the time from which on its lines are wanted.

    A date is itself; a time of day is the last such moment in the log; 2h is two hours before the log's end.
    Raises InputError for other text.
    """
    import re
    from datetime import datetime, timedelta

    text = text.strip()
    try:
        if match := re.fullmatch(r"(\d{1,6}) ?([smhdw]|min)", text, re.ASCII):
            seconds = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}[match[2][0]] * int(match[1])
            return lambda last: last - min(timedelta(seconds=seconds), last - datetime.min)
        if re.fullmatch(r"\d{1,2}:\d\d(:\d\d)?", text, re.ASCII):
            clock = datetime.strptime(text, "%H:%M:%S" if text.count(":") == 2 else "%H:%M").time()

            def last_moment(last: datetime) -> datetime:
                moment = datetime.combine(last.date(), clock)
                return moment if moment <= last or moment.toordinal() == 1 else moment - timedelta(days=1)

            return last_moment
        if re.fullmatch(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d)?Z?)?", text, re.ASCII):
            given = datetime.fromisoformat(text.removesuffix("Z"))
            return lambda last: given
    except ValueError:  # there is no 30th of February
        pass
    raise InputError(Saying("error.since", {"text": text}))


def date_of(text: str) -> datetime | None:
    """The moment that `since` names by its date; None where it counts from the end of the log."""
    from datetime import datetime

    return datetime.fromisoformat(text.strip().removesuffix("Z")) if text[4:5] == "-" else None
