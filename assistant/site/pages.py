"""The pages as texts by their paths: templates filled in with the model, and static files. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpuhelp import __version__
from gpuhelp.errors import InputError, Saying
from gpuhelp.kb.load import KnowledgeBase
from gpuhelp.rendering.layout import printable
from gpuhelp.rendering.stack import BESIDE, STACK
from gpuhelp.site.code_tables import CodeTable, code_tables
from gpuhelp.site.index import search_index
from gpuhelp.site.model import EntryView, Link, by_family, by_layer, entries_of
from gpuhelp.words import Words

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

LANGUAGES = ("en", "ko")
_HERE = Path(__file__).resolve().parent
_WEB = re.compile(r"https?://[^\s\"'<>]+")
Pages = dict[str, str]
"""Text by path below the site's folder, with slashes."""


def site_pages(knowledge: KnowledgeBase) -> Pages:
    """Every file of the site. Raises InputError if two pages would have one path."""
    environment = _environment()
    pages: Pages = {}
    tables: dict[str, tuple[CodeTable, ...]] = {}
    for language in LANGUAGES:
        words = Words(language)
        entries = entries_of(knowledge, language)
        known = {one.id: Link(one.id, one.title, one.layer) for one in entries}
        tables[language] = code_tables(knowledge, known, words)
        for path, text in _pages_in(words, entries, tables[language], environment):
            if path in pages:
                raise InputError(Saying("error.site_path", {"path": path}))
            pages[path] = text
    pages["index.html"] = _one_line_ends(environment.get_template("root.html.j2").render(words=Words("en")))
    pages["search-index.js"] = search_index(knowledge, tables)
    for file in sorted((_HERE / "static").iterdir()):
        pages[f"static/{file.name}"] = file.read_text("utf-8")
    return pages


def _pages_in(
    words: Words, entries: tuple[EntryView, ...], tables: tuple[CodeTable, ...], environment: Environment
) -> Iterator[tuple[str, str]]:
    """Path and text of the pages of one language."""
    render = _renderer(words, environment)
    listings = {"family": by_family(entries), "layer": by_layer(entries)}
    yield render("index.html", "front.html.j2", entries=entries, listings=listings, tables=tables)
    for kind, groups in listings.items():
        yield render(f"browse/{kind}.html", "listing.html.j2", kind=kind, groups=groups)
    yield render("codes/index.html", "codes.html.j2", tables=tables)
    for table in tables:
        yield render(f"codes/{table.space}.html", "code_table.html.j2", table=table)
    for entry in entries:
        yield render(f"{entry.id}.html", "entry.html.j2", e=entry)


def _renderer(words: Words, environment: Environment) -> Callable[..., tuple[str, str]]:
    """Makes a page of one language: its path below the site, and its text."""

    def render(path: str, template: str, **values: Any) -> tuple[str, str]:
        text = environment.get_template(template).render(
            w=words,
            lang=words.language,
            path=path,
            up="../" * path.count("/"),
            stack=STACK,
            beside=BESIDE,
            family=lambda name: words.find(f"site.family.{name}") or name,
            version=__version__,
            **values,
        )
        return f"{words.language}/{path}", _one_line_ends(text)

    return render


def _environment() -> Environment:
    """Templates that escape everything, and in which a name that does not exist is an error."""
    from jinja2 import FileSystemLoader, StrictUndefined
    from jinja2.sandbox import SandboxedEnvironment

    environment = SandboxedEnvironment(
        loader=FileSystemLoader(_HERE / "templates"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=True,
        finalize=_shown,
    )
    environment.filters.update(prose=_prose)
    environment.tests.update(web=lambda url: bool(_WEB.fullmatch(url)))
    return environment


def _shown(value: object) -> object:
    """A text without characters that turn its direction or cannot be seen; markup is made of such texts."""
    return printable(value) if isinstance(value, str) and not hasattr(value, "__html__") else value


def _prose(text: str) -> Markup:
    """A sentence in which backquotes mark code."""
    from markupsafe import Markup, escape

    parts = printable(text).split("`")
    if len(parts) % 2 == 0:
        return escape(printable(text))
    spelled = (
        Markup("<code>{}</code>").format(part) if number % 2 else escape(part)
        for number, part in enumerate(parts)
    )
    return Markup("").join(spelled)


def _one_line_ends(text: str) -> str:
    return "\n".join(line for line in text.splitlines()) + "\n"
