"""Codes of a table become patterns: names, texts and numbers, each for the entry that its row names."""

from __future__ import annotations

import pytest

from gpuhelp.kb.code_patterns import CodeError, CodePattern, code_patterns
from gpuhelp.kb.load import KnowledgeBase, load
from gpuhelp.kb.regexes import ready, regex, squash

ROWS = [
    {"code": 700, "name": "libErrorAddress", "text": "an illegal access", "entry": "bad-address"},
    {"code": 46, "name": "libErrorBusy", "text": "busy", "entry": "busy"},
    {"code": 0, "name": "libSuccess", "text": "no error at all"},
]
SPACE = {
    "table": "lib_errors",
    "names": ["name"],
    "text": "text",
    "speakers": r"\b(?:LIB|lib[A-Z]\w+)",
    "numbers": ["error", "code"],
}


@pytest.fixture(scope="module")
def knowledge() -> KnowledgeBase:
    return load(use_cache=False)


@pytest.fixture(scope="module")
def tables(knowledge: KnowledgeBase) -> dict[str, object]:
    spaces = {**knowledge.table("code_spaces"), "spaces": {"lib": SPACE}}
    return {"code_spaces": spaces, "lib_errors": {"codes": ROWS}}


def matches(patterns: tuple[CodePattern, ...], text: str) -> str | None:
    """The code found in the text, "" for a text of the library, None if nothing matches."""
    for pattern in patterns:
        found = regex(ready(pattern.regex)).search(text)
        code = (found.groupdict().get("error_code") or "") if found else ""
        if found and (not pattern.numbers or code in pattern.numbers):
            assert not pattern.anchors or any(anchor in squash(text) for anchor in pattern.anchors)
            return code
    return None


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("RuntimeError: libErrorAddress", "libErrorAddress"),
        ("LIB error 700", "700"),
        ("libCopy failed with error code 700 at copy.c:12", "700"),
        ("LIB error: 700, giving up", "700"),
        ("LIB error=700", "700"),
        ("libCopy returned error (700)", "700"),
        ("LIB error: an illegal access was met", ""),
    ],
)
def test_a_code_is_found_by_name_number_and_text(tables: dict[str, object], text: str, code: str) -> None:
    assert matches(code_patterns("lib", "bad-address", tables), text) == code  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text",
    [
        "LIB error 7000",
        "LIB error (700) : a wording that decides",
        "error 700",
        "LIB error 46",
        "an illegal access to the fridge",
        "LIB loaded, 700 files",
    ],
)
def test_other_numbers_and_other_speakers_are_left_alone(tables: dict[str, object], text: str) -> None:
    assert matches(code_patterns("lib", "bad-address", tables), text) is None  # type: ignore[arg-type]


def test_a_text_too_short_to_be_unmistakable_counts_for_nothing(tables: dict[str, object]) -> None:
    assert matches(code_patterns("lib", "busy", tables), "LIB error: busy") is None  # type: ignore[arg-type]


@pytest.mark.parametrize(("space", "entry"), [("nowhere", "busy"), ("lib", "nobody")])
def test_a_space_or_entry_without_codes_is_told(tables: dict[str, object], space: str, entry: str) -> None:
    with pytest.raises(CodeError, match=space if space == "nowhere" else entry):
        code_patterns(space, entry, tables)  # type: ignore[arg-type]


def test_every_space_has_its_table_and_columns(knowledge: KnowledgeBase) -> None:
    for name, space in knowledge.table("code_spaces")["spaces"].items():
        rows = knowledge.table(space["table"])[space.get("rows", "codes")]
        for column in ("code", *space.get("names", ()), *filter(None, [space.get("text")])):
            assert any(column in row for row in rows), (name, column)
