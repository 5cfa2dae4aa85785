"""The public API: a text, lines or files in; what is known, unknown or healthy out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from gpuhelp.diagnosis import Diagnosis, Status, diagnose
from gpuhelp.errors import InputError
from gpuhelp.kb.load import KnowledgeBase, load
from gpuhelp.probes.facts import Fact, Facts
from gpuhelp.probes.registry import ProbeStatus
from gpuhelp.probes.runner import Observation, ProbeReport
from gpuhelp.reading.evidence import Evidence
from gpuhelp.reasoning.incidents import Role
from gpuhelp.reasoning.judge import Verdict

KERNEL = "RuntimeError: CUDA error: no kernel image is available for execution on the device"
TRACEBACK = (
    'Traceback (most recent call last):\n  File "/home/user/train.py", line 88, in main\n    go()\n'
    '  File "/opt/conda/lib/python3.11/site-packages/torch/x.py", line 5, in go\n    raise E()\n'
)
ODD = f"{TRACEBACK}gpuhelp_test.VeryOddError: the flux capacitor is out of jigawatts\n"
HEALTHY = sorted((Path(__file__).parents[2] / "kb" / "healthy").iterdir())
Diagnose = Callable[..., Diagnosis]


@pytest.fixture(scope="module")
def knowledge(tmp_path_factory: pytest.TempPathFactory) -> KnowledgeBase:
    return load(cache_dir=tmp_path_factory.mktemp("cache"))


@dataclass
class Machine:
    """A made-up machine: what it answers, and what it was asked."""

    answers: dict[str, object] = field(default_factory=dict)
    asked: list[tuple[str, ...]] = field(default_factory=list)
    evidence: list[Evidence] = field(default_factory=list)

    def observe(self, wanted: Iterable[str], evidence: Evidence) -> Observation:
        names = tuple(wanted)
        self.asked.append(names)
        self.evidence.append(evidence)
        facts = Facts({n: Fact(v, "nvml") for n, v in self.answers.items()})  # type: ignore[arg-type]
        return Observation(facts, (ProbeReport("fake", ProbeStatus.OK, 0.0, "", names),))


def first(found: Diagnosis) -> str:
    return found.findings[0].entry.id if found.findings else ""


# what goes in


def test_a_text_lines_and_files_give_the_same_findings(knowledge: KnowledgeBase, tmp_path: Path) -> None:
    text = f"starting\n{TRACEBACK}{KERNEL}\n"
    path = tmp_path / "train.log"
    path.write_text(text, encoding="utf-8")
    forms = (text, text.splitlines(), text.splitlines(keepends=True), [path])
    found = [diagnose(form, knowledge=knowledge) for form in forms]
    assert {first(diagnosis) for diagnosis in found} == {"cuda-no-kernel-image"}
    assert {diagnosis.findings[0].evidence[0].line for diagnosis in found} == {7}
    assert [diagnosis.sources[0].name for diagnosis in found] == ["text", "text", "text", str(path)]


def test_several_files_are_one_incident(knowledge: KnowledgeBase, tmp_path: Path) -> None:
    for name, text in (("rank0.log", "fine"), ("rank1.log", KERNEL)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    found = diagnose([tmp_path / "rank0.log", tmp_path / "rank1.log"], knowledge=knowledge)
    assert [source.name for source in found.sources] == [
        str(tmp_path / "rank0.log"),
        str(tmp_path / "rank1.log"),
    ]
    assert found.findings[0].evidence[0].source == str(tmp_path / "rank1.log")


def test_a_file_that_is_not_there_is_an_input_error(knowledge: KnowledgeBase, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        diagnose([tmp_path / "absent.log"], knowledge=knowledge)


@pytest.mark.parametrize("nothing", ["", "\n\n", [], ()])
def test_nothing_is_healthy(knowledge: KnowledgeBase, nothing: str | list[str]) -> None:
    found = diagnose(nothing, knowledge=knowledge)
    assert (found.status, found.findings, found.failure, found.nearest) == (Status.HEALTHY, (), None, ())


# known, unknown, healthy


def test_a_known_failure_is_told_with_its_evidence_and_root(knowledge: KnowledgeBase) -> None:
    found = diagnose(f"[rank3]: {KERNEL}", knowledge=knowledge)
    finding = found.findings[0]
    assert (found.status, finding.role, finding.captured["rank"]) == (Status.KNOWN, Role.ROOT, "3")
    assert finding.evidence[0].text == f"[rank3]: {KERNEL}"
    assert found.failure is None


def test_an_unknown_failure_is_described_and_never_dressed_as_an_entry(knowledge: KnowledgeBase) -> None:
    text = ODD.replace("VeryOddError", "VeryOdd")
    found = diagnose(
        "x\nterminate called without an active exception\n" + text.split("gpuhelp_test")[0],
        knowledge=knowledge,
    )
    assert (found.status, found.findings) == (Status.UNKNOWN, ())
    assert found.failure is not None
    assert (found.failure.line, found.failure.user_frame) == (2, "/home/user/train.py:88")
    assert found.failure.text == "terminate called without an active exception"


def test_an_exception_that_no_entry_knows_keeps_its_type_message_and_frame(knowledge: KnowledgeBase) -> None:
    found = diagnose(ODD, knowledge=knowledge)
    if found.findings:  # an entry of last resort may answer; then the frame stands among what was captured
        assert [finding.entry.id for finding in found.findings] == ["python-exception"]
        assert found.findings[0].captured["user_frame"] == "/home/user/train.py:88"
        assert found.findings[0].confidence < 0.7
    else:
        assert found.failure is not None
        assert found.failure.exception == "gpuhelp_test.VeryOddError"


def test_the_nearest_entries_of_an_unknown_failure_are_suggestions_only(knowledge: KnowledgeBase) -> None:
    found = diagnose(
        "CUDA error: something about memory that nobody wrote down\n" * 3 + "x\n" * 9, knowledge=knowledge
    )
    assert found.status is Status.UNKNOWN
    assert found.findings == ()
    assert len(found.nearest) <= 3
    assert all(route.entry in knowledge.ids for route in found.nearest)


@pytest.mark.parametrize("path", HEALTHY, ids=lambda path: path.name)
def test_a_healthy_log_is_healthy(path: Path, knowledge: KnowledgeBase) -> None:
    found = diagnose([path], knowledge=knowledge)
    assert ([finding.entry.id for finding in found.findings], found.status) == ([], Status.HEALTHY)
    assert found.failure is None


def test_a_question_finds_its_entry_and_the_next_ones(knowledge: KnowledgeBase) -> None:
    found = diagnose("why does my new 5090 not work with torch?", knowledge=knowledge)
    assert (first(found), found.findings[0].reasons[0][0]) == ("cuda-no-kernel-image", "question")
    assert found.findings[0].confidence < 0.95
    assert all(route.entry != first(found) for route in found.nearest)


def test_a_question_about_something_else_is_not_answered(knowledge: KnowledgeBase) -> None:
    found = diagnose("how do i bake sourdough bread at home?", knowledge=knowledge)
    assert (found.findings, found.status) == ((), Status.HEALTHY)


def test_a_misspelt_message_is_found_when_nothing_matches_exactly(knowledge: KnowledgeBase) -> None:
    text = "RuntimeError: CUDA eror: an ilegal memmory acces was encounterd"
    found = diagnose(text, knowledge=knowledge)
    assert first(found) == "cuda-illegal-address"
    assert found.findings[0].reasons[0][0] == "fuzzy"


def test_the_same_text_gives_the_same_answer(knowledge: KnowledgeBase) -> None:
    text = f"{TRACEBACK}{KERNEL}\nNVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus."
    one, two = (diagnose(text, knowledge=knowledge).findings for _ in range(2))
    assert [(f.entry.id, f.role, f.captured) for f in one] == [(f.entry.id, f.role, f.captured) for f in two]
    assert len(one) > 1


# facts


def verdicts(found: Diagnosis) -> dict[str, Verdict]:
    return {judgement.cause.id: judgement.verdict for judgement in found.findings[0].judgements}


def test_without_facts_a_cause_that_needs_them_is_unknown(knowledge: KnowledgeBase) -> None:
    found = diagnose(KERNEL, knowledge=knowledge)
    assert Verdict.CONFIRMED not in verdicts(found).values()
    assert any(judgement.missing for judgement in found.findings[0].judgements)
    assert found.probes == ()


def test_facts_decide(knowledge: KnowledgeBase) -> None:
    facts = {"torch.arch_list": ["sm_80", "sm_90"], "gpus": [{"index": 0, "sm": "sm_120"}]}
    found = diagnose(KERNEL, facts=facts, knowledge=knowledge)
    assert verdicts(found)["wheel-lacks-arch"] is Verdict.CONFIRMED
    assert found.facts["torch.arch_list"].source == "given"


def test_probes_are_asked_once_for_what_the_findings_want(knowledge: KnowledgeBase) -> None:
    machine = Machine({"torch.arch_list": ["sm_80"], "gpus": [{"index": 0, "sm": "sm_120"}]})
    found = diagnose(KERNEL, probes=machine.observe, knowledge=knowledge)
    (asked,) = machine.asked
    assert "torch.arch_list" in asked
    assert {"os.platform", "python.executable", "python.manager"} <= set(asked)
    assert not [
        name for name in asked if name.startswith("fabric.")
    ]  # nothing that this entry does not ask for
    assert list(asked) == sorted(set(asked))
    assert machine.evidence[0][0].lines[0].text == KERNEL
    assert verdicts(found)["wheel-lacks-arch"] is Verdict.CONFIRMED
    assert (found.facts["torch.arch_list"].source, found.probes[0].id) == ("nvml", "fake")


def test_facts_given_win_over_probes(knowledge: KnowledgeBase) -> None:
    machine = Machine({"torch.arch_list": ["sm_80"], "gpus": [{"index": 0, "sm": "sm_120"}]})
    facts = Facts({"torch.arch_list": Fact(["sm_80", "sm_120"], "snapshot")})
    found = diagnose(KERNEL, facts=facts, probes=machine.observe, knowledge=knowledge)
    assert found.facts["torch.arch_list"] == Fact(["sm_80", "sm_120"], "snapshot")
    assert verdicts(found)["wheel-lacks-arch"] is Verdict.RULED_OUT


@pytest.mark.parametrize("text", ["all is well", "", "Segmentation fault (core dumped) in gpuhelp_test"])
def test_a_machine_is_not_looked_at_where_nothing_wants_to_know(text: str, knowledge: KnowledgeBase) -> None:
    machine = Machine()
    found = diagnose(text, probes=machine.observe, knowledge=knowledge)
    assert found.findings or machine.asked == []


def test_what_the_callers_probes_raise_is_the_callers(knowledge: KnowledgeBase) -> None:
    class Broken(Exception):
        pass

    def observe(wanted: Iterable[str], evidence: Evidence) -> Observation:
        raise Broken

    with pytest.raises(Broken):
        diagnose(KERNEL, probes=observe, knowledge=knowledge)


@pytest.mark.parametrize(
    "facts",
    [
        {"gpus": "none"},
        {"gpus": [{"index": "x", "sm": 5, "name": []}]},
        {"torch.arch_list": 7, "gpus": [{}]},
        {"torch.version": ["2"], "driver.version": {}, "driver.cuda_api_version": 12.4},
        {"os.platform": [], "python.version": 3, "env.CUDA_VISIBLE_DEVICES": 0},
        {"not.a.fact": None},
    ],
)
def test_odd_facts_are_no_crash(facts: dict[str, object], knowledge: KnowledgeBase) -> None:
    found = diagnose(f"{KERNEL} on GPU 0", facts=facts, knowledge=knowledge)
    assert first(found) == "cuda-no-kernel-image"


def test_hostile_text_is_data(knowledge: KnowledgeBase) -> None:
    text = "ModuleNotFoundError: No module named '{{ python }}{% if 1 %}'\nx {{ 7 * 7 }}\n\ud800\0"
    found = diagnose(text, knowledge=knowledge)
    assert not any("49" in value for finding in found.findings for value in finding.captured.values())


def test_what_the_error_says_is_captured_before_what_a_warning_said() -> None:
    text = (
        "x/__init__.py:5: RuntimeWarning: failed:\nNo module named 'first._version'\n"
        'Traceback (most recent call last):\n  File "/srv/a.py", line 1, in <module>\n'
        "ModuleNotFoundError: No module named 'second'\n"
    )
    assert diagnose(text).findings[0].captured["library"] == "second"
