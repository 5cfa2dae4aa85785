"""The answer for a terminal, section by section."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import pytest

from gpuhelp.diagnosis import Diagnosis, Status
from gpuhelp.kb.load import KnowledgeBase
from gpuhelp.matching.failure import UnknownFailure
from gpuhelp.matching.questions import Route
from gpuhelp.probes.facts import FactValue
from gpuhelp.probes.registry import ProbeStatus
from gpuhelp.probes.runner import ProbeReport
from gpuhelp.reasoning.judge import Verdict
from gpuhelp.rendering.layout import Row, lay_out, width_of
from gpuhelp.rendering.paint import paint
from gpuhelp.rendering.stack import BESIDE, STACK, stack_row
from gpuhelp.rendering.text import diagnosis_rows, fix_rows, fixes_rows, numbered_fixes
from gpuhelp.words import Words

Diagnosed = Callable[..., Diagnosis]
EN = Words("en")
GPU: dict[str, FactValue] = {"index": 0, "name": "NVIDIA L4", "memory_free_bytes": 536870912}


def text_of(rows: Iterable[Row], width: int = 80) -> str:
    return paint(lay_out(rows, width), color=False)


@pytest.fixture
def answer(made_up: KnowledgeBase) -> Callable[..., str]:
    """`answer(diagnosis, language="en", everything=False)`: the whole answer at 80 columns."""

    def told(diagnosis: Diagnosis, language: str = "en", *, everything: bool = False) -> str:
        return text_of(diagnosis_rows(diagnosis, Words(language), made_up, everything=everything))

    return told


def section(text: str, heading: str) -> str:
    """What stands under a heading, up to the next empty line."""
    return text.split(f"\n{heading}\n")[1].split("\n\n")[0]


def test_the_headline_says_what_where_and_how_sure(diagnosed: Diagnosed, answer: Callable[..., str]) -> None:
    first, *others = answer(diagnosed()).splitlines()[:4]
    assert first == "■ The made-up engine stopped"
    told = " ".join(map(str.strip, others))  # the folder that brought the entry may take a line
    assert told.startswith("made-up-failure · CUDA libraries · 95% sure of the class · [")
    assert "> [CUDA libraries] >" in told


def test_paragraphs_of_the_summary_stay_apart(diagnosed: Diagnosed, answer: Callable[..., str]) -> None:
    text = answer(diagnosed())
    assert "  The first paragraph says what it means.\n" in text
    assert "  The second paragraph says what to do first.\n" in text


def test_evidence_names_file_line_and_rank(diagnosed: Diagnosed, answer: Callable[..., str]) -> None:
    text = answer(diagnosed(text="start\n[rank3]: made-up engine libfoo stopped in bar\n"))
    assert "text:2 rank 3  [rank3]: made-up engine libfoo" in section(text, "Where it shows")


def test_more_places_than_three_are_counted(diagnosed: Diagnosed, answer: Callable[..., str]) -> None:
    log = "".join(f"made-up engine libfoo stopped in bar{number}\n" for number in range(9))
    shown = section(answer(diagnosed(text=log)), "Where it shows")
    assert shown.count("  text:") == 3
    assert "… and 6 more places" in shown


def test_captured_values_have_names_in_words(diagnosed: Diagnosed, answer: Callable[..., str]) -> None:
    assert "in the text:  library: libfoo · function or check: bar" in answer(diagnosed())
    assert "로그에서 읽은 값:  라이브러리: libfoo · 함수 또는 검사: bar" in answer(diagnosed(), "ko")


def test_what_would_decide_is_named_in_words(diagnosed: Diagnosed, answer: Callable[..., str]) -> None:
    causes = section(answer(diagnosed()), "Causes")
    assert "? unknown  The GPU has little memory left" in causes
    assert "would decide: free memory of the GPU" in causes
    assert "판단에 필요한 정보: GPU의 남은 메모리" in answer(diagnosed(), "ko")


def test_verdicts_have_a_mark_and_a_word(diagnosed: Diagnosed, answer: Callable[..., str]) -> None:
    causes = section(answer(diagnosed({"driver.version": "450.80.02", "gpus": [GPU]})), "Causes")
    assert "✔ confirmed  The driver is older than the engine" in causes
    assert "✔ confirmed  The GPU has little memory left" in causes
    assert "○ possible  Nobody knows" in causes
    assert "Only 512.0 MiB are free." in causes


def test_what_is_ruled_out_folds_unless_all_is_asked_for(
    diagnosed: Diagnosed, answer: Callable[..., str]
) -> None:
    diagnosis = diagnosed({"driver.version": "550.54.15"})
    assert "1 more ruled out; --all shows them" in answer(diagnosis)
    assert "The driver is older than the engine" not in answer(diagnosis)
    everything = answer(diagnosis, everything=True)
    assert "✘ ruled out  The driver is older than the engine" in everything
    assert "Driver 550.54.15 is new enough." in everything


def test_fixes_are_numbered_once_and_least_risk_first_within_a_cause(diagnosed: Diagnosed) -> None:
    numbered = numbered_fixes(diagnosed({"driver.version": "450.80.02"}).findings[0])
    assert [number for number, _, _ in numbered] == [1, 2, 3, 4, 5, 6]
    assert [fix.id for _, _, fix in numbered] == [
        "look", "update-driver", "reboot", "restart", "reinstall", "wait",
    ]  # fmt: skip


def test_fixes_of_a_cause_that_is_ruled_out_are_not_offered(diagnosed: Diagnosed) -> None:
    finding = diagnosed({"driver.version": "550.54.15"}).findings[0]
    assert [fix.id for _, _, fix in numbered_fixes(finding)] == ["restart", "reinstall", "wait"]


def test_a_fix_that_two_causes_share_is_told_once(diagnosed: Diagnosed) -> None:
    finding = diagnosed({"driver.version": "450.80.02"}).findings[0]
    doubled = replace(finding, judgements=(*finding.judgements, *finding.judgements))
    assert len(numbered_fixes(doubled)) == len(numbered_fixes(finding))


def test_three_fixes_are_told_in_full_and_the_rest_by_title(diagnosed: Diagnosed) -> None:
    finding = diagnosed({"driver.version": "450.80.02"}).findings[0]
    text = text_of(fixes_rows(finding, EN))
    assert text.count("undo:") == 3
    assert text.splitlines()[-1] == "  6  Wait a while"
    assert text_of(fixes_rows(finding, EN, everything=True)).count("undo:") == 6


def test_a_fix_says_risk_commands_undo_proof_and_expectation(diagnosed: Diagnosed) -> None:
    finding = diagnosed({"driver.version": "450.80.02"}).findings[0]
    assert text_of(fix_rows(numbered_fixes(finding)[1], finding, EN)) == (
        "  2  Update the driver  [needs an administrator]\n"
        "      Ask the administrator.\n"
        "      Then wait.\n"
        "      $ apt-get install driver-450.80.02\n"
        "      undo:  Install the old one.\n"
        "      check:  nvidia-smi\n"
        "      then:  The new version.\n"
    )


def test_code_keeps_its_lines(diagnosed: Diagnosed) -> None:
    finding = diagnosed().findings[0]
    numbered = next(one for one in numbered_fixes(finding) if one[2].id == "restart")
    assert "      first = 1\n      second = 2\n" in text_of(fix_rows(numbered, finding, EN))


def test_questions_are_those_of_causes_that_are_still_open(
    diagnosed: Diagnosed, answer: Callable[..., str]
) -> None:
    assert "- Was memory free when it started?" in answer(diagnosed())
    assert "Was memory free" not in answer(diagnosed({"gpus": [GPU]}))


def test_probes_that_failed_are_named(diagnosed: Diagnosed, answer: Callable[..., str]) -> None:
    late = ProbeReport("nvml.driver", ProbeStatus.TIMEOUT, 3.0, "the driver did not answer", ("gpus",))
    fine = ProbeReport("host.os", ProbeStatus.OK, 0.0, "", ("os.platform",))
    diagnosis = replace(diagnosed(), probes=(late, fine))
    assert (
        section(answer(diagnosis), "Could not look")
        == "  nvml.driver  no answer in time: the driver did not answer"
    )
    assert "제때 응답 없음" in answer(diagnosis, "ko")


def test_a_question_is_no_evidence_of_a_failure(diagnosed: Diagnosed, answer: Callable[..., str]) -> None:
    text = answer(diagnosed(text="why does the zorble frobnicator of my made-up engine stop?"))
    assert text.startswith("■ The made-up engine stopped")
    assert "Where it shows" not in text


def test_a_healthy_text_is_one_line(diagnosed: Diagnosed, answer: Callable[..., str]) -> None:
    diagnosis = diagnosed(text="epoch 1 loss 0.5\nepoch 2 loss 0.4\n")
    assert answer(diagnosis) == "No failure found. Lines read: 2\n"
    assert answer(diagnosis, "ko") == "문제를 찾지 못했습니다. 읽은 줄 수: 2\n"


UNKNOWN = UnknownFailure(
    "sim.Diverged", "residual 3e+14", "/home/user/run.py:9", "run.log", 8, "sim.Diverged: …"
)


def test_an_unknown_failure_shows_what_stands_in_the_text(
    diagnosed: Diagnosed, answer: Callable[..., str]
) -> None:
    route = Route("made-up-failure", 0.4, "made-up engine stops")
    diagnosis = replace(diagnosed(), status=Status.UNKNOWN, findings=(), failure=UNKNOWN, nearest=(route,))
    text = answer(diagnosis)
    assert "  exception:  sim.Diverged: residual 3e+14\n" in text
    assert "  in your code:  /home/user/run.py:9\n" in text
    assert "  line:  run.log:8  sim.Diverged: …\n" in text
    assert "Nothing is made up here." in text
    assert "  made-up-failure  The made-up engine stopped\n" in text
    assert "추측으로 답하지 않습니다." in answer(diagnosis, "ko")


def test_an_unknown_failure_without_exception_shows_the_line(
    diagnosed: Diagnosed, answer: Callable[..., str]
) -> None:
    failure = UNKNOWN._replace(exception="", message="", user_frame="")
    text = answer(replace(diagnosed(), status=Status.UNKNOWN, findings=(), failure=failure))
    assert "exception:" not in text
    assert "in your code:" not in text
    assert "run.log:8" in text


@pytest.mark.parametrize("language", ["en", "ko"])
@pytest.mark.parametrize("width", [40, 80, 120])
def test_no_line_but_commands_and_links_is_wider_than_the_terminal(
    diagnosed: Diagnosed, made_up: KnowledgeBase, language: str, width: int
) -> None:
    rows = diagnosis_rows(
        diagnosed({"driver.version": "450.80.02"}), Words(language), made_up, everything=True
    )
    lines = text_of([one for one in rows if not one.whole], width).splitlines()
    assert max(map(width_of, lines)) <= width


@pytest.mark.parametrize("language", ["en", "ko"])
@pytest.mark.parametrize("layer", [*STACK, *BESIDE])
def test_the_stack_marks_exactly_one_layer(layer: str, language: str) -> None:
    words = Words(language)
    (line,) = text_of([stack_row(layer, words)], 120).splitlines()
    assert f"[{words(f'layer.{layer}')}]" in line
    assert line.count("[") == 1
    assert all(words(f"layer.{name}") in line for name in STACK)


def test_the_stack_wraps_between_layers_only() -> None:
    lines = text_of([stack_row("distributed", EN)], 40).splitlines()
    assert any(line.strip().endswith("[many processes]") for line in lines)


def test_every_verdict_has_a_word_in_both_languages() -> None:
    for language in ("en", "ko"):
        told = [Words(language)(f"verdict.{verdict.value}") for verdict in Verdict]
        assert len(set(told)) == len(Verdict)


@pytest.mark.parametrize(("language", "told"), [("en", "standard input:1  "), ("ko", "표준 입력:1  ")])
def test_standard_input_is_called_so_in_the_language(
    diagnosed: Diagnosed, answer: Callable[..., str], language: str, told: str
) -> None:
    finding = diagnosed().findings[0]
    lines = tuple(line._replace(source="standard input") for line in finding.evidence)
    diagnosis = replace(diagnosed(), findings=(replace(finding, evidence=lines),))
    assert told in answer(diagnosis, language)
