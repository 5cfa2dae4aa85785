"""A conversation goes on whatever happens: errors, defects, and a person who does not want to wait."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from gpuhelp.chat.conversation import Conversation, Outside
from gpuhelp.chat.session import Session
from gpuhelp.diagnosis import Diagnosis
from gpuhelp.errors import InputError
from gpuhelp.probes.facts import Facts
from gpuhelp.rendering.layout import Row

MakeSession = Callable[..., Session]
Example = Callable[[str], str]


class Seen:
    """The screen: what was shown, in order; "[" and "]" stand for being busy."""

    def __init__(self, to_text: Callable[[Iterable[Row]], str]) -> None:
        self.parts: list[str] = []
        self._to_text = to_text

    def show(self, rows: Iterable[Row]) -> None:
        self.parts.append(self._to_text(rows))

    @contextmanager
    def busy(self, text: str) -> Iterator[None]:
        self.parts.append("[")
        yield
        self.parts.append("]")

    @property
    def text(self) -> str:
        return "\n".join(self.parts)


@pytest.fixture
def seen(shown: Callable[[Iterable[Row]], str]) -> Seen:
    return Seen(shown)


def talk(session: Session, seen: Seen) -> Conversation:
    return Conversation(session, Outside(seen.show, seen.busy, lambda error: f"report of {error}"))


def raising(error: BaseException) -> Callable[[str, Facts], Diagnosis]:
    def tool(text: str, given: Facts) -> Diagnosis:
        raise error

    return tool


def test_a_finding_is_shown_before_the_machine_is_looked_at(
    make_session: MakeSession, example: Example, seen: Seen
) -> None:
    conversation = talk(make_session(), seen)
    conversation.answer(example("no-kernel-image"))
    first, begun, ended, second = seen.parts[:4]
    assert ("cuda-no-kernel-image" in first, begun, ended) == (True, "[", "]")
    assert "What to do first" in second
    assert not conversation.session.pending


def test_an_interrupted_look_keeps_the_answer_so_far(
    make_session: MakeSession, example: Example, seen: Seen
) -> None:
    session = make_session()
    session = replace(session, tools=replace(session.tools, look=raising(KeyboardInterrupt())))
    conversation = talk(session, seen)
    conversation.answer(example("no-kernel-image"))
    assert "rests on your text alone" in seen.text
    assert "What to do first" in seen.text
    assert not conversation.session.pending
    conversation.answer("/fix 1")
    assert "undo:" in seen.parts[-2]


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (InputError("no such interpreter"), "no such interpreter"),
        (ZeroDivisionError("oops"), "gpuhelp: this is a defect of gpuhelp; a report is in report of oops"),
    ],
)
def test_a_look_that_breaks_costs_one_line_and_not_the_answer(
    make_session: MakeSession, example: Example, seen: Seen, error: Exception, said: str
) -> None:
    session = make_session()
    session = replace(session, tools=replace(session.tools, look=raising(error)))
    talk(session, seen).answer(example("no-kernel-image"))
    assert said in seen.text
    assert "What to do first" in seen.text


def test_a_defect_leaves_the_session_as_it_was(
    make_session: MakeSession, example: Example, seen: Seen
) -> None:
    conversation = talk(make_session(probes=False), seen)
    conversation.answer(example("no-kernel-image"))
    before = conversation.session
    broken = replace(before, tools=replace(before.tools, diagnose=raising(ValueError("bad"))))
    conversation.session = broken
    conversation.answer("another text")
    assert "report of bad" in seen.text
    assert conversation.session == broken


def test_a_report_that_cannot_be_saved_is_one_line(
    make_session: MakeSession, example: Example, saved: Any, seen: Seen
) -> None:
    saved.error = InputError("report.md exists already")
    conversation = talk(make_session(probes=False), seen)
    conversation.answer(example("no-kernel-image"))
    conversation.answer("/save report.md")
    assert seen.parts[-2] == "report.md exists already"
