"""One step of the chat at a time: every command, both languages, and answers in two parts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from gpuhelp.chat.commands import COMMANDS
from gpuhelp.chat.session import Session, look, step, without_look
from gpuhelp.errors import InputError
from gpuhelp.kb.load import KnowledgeBase
from gpuhelp.rendering.layout import Row

MakeSession = Callable[..., Session]
Example = Callable[[str], str]
Shown = Callable[[Iterable[Row]], str]
UNKNOWN = """loading the frobnicator
thread 'main' panicked at src/zorblax.rs:12:
the glimmer is lost
"""
HEALTHY = "\n".join(f"epoch {number} loss 0.{99 - number} lr 3.0e-04" for number in range(1, 15))
KOREAN = re.compile("[가-힣]")


@pytest.fixture
def answered(make_session: MakeSession, example: Example) -> Session:
    """A session in English that has told all of one answer."""
    asked, _ = step(make_session(), example("no-kernel-image"))
    return look(asked)[0]


def test_the_first_part_tells_finding_and_evidence_and_the_second_causes_and_one_fix(
    make_session: MakeSession, example: Example, shown: Shown
) -> None:
    asked, first = step(make_session(), example("no-kernel-image"))
    assert asked.pending
    assert "cuda-no-kernel-image" in shown(first)
    assert "input:27" in shown(first)
    assert "Causes" not in shown(first)
    answered, second = look(asked)
    text = shown(second)
    assert not answered.pending
    assert "GPU 0  NVIDIA GeForce RTX 5090 · 31.0 GiB of 32.0 GiB free" in text
    assert "torch.ask  no answer in time: no answer within 3.0 s" in text
    assert "✔ confirmed" in text
    assert len(re.findall(r"^\d+  ", text, re.MULTILINE)) == 1
    assert re.search(r"\d+ more: /fix 2", text)
    assert "/more shows them" in text
    assert "--all" not in text


@pytest.mark.parametrize("given", [{}, {"torch.version": "2.6.0"}])
def test_without_a_look_all_comes_at_once(
    make_session: MakeSession, example: Example, shown: Shown, given: dict[str, Any]
) -> None:
    session, rows = step(make_session(probes=False, given=given), example("no-kernel-image"))
    assert not session.pending
    assert "Where it shows" in shown(rows)
    assert "What to do first" in shown(rows)
    assert bool(re.search(r"  2\.6\.0  \(.*snapshot", shown(rows))) is bool(given)


def test_who_held_the_memory_is_told_before_anything_is_looked_at(
    make_session: MakeSession, example: Example, shown: Shown
) -> None:
    _, rows = step(make_session(), example("ddp-oom"))
    assert re.search(r"█ tensors of this process +75\.0 GiB +94\.7%", shown(rows))


def test_who_does_not_wait_gets_causes_and_a_fix_from_the_text_alone(
    make_session: MakeSession, example: Example, shown: Shown
) -> None:
    asked, _ = step(make_session(), example("no-kernel-image"))
    session, rows = without_look(asked)
    assert not session.pending
    assert "rests on your text alone" in shown(rows)
    assert "What to do first" in shown(rows)
    assert "570.86.10" not in shown(rows)


def test_why_tells_the_pattern_the_lines_and_the_values_for_every_cause(
    answered: Session, shown: Shown
) -> None:
    text = shown(step(answered, "/why")[1])
    assert "the text matches the pattern" in text
    assert "input:3" in text
    assert "sm_120 (" in text
    assert "would decide: " in text
    assert "ruled out" in text
    assert len(answered.diagnosis.findings[0].judgements) == len(re.findall("[✔●○?✘] ", text))  # type: ignore[union-attr]


def test_more_lists_every_cause_fix_and_finding(
    make_session: MakeSession, example: Example, shown: Shown
) -> None:
    session, _ = step(make_session(probes=False), example("ddp-oom"))
    assert session.diagnosis is not None
    others = session.diagnosis.findings[1:]
    text = shown(step(session, "/more")[1])
    assert others
    assert all(finding.entry.id in text for finding in others)
    assert "All fixes" in text
    assert "https://" in text


def test_a_fix_is_told_in_full_by_its_number(answered: Session, shown: Shown) -> None:
    text = shown(step(answered, "/fix 2")[1])
    assert text.startswith("2  ")
    assert "undo:" in text
    assert "check:" in text


def test_fixes_without_a_number_are_listed(answered: Session, shown: Shown) -> None:
    text = shown(step(answered, "/fix")[1])
    assert re.findall(r"^(\d+)  ", text, re.MULTILINE)[:2] == ["1", "2"]
    assert "undo:" not in text


@pytest.mark.parametrize("number", ["0", "999", "-1", "two", "1 2", "9" * 5000, "²"])
def test_a_fix_that_is_not_there_is_answered_with_the_range(
    answered: Session, shown: Shown, number: str
) -> None:
    after, rows = step(answered, f"/fix {number}")
    assert after == answered
    assert "Choose a number from 1 to " in shown(rows)


def test_facts_are_told_with_their_sources_in_groups(answered: Session, shown: Shown) -> None:
    lines = shown(step(answered, "/facts")[1]).splitlines()
    (driver,) = (line for line in lines if line.startswith("driver.version  570.86.10  ("))
    assert lines.index("driver") < lines.index(driver) < lines.index("gpus")
    assert any(line.startswith("gpus[0]  index 0 · name NVIDIA GeForce RTX 5090") for line in lines)
    assert any(line.startswith("torch.arch_list") and "line 3 of the text" in line for line in lines)
    assert any(line.startswith("torch.ask  no answer in time") for line in lines)


def test_facts_of_a_snapshot_are_known_before_any_text(make_session: MakeSession, shown: Shown) -> None:
    session = make_session(probes=False, given={"driver.version": "550.54"})
    assert re.search(r"driver\.version  550\.54  \(.*snapshot", shown(step(session, "/facts")[1]))


@pytest.mark.parametrize("name", ["cuda-oom", "CUDA OOM", "cuda_oom"])
def test_an_entry_is_explained(make_session: MakeSession, shown: Shown, name: str) -> None:
    text = shown(step(make_session(), f"/explain {name}")[1])
    assert "cuda-oom · " in text
    assert "Causes" in text


def test_an_unknown_entry_is_answered_with_the_nearest(make_session: MakeSession, shown: Shown) -> None:
    text = shown(step(make_session(), "/explain cuda-ooom")[1])
    assert text.startswith("There is no entry cuda-ooom.")
    assert "cuda-oom  " in text


def test_the_answer_is_told_again_whole_in_the_other_language(answered: Session, shown: Shown) -> None:
    korean, rows = step(answered, "/lang ko")
    text = shown(rows)
    finding = answered.diagnosis.findings[0]  # type: ignore[union-attr]
    english = [finding.entry.title, finding.entry.summary, *(one.cause.title for one in finding.judgements)]
    assert finding.entry.title.of("ko") in text
    assert "입력:27" in text
    assert not any(" ".join(told.of("en").split()) in text for told in english)
    assert [line for line in text.splitlines() if line.endswith(".") and not KOREAN.search(line)] == []
    assert "RTX 5090 · 전체 32.0 GiB 중 31.0 GiB 사용 가능" in text
    assert "가장 먼저 할 일" in text
    back, again = step(korean, "/lang en")
    assert back.language == "en"
    assert "What to do first" in shown(again)
    assert not KOREAN.search(shown(again))


def test_lang_tells_the_last_command_again(answered: Session, shown: Shown) -> None:
    listed, english = step(answered, "/fix 2")
    _, korean = step(listed, "/lang ko")
    assert shown(korean).startswith("2  ")
    assert KOREAN.search(shown(korean))
    assert shown(korean) != shown(english)


def test_lang_before_any_answer_says_so_and_a_wrong_one_what_would_be_right(
    make_session: MakeSession, shown: Shown
) -> None:
    assert shown(step(make_session(), "/lang ko")[1]) == "이제부터 한국어로 답합니다."
    session, rows = step(make_session(), "/lang fr")
    assert (session.language, shown(rows)) == ("en", "Write /lang en or /lang ko.")


def test_a_report_is_saved_in_the_language_of_the_conversation(
    answered: Session, saved: Any, shown: Shown
) -> None:
    korean, _ = step(answered, "/lang ko")
    _, rows = step(korean, '/save "my report.md"')
    assert saved.reports == [("my report.md", "cuda-no-kernel-image", "ko")]
    assert "my report.md에 저장했습니다" in shown(rows)


def test_a_report_that_cannot_be_saved_raises_and_one_without_a_name_is_asked_for_it(
    answered: Session, saved: Any, shown: Shown
) -> None:
    assert "Name a file" in shown(step(answered, "/save")[1])
    saved.error = InputError("report.md exists already")
    with pytest.raises(InputError):
        step(answered, "/save report.md")


@pytest.mark.parametrize("command", ["/why", "/more", "/fix", "/fix 1", "/save x.md"])
@pytest.mark.parametrize("language", ["en", "ko"])
def test_commands_before_any_answer_say_that_there_is_none(
    make_session: MakeSession, shown: Shown, command: str, language: str
) -> None:
    session = make_session(language)
    after, rows = step(session, command)
    assert after == session
    assert shown(rows) == session.words("chat.nothing_yet")


@pytest.mark.parametrize("language", ["en", "ko"])
def test_help_names_every_command(make_session: MakeSession, shown: Shown, language: str) -> None:
    text = shown(step(make_session(language), "/help")[1])
    assert all(f"/{name}" in text for name in COMMANDS)


def test_quit_finishes(make_session: MakeSession) -> None:
    assert step(make_session(), "/quit")[0].finished


@pytest.mark.parametrize(
    ("typed", "near"),
    [
        ("/fixx", "/fix"),
        ("/expalin", "/explain"),
        ("/wh", "/why"),
        ("/qqq", "/help lists"),
        ("/", "/help lists"),
    ],
)
def test_an_unknown_command_is_one_line_with_the_nearest(
    make_session: MakeSession, shown: Shown, typed: str, near: str
) -> None:
    session, rows = step(make_session(), typed)
    assert len(rows) == 1
    assert near in shown(rows)
    assert session.diagnosis is None


def test_a_log_line_that_begins_with_a_path_is_no_command(make_session: MakeSession, shown: Shown) -> None:
    session, rows = step(make_session(), "/usr/bin/python: No module named torch")
    assert session.diagnosis is not None
    assert "not a command" not in shown(rows)


@pytest.mark.parametrize("language", ["en", "ko"])
def test_a_question_is_answered_in_the_language_of_the_conversation(
    make_session: MakeSession, knowledge: KnowledgeBase, shown: Shown, language: str
) -> None:
    question = knowledge.entry("cuda-driver-too-old").questions.of(language)[0]
    session, first = step(make_session(language), question)
    assert session.pending
    _, second = look(session)
    text = shown((*first, *second))
    assert session.words("evidence") not in text  # a person's own question is no evidence
    assert session.words("chat.first_fix") in text
    assert ("/explain ID" in text) is bool(session.diagnosis and session.diagnosis.nearest)


def test_an_unknown_failure_is_described_and_nothing_made_up(make_session: MakeSession, shown: Shown) -> None:
    session, rows = step(make_session(), UNKNOWN)
    text = shown(rows)
    assert not session.pending
    assert session.words("unknown.title") in text
    assert "input:2  thread 'main' panicked at src/zorblax.rs:12:" in text
    assert shown(step(session, "/why")[1]) == text
    assert shown(step(session, "/fix")[1]) == "No fix is known for this."


@pytest.mark.parametrize(
    ("language", "said"),
    [("en", "No failure found. Lines read: 14"), ("ko", "문제를 찾지 못했습니다. 읽은 줄 수: 14")],
)
def test_a_healthy_text_is_called_healthy(
    make_session: MakeSession, shown: Shown, language: str, said: str
) -> None:
    session, rows = step(make_session(language), HEALTHY)
    assert not session.pending
    assert shown(rows).startswith(said)


@pytest.mark.parametrize(
    ("language", "said"), [("en", "Paste the whole error message"), ("ko", "붙여 넣어 주세요")]
)
def test_a_question_about_something_else_asks_for_the_error(
    make_session: MakeSession, shown: Shown, language: str, said: str
) -> None:
    assert said in shown(step(make_session(language), "how do I bake sourdough bread")[1])


def test_a_blank_message_says_nothing(make_session: MakeSession) -> None:
    session = make_session()
    assert step(session, " \n\t") == (session, ())


def test_a_stray_word_does_not_lose_the_last_answer(make_session: MakeSession, shown: Shown) -> None:
    session = make_session("en")
    asked, _ = step(session, "RuntimeError: CUDA error: device-side assert triggered")
    after, rows = step(asked, "y")
    assert after == asked
    assert shown(rows) == session.words("chat.kept")
