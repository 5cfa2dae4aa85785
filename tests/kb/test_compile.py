"""Everything wrong with any file is told at once; what is right becomes the record that is cached."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gpuhelp.kb.entry import CAPTURED_NAMES, entry_from
from gpuhelp.kb.load import KnowledgeBase
from gpuhelp.kb.problems import KnowledgeError, Problem

Faults = Callable[[Any], "tuple[Problem, ...]"]
Build = Callable[[Any], KnowledgeBase]
FILE = "entries/code/sample-failure.yaml"
KO = "entries/code/sample-failure.ko.yaml"


def told(problems: tuple[Problem, ...]) -> list[tuple[str, str]]:
    return [(problem.key, problem.message) for problem in problems]


# conditions, texts and patterns


@pytest.mark.parametrize(
    ("change", "key", "message", "hint"),
    [
        (
            lambda e: e["causes"][0].update(when="a &&& b"),
            "causes[0].when",
            "not an expression",
            "allowed: names",
        ),
        (
            lambda e: e["causes"][0].update(when="open('x')"),
            "causes[0].when",
            "function open",
            "allowed: names",
        ),
        (
            lambda e: e["causes"][0].update(hint="gpu.__class__"),
            "causes[0].hint",
            "__class__",
            "allowed: names",
        ),
        (
            lambda e: e["causes"][0].update(because="{{ a | frob }}"),
            "causes[0].because",
            "filter frob",
            "{{ expr",
        ),
        (lambda e: e["causes"][0].update(refuted="{% for %}"), "causes[0].refuted", "not a text", "{% if"),
        (lambda e: fix(e).update(when="a b"), "causes[0].fixes[0].when", "one expression", "allowed: names"),
        (lambda e: fix(e).update(title="{{ a"), "causes[0].fixes[0].title", "not a text", "{% if"),
        (
            lambda e: fix(e).update(commands=["ok", "{{ x.y() }}"]),
            "causes[0].fixes[0].commands[1]",
            "?",
            "{% if",
        ),
        (lambda e: fix(e).update(proof="{% set a = 1 %}"), "causes[0].fixes[0].proof", "Assign", "{% if"),
        (lambda e: fix(e).update(expect="{{ 2 ** 3 }}"), "causes[0].fixes[0].expect", "Pow", "{% if"),
        (lambda e: fix(e).update(undo="{{ (" * 3), "causes[0].fixes[0].undo", "not a text", "{% if"),
        (
            lambda e: fix(e).update(when="(" * 300 + "a" + ")" * 300),
            "causes[0].fixes[0].when",
            "deeply",
            "allowed",
        ),
        (lambda e: pattern(e, regex="(unclosed"), "match[0].regex", "missing )", "RE2 syntax"),
        (lambda e: pattern(e, regex="foobar(?=x)"), "match[0].regex", "perl operator", "RE2 syntax"),
        (
            lambda e: pattern(e, regex="(?P<size>\\d+) lost"),
            "match[0].regex",
            "group 'size'",
            "allocated, cap",
        ),
        (lambda e: pattern(e, exception="*Error", says="(x"), "match[0].says", "missing )", "RE2 syntax"),
        (
            lambda e: pattern(e, exception="*Error", says="(?P<who>x)"),
            "match[0].says",
            "group 'who'",
            "_text",
        ),
        (lambda e: pattern(e, message="no-such"), "match[0].message", "no message 'no-such'", "known: "),
        (lambda e: e["match"][0].update(where="1 +"), "match[0].where", "not an expression", "allowed"),
        (lambda e: e["match"][0].update(let={"x": "1 +"}), "match[0].let.x", "not an expression", "allowed"),
        (
            lambda e: e["match"][0].update(tells={"gpu.sm": "1 +"}),
            "match[0].tells.gpu.sm",
            "not an ex",
            "allowed",
        ),
        (
            lambda e: e["match"][0].update(unless=[{"regex": "(un"}]),
            "match[0].unless[0].regex",
            "missing",
            "RE2",
        ),
        (
            lambda e: e.update(unless=[{"text": "abc"}, {"regex": "(un"}]),
            "unless[1].regex",
            "missing )",
            "RE2",
        ),
    ],
)
def test_a_fault_inside_a_value_is_told_with_its_place(
    entry: dict[str, Any],
    faults: Faults,
    change: Callable[[dict[str, Any]], object],
    key: str,
    message: str,
    hint: str,
) -> None:
    change(entry)
    (problem,) = faults({FILE: entry})
    assert (problem.path, problem.key) == (FILE, key)
    assert message in problem.message
    assert hint in problem.hint
    assert problem.line > 1


def fix(entry: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = entry["causes"][0]["fixes"][0]
    return found


def pattern(entry: dict[str, Any], **values: Any) -> None:
    entry["match"][0] = values


def test_every_captured_name_may_be_a_group(entry: dict[str, Any], faults: Faults) -> None:
    entry["match"] = [{"regex": f"(?P<{name}>x+) stands here"} for name in sorted(CAPTURED_NAMES)]
    entry["match"].append({"regex": "(?P<any_text>x+) stands here"})
    assert faults({FILE: entry}) == ()


def test_all_faults_of_all_files_are_told_at_once(
    entry: dict[str, Any], korean: dict[str, Any], faults: Faults
) -> None:
    other = {**entry, "id": "other-failure", "layer": "attic"}
    del other["title"]
    entry["causes"] = [
        {**entry["causes"][0], "when": "a b", "hint": "c d"},
        {**entry["causes"][1], "when": "{}"},
    ]
    korean["causes"]["nobody"] = korean["causes"]["old-flux"]
    found = faults(
        {
            FILE: entry,
            KO: korean,
            "entries/code/other-failure.yaml": other,
            "entries/code/broken.yaml": "a: [",
            "entries/code/latin.yaml": "title: fa\u00e7ade".encode("latin-1"),
            "entries/code/empty.yaml": "",
            "entries/code/alone.ko.yaml": korean,
            "tables/advice.yaml": "advice:\n- regex: '(un'\n- {near: x}\n",
            "tables/gpus.yaml": "a: 1\na: 2\n",
        }
    )
    by_file = {path: [p.key for p in found if p.path == path] for path in {p.path for p in found}}
    assert by_file == {
        FILE: ["causes[0].when", "causes[0].hint", "causes[1].when"],
        KO: ["causes.nobody"],
        "entries/code/other-failure.yaml": ["", "layer"],
        "entries/code/broken.yaml": [""],
        "entries/code/latin.yaml": [""],
        "entries/code/empty.yaml": [""],
        "entries/code/alone.ko.yaml": [""],
        "tables/advice.yaml": ["advice[0].regex", "advice[1]"],
        "tables/gpus.yaml": ["a"],
    }
    assert all(problem.message and problem.hint for problem in found)


def test_a_fault_of_form_does_not_hide_those_of_conditions(entry: dict[str, Any], faults: Faults) -> None:
    entry["layer"] = "attic"
    entry["causes"][1]["when"] = "a b"
    entry["match"].append({"regex": "(unclosed"})
    entry["examples"][0]["facts"] = {"when": "a b"}
    assert [key for key, _ in told(faults({FILE: entry}))] == ["layer", "match[1].regex", "causes[1].when"]


def test_the_error_lists_every_problem_in_order(entry: dict[str, Any], build: Build) -> None:
    entry["layer"], entry["title"] = "attic", 5
    with pytest.raises(KnowledgeError) as caught:
        build({FILE: entry})
    assert len(caught.value.problems) == 2
    assert list(caught.value.problems) == sorted(caught.value.problems)
    assert all(str(problem) in str(caught.value) for problem in caught.value.problems)


# ids


def test_an_id_is_the_stem_of_its_file(entry: dict[str, Any], faults: Faults) -> None:
    (problem,) = faults({"entries/code/another-name.yaml": entry})
    assert (problem.key, problem.message) == ("id", "is 'sample-failure', the file is 'another-name'")
    assert problem.hint == "make them equal"


def test_an_id_exists_once_over_all_families(entry: dict[str, Any], faults: Faults) -> None:
    (problem,) = faults({FILE: entry, "entries/memory/sample-failure.yaml": entry})
    assert (problem.path, problem.key) == ("entries/memory/sample-failure.yaml", "id")
    assert problem.message == f"'sample-failure' exists already in {FILE}"


# translations


def test_a_translation_needs_its_entry(korean: dict[str, Any], faults: Faults) -> None:
    (problem,) = faults({KO: korean})
    assert (problem.path, problem.message) == (KO, "there is no sample-failure.yaml beside it")


def test_an_empty_translation_is_told(entry: dict[str, Any], faults: Faults) -> None:
    (problem,) = faults({FILE: entry, KO: "# nothing yet\n"})
    assert (problem.path, problem.message) == (KO, "the file is empty")


def test_a_translation_lies_beside_its_entry(
    entry: dict[str, Any], korean: dict[str, Any], faults: Faults
) -> None:
    (problem,) = faults({FILE: entry, "entries/memory/sample-failure.ko.yaml": korean})
    assert "no sample-failure.yaml beside it" in problem.message


@pytest.mark.parametrize(
    ("change", "key", "message", "hint"),
    [
        (
            lambda k: k.update(x=k.pop("old-flux")),
            "causes.x",
            "no cause 'x' in the entry",
            "has: no-flux, old-flux",
        ),
        (
            lambda k: k["no-flux"]["fixes"].update(y=k["no-flux"]["fixes"].pop("add-flux")),
            "causes.no-flux.fixes.y",
            "no fix 'y' in the entry",
            "has: add-flux",
        ),
        (
            lambda k: k["old-flux"].update(because="그렇습니다"),
            "causes.old-flux.because",
            "does not have",
            "remove",
        ),
        (
            lambda k: k["no-flux"].update(refuted="아닙니다"),
            "causes.no-flux.refuted",
            "does not have",
            "remove it",
        ),
        (
            lambda k: k["old-flux"].update(ask="그렇습니까?"),
            "causes.old-flux.ask",
            "does not have",
            "remove it",
        ),
        (
            lambda k: k["no-flux"].update(choices=["예"]),
            "causes.no-flux.choices",
            "does not have",
            "in the entry: 2",
        ),
        (
            lambda k: k["old-flux"]["fixes"]["renew-flux"].update(explain="설명합니다"),
            "causes.old-flux.fixes.renew-flux.explain",
            "does not have",
            "remove it",
        ),
        (lambda k: k["no-flux"].update(because="{{ a b }}"), "causes.no-flux.because", "not a text", "{% if"),
        (
            lambda k: k["no-flux"]["fixes"]["add-flux"].update(undo="{% for %}"),
            "causes.no-flux.fixes.add-flux.undo",
            "not a text",
            "{% if",
        ),
    ],
)
def test_a_translation_translates_what_is_there(
    entry: dict[str, Any],
    korean: dict[str, Any],
    faults: Faults,
    change: Callable[[dict[str, Any]], object],
    key: str,
    message: str,
    hint: str,
) -> None:
    change(korean["causes"])
    (problem,) = faults({FILE: entry, KO: korean})
    assert (problem.path, problem.key) == (KO, key)
    assert message in problem.message
    assert hint in problem.hint
    assert problem.line > 1


# records


def test_an_entry_comes_back_whole(entry: dict[str, Any], korean: dict[str, Any], build: Build) -> None:
    knowledge = build({FILE: entry, KO: korean})
    found = knowledge.entry("sample-failure")
    assert (found.id, found.family, found.layer, found.origin) == ("sample-failure", "code", "code", FILE)
    assert found.title.of("ko") == korean["title"]
    assert found.title.of("fr") == entry["title"]
    first, second = found.causes
    assert (first.id, first.when, first.when_source) == (
        "no-flux",
        ["name", "torch.installed"],
        "torch.installed",
    )
    assert first.because is not None
    assert first.because.of("ko")[0] == ["text", "PyTorch "]
    assert first.ask is not None
    assert (first.ask.choices.of("en"), first.ask.choices.of("ko")) == (["yes", "no"], ["예", "아니요"])
    assert second.because is None
    assert second.ask is None
    assert first.fixes[0].commands == ((["text", "flux add "], ["out", ["name", "torch.version"]]),)
    assert found.references[0].url == "https://example.org/flux"
    assert [example.text for example in found.not_examples] == [
        "the frobnicator runs",
        "flux capacitor found",
    ]


def test_patterns_are_made_ready(entry: dict[str, Any], build: Build) -> None:
    entry["match"] = [
        {"text": "Out of  Flux", "warning": True},
        {"text": "Out of Flux", "case": True},
        {"regex": r"lost (?P<free>\d+) units", "where": "bytes(free) > 1", "let": {"x": "free"}},
        {"exception": "*FluxError", "says": "No (?P<library>x+)"},
        {"fuzzy": "the frobnicator ran out of its flux"},
        {"message": "family"},
    ]
    entry["unless"] = [{"text": "But Not"}, {"regex": "nor this"}]
    messages = "family:\n  forms:\n  - {regex: form one}\n  - {regex: form two, let: {y: '1'}}\n"
    (signature,) = build({FILE: entry, "tables/messages.yaml": messages}).signatures
    literal, cased, regex, exception, fuzzy, *forms = signature.patterns
    assert (literal.needle, literal.anchors, literal.warning) == ("outofflux", ("outofflux",), True)
    assert (cased.needle, cased.anchors, cased.case) == ("OutofFlux", ("outofflux",), True)
    assert (regex.needle, regex.anchors) == (r"(?im)lost\s+(?P<free>\d+)\s+units", ("units",))
    assert (regex.let, regex.where is not None) == ((("x", ["name", "free"]),), True)
    assert (exception.needle, exception.says) == ("*FluxError", r"(?im)No\s+(?P<library>x+)")
    assert fuzzy.needle == "the frobnicator ran out of its flux"
    assert [form.anchors for form in forms] == [("formone",), ("formtwo",)]
    assert [guard.literal or guard.regex for guard in signature.unless] == ["butnot", r"(?im)nor\s+this"]


def test_a_record_is_plain_data(entry: dict[str, Any], korean: dict[str, Any], build: Build) -> None:
    knowledge = build({FILE: entry, KO: korean})
    assert entry_from(knowledge.record("sample-failure")) == knowledge.entry("sample-failure")


def test_questions_hold_the_title_too(entry: dict[str, Any], korean: dict[str, Any], build: Build) -> None:
    asked = build({FILE: entry, KO: korean}).questions["sample-failure"]
    assert asked["en"] == (entry["title"], *entry["questions"])
    assert asked["ko"] == (korean["title"], *korean["questions"])


@pytest.mark.parametrize(
    ("table", "text", "message"),
    [
        ("advice", "[]", "no list of rows"),
        ("captures", "captures:\n", "no list of rows"),
        ("failure_signs", "signs: [text]\n", "neither text nor regex"),
        ("checks", "checks: [{id: a}]\n", "no condition"),
        ("checks", "checks: [{when: a b}]\n", "one expression"),
    ],
)
def test_a_table_of_patterns_that_cannot_be_used_is_told(
    faults: Faults, table: str, text: str, message: str
) -> None:
    (problem,) = faults({f"tables/{table}.yaml": text})
    assert message in problem.message
    assert problem.hint
