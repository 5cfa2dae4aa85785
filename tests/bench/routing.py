"""How often a question finds its entry: shipped questions left out one by one, and questions held out.

    python tests/bench/routing.py [--quick] [--tune] [--misses]

Figures are kept apart: the shipped questions by language, each routed without itself; of the held-out ones
the parts that may be tuned on, and the final parts that nothing is tuned on (left out with --tune).
"first" and "top3" count answers that reach the floor; "false" are answers to questions that want none.
`--quick` leaves out the shipped ones, `--misses` prints what went wrong, save for the final parts.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from gpuhelp.diagnosis import diagnose
from gpuhelp.kb.load import KnowledgeBase, load
from gpuhelp.matching.question_index import QuestionIndex
from gpuhelp.matching.questions import FLOOR, Route, route
from gpuhelp.matching.wording import Wording

HELD_OUT = Path(__file__).resolve().parents[1] / "assistant" / "matching" / "questions_heldout.jsonl"
ASKED = ("en", "ko")
PARTS = ("tune", "tune2", "final", "final2")
TUNED = 2


class Case(NamedTuple):
    """One question; `ids` are the entries that are right, none where "not sure" is the right answer."""

    text: str
    language: str
    ids: tuple[str, ...]
    part: str = "tune"


class Score(NamedTuple):
    """Counts of one set of questions."""

    wanted: int = 0
    first: int = 0
    top3: int = 0
    unwanted: int = 0
    false: int = 0

    def with_answer(self, case: Case, entries: list[str]) -> Score:
        if not case.ids:
            return self._replace(unwanted=self.unwanted + 1, false=self.false + bool(entries))
        first = bool(entries) and entries[0] in case.ids
        top3 = not set(case.ids).isdisjoint(entries[:3])
        return self._replace(wanted=self.wanted + 1, first=self.first + first, top3=self.top3 + top3)

    def __str__(self) -> str:
        told = []
        if self.wanted:
            told.append(
                f"{self.wanted} first {self.first / self.wanted:.3f} top3 {self.top3 / self.wanted:.3f}"
            )
        if self.unwanted:
            told.append(f"{self.unwanted} off topic, false {self.false / self.unwanted:.3f}")
        return "; ".join(told)


def held_out() -> tuple[Case, ...]:
    """The questions written before the entries' own were read."""
    rows = map(json.loads, HELD_OUT.read_text(encoding="utf-8").splitlines())
    return tuple(Case(row["text"], row["lang"], tuple(row["ids"]), row["part"]) for row in rows)


def answers(routes: Iterable[Route]) -> list[str]:
    """The entries of an answer; none where the best one is below the floor, which is "not sure"."""
    found = list(routes)
    return [one.entry for one in found] if found and found[0].agreement >= FLOOR else []


def score(cases: Iterable[Case], ask: Callable[[Case], list[str]], misses: list[str] | None = None) -> Score:
    """The counts; what went wrong is added to `misses`."""
    total = Score()
    for case in cases:
        entries = ask(case)
        after = total.with_answer(case, entries)
        if misses is not None and (after.first == total.first if case.ids else after.false > total.false):
            misses.append(f"  {case.text!r}: {' or '.join(case.ids) or 'none'}, got {entries[:3]}")
        total = after
    return total


def leave_one_out(knowledge: KnowledgeBase, language: str, misses: list[str] | None) -> Score:
    """Each shipped question, routed by all the others; titles are no questions."""
    index = QuestionIndex(
        knowledge.questions, Wording(knowledge.table("synonyms"), knowledge.table("question_words"))
    )
    cases = [
        Case(text, language, (entry,))
        for entry, told in knowledge.questions.items()
        for text in told.get(language, ())[1:]
    ]
    return score(cases, lambda case: answers(index.routes(case.text, left_out=case.text)), misses)


def from_diagnosis(knowledge: KnowledgeBase) -> Callable[[Case], list[str]]:
    """What a person gets who pastes the question: patterns count before the questions of entries."""

    def ask(case: Case) -> list[str]:
        found = diagnose(case.text, knowledge=knowledge)
        nearest = [one.entry for one in found.nearest] if found.findings else []
        return [finding.entry.id for finding in found.findings] + nearest

    return ask


def main(arguments: list[str]) -> None:
    """Print one line a set."""
    knowledge = load()
    misses: list[str] | None = [] if "--misses" in arguments else None
    if "--quick" not in arguments:
        for language in ASKED:
            print(f"left out {language}", leave_one_out(knowledge, language, None))
    ways: Mapping[str, Callable[[Case], list[str]]] = {
        "routed": lambda case: answers(route(case.text, knowledge.questions)),
        "answered": from_diagnosis(knowledge),
    }
    for part in PARTS[:TUNED] if "--tune" in arguments else PARTS:
        for name, ask in ways.items():
            for language in ASKED:
                cases = [case for case in held_out() if (case.language, case.part) == (language, part)]
                kept = misses if part in PARTS[:TUNED] and name == "answered" else None
                print(f"{part} {language} {name}:", score(cases, ask, kept))
    print("\n".join(misses or ()))


if __name__ == "__main__":
    main(sys.argv[1:])
