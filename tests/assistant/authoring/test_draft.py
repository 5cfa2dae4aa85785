"""Drafts: the line that is looked for, near misses, the Korean skeleton, and the file's text."""

from __future__ import annotations

import pytest
import yaml

from gpuhelp.authoring.checks import healthy_logs
from gpuhelp.authoring.draft import UNWRITTEN, Answers, Material, by_language, draft, korean_draft, remarks
from gpuhelp.authoring.neighbours import already_known, near_misses
from gpuhelp.authoring.telling import Example, examples_of, propose
from gpuhelp.authoring.yaml_text import to_yaml
from gpuhelp.kb.load import KnowledgeBase

ZETA = 'Traceback (most recent call last):\n  File "/home/user/a.py", line 1, in <module>\n    run()\n'


def test_a_line_of_a_healthy_log_is_refused_and_the_next_one_taken(knowledge: KnowledgeBase) -> None:
    name, log = healthy_logs()[0]
    common = max(log.splitlines(), key=len)
    text = f"{common}\nzeta flux coupler desynchronised beyond recovery\n"
    found = propose(text, knowledge, [(name, f"{log}\nRuntimeError: {common}")])
    assert found.proposal is not None
    assert found.proposal.regex == "zeta flux coupler desynchronised beyond recovery"
    refused = propose(f"RuntimeError: {common}\n", knowledge, [(name, log)])
    assert refused.proposal is None
    assert [one.where for one in refused.refused][:1] == [name]


def test_a_line_of_another_entrys_example_is_refused(knowledge: KnowledgeBase) -> None:
    others = (Example("zeta-known", "RuntimeError: the zeta engine stopped all at once\n"),)
    text = (
        f"{ZETA}RuntimeError: the zeta engine stopped all at once\nflux coupler desynchronised, giving up\n"
    )
    found = propose(text, knowledge, (), others)
    assert found.refused[0].where == "zeta-known"
    assert found.proposal is not None
    assert found.proposal.regex == "flux coupler desynchronised, giving up"


def test_the_programs_own_code_is_never_looked_for(knowledge: KnowledgeBase) -> None:
    text = (
        f"{ZETA}    my_very_special_function_call(alpha)\nRuntimeError: the zeta engine stopped all at once\n"
    )
    found = propose(text, knowledge)
    assert found.proposal is not None
    assert found.proposal.regex == "the zeta engine stopped all at once"
    assert not any("special" in one.regex for one in found.others)


def test_near_misses_are_of_neighbours_and_do_not_fit(knowledge: KnowledgeBase) -> None:
    line = "RuntimeError: zeta kernel image is not available for execution on the device"
    others = examples_of(knowledge)
    found = propose(line, knowledge, (), others)
    near = near_misses(line, found.proposal, others)
    assert near[0].entry == "cuda-no-kernel-image"
    assert len({one.entry for one in near}) == 3
    left = near_misses(line, found.proposal, others, without="cuda-no-kernel-image")
    assert "cuda-no-kernel-image" not in [one.entry for one in left]


def test_what_an_entry_answers_already_is_told(knowledge: KnowledgeBase) -> None:
    assert already_known("RuntimeError: CUDA error: invalid device function", knowledge) == (
        "cuda-invalid-device-function"
    )
    assert already_known(f"{ZETA}RuntimeError: the zeta engine stopped all at once", knowledge) == ""
    assert already_known("", knowledge) == ""


def test_the_file_says_everything_in_its_place_and_reads_back(knowledge: KnowledgeBase) -> None:
    text = f"{ZETA}RuntimeError: zeta engine of rank 3 stopped and" + " said very much" * 30
    material = Material(
        "zeta-stopped", "", text, propose(text, knowledge).proposal, Answers(), (), "cuda-oom"
    )
    data = draft(material, knowledge)
    written = to_yaml(data, "schema.json", remarks(material))
    assert "&id" not in written
    assert "*id" not in written
    assert yaml.safe_load(written) == data
    assert sum("regex: " in line for line in written.splitlines()) == 1
    assert f"risk: safe  # {UNWRITTEN}: one of safe, restarts-job" in written
    assert f"layer: library  # {UNWRITTEN}" in written
    assert "text: |\n      Traceback" in written
    assert [example["captured"] for example in data["examples"]] == [{"rank": "3"}] * 3
    assert data["refines"] == ["cuda-oom"]


def test_of_a_long_log_the_lines_around_the_failure_are_the_example(knowledge: KnowledgeBase) -> None:
    log = "\n".join(f"step {number} loss 0.1" for number in range(5000))
    text = f"{log}\n{ZETA}RuntimeError: the zeta engine stopped all at once\n{log}\n"
    material = Material("zeta", "code", text, propose(text, knowledge).proposal, Answers(), ())
    example = draft(material, knowledge)["examples"][0]["text"]
    assert ZETA in example
    assert "RuntimeError: the zeta engine stopped all at once\n" in example
    assert example.count("\n") < 50


def test_blanks_at_line_ends_and_tabs_do_not_spoil_the_block() -> None:
    assert to_yaml({"text": "a \n\tb\t\nc\n"}, "") == "text: |\n  a\n      b\n  c\n"


def test_answers_in_korean_go_to_the_korean_file() -> None:
    english, korean = by_language(Answers(title="The engine stopped", cause="드라이버가 오래되었습니다"))
    assert english == Answers(title="The engine stopped")
    assert korean == Answers(cause="드라이버가 오래되었습니다")
    data = korean_draft(korean)
    assert data["causes"]["first-cause"]["title"] == "드라이버가 오래되었습니다"
    assert data["title"].startswith(UNWRITTEN)


@pytest.mark.parametrize(
    ("answer", "written"), [("python a.py", "{{ python }} a.py"), ("pip list", "{{ pip }} list")]
)
def test_commands_are_those_of_the_job(knowledge: KnowledgeBase, answer: str, written: str) -> None:
    material = Material("zeta", "code", "", None, Answers(command=answer, risk="reboots"), ())
    (cause,) = draft(material, knowledge)["causes"]
    assert cause["fixes"][0]["commands"] == [written]
    assert cause["fixes"][0]["risk"] == "reboots"
    assert remarks(material) == {}


def test_questions_are_words_of_the_message_with_the_library_in_front(knowledge: KnowledgeBase) -> None:
    text = (
        'Traceback (most recent call last):\n  File "/v/site-packages/zeta/device.py", line 3, in f\n'
        "ValueError: The device should not be 'gpu', since this build has no engine\n"
    )
    material = Material("zeta", "code", text, propose(text, knowledge).proposal, Answers(), ())
    first, second, third = draft(material, knowledge)["questions"]
    assert first == "zeta The device should not be since this build"
    assert second == "how do i fix The device should not be since this build"
    assert third.startswith(UNWRITTEN)
