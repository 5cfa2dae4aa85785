"""Routes a question without an error text to the entries whose own questions come nearest. Pure, no model.

Three things are weighed: the nearest question of an entry, all of its questions together, and what it says of
itself. Words count by how rare they are. Korean words lose their endings and, since they compound freely, are
compared by pairs of syllables. A misspelt word counts as the word it is near to.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

Questions = Mapping[str, Mapping[str, tuple[str, ...]]]
"""By entry: its questions by language, and under "about" its own words (summary, titles of causes)."""
ABOUT = "about"

FLOOR = 0.38
"""Below this agreement (0..1) the honest answer is "not sure"."""
_NEAREST, _COVERED, _TOLD = 0.4, 0.3, 0.3
"""What counts how much. These and the floor were chosen by routing each shipped question with that question
left out: more right, and fewer wrong or off-topic answers, than with two parts or other weights."""
_ENOUGH_WORDS = 2.5
"""Rare words that a question needs to be about something; with less, agreement means little."""
_TYPO_AGREEMENT = 84.0
_LONGEST_QUESTION = 1500
_MOST_LINES = 8
_LONGEST_TITLE = 30
_HANGUL = re.compile(r"[가-힣]")
_OUTPUT_MARKS = re.compile(
    r"[\[\]{}<>=|/\\#$%()_*]|: |:$|\d\d:\d\d|\b0x|\w(?:Error|Exception)\b|\d\.\d{3}|\.\.\."
)


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_PROGRAM_BEGINS = re.compile(
    r"^\W{0,3}(?:(?:TRACE|DEBUG|INFO|NOTE|WARN(?:ING)?|ERROR|CRITICAL|FATAL)\b"
    r"|(?i:step|epoch|iter\w*) \W?\d)",
    re.MULTILINE,
)
"""A level or a counter at the beginning of a line: people do not begin so."""
_PERSONAL = _set("i i'm im i've my me we our why how what want help anyone")
"""Words of people; programs hardly say them."""
_ASKING = _set("why how what which when where who should can could does do did is are will")
_SMALL = _ASKING | _set("it the a but after still")
"""Words that programs say as well; beside a word of people, or after one that asks, they tell a sentence."""
_WORD = re.compile(r"[a-z][a-z0-9]*(?:[._+-][a-z0-9]+)*|\d+(?:\.\d+)*[a-z]*|[가-힣]+")
_KOREAN_ENDING = re.compile(
    r"(?:이에요|이예요|입니다|인데요|이라고|라고|에서는|에서|으로|부터|까지|에게|이랑|하고|처럼|보다|이나"
    r"|은요|는데|는데요|는|은|이|가|을|를|의|에|로|와|과|도|만|요)$"
)
_COMMON = _set(
    "a an and are as at be but by can do does for from get got had has have how i in is it just like"
    " me my no not of on or please so some than that the their then there they this to up use was we"
    " what when which why will with would you your any anyone help error problem issue question make"
    " makes made use uses used using see seen show shows find tell says say said mean means need needs"
    " know go going try tried work works working start started run runs running happen happens give"
    " gives take takes look looks want new good best way thing something still always sometimes every"
    " many much more less since before while during between about into out off over under same other"
    " another only very too really already again first last long time times kind correct right wrong"
    " different enough them him could our us 안 왜 뭐 뭔가 무슨 어떻게 제가 저는 그냥 근데 그런데 혹시"
    " 좀 지금 하나요 합니까 알려주세요 방법 쓰려면 하려면 되나요 나요 나오 나와 해요 해야 어디 언제"
    " 그런가요 그런건가요 그런지 이런가요 이유 뭔가요 뭐죠 무엇인가요 궁금합니다 궁금해요 주세요"
    " 얼마 이게 그게 이거 있나요 인가요 싶어요 때마다 계속 자꾸 매번 다시 먼저 모두 다른 같은"
)


@dataclass(frozen=True, slots=True)
class Route:
    """One entry a question may be about; agreement from 0 to 1, and the nearest of the entry's questions."""

    entry: str
    agreement: float
    question: str


def looks_like_question(text: str) -> bool:
    """True for a short text in a person's own words: few lines, and words that programs do not print."""
    lines = [line for line in text.strip().splitlines() if line.strip()]
    if not 0 < len(lines) <= _MOST_LINES or len(text) > _LONGEST_QUESTION:
        return False
    if "?" in text or _HANGUL.search(text):
        return True
    return not _PROGRAM_BEGINS.search(text) and (_is_personal(text) or _is_plain(text))


