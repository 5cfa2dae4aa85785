"""Tells a person's question from a program's words, and routes it to the entries it may be about. No model.

How entries are found is told in gpuhelp.matching.question_index, how words are understood in
gpuhelp.matching.wording.
"""

from __future__ import annotations

import re
from functools import lru_cache

from gpuhelp.matching.question_index import FLOOR, QuestionIndex, Questions, Route
from gpuhelp.matching.wording import Wording

__all__ = ["FLOOR", "Route", "looks_like_question", "route"]

_LONGEST_QUESTION = 1500
_MOST_LINES = 8
_LONGEST_TITLE = 30
_SHORTEST_SENTENCE = 2
_HANGUL = re.compile(r"[가-힣]")
_OUTPUT_MARKS = re.compile(
    r"[\[\]{}<>=|/\\#$%()_*]|: |:$|\d\d:\d\d|\b0x|::|\w(?:Error|Exception)\b|\d\.\d{3}|\.\.\."
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


_OPENERS = _set("how why which what where should")
"""A sentence that begins so asks, where a program would not say "does not" or "can not"."""
_NAMES = _set(
    "pytorch torch tensorflow jax gpu cuda nvidia docker windows ubuntu linux colab wsl vllm ddp rtx comfyui"
)
"""Names that people write with a capital letter, and with them their titles."""
_TROUBLE = _set(
    "not no cant cannot doesnt isnt wont dont slow slower stuck hangs freezes crashes fails breaks"
    " says low only help using versus vs difference needed but die dies died crash killed full"
)
_UNDERSCORE = re.compile(r"(?<=\w)_(?=\w)")
_IN_NAMES = re.compile(r"(?<=\w)[/_=](?=\w)|(?<=\w)\(\)|(?<=\d)%")
"""Marks that people write as well, within names and settings and behind numbers."""


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
    if asks and said[0] in _OPENERS and len(said) > _SHORTEST_SENTENCE:
        return True
    return (bool(personal) or asks) and len(personal | _SMALL.intersection(said)) >= 2


def _is_plain(text: str) -> bool:
    """True for a title or plain statement: one line of words in lower case, acronyms aside, as people type.

    Programs begin their lines with a capital letter, and print marks that people do not.
    """
    said = [word for word in text.split() if not word.isnumeric()]
    if not 2 <= len(said) <= _LONGEST_TITLE or "\n" in text.strip():
        return False
    if _OUTPUT_MARKS.search(_IN_NAMES.sub("", text)):
        return False
    capital = {word for word in said if word[:1].isupper() and word[1:2].islower()}
    if not capital and not _OUTPUT_MARKS.search(_UNDERSCORE.sub("", text)) and "import" not in said:
        return True
    capital = {
        word.lower() for word in capital if not any(map(str.isupper, word[1:]))
    }  # DataParallel is a name
    plain = {word.lower().replace("'", "") for word in said}
    in_trouble = not plain.isdisjoint(_TROUBLE | _ASKING) and not text.rstrip().endswith((".", ")"))
    return in_trouble and capital <= _NAMES


def route(text: str, questions: Questions) -> tuple[Route, ...]:
    """Entries by agreement with the question, best first, ties by id. Nothing below half the floor."""
    if not text.strip():
        return ()
    return _index(questions).routes(text)


class _Kept:
    """The index made last: a conversation asks the same knowledge again."""

    questions: Questions | None = None
    index: QuestionIndex | None = None


def _index(questions: Questions) -> QuestionIndex:
    if _Kept.index is None or _Kept.questions is not questions:
        _Kept.index = QuestionIndex(questions, _shipped_wording())
        _Kept.questions = questions
    return _Kept.index


@lru_cache(maxsize=1)
def _shipped_wording() -> Wording:
    from gpuhelp.kb.load import load

    knowledge = load()
    return Wording(knowledge.table("synonyms"), knowledge.table("question_words"))
