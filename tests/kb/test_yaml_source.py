"""YAML is read strictly, and whatever is wrong with it is told with its place, never raised."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpuhelp import kb
from gpuhelp.kb.problems import Problem
from gpuhelp.kb.yaml_source import Document, read_document, spell


@pytest.fixture(params=["libyaml", "pure python"], autouse=True)
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both parsers: wheels of PyYAML bring libyaml, other builds do not."""
    if request.param == "pure python":
        monkeypatch.delattr(yaml, "CSafeLoader", raising=False)
    elif not hasattr(yaml, "CSafeLoader"):
        pytest.skip("this PyYAML has no libyaml")


ANY = settings(max_examples=60, deadline=None, database=None, suppress_health_check=list(HealthCheck))


def read(text: str) -> Document:
    return read_document(text, "a.yaml")


def only(text: str) -> Problem:
    problems = read(text).problems
    assert len(problems) == 1, problems
    return problems[0]


def test_plain_data_is_read_with_its_places() -> None:
    causes = "causes:\n  - id: a\n    weight: 0.5\n  - {id: b}\n"
    document = read(f"id: x\n{causes}list:\n- 1\n- true\n- null\n- x y\n")
    assert document.problems == ()
    assert document.data == {
        "id": "x",
        "causes": [{"id": "a", "weight": 0.5}, {"id": "b"}],
        "list": [1, True, None, "x y"],
    }
    assert document.places[("causes", 0, "weight")] == (4, 5)
    assert document.places[("causes", 1, "id")] == (5, 6)
    assert document.places[("list", 3)] == (10, 3)


def test_a_problem_stands_at_the_nearest_known_place() -> None:
    document = read("causes:\n  - id: a\n")
    expected = Problem("a.yaml", 2, 5, "causes[0].title", "is missing")
    assert document.problem(("causes", 0, "title"), "is missing") == expected
    assert document.problem(("other",), "is missing").line == 1


def test_a_path_is_spelled_as_people_write_it() -> None:
    assert spell(("causes", 0, "fixes", 2, "when")) == "causes[0].fixes[2].when"
    assert spell(()) == ""


def test_a_problem_names_file_line_column_key_message_and_hint() -> None:
    problem = Problem("a.yaml", 3, 7, "causes[0].when", "is odd", "be even")
    assert str(problem) == "a.yaml:3:7: causes[0].when: is odd (be even)"
    assert str(Problem("a.yaml", 0, 0, "", "is empty")) == "a.yaml: is empty"


@pytest.mark.parametrize(
    ("text", "place", "key"),
    [
        ("a: 1\nb: 2\na: 3\n", (3, 1), "a"),
        ("x:\n  - a: 1\n    a: 1\n", (3, 5), "x[0].a"),
        ("{a: 1, 'a': 2}", (1, 8), "a"),
        ("1: x\n'1': y\n", (2, 1), "1"),
    ],
)
def test_a_key_given_twice_is_told_and_the_first_counts(text: str, place: tuple[int, int], key: str) -> None:
    problem = only(text)
    assert (problem.line, problem.column, problem.key) == (*place, key)
    assert "given twice" in problem.message
    assert problem.hint
    assert read(text).data is not None


@pytest.mark.parametrize(
    ("text", "place", "hint"),
    [
        ("a:\n\t- b\n", (2, 1), "spaces, not tabs"),
        ("a: b: c\n", (1, 5), "quote"),
        ("a: [1, 2\nb: 3\n", (2, 2), "quote"),
        ("a: 'x\n", (2, 1), "quote"),
        ("a: %x\n", (1, 4), "quote"),
        ("a: *nobody\n", (1, 4), "quote values that begin with *"),
        ("a: 1\n---\nb: 2\n", (2, 1), "one entry a file"),
        ("a: !!python/name:os.system x\n", (1, 4), "plain text"),
        ("a: !mine x\n", (1, 4), "plain text"),
        ("a: \x00\n", None, "cannot be seen"),
        ("a: \x1b[31m\n", None, "cannot be seen"),
    ],
)
def test_what_is_no_yaml_is_told_with_a_hint(text: str, place: tuple[int, int] | None, hint: str) -> None:
    document = read(text)
    (problem,) = document.problems
    assert document.data is None
    assert problem.message.startswith("not YAML: ")
    assert hint in problem.hint
    assert place is None or (problem.line, problem.column) == place


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("a: 2024-01-31", "date"),
        ("a: 2024-01-31T10:00:00Z", "datetime"),
        ("a: 2024-99-99", "no value"),
        ("a: !!binary aGVsbG8=", "bytes"),
        ("a: 0b_", "no value"),
        ("a: !!int x", "no value"),
        ("a: !!float x", "no value"),
        ("a: !!bool x", "no value"),
        ("a: !!timestamp x", "no value"),
        ("a: " + "9" * 5000, "no value"),
    ],
)
def test_a_scalar_that_json_does_not_have_is_told_and_kept_as_text(text: str, kind: str) -> None:
    problem = only(text)
    assert kind in problem.message
    assert (problem.line, problem.column, problem.key, problem.hint) == (1, 4, "a", "quote it")
    assert isinstance(read(text).data["a"], str)
    assert len(problem.message) < 120


