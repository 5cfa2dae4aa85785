"""Whose output holds the cause when the text does not, in words, for every format. Pure."""

from __future__ import annotations

from typing import NamedTuple

from gpuhelp.reasoning.elsewhere import Elsewhere
from gpuhelp.rendering.layout import clip
from gpuhelp.rendering.privacy import without_secrets
from gpuhelp.words import Words

_LONGEST_NAME = 200


class Pointing(NamedTuple):
    """`title` says that the cause is elsewhere, `where` in whose output, `look` how to get at it."""

    title: str
    where: str
    look: str


def pointing(elsewhere: Elsewhere, words: Words) -> Pointing:
    """The sentences."""
    title, sentence = (
        ("elsewhere.certain", "elsewhere.where")
        if elsewhere.certain
        else ("elsewhere.likely", "elsewhere.where_likely")
    )
    where = [words(sentence, who=_who(elsewhere, words))]
    if elsewhere.log:
        where.append(words("elsewhere.log", log=_short(elsewhere.log)))
    look = elsewhere.look.get(words.language) or elsewhere.look.get("en", "")
    return Pointing(words(title), " ".join(where), " ".join(look.split()))


def _who(elsewhere: Elsewhere, words: Words) -> str:
    """`rank 17 on node3 (process 8123, exit status 1)`, as far as the text tells."""
    if elsewhere.rank:
        name = words("rank", rank=_short(elsewhere.rank))
    elif elsewhere.local_rank:
        name = words("elsewhere.local_rank", rank=_short(elsewhere.local_rank))
    else:
        name = words("elsewhere.process" if elsewhere.certain else "elsewhere.other_rank")
    if elsewhere.host:
        name = words("elsewhere.on_host", name=name, host=_short(elsewhere.host))
    told = {"pid": elsewhere.pid, "exit_code": elsewhere.exit_code, "signal": elsewhere.signal}
    details = ", ".join(
        words(f"elsewhere.{key}", value=_short(value)) for key, value in told.items() if value
    )
    return words("elsewhere.details", name=name, details=details) if details else name


def _short(text: str) -> str:
    return clip(without_secrets(text), _LONGEST_NAME)
