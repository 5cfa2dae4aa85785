"""Lint catches what the schema cannot see; the shipped entries have no such fault."""

from __future__ import annotations

import ast
import copy
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gpuhelp.authoring.checks import healthy_logs
from gpuhelp.kb import lint as rules
from gpuhelp.kb.lint import lint
from gpuhelp.kb.load import KnowledgeBase, load
from gpuhelp.kb.problems import Problem
from gpuhelp.probes.names import is_fact_name

Build = Callable[[Any], KnowledgeBase]
Entry = dict[str, Any]
FILE = "entries/code/sample-failure.yaml"
HEALTHY = (("fine.log", "epoch 1: the flux is at 99.5 %, loss 0.1\n"),)
KO = "entries/code/sample-failure.ko.yaml"


def faults_of(build: Build, entry: Entry, korean: Entry | None) -> tuple[Problem, ...]:
    knowledge = build({FILE: entry} | ({KO: korean} if korean else {}))
    return lint(knowledge, knowledge.ids, is_fact_name, HEALTHY)


def test_the_sample_has_no_fault(build: Build, entry: Entry, korean: Entry) -> None:
    assert faults_of(build, entry, korean) == ()


def first_cause(entry: Entry, **values: Any) -> None:
    entry["causes"][0].update(values)


def first_fix(entry: Entry, **values: Any) -> None:
    entry["causes"][0]["fixes"][0].update(values)


def first_pattern(entry: Entry, **values: Any) -> None:
    entry["match"][0].update(values)


CAUSE, FIX = "causes.no-flux", "causes.no-flux.fixes.add-flux"
SEEDED: list[tuple[Callable[[Entry], object], str, str]] = [
    # loose patterns
    (lambda e: e["match"].append({"text": "a b c d e f g"}), "match[1]", "'a b c d e f g' is too short"),
    (
        lambda e: e["match"].append({"regex": r"\d+ of \d+ in"}),
        "match[1]",
        "holds no literal of 4 characters",
    ),
    (
        lambda e: e["match"].append({"regex": r"(?:long text)?\d+"}),
        "match[1]",
        "holds no literal of 4 characters",
    ),
    # what healthy logs hold
    (
        lambda e: e["match"].append({"text": "the  flux is AT"}),
        "match[1]",
        "stands in the healthy log fine.log",
    ),
    (lambda e: e["match"].append({"regex": r"flux is at \d+"}), "match[1]", "the healthy log fine.log"),
    # names nobody knows
    (lambda e: first_cause(e, when="torch.versoin"), CAUSE, "'torch.versoin' is neither"),
    (lambda e: first_cause(e, hint="gpu.smm == 'x'"), CAUSE, "'gpu.smm' is neither"),
    (lambda e: first_cause(e, because="{{ requestd }}"), CAUSE, "'requestd' is neither"),
    (lambda e: first_cause(e, refuted="{{ driver.versions }}"), CAUSE, "'driver.versions' is neither"),
    (lambda e: first_fix(e, when="gpu_count > 1"), FIX, "'gpu_count' is neither"),
    (lambda e: first_fix(e, title="Add {{ fluxes }}"), FIX, "'fluxes' is neither"),
    (lambda e: first_fix(e, commands=["{{ pyton }} -c 1"]), FIX, "'pyton' is neither"),
    (lambda e: first_fix(e, explain="{% if torch.cudaa %}x{% endif %}"), FIX, "'torch.cudaa' is neither"),
    (lambda e: first_fix(e, undo="{{ undoing }}"), FIX, "'undoing' is neither"),
    (lambda e: first_fix(e, proof="{{ proving }} --version"), FIX, "'proving' is neither"),
    (lambda e: first_fix(e, expect="{{ torch_index(gpu.sm, cuda_api) }}"), FIX, "'cuda_api' is neither"),
    (lambda e: first_pattern(e, where="bytes(freee) > 1"), "match", "'freee' is neither"),
    (lambda e: first_pattern(e, let={"x": "bytes(allocatd)"}), "match", "'allocatd' is neither"),
    (
        lambda e: first_pattern(e, tells={"torch.version": "torchversion"}),
        "match",
        "'torchversion' is neither",
    ),
    (
        lambda e: first_pattern(e, tells={"torch.versoin": "torch_version"}),
        "match",
        "'torch.versoin' is no fact",
    ),
    (lambda e: e["causes"][0]["ask"].update(fact="answer.flux"), f"{CAUSE}.ask", "'answer.flux' is no fact"),
    # sums and ids
    (lambda e: first_cause(e, weight=0.1), "causes", "weights sum to 0.50"),
    (lambda e: first_cause(e, weight=1.0), "causes", "weights sum to 1.40"),
    (lambda e: e.update(refines=["sample-failure"]), "refines", "names the entry itself"),
    (lambda e: e.update(leads_to=["sample-failure"]), "leads_to", "names the entry itself"),
    (lambda e: e.update(leads_to=["other-failure"]), "leads_to", "there is no entry 'other-failure'"),
    (lambda e: e.update(refines=["other-failure"]), "refines", "there is no entry 'other-failure'"),
    # commands
    (lambda e: first_fix(e, commands=["sudo apt install flux"]), FIX, "a command uses sudo"),
    (lambda e: first_fix(e, commands=["cd x && sudo make install"]), FIX, "a command uses sudo"),
    (lambda e: first_fix(e, commands=["echo {{ torch.version }} | sudo tee x"]), FIX, "a command uses sudo"),
    (lambda e: first_fix(e, proof="sudo dmesg"), FIX, "a command uses sudo"),
]


