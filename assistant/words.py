"""The sentences of the program itself, in English and Korean: one file a language under rendering/words."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path

_FOLDER = Path(__file__).resolve().parent / "rendering" / "words"


class Words:
    """The sentences of one language, by key; `{name}` in a sentence is filled in."""

    def __init__(self, language: str) -> None:
        self.language = language
        self._sentences = _sentences(language)

    def __call__(self, key: str, **values: object) -> str:
        """The sentence. Raises KeyError for a key that does not exist: that is a defect."""
        return self._sentences[key].format(**values) if values else self._sentences[key]

    def find(self, key: str) -> str | None:
        """The sentence as it stands, None for a key that does not exist."""
        return self._sentences.get(key)


@lru_cache(maxsize=4)
def _sentences(language: str) -> dict[str, str]:
    sentences: dict[str, str] = json.loads((_FOLDER / f"{language}.json").read_text("utf-8"))
    return sentences
