"""A time is read in whatever form a wrapper gives it, and never placed on a clock that it is not of."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuhelp.reasoning.clocks import BOOT, DAY_S, LOCAL, UTC, parse_time

MARCH_5_2024_10_00 = 1_709_632_800.0


@pytest.mark.parametrize(
    "text",
    [
        "2024-03-05 10:00:00",
        "2024-03-05T10:00:00",
        "2024-03-05 10:00:00,000",
        "2024-03-05 10:00:00.000000",
        "2024/03/05 10:00:00",
        "2024-03-05_10:00:00",
        "Tue Mar  5 10:00:00 2024",
        "Tue Mar  5 10:00:00 AM KST 2024",
        "화  3월  5 10:00:00 2024",
        "03/05/2024 10:00:00",
        "3/5/2024 10:00:00 AM",
        "03/05/24 10:00:00",
        "24/03/05 10:00:00",
        "05/Mar/2024:10:00:00",
    ],
)
def test_a_date_without_a_zone_is_local(text: str) -> None:
    stamp = parse_time(text)
    assert stamp is not None
    assert (stamp.clock, stamp.is_whole, stamp.placed(0.0)) == (LOCAL, True, MARCH_5_2024_10_00)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("2024-03-05T10:00:00Z", MARCH_5_2024_10_00),
        ("2024-03-05T10:00:00.250000123Z", MARCH_5_2024_10_00 + 0.250000123),
        ("2024-03-05 10:00:00 UTC", MARCH_5_2024_10_00),
        ("2024-03-05T10:00:00+09:00", MARCH_5_2024_10_00 - 9 * 3600),
        ("2024-03-05T10:00:00-0530", MARCH_5_2024_10_00 + 5.5 * 3600),
        ("05/Mar/2024:10:00:00 +0000", MARCH_5_2024_10_00),
        ("1709632800", MARCH_5_2024_10_00),
        ("1709632800.5", MARCH_5_2024_10_00 + 0.5),
    ],
)
def test_a_time_with_a_zone_is_of_another_clock(text: str, seconds: float) -> None:
    stamp = parse_time(text)
    assert stamp is not None
    assert stamp.clock == UTC
    assert stamp.placed(0.0) == pytest.approx(seconds, abs=1e-6)


@pytest.mark.parametrize(
    "text", ["03-05 10:00:00", "Mar  5 10:00:00", "3월  5 10:00:00", "E0305 10:00:00.0", "305 10:00:00.0"]
)
def test_a_date_without_a_year_gets_the_nearest_one(text: str) -> None:
    stamp = parse_time(text)
    assert stamp is not None
    assert not stamp.is_whole
    for around in (-170, -1, 0, 1, 170):
        assert stamp.placed(MARCH_5_2024_10_00 + around * DAY_S) == MARCH_5_2024_10_00


def test_after_new_year_s_eve_comes_the_next_year() -> None:
    stamp = parse_time("01-01 00:00:30")
    assert stamp is not None
    eve = 1_704_067_199.0  # 2023-12-31 23:59:59
    assert stamp.placed(eve, forward=True) == eve + 31


def test_after_midnight_comes_the_next_day() -> None:
    stamp = parse_time("00:00:30")
    assert stamp is not None
    assert stamp.is_time_of_day
    evening = MARCH_5_2024_10_00 + 14 * 3600 - 1
    assert stamp.placed(evening, forward=True) == evening + 31
    assert stamp.placed(evening) == evening + 31
    assert stamp.placed(MARCH_5_2024_10_00 - 3600) == MARCH_5_2024_10_00 - 10 * 3600 + 30


def test_a_line_that_is_printed_a_little_late_is_of_the_same_day() -> None:
    stamp = parse_time("09:59:00")
    assert stamp is not None
    assert stamp.placed(MARCH_5_2024_10_00, forward=True) == MARCH_5_2024_10_00 - 60


def test_seconds_since_the_start_are_a_clock_of_their_own() -> None:
    stamp = parse_time("1203417.882913")
    assert stamp is not None
    assert (stamp.clock, stamp.placed(0.0)) == (BOOT, 1203417.882913)


def test_a_leap_day_exists() -> None:
    stamp = parse_time("02-29 12:00:00")
    assert stamp is not None
    assert stamp.placed(MARCH_5_2024_10_00) == MARCH_5_2024_10_00 - 5 * DAY_S + 2 * 3600


@pytest.mark.parametrize(
    "text",
    ["", "now", "99:00:00", "10:61:00", "2024-13-01 10:00:00", "2024-01-32 10:00:00", "Foo  5 10:00:00",
     "+0.000012", "12345", "17:5", "13:00:00 PM", "99/99/2024 10:00:00", "1.2.3 10:00:00 x"],
)  # fmt: skip
def test_what_is_no_time_is_none(text: str) -> None:
    assert parse_time(text) is None


def test_a_hostile_text_costs_no_time() -> None:
    began = time.perf_counter()
    for text in ("0" * 10**6, "1:" * 10**5, "Jan " * 10**5, " " * 10**6):
        assert parse_time(text) is None
    assert time.perf_counter() - began < 1


@given(st.text(max_size=70))
def test_any_text_is_read_or_refused(text: str) -> None:
    stamp = parse_time(text)
    assert stamp is None or isinstance(stamp.placed(MARCH_5_2024_10_00), float)
