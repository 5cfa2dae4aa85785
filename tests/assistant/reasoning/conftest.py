"""Small made-up causes and matches, and the shipped entries."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from gpuhelp.kb.entry import Cause, Fix, Localized, Signature
from gpuhelp.kb.expressions import parse_expression, parse_template
from gpuhelp.kb.load import KnowledgeBase, load


@pytest.fixture(scope="session")
def knowledge(tmp_path_factory: pytest.TempPathFactory) -> KnowledgeBase:
    """The shipped entries and tables."""
    return load(cache_dir=tmp_path_factory.mktemp("cache"))


def template(text: str | None) -> Localized | None:
    return None if text is None else Localized({"en": parse_template(text)})


@pytest.fixture(scope="session")
def fix() -> Callable[..., Fix]:
    """`fix("id", risk="safe", commands=["..."], when="...", explain="...")`."""

    def make(name: str, *, risk: str = "safe", commands: Iterable[str] = (), **more: Any) -> Fix:
        return Fix(
            id=name,
            title=Localized({"en": parse_template(more.get("title", name))}),
            risk=risk,
            explain=template(more.get("explain")),
            when=parse_expression(more["when"]) if "when" in more else None,
            commands=tuple(tuple(parse_template(command)) for command in commands),
            code=more.get("code", ""),
            undo=Localized({"en": parse_template(more.get("undo", ""))}),
            proof=tuple(parse_template(more.get("proof", ""))),
            expect=Localized({"en": parse_template(more.get("expect", ""))}),
        )

    return make


@pytest.fixture(scope="session")
def cause() -> Callable[..., Cause]:
    """`cause("id", weight=0.5, when="...", hint="...", because="...", fixes=[...])`."""

    def make(name: str, *, weight: float = 0.3, fixes: Iterable[Fix] = (), **more: Any) -> Cause:
        return Cause(
            id=name,
            title=Localized({"en": name}),
            weight=weight,
            when=parse_expression(more["when"]) if "when" in more else None,
            when_source=more.get("when", ""),
            hint=parse_expression(more["hint"]) if "hint" in more else None,
            because=template(more.get("because")),
            refuted=template(more.get("refuted")),
            ask=None,
            fixes=tuple(fixes),
        )

    return make


@pytest.fixture(scope="session")
def entry() -> Callable[..., Signature]:
    """`entry("id", refines=(...), leads_to=(...), fallback=True, layer="code")`."""

    def make(name: str, *, layer: str = "code", **more: Any) -> Signature:
        return Signature(name, layer, (), **more)

    return make
