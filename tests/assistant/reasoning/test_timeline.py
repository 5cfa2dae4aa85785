"""Lines of many sources are put in order as far as their clocks can be compared, and no further."""

from __future__ import annotations

import pytest

from gpuhelp.reading.evidence import Document, Line, Source, Wrapping
from gpuhelp.reasoning.timeline import Moment, Timeline


def document(*lines: tuple[str, ...], name: str = "a.log") -> Document:
    """`document(("10:00:00", "3"), ("",))`: lines with a time, a rank and a host."""
    made = tuple(
        Line(number, "text", "text", Wrapping(time=given[0], rank=(*given, "")[1], host=(*given, "", "")[2]))
        for number, given in enumerate(lines, 1)
    )
    return Document(Source(name, 0, len(lines)), made)


def order(*documents: Document) -> list[tuple[int, int]]:
    timeline = Timeline(documents)
    places = [(n, line) for n, one in enumerate(documents) for line in range(len(one.lines))]
    return sorted(places, key=lambda place: timeline.key(*place))


def test_sources_of_one_clock_are_merged() -> None:
    one = document(("2024-03-05 10:00:00",), ("2024-03-05 10:00:02",))
    two = document(("2024-03-05 10:00:01",), ("2024-03-05 10:00:03",))
    assert order(one, two) == [(0, 0), (1, 0), (0, 1), (1, 1)]


@pytest.mark.parametrize(
    "form",
    ["03-05 10:00:01", "Mar  5 10:00:01", "10:00:01", "E0305 10:00:01.000", "Tue Mar  5 10:00:01 2024"],
)
def test_forms_of_one_clock_are_compared(form: str) -> None:
    one = document(("2024-03-05 10:00:00,000",), ("2024-03-05 10:00:02,000",))
    assert order(one, document((form,))) == [(0, 0), (1, 0), (0, 1)]


@pytest.mark.parametrize("other", ["2024-03-05T01:00:00Z", "1203417.882913", ""])
def test_clocks_that_cannot_be_compared_keep_the_order_of_sources(other: str) -> None:
    one = document(("2024-03-05 10:00:00",), ("2024-03-05 10:00:02",))
    assert order(one, document((other,))) == [(0, 0), (0, 1), (1, 0)]
    assert order(document((other,)), one) == [(0, 0), (1, 0), (1, 1)]
    assert Timeline((one, document((other,)))).gap_s((0, 0), (1, 0)) is None


def test_seconds_since_the_start_of_two_machines_are_two_clocks() -> None:
    one, two = document(("500.000001",)), document(("100.000001",))
    assert order(one, two) == [(0, 0), (1, 0)]


def test_zones_are_compared_with_one_another() -> None:
    one, two = document(("2024-03-05T10:00:00+09:00",)), document(("2024-03-05T00:59:59Z",))
    assert order(one, two) == [(1, 0), (0, 0)]


def test_times_of_day_run_over_midnight() -> None:
    one = document(("23:59:58",), ("00:00:02",))
    two = document(("23:59:59",), ("00:00:01",))
    assert order(one, two) == [(0, 0), (1, 0), (1, 1), (0, 1)]


def test_a_source_that_begins_after_midnight_belongs_to_the_same_night() -> None:
    one, two = document(("23:59:58",)), document(("00:00:01",))
    assert order(two, one) == [(1, 0), (0, 0)]


def test_times_of_day_are_not_compared_with_dates_that_are_days_apart() -> None:
    dated = document(("2024-03-05 10:00:00",), ("2024-03-09 10:00:00",))
    assert Timeline((dated, document(("11:00:00",)))).gap_s((0, 0), (1, 0)) is None


def test_a_year_turns_within_a_source() -> None:
    one = document(("Dec 31 23:59:58",), ("Jan  1 00:00:02",))
    two = document(("Dec 31 23:59:59",), ("Jan  1 00:00:01",))
    assert order(one, two) == [(0, 0), (1, 0), (1, 1), (0, 1)]


def test_a_line_without_a_time_has_that_of_the_nearest_earlier_line() -> None:
    timeline = Timeline((document(("2024-03-05 10:00:00",), ("",), ("2024-03-05 10:00:05",)),))
    first, second = timeline.moment(0, 0), timeline.moment(0, 1)
    assert first is not None
    assert second == Moment(first.clock, first.seconds, exact=False)


def test_of_the_same_process_if_one_of_it_is_near() -> None:
    lines = [("2024-03-05 10:00:00", "3"), ("2024-03-05 10:00:05", "0"), ("", "3"), ("", "7")]
    timeline = Timeline((document(*lines),))
    assert timeline.key(0, 2)[1] == timeline.key(0, 0)[1]
    assert timeline.key(0, 3)[1] == timeline.key(0, 1)[1]


def test_looking_back_has_a_bound() -> None:
    lines = [("2024-03-05 10:00:00", "3"), *[("2024-03-05 10:00:05", "0")] * 500, ("", "3")]
    timeline = Timeline((document(*lines),))
    assert timeline.key(0, 501)[1] == timeline.key(0, 1)[1]


def test_before_the_first_time_stands_the_first_time() -> None:
    timeline = Timeline((document(("",), ("2024-03-05 10:00:00",)),))
    moment = timeline.moment(0, 0)
    assert moment is not None
    assert not moment.exact


def test_only_certain_times_tell_a_gap() -> None:
    timeline = Timeline((document(("2024-03-05 10:00:00",), ("",), ("2024-03-05 11:00:00",)),))
    assert timeline.gap_s((0, 0), (0, 2)) == 3600
    assert timeline.gap_s((0, 1), (0, 2)) is None


def test_a_thousand_sources_are_read_in_little_time() -> None:
    many = tuple(
        document(*[(f"2024-03-05 10:{n % 60:02d}:{s:02d}",) for s in range(60)]) for n in range(1000)
    )
    timeline = Timeline(many)
    assert timeline.key(999, 0) > timeline.key(0, 0)


def test_nothing_is_in_order() -> None:
    assert order() == []