def _is_personal(text: str) -> bool:
    """True for a sentence of a person: about oneself, or one that begins by asking."""
    said = re.findall(r"[a-z']+", text.lower())
    personal = _PERSONAL.intersection(said)
    asks = bool(said) and said[0] in _ASKING and not _OUTPUT_MARKS.search(text)
    return (bool(personal) or asks) and len(personal | _SMALL.intersection(said)) >= 2


def _is_plain(text: str) -> bool:
    """True for a title or plain statement: one line of words in lower case, acronyms aside, as people type.

    Programs begin their lines with a capital letter, and print marks that people do not.
    """
    said = [word for word in text.split() if not word.isnumeric()]
    if not 2 <= len(said) <= _LONGEST_TITLE or "\n" in text.strip() or _OUTPUT_MARKS.search(text):
        return False
    return not any(word[:1].isupper() and word[1:2].islower() for word in said)


def route(text: str, questions: Questions) -> tuple[Route, ...]:
    """Entries by agreement with the question, best first, ties by id. Nothing below half the floor."""
    index = _Index(questions)
    asked = index.known(words(text))
    if not asked:
        return ()
    routes = (index.best(entry, asked) for entry in questions)
    kept = [found for found in routes if found.agreement >= FLOOR / 2]
    return tuple(sorted(kept, key=lambda found: (-found.agreement, found.entry)))


@lru_cache(maxsize=4096)
def words(text: str) -> frozenset[str]:
    """The words of a text that carry meaning, in lower case; Korean without endings, in syllable pairs."""
    found: set[str] = set()
    for word in _WORD.findall(text.lower()):
        if word in _COMMON:
            continue
        if "가" <= word[0] <= "힣":
            stem = _KOREAN_ENDING.sub("", word)
            found.update(stem[i : i + 2] for i in range(max(1, len(stem) - 1)) if stem)
        else:
            found.add(word)
    return frozenset(found)


class _Index:
    """The questions of all entries, with the weight of each word."""

    def __init__(self, questions: Questions) -> None:
        self.asked = {
            entry: [(text, words(text)) for key, texts in told.items() if key != ABOUT for text in texts]
            for entry, told in questions.items()
        }
        self.bags = {entry: _union(bag for _, bag in asked) for entry, asked in self.asked.items()}
        self.told = {
            entry: _union(words(text) for text in told.get(ABOUT, ())) | self.bags[entry]
            for entry, told in questions.items()
        }
        counts = Counter(word for bag in self.told.values() for word in bag)
        self.weights = {word: math.log(1 + len(self.told) / count) for word, count in counts.items()}
        self.unseen = math.log(1 + len(self.told))

    def known(self, asked: frozenset[str]) -> dict[str, float]:
        """The words with their weights; one that no entry uses becomes the one it misspells."""
        weighed: dict[str, float] = {}
        for word in sorted(asked):
            spelled = word if word in self.weights else self._spelled(word)
            weighed[spelled] = self.weights.get(spelled, self.unseen)
        return weighed

    def _spelled(self, word: str) -> str:
        if len(word) < 5:
            return word
        from rapidfuzz import fuzz, process

        near = process.extractOne(word, self.weights.keys(), scorer=fuzz.ratio, score_cutoff=_TYPO_AGREEMENT)
        return near[0] if near else word

    def best(self, entry: str, asked: Mapping[str, float]) -> Route:
        """How well what was asked agrees with the entry."""
        total = sum(asked.values())
        covered, told = (_covered(asked, bag) / total for bag in (self.bags[entry], self.told[entry]))
        nearest, question = max((self._agreement(bag, asked, total), text) for text, bag in self.asked[entry])
        said_enough = min(1.0, total / (_ENOUGH_WORDS * self.unseen))
        agreement = said_enough * (_NEAREST * nearest + _COVERED * covered + _TOLD * told)
        return Route(entry, round(agreement, 4), question)

    def _agreement(self, bag: Iterable[str], asked: Mapping[str, float], total: float) -> float:
        shared = sum(asked[word] for word in bag if word in asked)
        own = sum(self.weights[word] for word in bag)
        return 2 * shared / (total + own) if own else 0.0


def _union(bags: Iterable[frozenset[str]]) -> frozenset[str]:
    return frozenset().union(*bags)


def _covered(asked: Mapping[str, float], bag: frozenset[str]) -> float:
    """The weight of the words that the bag holds."""
    return sum(weight for word, weight in asked.items() if word in bag)
