"""Which finding is the root, where time, ranks and survival have a say besides the entries."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from gpuhelp.kb.entry import Signature
from gpuhelp.matching.symptoms import Match
from gpuhelp.reasoning.incidents import GUESS, Candidate, rank
from gpuhelp.reasoning.scene import Scene
from gpuhelp.reasoning.speakers import Speaker
from gpuhelp.reasoning.timeline import Key

MakeEntry = Callable[..., Signature]
HOUR = 3600.0


@dataclass
class MadeUp(Scene):
    """A scene in which line numbers are seconds, unless no clock ticks."""

    ticks: bool = True
    speakers: Mapping[int, Speaker] = field(default_factory=dict)
    went_on: frozenset[int] = frozenset()
    pointed: str = ""
    named: frozenset[str] = frozenset()
    size: int = 0

    def key(self, match: Match) -> Key:
        return (0, float(match.first), match.document, match.first) if self.ticks else super().key(match)

    def speaker(self, match: Match) -> Speaker:
        return self.speakers.get(match.first, super().speaker(match))

    def gap_s(self, one: Match, other: Match) -> float | None:
        return float(other.first - one.first) if self.ticks else None

    def ended_the_run(self, match: Match) -> bool:
        return match.first not in self.went_on

    @property
    def pointed_rank(self) -> str:
        return self.pointed

    @property
    def ranks(self) -> frozenset[str]:
        return self.named

    @property
    def world_size(self) -> int:
        return self.size


def match(entry: str, second: float, **more: Any) -> Match:
    return Match(entry, more.pop("document", 0), int(second), int(second), "text", "words", **more)


def told(candidates: tuple[Candidate, ...]) -> list[tuple[str, str, str]]:
    return [(one.signature.id, one.role.value, one.follows) for one in candidates]


def test_time_decides_over_the_order_of_sources(entry: MakeEntry) -> None:
    matches = [match("a", 20, document=0), match("b", 10, document=1)]
    entries = [entry("a"), entry("b")]
    assert told(rank(matches, entries, MadeUp()))[0][0] == "b"
    assert told(rank(matches, entries, MadeUp(ticks=False)))[0][0] == "a"


def test_a_root_beats_time_even_if_clocks_differ_by_a_second(entry: MakeEntry) -> None:
    entries = [entry("oom", leads_to=("timeout",)), entry("timeout")]
    found = rank([match("oom", 11), match("timeout", 10)], entries, MadeUp())
    assert told(found) == [("oom", "root", ""), ("timeout", "consequence", "oom")]


def test_what_came_long_before_is_no_consequence(entry: MakeEntry) -> None:
    entries = [entry("oom", leads_to=("timeout",)), entry("timeout")]
    found = rank([match("oom", HOUR), match("timeout", 10)], entries, MadeUp())
    assert told(found) == [("timeout", "root", ""), ("oom", "root", "")]


@pytest.mark.parametrize(
    ("hours", "process", "linked"),
    [
        (1, {}, True),
        (3, {}, True),
        (3, {0: Speaker(host="n1"), 3 * 3600: Speaker(host="n2")}, False),
        (3, {0: Speaker(pid="7"), 3 * 3600: Speaker(pid="8")}, False),
        (3, {0: Speaker(pid="7"), 3 * 3600: Speaker(pid="7")}, True),
        (13, {}, False),
    ],
)
def test_failures_hours_apart_on_other_processes_are_two_incidents(
    entry: MakeEntry, hours: int, process: dict[int, Speaker], linked: bool
) -> None:
    entries = [entry("oom", leads_to=("timeout",)), entry("timeout")]
    found = rank([match("oom", 0), match("timeout", hours * HOUR)], entries, MadeUp(speakers=process))
    assert told(found)[0] == ("oom", "root", "")
    assert told(found)[1][1] == ("consequence" if linked else "root")


def test_of_two_incidents_the_first_is_told_first_unless_the_other_is_the_hardware(entry: MakeEntry) -> None:
    entries = [entry("soft"), entry("hard", layer="hardware"), entry("other")]
    soft_first = rank([match("soft", 0), match("other", 5 * HOUR)], entries, MadeUp())
    hard_later = rank([match("soft", 0), match("hard", 5 * HOUR)], entries, MadeUp())
    assert [told(soft_first)[0][0], told(hard_later)[0][0]] == ["soft", "hard"]


def test_what_the_run_survived_is_weaker_and_drags_nothing(entry: MakeEntry) -> None:
    entries = [entry("oom", leads_to=("timeout",)), entry("timeout")]
    found = rank([match("oom", 1), match("timeout", 9)], entries, MadeUp(went_on=frozenset({1})))
    assert told(found) == [("timeout", "root", ""), ("oom", "related", "")]


def test_the_finer_form_of_what_was_survived_still_answers_for_it(entry: MakeEntry) -> None:
    entries = [entry("general"), entry("finer", refines=("general",))]
    found = rank([match("general", 1), match("finer", 4)], entries, MadeUp(went_on=frozenset({1, 4})))
    assert told(found) == [("finer", "root", ""), ("general", "consequence", "finer")]


def test_the_finer_form_that_was_survived_does_not_answer_for_what_ended_the_run(entry: MakeEntry) -> None:
    entries = [entry("general"), entry("finer", refines=("general",))]
    found = rank([match("finer", 1), match("general", 9)], entries, MadeUp(went_on=frozenset({1})))
    assert told(found)[0] == ("general", "root", "")


def test_an_error_that_came_again_and_ended_the_run_counts(entry: MakeEntry) -> None:
    entries = [entry("oom", leads_to=("timeout",)), entry("timeout")]
    matches = [match("oom", 1), match("oom", 5), match("timeout", 9)]
    found = rank(matches, entries, MadeUp(went_on=frozenset({1})))
    assert told(found) == [("oom", "root", ""), ("timeout", "consequence", "oom")]


def test_alone_even_what_was_survived_is_the_answer(entry: MakeEntry) -> None:
    assert told(rank([match("oom", 1)], [entry("oom")], MadeUp(went_on=frozenset({1})))) == [
        ("oom", "root", "")
    ]


def test_the_rank_a_launcher_points_to_is_the_root(entry: MakeEntry) -> None:
    matches = [match("a", 1, captured={"rank": "2"}), match("b", 2, captured={"rank": "17"})]
    found = rank(matches, [entry("a"), entry("b")], MadeUp(pointed="17"))
    assert told(found)[0][0] == "b"


def test_any_error_of_one_rank_leaves_the_others_waiting(entry: MakeEntry) -> None:
    entries = [entry("any", fallback=True), entry("timeout", layer="distributed")]
    matches = [
        match("any", 1, captured={"rank": "3"}),
        *[match("timeout", 600 + n, captured={"rank": str(n)}) for n in range(3)],
    ]
    assert told(rank(matches, entries, MadeUp())) == [("any", "root", ""), ("timeout", "consequence", "any")]


@pytest.mark.parametrize(
    ("second", "ranks", "layer"),
    [(900, "3", "distributed"), (1, "1", "distributed"), (1, "", "distributed"), (1, "3", "code")],
    ids=["later", "on a waiting rank", "on an unknown rank", "no collective"],
)
def test_an_error_of_last_resort_is_otherwise_beside_the_point(
    entry: MakeEntry, second: int, ranks: str, layer: str
) -> None:
    entries = [entry("any", fallback=True), entry("timeout", layer=layer)]
    matches = [
        match("any", second, captured={"rank": ranks} if ranks else {}),
        *[match("timeout", 600 + n, captured={"rank": str(n)}) for n in range(3)],
    ]
    assert told(rank(matches, entries, MadeUp()))[0][0] == "timeout"


def test_ranks_are_counted_once_each(entry: MakeEntry) -> None:
    matches = [match("a", second, captured={"rank": str(second % 3)}) for second in range(1, 10)]
    (found,) = rank(matches, [entry("a")], MadeUp(named=frozenset("0123"), size=64))
    assert found.ranks is not None
    assert (found.ranks.on, found.ranks.of, found.ranks.first, found.ranks.place) == (3, 64, "1", 0)


def test_the_first_rank_to_fail_is_not_one_that_only_warned(entry: MakeEntry) -> None:
    matches = [match("a", 1, captured={"rank": "0"}, warning=True), match("a", 2, captured={"rank": "5"})]
    (found,) = rank(matches, [entry("a")], MadeUp(size=8))
    assert found.ranks is not None
    assert (found.ranks.first, found.ranks.place, found.ranks.on) == ("5", 1, 2)


@pytest.mark.parametrize(("captured", "size"), [({}, 8), ({"rank": "0"}, 0), ({"rank": "0"}, 1)])
def test_one_process_has_no_count(entry: MakeEntry, captured: dict[str, str], size: int) -> None:
    (found,) = rank([match("a", 1, captured=captured)], [entry("a")], MadeUp(size=size))
    assert found.ranks is None


def test_a_rank_that_others_tell_is_among_what_is_captured(entry: MakeEntry) -> None:
    (found,) = rank([match("a", 1)], [entry("a")], MadeUp(speakers={1: Speaker("3")}))
    assert (found.matches[0].captured, found.spoken) == ({"rank": "3"}, ("3",))


def test_one_place_is_a_guess_only_if_every_pattern_guesses(entry: MakeEntry) -> None:
    guesses = [match("a", 1, derived={GUESS: "kill"}), match("a", 1, derived={GUESS: "kill", "x": 1})]
    sure = match("a", 1, derived={"at_limit": True})
    (guessed,) = rank(guesses, [entry("a")])
    (certain,) = rank([*guesses, sure], [entry("a")])
    assert guessed.matches[0].derived == {GUESS: "kill", "x": 1}
    assert GUESS not in certain.matches[0].derived
