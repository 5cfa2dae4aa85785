"""What a new entry is easily taken for: the entry that answers its text already, and near misses. Pure."""

from __future__ import annotations

from collections import Counter

from gpuhelp.authoring.generalize import Proposal
from gpuhelp.authoring.telling import Example, words_of
from gpuhelp.diagnosis import diagnose
from gpuhelp.kb import regexes
from gpuhelp.kb.load import KnowledgeBase

_NEIGHBOURS = 3
_LONGEST_EXAMPLE = 600
_LAST_RESORT = "python-exception"


def already_known(text: str, knowledge: KnowledgeBase) -> str:
    """The id of the entry that answers this text already, "" if none does, or only one for any exception."""
    if not text.strip():
        return ""
    found = [one for one in diagnose(text, knowledge=knowledge).findings if one.entry.id != _LAST_RESORT]
    return found[0].entry.id if found and found[0].reasons and found[0].reasons[0][0] != "question" else ""


def near_misses(
    text: str, proposal: Proposal | None, others: tuple[Example, ...], without: str = ""
) -> tuple[Example, ...]:
    """Examples of other entries that share the most and the rarest words with this text, one an entry.

    None of them fits the pattern. `without` is an entry that is to be left out.
    """
    wanted = words_of(text)
    words = [words_of(example.text) for example in others]
    common = Counter(word for some in words for word in some)
    rated = sorted(
        (-sum(1 / common[word] for word in some & wanted), len(example.text), example)
        for example, some in zip(others, words, strict=True)
        if len(example.text) <= _LONGEST_EXAMPLE and example.entry != without and not _fits(proposal, example)
    )
    best: dict[str, Example] = {}
    for _, _, example in rated:
        best.setdefault(example.entry, example)
    return tuple(best.values())[:_NEIGHBOURS]


def _fits(proposal: Proposal | None, example: Example) -> bool:
    if proposal is None:
        return False
    return regexes.regex(regexes.ready(proposal.regex)).search(example.text) is not None
