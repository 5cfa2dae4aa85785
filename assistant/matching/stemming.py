"""English words without their endings. Pure."""

from __future__ import annotations

from functools import lru_cache

_SHORTEST = 4
_SHORTEST_MUTE = 4
_SHORTEST_DOUBLED = 3
_DOUBLE_BY_NATURE = "lsz"
_ENDINGS = (
    ("ss", "ss", 4),
    ("us", "us", 6),
    ("as", "as", 5),
    ("is", "is", 5),
    ("ies", "y", 5),
    ("sses", "ss", 6),
    ("ches", "ch", 6),
    ("shes", "sh", 6),
    ("ing", "", 6),
    ("ed", "", 5),
    ("es", "e", 5),
    ("s", "", 4),
)
"""An ending, what stands instead, and how long a word must be; the first that fits counts."""


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """An English word without its ending; names with digits and short words stay as they are."""
    if len(word) < _SHORTEST or not word.isalpha() or not word.isascii():
        return word
    for ending, instead, shortest in _ENDINGS:
        if word.endswith(ending) and len(word) >= shortest:
            bare = word[: -len(ending)] + instead
            return _without_mute(_undoubled(bare) if ending in ("ing", "ed") else bare)
    return _without_mute(word)


def _without_mute(word: str) -> str:
    """Without a mute e, which is lost before "ing"."""
    return word[:-1] if len(word) > _SHORTEST_MUTE and word.endswith("e") else word


def _undoubled(word: str) -> str:
    is_doubled = len(word) > _SHORTEST_DOUBLED and word[-1] == word[-2] and word[-1] not in _DOUBLE_BY_NATURE
    return word[:-1] if is_doubled else word
