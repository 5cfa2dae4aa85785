"""The worked example in CONTRIBUTING.md is a valid entry with a complete Korean file, so it can be copied."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def examples() -> list[dict[str, Any]]:
    """The YAML blocks of CONTRIBUTING.md, in order: the entry, its Korean file."""
    import yaml

    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    return [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)]


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((ROOT / "kb" / "schema.json").read_text(encoding="utf-8"))
    return loaded


def problems(schema: dict[str, Any], document: object) -> list[str]:
    from jsonschema import Draft202012Validator

    return [
        f"{error.json_path}: {error.message}" for error in Draft202012Validator(schema).iter_errors(document)
    ]


def test_the_example_entry_fits_the_schema(schema: dict[str, Any], examples: list[dict[str, Any]]) -> None:
    assert len(examples) == 2
    assert problems(schema, examples[0]) == []
    assert sum(cause["weight"] for cause in examples[0]["causes"]) == pytest.approx(1)


def test_the_example_translation_fits_the_schema(
    schema: dict[str, Any], examples: list[dict[str, Any]]
) -> None:
    translation = {"$ref": "#/$defs/translation", "$defs": schema["$defs"]}
    assert problems(translation, examples[1]) == []


def test_the_example_translation_covers_every_cause_and_fix(examples: list[dict[str, Any]]) -> None:
    entry, korean = examples
    assert {cause["id"]: [fix["id"] for fix in cause["fixes"]] for cause in entry["causes"]} == {
        id: list(cause["fixes"]) for id, cause in korean["causes"].items()
    }


def test_the_example_regex_matches_the_example_texts(examples: list[dict[str, Any]]) -> None:
    import re2

    pattern = re2.compile("(?i)" + examples[0]["match"][0]["regex"].replace(" ", r"\s+"))
    flat = [re.sub(r"\n\s*(?:trainer \| )?", "\n", example["text"]) for example in examples[0]["examples"]]
    found = [pattern.search(text) for text in flat]
    assert [match and match["device_a"] for match in found] == [
        example["captured"]["device_a"] for example in examples[0]["examples"]
    ]


def test_every_make_target_named_in_the_guide_exists() -> None:
    guide = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = set(re.findall(r"\bmake ((?:dev|dev-ide|test|check|picture)\b)", guide))
    assert named >= {"dev", "test", "check"}
    assert named <= targets