def test_a_tag_makes_no_object() -> None:
    assert read("a: !!python/object/apply:os.system [x]\n").data == {"a": ["x"]}


def test_quoted_scalars_stay_text() -> None:
    assert read("a: '2024-01-31'\nb: 'no'\nc: \"12.4\"\n").data == {"a": "2024-01-31", "b": "no", "c": "12.4"}


def test_a_key_that_is_no_word_is_told() -> None:
    document = read("? [a]\n: b\n? {c: d}\n: e\nf: g\n")
    assert [problem.line for problem in document.problems] == [1, 3]
    assert all("not a word" in problem.message and problem.hint for problem in document.problems)
    assert document.data == {"f": "g"}


@pytest.mark.parametrize(
    ("text", "data"), [("", None), ("# only a comment\n", None), ("\ufeffa: 1\n", {"a": 1})]
)
def test_nothing_is_no_fault_of_notation(text: str, data: object) -> None:
    assert read(text) == Document("a.yaml", data, read(text).places, ())


# bounds


def test_aliases_are_written_out() -> None:
    assert read("a: &x [1, 2]\nb: *x\n").data == {"a": [1, 2], "b": [1, 2]}


def bomb(levels: int, width: int = 9) -> str:
    lines = ["a0: &a0 [" + ", ".join(["x"] * width) + "]"]
    for level in range(1, levels):
        lines.append(f"a{level}: &a{level} [" + ", ".join([f"*a{level - 1}"] * width) + "]")
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (bomb(12), "more than"),
        ("a: &a [*a]", "nested deeper"),
        ("a: &a {x: *a, y: *a, z: *a}", "nested deeper"),
        ("a: " + "[" * 60 + "]" * 60, "nested deeper"),
        ("- " * 60 + "x", "nested deeper"),
        ("a: [" + "x, " * 20_001 + "]", "more than"),
    ],
    ids=["bomb", "endless list", "endless mapping", "brackets", "dashes", "many values"],
)
def test_aliases_and_nesting_have_an_end(text: str, reason: str) -> None:
    started = time.monotonic()
    problems = read(text).problems
    assert time.monotonic() - started < 10
    assert any(reason in problem.message and problem.hint for problem in problems)
    assert len(problems) <= 2


def test_nesting_no_parser_survives_is_told() -> None:
    problem = only("a: " + "[" * 2_000)
    assert "nest" in problem.message
    assert problem.hint == "write it with fewer levels"


def test_a_huge_file_is_not_even_parsed() -> None:
    assert "longer than" in only("a: b\n" * 500_000).message


TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), max_size=20)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**60), 2**60), st.floats(allow_nan=False), TEXT),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(TEXT, inner, max_size=4)),
    max_leaves=12,
)


@ANY
@given(VALUES)
def test_plain_data_comes_back_as_it_was_written(value: Any) -> None:
    document = read(yaml.safe_dump(value, allow_unicode=True))
    assert (document.data, document.problems) == (value, ())


@ANY
@given(st.text(st.sampled_from("ab:-?[]{}&*!|>'\"%@`#,\n\t 0123_.~<=") | st.characters(), max_size=40))
def test_any_text_gives_a_document(text: str) -> None:
    assert all(problem.message and problem.hint for problem in read(text).problems)


SHIPPED = Path(kb.__file__).parent


@pytest.mark.parametrize("family", sorted(path.name for path in (SHIPPED / "entries").iterdir()))
def test_every_shipped_entry_reads_with_either_parser(family: str) -> None:
    files = sorted((SHIPPED / "entries" / family).glob("*.yaml"))
    assert files
    found = {file.name: read(file.read_text(encoding="utf-8")).problems for file in files}
    assert {name: problems for name, problems in found.items() if problems} == {}
