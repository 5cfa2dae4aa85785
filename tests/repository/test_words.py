"""The fixed words of the program exist in both languages, with the same gaps to fill."""

from __future__ import annotations

import json
import string
from pathlib import Path

import pytest

WORDS = Path(__file__).resolve().parents[2] / "assistant" / "rendering" / "words"


def flatten(value: object, prefix: str = "") -> dict[str, str]:
    """Nested words under dotted keys; list items under their index."""
    if isinstance(value, dict):
        pairs = [(f"{prefix}.{key}" if prefix else str(key), item) for key, item in value.items()]
    elif isinstance(value, list):
        pairs = [(f"{prefix}.{index}", item) for index, item in enumerate(value)]
    else:
        return {prefix: str(value)}
    return {name: text for key, item in pairs for name, text in flatten(item, key).items()}


def placeholders(text: str) -> set[str]:
    """The names in braces of a format string: "{count} files" -> {"count"}."""
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


@pytest.fixture(scope="module")
def words() -> dict[str, dict[str, str]]:
    files = sorted(WORDS.glob("*.json"))
    if not files:
        pytest.skip("assistant/rendering/words holds no words yet")
    return {file.stem: flatten(json.loads(file.read_text(encoding="utf-8"))) for file in files}


def test_english_and_korean_have_the_same_keys(words: dict[str, dict[str, str]]) -> None:
    assert set(words) >= {"en", "ko"}
    assert set(words["en"]) ^ set(words["ko"]) == set()


def test_english_and_korean_leave_the_same_gaps(words: dict[str, dict[str, str]]) -> None:
    different = {
        key: (placeholders(text), placeholders(words["ko"][key]))
        for key, text in words["en"].items()
        if placeholders(text) != placeholders(words["ko"][key])
    }
    assert different == {}


def test_no_word_is_empty(words: dict[str, dict[str, str]]) -> None:
    empty = [
        f"{name}: {key}" for name, texts in words.items() for key, text in texts.items() if not text.strip()
    ]
    assert empty == []