@pytest.mark.parametrize(("seed", "key", "message"), SEEDED, ids=[case[2] for case in SEEDED])
def test_a_seeded_fault_is_told_with_key_and_hint(
    build: Build, entry: Entry, korean: Entry, seed: Callable[[Entry], object], key: str, message: str
) -> None:
    seed(entry)
    for text in ("because", "refuted"):
        if text in entry["causes"][0]:
            korean["causes"]["no-flux"][text] = "설명입니다"
    (problem,) = faults_of(build, entry, korean)
    assert (problem.path, problem.key) == (FILE, key)
    assert message in problem.message
    assert problem.hint


@pytest.mark.parametrize(
    "allowed",
    [
        lambda e: first_cause(
            e, when="gpu.sm in torch.arch_list and gpus | length > 1 and env.HOME is known"
        ),
        lambda e: first_cause(e, when="requested is known and answers.flux and packages.flash_attn is none"),
        lambda e: first_pattern(e, let={"a": "bytes(free_text)", "b": "a + 1"}, where="b > 1"),
        lambda e: first_fix(e, commands=["{{ pip }} list", "{{ python }} -V", "echo pseudo sudoku"]),
        lambda e: e["match"].append({"exception": "Error"}),
        lambda e: first_cause(e, weight=0.45),
    ],
)
def test_what_is_allowed_is_no_fault(
    build: Build, entry: Entry, korean: Entry, allowed: Callable[[Entry], object]
) -> None:
    allowed(entry)
    assert faults_of(build, entry, korean) == ()


def test_ids_used_twice_are_told(build: Build, entry: Entry) -> None:
    entry["causes"][1]["id"] = "no-flux"
    entry["causes"][0]["fixes"].append({**entry["causes"][0]["fixes"][0]})
    found = {(p.key, p.message) for p in faults_of(build, entry, None)}
    assert ("causes.no-flux", "id is used twice") in found
    assert ("causes.no-flux.fixes.add-flux", "id is used twice") in found


def test_an_entry_without_any_korean_is_no_fault(build: Build, entry: Entry) -> None:
    assert faults_of(build, entry, None) == ()


def test_missing_translations_are_counted_in_one_line(build: Build, entry: Entry, korean: Entry) -> None:
    korean["causes"].clear()
    (fault,) = faults_of(build, entry, korean)
    assert fault.message.startswith("12 texts have no Korean: causes.no-flux.ask.choices, ")
    assert fault.hint == "add them to sample-failure.ko.yaml"


@pytest.mark.parametrize("key", ["because", "ask", "title"])
def test_one_missing_translation_is_told(build: Build, entry: Entry, korean: Entry, key: str) -> None:
    if key == "title":
        korean["causes"]["no-flux"]["fixes"].clear()
    else:
        del korean["causes"]["no-flux"][key]
    found = faults_of(build, entry, korean)
    assert found
    assert all("have no Korean" in p.message for p in found)
    assert all("sample-failure.ko.yaml" in p.hint for p in found)


