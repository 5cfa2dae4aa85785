"""Which matches only report what stands elsewhere in the text in its own words. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection

from gpuhelp.matching.symptoms import Match
from gpuhelp.matching.view import View
from gpuhelp.reading import kinds
from gpuhelp.reading.chains import bearing, chains
from gpuhelp.reading.evidence import Document


def without_reports(
    matches: tuple[Match, ...],
    fallbacks: Collection[str],
    views: tuple[View, ...],
    off: Callable[[int], Collection[int]],
) -> tuple[Match, ...]:
    """The matches less those of `fallbacks` on errors that only report another one, if that is in the text.

    "Worker died" of an engine or "command failed" of a builder is no answer while the worker or the compiler
    itself says what went wrong. `off` gives the numbers of a document's errors that ended nothing.
    """
    kept = tuple(
        match for match in matches if match.entry not in fallbacks or not _is_report(match, views, off)
    )
    if len(kept) == len(matches) or not any(
        _tells_a_cause(view.document, off(number)) for number, view in enumerate(views)
    ):
        return matches
    return kept


def _is_report(match: Match, views: tuple[View, ...], off: Callable[[int], Collection[int]]) -> bool:
    """True if each error that the match is part of reports another one, or ended nothing."""
    document = views[match.document].document
    around = [
        number
        for number, error in enumerate(document.errors)
        if error.first <= match.first <= max(error.last, error.said[1])
    ]
    return bool(around) and all(
        bearing(document.errors[number]) > 0 or number in off(match.document) for number in around
    )


def _tells_a_cause(document: Document, off: Collection[int]) -> bool:
    """True if something in it went wrong by itself."""
    if any(episode.kind in kinds.BY_ITSELF for episode in document.episodes):
        return True
    survived = {document.errors[number] for number in off}
    return any(
        chain.root.type
        and not chain.root.name.endswith("Warning")
        and chain.root not in survived
        and bearing(chain.root) == 0
        for chain in chains(document)
    )
