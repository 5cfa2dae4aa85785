"""Small made-up entries, and texts as matching sees them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pytest

from gpuhelp.kb import regexes
from gpuhelp.kb.entry import Guard, Pattern, Signature
from gpuhelp.kb.expressions import parse_expression
from gpuhelp.kb.load import KnowledgeBase, load
from gpuhelp.matching.view import View
from gpuhelp.reading.pieces import from_text
from gpuhelp.reading.read import read

MakeView = Callable[..., View]
MakePattern = Callable[..., Pattern]


@pytest.fixture(scope="session")
def knowledge(tmp_path_factory: pytest.TempPathFactory) -> KnowledgeBase:
    """The shipped entries and tables."""
    return load(cache_dir=tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="session")
def view() -> MakeView:
    """`view(text, advice=rows)`: the text of one source, read and masked."""

    def of(text: str, advice: Iterable[Mapping[str, Any]] = ()) -> View:
        (document,) = read([from_text(text, "text")])
        return View(document, advice)

    return of


@pytest.fixture(scope="session")
def pattern() -> MakePattern:
    """`pattern("text", "out of memory", where="...", let={...}, tells={...}, unless=[...])`, made ready."""

    def make(kind: str, source: str, **more: Any) -> Pattern:
        ready: dict[str, Any] = {"needle": source}
        if kind == "text":
            squashed = "".join(source.split()) if more.get("case") else regexes.squash(source)
            ready = {"needle": squashed, "anchors": (regexes.lower(squashed),)}
        elif kind == "regex":
            ready = {
                "needle": regexes.ready(source, case=more.get("case", False)),
                "anchors": regexes.anchors(source),
            }
        return Pattern(
            kind=kind,
            label=source,
            where=parse_expression(more["where"]) if "where" in more else None,
            let=tuple((name, parse_expression(value)) for name, value in more.get("let", {}).items()),
            tells=tuple((name, parse_expression(value)) for name, value in more.get("tells", {}).items()),
            unless=tuple(guards(more.get("unless", ()))),
            says=regexes.ready(more["says"]) if "says" in more else "",
            warning=more.get("warning", False),
            case=more.get("case", False),
            **ready,
        )

    return make


def guards(sources: Iterable[str]) -> Iterable[Guard]:
    """Guards: `/.../` is a regular expression, else a literal."""
    for source in sources:
        if source.startswith("/"):
            yield Guard(regex=regexes.ready(source.strip("/")))
        else:
            yield Guard(literal=regexes.squash(source))


@pytest.fixture(scope="session")
def entry() -> Callable[..., Signature]:
    """`entry("id", pattern, ..., unless=[...])`: the part of an entry that matches."""

    def make(name: str, *patterns: Pattern, unless: Iterable[str] = (), **more: Any) -> Signature:
        return Signature(name, more.pop("layer", "code"), patterns, tuple(guards(unless)), **more)

    return make