def test_only_the_entries_asked_for_are_looked_at(build: Build, entry: Entry, korean: Entry) -> None:
    bad = {**entry, "id": "bad", "leads_to": ["bad"], "questions": ["what is bad"]}
    knowledge = build({FILE: entry, KO: korean, "entries/code/bad.yaml": bad})
    assert lint(knowledge, ("sample-failure",), is_fact_name) == ()
    assert {p.path for p in lint(knowledge, ("bad",), is_fact_name)} == {"entries/code/bad.yaml"}


def test_a_question_that_two_entries_ask_is_told_of_the_second(
    build: Build, entry: Entry, korean: Entry
) -> None:
    twin = {**entry, "id": "twin", "title": "Another title"}
    knowledge = build({FILE: entry, KO: korean, "entries/code/twin.yaml": twin})
    (problem,) = lint(knowledge, knowledge.ids, is_fact_name)
    assert (problem.path, problem.key) == ("entries/code/twin.yaml", "questions")
    assert "is asked by sample-failure as well" in problem.message


def test_a_reference_given_twice_is_told(build: Build, entry: Entry) -> None:
    entry["references"].append({**entry["references"][0], "claim": "and so on"})
    (problem,) = faults_of(build, entry, None)
    assert (problem.key, problem.hint) == ("references", "join their claims")


def test_faults_and_todos_of_a_file_have_line_and_column(
    tmp_path: Path, entry: Entry, dump: Callable[[Any], str]
) -> None:
    entry["causes"][1]["fixes"][0]["commands"] = ["sudo flux renew"]
    entry["summary"] = "FILL-IN: say what it means."
    (tmp_path / "sample-failure.yaml").write_text(dump(entry), "utf-8")
    lines = dump(entry).splitlines()
    knowledge = load([tmp_path], use_cache=False)
    todo, sudo = lint(knowledge, ("sample-failure",), is_fact_name)
    assert (todo.path, todo.message) == (
        str(tmp_path / "sample-failure.yaml"),
        "still to be written: summary: 'FILL-IN: say what it means.'",
    )
    assert lines[todo.line - 1][todo.column - 1 :].startswith("FILL-IN")
    assert sudo.key == "causes.old-flux.fixes.renew-flux"
    assert "renew-flux" in lines[sudo.line - 1]


def test_the_shipped_entries_are_clean() -> None:
    knowledge = load(use_cache=False)
    found = lint(knowledge, knowledge.ids, is_fact_name, healthy_logs())
    assert [str(problem) for problem in found] == []


def lines_that_tell() -> set[int]:
    """Line numbers of lint.py on which a rule tells a fault: a new rule adds one."""
    found = set()
    for node in ast.walk(ast.parse(inspect.getsource(rules))):
        call = node.value if isinstance(node, ast.Yield) else None
        made = call.func if isinstance(call, ast.Call) else None
        if isinstance(made, ast.Name) and made.id in ("Fault", "Problem"):
            found.add(node.lineno)
    return found


def lines_run(work: Callable[[], object]) -> set[int]:
    """Lines of lint.py that this work runs."""
    ran: set[int] = set()

    def trace(frame: Any, event: str, _: object) -> Any:
        if frame.f_code.co_filename != rules.__file__:
            return None
        if event == "line":
            ran.add(frame.f_lineno)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return ran


def test_every_rule_of_lint_has_a_seeded_fault(
    build: Build, entry: Entry, korean: Entry, tmp_path: Path, dump: Callable[[Any], str]
) -> None:
    def seeded_by_itself() -> None:
        for seed, _, _ in SEEDED:
            bad = copy.deepcopy(entry)
            seed(bad)
            faults_of(build, bad, None)

    def seeded_with_others() -> None:
        test_ids_used_twice_are_told(build, copy.deepcopy(entry))
        test_missing_translations_are_counted_in_one_line(build, copy.deepcopy(entry), copy.deepcopy(korean))
        test_a_question_that_two_entries_ask_is_told_of_the_second(build, copy.deepcopy(entry), korean)
        test_a_reference_given_twice_is_told(build, copy.deepcopy(entry))
        test_faults_and_todos_of_a_file_have_line_and_column(tmp_path, copy.deepcopy(entry), dump)

    rules_of_lint = lines_that_tell()
    ran = lines_run(seeded_by_itself) | lines_run(seeded_with_others)
    assert len(rules_of_lint) >= 14
    assert rules_of_lint - ran == set()
