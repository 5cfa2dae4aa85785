"""Finds the entries whose own questions come nearest to what was asked. Pure: all it reads is given.

Two things are weighed: the nearest question of an entry, and how often all of its questions say the words.
Words count by how rare they are; a misspelt word counts as the word it is near to.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from gpuhelp.matching.wording import Wording

Questions = Mapping[str, Mapping[str, tuple[str, ...]]]
"""By entry: its title and questions by language; under "about" its own sentences, which are not asked."""
ABOUT = "about"

FLOOR = 0.33
"""Below this agreement (0..1) the honest answer is "not sure"."""
_NEAREST, _SAID = 0.55, 0.45
"""What counts how much. This, the floor and what follows were chosen by routing each shipped question with
that question left out, and with the questions for tuning of tests/bench/routing.py."""
_OFTEN, _LENGTH = 1.0, 0.5
"""As in BM25: how slowly a word that is said often stops to count for more, and how much it counts less for
an entry with many questions."""
_FLATTER = 0.8
"""Rare words weigh less against common ones than their bare rarity says: they are often beside the point."""
_ENOUGH = 0.6
"""What known words must weigh, in weights of one unknown word, for a question to be about something."""
_NO_FIELD = 0.45
"""What is left of the agreement where no word of the field is said; words near the field give some back."""
_ELSEWHERE = 0.4
"""What is left of the agreement where the question names a topic of its own."""
_UNSEEN_PAIR = 0.4
"""A Korean word that no entry says is several pairs of syllables; each weighs this part of an unseen word."""
_TYPO_AGREEMENT = 84.0
_SHORTEST_MISSPELT = 5
_HANGUL = re.compile(r"[가-힣]")


@dataclass(frozen=True, slots=True)
class Route:
    """One entry a question may be about; agreement from 0 to 1, and the nearest of the entry's questions."""

    entry: str
    agreement: float
    question: str


@dataclass(frozen=True, slots=True)
class _Asked:
    """One question of an entry, and the words that carry its meaning."""

    entry: str
    text: str
    words: frozenset[str]


class QuestionIndex:
    """The questions of all entries, with the weight of each word."""

    def __init__(self, questions: Questions, wording: Wording) -> None:
        self._wording = wording
        self._asked = [
            _Asked(entry, text, frozenset(wording.words(text)))
            for entry, told in questions.items()
            for language, texts in told.items()
            if language != ABOUT
            for text in texts
        ]
        self._said: dict[str, Counter[str]] = {entry: Counter() for entry in questions}
        self._holding: dict[str, list[int]] = defaultdict(list)
        for number, asked in enumerate(self._asked):
            self._said[asked.entry].update(asked.words)
            for word in asked.words:
                self._holding[word].append(number)
        self._weigh()

    def _weigh(self) -> None:
        entries = len(self._said)
        counts = Counter(word for said in self._said.values() for word in said)
        self._weights = {
            word: math.pow(math.log(1 + entries / count), _FLATTER) for word, count in counts.items()
        }
        self._unseen = math.pow(math.log(1 + entries), _FLATTER)
        self._totals = [sum(map(self._weights.__getitem__, asked.words)) for asked in self._asked]
        lengths = {entry: sum(said.values()) for entry, said in self._said.items()}
        usual = max(1.0, sum(lengths.values()) / max(1, entries))
        self._often = {
            entry: _OFTEN * (1 - _LENGTH + _LENGTH * length / usual) for entry, length in lengths.items()
        }

    def routes(self, text: str, left_out: str = "") -> tuple[Route, ...]:
        """Entries by agreement, best first, ties by id; one that reads as `left_out` does not count."""
        words = frozenset(map(self._spelled, self._wording.words(text)))
        hidden = {number for number, one in enumerate(self._asked) if left_out and one.text == left_out}
        asked = {word: self._weight(word, hidden) for word in sorted(words)}
        if not asked:
            return ()
        trust = self._trust(text, asked)
        found = []
        for entry, (near, number) in self._nearest(asked, hidden).items():
            agreement = _NEAREST * near + _SAID * self._said_by(entry, asked, hidden)
            found.append(Route(entry, round(trust * agreement, 4), self._asked[number].text))
        kept = (one for one in found if one.agreement >= FLOOR / 2)
        return tuple(sorted(kept, key=lambda one: (-one.agreement, one.entry)))

    def _spelled(self, word: str) -> str:
        """The word, or the one that it misspells where no entry uses it."""
        if word in self._weights or len(word) < _SHORTEST_MISSPELT or not word.isalpha():
            return word
        from rapidfuzz import fuzz, process

        near = process.extractOne(word, self._weights.keys(), scorer=fuzz.ratio, score_cutoff=_TYPO_AGREEMENT)
        return near[0] if near else word

    def _weight(self, word: str, hidden: set[int]) -> float:
        if word in self._weights and not (hidden and hidden.issuperset(self._holding[word])):
            return self._weights[word]
        return self._unseen * (_UNSEEN_PAIR if _HANGUL.match(word) else 1.0)

    def _trust(self, text: str, asked: Mapping[str, float]) -> float:
        """How far a question that says this little, or names another topic, can be answered at all (0..1)."""
        known = sum(weight for word, weight in asked.items() if word in self._weights)
        trust = min(1.0, known / (_ENOUGH * self._unseen))
        trust *= _NO_FIELD + (1 - _NO_FIELD) * self._wording.of_field(asked)
        return trust * (_ELSEWHERE if self._wording.is_elsewhere(text) else 1.0)

    def _nearest(self, asked: Mapping[str, float], hidden: set[int]) -> dict[str, tuple[float, int]]:
        """By entry: how near its nearest question comes (0..1), and which that is."""
        shared: dict[int, float] = defaultdict(float)
        for word, weight in asked.items():
            for number in self._holding.get(word, ()):
                shared[number] += weight
        total = sum(asked.values())
        best: dict[str, tuple[float, int]] = {}
        for number, weight in shared.items():
            near = 2 * weight / (total + self._totals[number])
            entry = self._asked[number].entry
            if number not in hidden and near > best.get(entry, (0.0, 0))[0]:
                best[entry] = (near, number)
        return best

    def _said_by(self, entry: str, asked: Mapping[str, float], hidden: set[int]) -> float:
        """How much of what was asked the entry's questions say, by how many of them say it (0..1)."""
        said, often = self._said[entry], self._often[entry]
        left_out = (self._asked[number] for number in hidden)
        less = Counter(word for one in left_out if one.entry == entry for word in one.words)
        told = 0.0
        for word, weight in asked.items():
            count = said[word] - less[word] if word in said else 0
            told += weight * count / (count + often)
        return told / sum(asked.values())
