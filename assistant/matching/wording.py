"""The words of a question that carry meaning, however they are said. Pure: the tables are given.

English words lose their endings, Korean ones their particles; what means the same becomes one word in both
languages. What is left of Korean is compared by pairs of syllables, since its words compound freely.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from gpuhelp.matching.stemming import stem

NOT = "not"
_APOSTROPHES = ("'", "’", "`")
_LATIN = re.compile(r"[a-z][a-z0-9]*(?:[._+-][a-z0-9]+)*|\d+(?:\.\d+)*[a-z]*")
_JOINED = re.compile(r"[.+-]")
_TAKEN = "|"
"""Stands where a Korean phrase was; what follows at once, if short, is its inflection."""
_LONGEST_INFLECTION = 3
_KOREAN = re.compile(r"(\|?)([가-힣]+)")
_HANGUL = re.compile(r"[가-힣]")
_FARTHEST_NEGATED = 3
_LONGEST_PHRASE = 4
_SURE = 3


class Wording:
    """Tells the words of texts by the tables synonyms.yaml and question_words.yaml of kb/tables."""

    def __init__(self, synonyms: Mapping[str, Any], question_words: Mapping[str, Any]) -> None:
        small = question_words.get("small", {})
        self._small = frozenset(f"{small.get('en', '')} {small.get('ko', '')}".split())
        self._negations = frozenset(question_words.get("negations", "").split())
        endings = "|".join(question_words.get("endings", "").split())
        self._ending = re.compile(f"(?:{endings})$")
        self._particles = "".join(question_words.get("particles", "").split())
        self._known_parts: dict[str, tuple[str, ...]] = {}
        self._known_pairs: dict[str, tuple[str, ...]] = {}
        self._take_synonyms(synonyms.get("synonyms", ()))
        self._take_topics(synonyms)

    def _take_synonyms(self, rows: Iterable[Mapping[str, Any]]) -> None:
        phrases = {tuple(self._latin(said)): row["is"] for row in rows for said in row.get("en", ())}
        self._phrases = {said: name for said, name in phrases.items() if len(said) > 1}
        self._begins = {said[0] for said in self._phrases}
        alone = {said[0]: name for said, name in phrases.items() if len(said) == 1}
        self._meaning = {**dict.fromkeys((*self._small, NOT), ""), **alone}
        self._negated = {said[1]: name for said, name in self._phrases.items() if said[0] == NOT}
        korean = {said: row["is"] for row in rows for said in row.get("ko", ())}
        self._korean = {_unspaced(said): name for said, name in korean.items()}
        self._korean_regex = _any_of(korean, self._particles)

    def _take_topics(self, synonyms: Mapping[str, Any]) -> None:
        self._field = _stemmed(synonyms.get("field", ()))
        self._near_field = _stemmed(synonyms.get("near_field", ()))
        topics = synonyms.get("elsewhere", {})
        self._elsewhere = frozenset(map(stem, topics.get("en", ())))
        self._korean_elsewhere = _any_of(topics.get("ko", ()), self._particles)

    def of_field(self, words: Collection[str]) -> float:
        """How surely the words are of the field of GPUs and their programs, from 0 to 1.

        A word of the field, a name in code, or three words that other fields use as well make it sure.
        """
        if any(word in self._field or "_" in word for word in words):
            return 1.0
        return min(_SURE, sum(word in self._near_field for word in words)) / _SURE

    def is_elsewhere(self, text: str) -> bool:
        """True where the text names a topic that no entry is about."""
        return not self._elsewhere.isdisjoint(self._parts_of(_plain(text))) or bool(
            self._korean_elsewhere.search(_plain(text))
        )

    def words(self, text: str) -> tuple[str, ...]:
        """The words, each as often as it is said: Korean ones first, each group in order."""
        text = _plain(text)
        korean = self._of_korean(text) if not text.isascii() and _HANGUL.search(text) else []
        return (*korean, *self._of_latin(self._parts_of(text)))

    def _latin(self, phrase: str) -> list[str]:
        return self._parts_of(_plain(phrase)) or [str(phrase)]

    def _parts_of(self, text: str) -> list[str]:
        known = self._known_parts
        parts: list[str] = []
        for word in _LATIN.findall(text):
            parts += known.get(word) or self._parts(word)
        return parts

    def _parts(self, word: str) -> tuple[str, ...]:
        """A word as it counts: negations are one, and names that are joined by marks are taken apart."""
        if word in self._negations:
            parts: tuple[str, ...] = (NOT,)
        elif word in self._small or word[0].isdigit():
            parts = (word,)
        else:
            parts = tuple(map(stem, _JOINED.split(word)))
        self._known_parts[word] = parts
        return parts

    def _of_latin(self, said: list[str]) -> list[str]:
        names: list[str] = []
        place = 0
        while place < len(said):
            part = said[place]
            size, name = self._phrase(said, place) if part in self._begins else (1, "")
            name = name or self._meaning.get(part, part)
            if part == NOT and not name:
                name = self._negated_near(said, place)
            if name:
                names.append(name)
            place += size
        return names

    def _phrase(self, said: list[str], place: int) -> tuple[int, str]:
        """The longest phrase of several words that begins here: how many words, and what it means."""
        for size in range(min(_LONGEST_PHRASE, len(said) - place), 1, -1):
            name = self._phrases.get(tuple(said[place : place + size]))
            if name:
                return size, name
        return 1, ""

    def _negated_near(self, said: list[str], place: int) -> str:
        """What is denied with a word or two between: "is not pytorch seeing my card"."""
        near = (self._negated.get(word) for word in said[place + 2 : place + 1 + _FARTHEST_NEGATED])
        return next(filter(None, near), "")

    def _of_korean(self, text: str) -> list[str]:
        parts = self._korean_regex.split(text)
        known = self._known_pairs
        names = [self._korean[_unspaced(found)] for found in parts[1::2]]
        for taken, word in _KOREAN.findall(_TAKEN.join(parts[::2])):
            if taken and len(word) <= _LONGEST_INFLECTION:
                continue
            pairs = known.get(word)
            names += self._syllable_pairs(word) if pairs is None else pairs
        return names

    def _syllable_pairs(self, word: str) -> tuple[str, ...]:
        """A Korean word without its ending, in pairs of syllables; a single syllable says too little."""
        bare = "" if word in self._small else self._ending.sub("", word)
        pairs = tuple(bare[place : place + 2] for place in range(len(bare) - 1) if bare not in self._small)
        self._known_pairs[word] = pairs
        return pairs


def _plain(text: str) -> str:
    text = str(text).lower()
    for mark in _APOSTROPHES:
        text = text.replace(mark, "")
    return text


def _stemmed(words: Iterable[str]) -> frozenset[str]:
    return frozenset(one for word in words for one in (word, stem(word)))


def _unspaced(text: str) -> str:
    return text.replace(" ", "")


def _any_of(phrases: Iterable[str], particles: str) -> re.Pattern[str]:
    """Finds any of the Korean phrases as its one group, the longest first, spaces between syllables aside.

    Every branch begins with a syllable, so that the engine skips quickly to places where one can begin. A
    phrase of one syllable counts only where it is a word: "램" is not meant in "프로그램".
    """
    groups: dict[str, list[str]] = {}
    for phrase in sorted(phrases, key=lambda phrase: (-len(phrase), phrase)):
        first, rest = phrase[0], phrase[1:]
        alone = f"(?<![가-힣]{first})(?![가-힣]{{2}}|[가-힣](?<![{particles}]))"
        groups.setdefault(first, []).append(rest.replace(" ", " ?") or alone)
    told = (f"{first}(?:{'|'.join(rests)})" for first, rests in groups.items())
    return re.compile("(" + ("|".join(told) or r"(?!)") + ")")
