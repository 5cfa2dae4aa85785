"""Outputs of tools in a text, from the public API to the terminal: read as facts, told, and weighed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from gpuhelp.chat.session import Session, look, step
from gpuhelp.diagnosis import Diagnosis, Status, diagnose, diagnose_texts
from gpuhelp.kb.load import KnowledgeBase, load
from gpuhelp.probes.facts import Fact, Facts
from gpuhelp.probes.runner import Observation
from gpuhelp.reading.evidence import Evidence
from gpuhelp.reading.pieces import from_text
from gpuhelp.reasoning.judge import Verdict
from gpuhelp.reasoning.pasted import Whose
from gpuhelp.rendering.documents import to_data
from gpuhelp.rendering.layout import Row, lay_out
from gpuhelp.rendering.markdown import to_markdown
from gpuhelp.rendering.text import diagnosis_rows
from gpuhelp.words import Words

FIXTURES = Path(__file__).parents[1] / "probes" / "pasted" / "fixtures"
KERNEL = "RuntimeError: CUDA error: no kernel image is available for execution on the device\n"
PROMPT = (
    ">>> torch.__version__\n'2.5.1+cu124'\n>>> torch.cuda.get_arch_list()\n['sm_50', 'sm_80', 'sm_90']\n"
    ">>> torch.cuda.get_device_capability(0)\n(12, 0)\n"
)
FAILING = {
    "collect_env_1_4_conda", "collect_env_cpu_only_windows", "dmesg_xid_and_kill", "ipython_prompt",
    "python_prompt", "smi_580_cut_before_processes", "smi_failed_to_talk", "smi_gpu_is_lost",
    "smi_no_devices", "smi_q_535", "smi_q_old_390", "smi_version_mismatch",
}  # fmt: skip
"""Outputs that show a failure themselves: an Xid, an ECC error, a CPU-only wheel beside a GPU."""


@pytest.fixture(scope="module")
def knowledge(tmp_path_factory: pytest.TempPathFactory) -> KnowledgeBase:
    return load(cache_dir=tmp_path_factory.mktemp("cache"))


def fixture(name: str) -> str:
    return (FIXTURES / f"{name}.txt").read_text(encoding="utf-8")


def observer(facts: Mapping[str, Any]) -> Callable[[Iterable[str], Evidence], Observation]:
    return lambda wanted, evidence: Observation(Facts.of(facts, "nvml"), ())


def shown(diagnosis: Diagnosis, knowledge: KnowledgeBase, language: str = "en") -> str:
    rows = diagnosis_rows(diagnosis, Words(language), knowledge)
    return "\n".join("".join(span.text for span in line) for line in lay_out(rows, 100))


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*.txt")), ids=lambda path: path.stem)
@pytest.mark.parametrize("lead", ["", "Here is my setup:\n", "제 컴퓨터 정보입니다. 확인 부탁드려요.\n"])
def test_an_output_alone_is_no_failure_unless_it_shows_one(
    path: Path, lead: str, knowledge: KnowledgeBase
) -> None:
    found = diagnose(lead + path.read_text(encoding="utf-8"), knowledge=knowledge)
    assert (found.status is not Status.HEALTHY) is (path.stem in FAILING)
    assert found.pastes is not None
    assert {fact.source for fact in found.pastes.facts.values()} == {"pasted"}


def test_an_output_alone_is_read_out(knowledge: KnowledgeBase) -> None:
    found = diagnose(fixture("smi_610_renamed_fields"), knowledge=knowledge)
    english, korean = shown(found, knowledge), shown(found, knowledge, "ko")
    assert "610.43.02" in english
    assert "NVIDIA GeForce RTX 5090" in english
    assert "No error message stands in it" in english
    assert "오류 메시지는 없습니다" in korean


def test_what_the_facts_of_an_output_point_to_is_no_finding(knowledge: KnowledgeBase) -> None:
    text = fixture("smi_418_notebook_other_driver") + "\n" + fixture("python_one_liner")
    found = diagnose(text, knowledge=knowledge)
    assert found.status is Status.HEALTHY
    assert found.findings == ()
    assert "gpuhelp explain cuda-driver-too-old" in shown(found, knowledge)


def test_a_log_and_an_output_in_one_message_work_together(knowledge: KnowledgeBase) -> None:
    for text in (KERNEL + PROMPT, PROMPT + KERNEL):
        found = diagnose(text, knowledge=knowledge)
        causes = {each.cause.id: each for each in found.findings[0].judgements}
        assert found.findings[0].entry.id == "cuda-no-kernel-image"
        assert causes["wheel-lacks-arch"].verdict is Verdict.CONFIRMED
        assert found.facts["torch.version"] == Fact("2.5.1+cu124", "pasted")


def test_a_question_and_an_output_in_one_message_work_together(knowledge: KnowledgeBase) -> None:
    text = "why is my GPU not used by torch?\n\n$ nvidia-smi\n" + fixture("smi_610_renamed_fields")
    found = diagnose(text, knowledge=knowledge)
    assert found.findings[0].entry.id == "cuda-not-available"
    assert found.facts["driver.version"].value == "610.43.02"


def test_facts_of_another_machine_do_not_mix_with_those_of_this_one(knowledge: KnowledgeBase) -> None:
    here = {
        "driver.version": "470.57.02",
        "gpus": [{"index": 0, "name": "Tesla V100-SXM2-16GB", "sm": "sm_70"}],
        "torch.version": "1.10.0",
    }
    text = KERNEL + PROMPT + fixture("smi_610_renamed_fields")
    found = diagnose(text, probes=observer(here), knowledge=knowledge)
    assert found.weighed is not None
    assert found.weighed.whose is Whose.ELSEWHERE
    assert found.facts["driver.version"].value == "610.43.02"
    told = shown(found, knowledge)
    assert "610.43.02 (pasted text) · 470.57.02 (NVML)" in told
    assert "NVIDIA GeForce RTX 5090 (pasted text) · Tesla V100-SXM2-16GB (NVML)" in told
    assert "Only the text counts" in told
    data = to_data(found, "en", knowledge)
    assert data["facts_of"] == "elsewhere"
    differing = {each["name"]: each for each in data["contradictions"]}
    assert differing["driver.version"] == {
        "name": "driver.version",
        "pasted": {"value": "610.43.02", "source": "pasted"},
        "other": {"value": "470.57.02", "source": "nvml"},
    }


def test_a_prompt_of_another_host_is_another_machine(knowledge: KnowledgeBase) -> None:
    text = KERNEL + fixture("several_in_one_paste")
    here = {"driver.version": "550.90.07", "gpus": [{"index": 0, "name": "NVIDIA GeForce RTX 4090"}]}
    for host, whose in (("laptop", Whose.ELSEWHERE), ("node7", Whose.HERE), ("", Whose.HERE)):
        found = diagnose_texts((from_text(text, "a"),), probes=observer(here), knowledge=knowledge, host=host)
        assert found.weighed is not None
        assert found.weighed.whose is whose, host
        assert "node7" in found.hosts


def test_a_kernel_log_of_another_host_is_judged_as_before(knowledge: KnowledgeBase) -> None:
    line = (
        "Mar  3 04:12:33 node7 kernel: NVRM: Xid (PCI:0000:3b:00): 79, pid=1, GPU has fallen off the bus.\n"
    )
    found = diagnose_texts(
        (from_text(line, "a"),), probes=observer({"driver.version": "1"}), knowledge=knowledge, host="laptop"
    )
    assert found.weighed is not None
    assert found.weighed.whose is Whose.HERE
    assert found.facts["kernel.xids"].value == [{"xid": 79, "pci": "0000:3b:00.0"}]


def test_what_was_given_wins_over_the_text(knowledge: KnowledgeBase) -> None:
    text = KERNEL + fixture("smi_610_renamed_fields")
    found = diagnose(text, facts={"driver.version": "570.86.15"}, knowledge=knowledge)
    assert found.facts["driver.version"].value == "570.86.15"
    told = shown(found, knowledge)
    assert "The text and what you gave beforehand differ" in told
    assert "610.43.02 (pasted text) · 570.86.15 (given)" in told
    markdown = to_markdown("diagnosis.md.j2", to_data(found, "ko", knowledge), Words("ko"))
    assert "## 붙여 넣은 글과 미리 준 정보가 다릅니다" in markdown
    assert "드라이버 버전: 610.43.02 (붙여 넣은 글) · 570.86.15" in markdown


def test_an_output_without_facts_of_this_machine_shows_no_difference(knowledge: KnowledgeBase) -> None:
    found = diagnose(KERNEL, probes=observer({"driver.version": "550.90.07"}), knowledge=knowledge)
    assert found.pastes is None
    assert "differ" not in shown(found, knowledge)
    assert "pasted" not in to_data(found, "en", knowledge)


# the chat


MakeSession = Callable[..., Session]


@pytest.fixture
def session(knowledge: KnowledgeBase) -> Session:
    from gpuhelp.chat.session import Tools

    def run(text: str, given: Facts) -> Diagnosis:
        return diagnose_texts((from_text(text, "input"),), facts=given, knowledge=knowledge)

    return Session("en", Tools(knowledge, run, None, lambda path, diagnosis, words: path))


def text_of(rows: Iterable[Row]) -> str:
    return "\n".join("".join(span.text for span in line) for line in lay_out(rows, 100))


def test_an_output_pasted_after_the_failure_decides_its_cause(session: Session) -> None:
    asked, rows = step(session, KERNEL)
    assert "✔ confirmed" not in text_of(rows)
    answered, rows = step(asked, PROMPT)
    assert answered.diagnosis is not None
    assert answered.diagnosis.findings[0].entry.id == "cuda-no-kernel-image"
    assert "✔ confirmed" in text_of(rows)
    assert answered.text == KERNEL


def test_an_output_pasted_before_the_failure_decides_its_cause(session: Session) -> None:
    asked, rows = step(session, PROMPT)
    assert "Read from your text" in text_of(rows)
    _, rows = step(asked, KERNEL)
    assert "✔ confirmed" in text_of(rows)
    assert "input:1  RuntimeError" in text_of(rows)


def test_a_failure_with_its_own_output_leaves_older_ones_behind(session: Session) -> None:
    asked, _ = step(session, fixture("smi_375_two_k40m"))
    answered, _ = step(asked, KERNEL + PROMPT)
    assert answered.diagnosis is not None
    assert "driver.version" not in answered.diagnosis.facts
    assert answered.pasted == ""


def test_looking_at_the_machine_keeps_what_was_pasted(session: Session, knowledge: KnowledgeBase) -> None:
    from dataclasses import replace

    def seen(text: str, given: Facts) -> Diagnosis:
        return diagnose_texts(
            (from_text(text, "input"),), facts=given, probes=observer({}), knowledge=knowledge
        )

    looking = replace(session, tools=replace(session.tools, look=seen))
    pending, _ = step(step(looking, PROMPT)[0], KERNEL)
    assert pending.pending
    _, rows = look(pending)
    assert "✔ confirmed" in text_of(rows)


# what it costs


def test_a_log_without_outputs_imports_no_reader() -> None:
    code = (
        "import sys; from gpuhelp.diagnosis import diagnose; diagnose(sys.stdin.read());"
        "print([name for name in sys.modules if name.startswith('gpuhelp.probes.pasted.')])"
    )
    text = (
        'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n'
        "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB\n"
        "pip install torch==2.1.0\ntorch.__version__ GPU0 index, name\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], input=text, capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
