"""Markdown reports: the data of the JSON output through a Jinja2 template. Pure."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from gpuhelp.kb.evaluation import format_bytes
from gpuhelp.rendering.labels import label, labels, place_label, ranks_label, source_label
from gpuhelp.rendering.layout import printable
from gpuhelp.rendering.reasons import spell
from gpuhelp.words import Words

_TEMPLATES = Path(__file__).resolve().parent / "templates"
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~&])")
_STARTS_A_LIST = re.compile(r"^(?:(?=[-+=])|(\d{1,9})(?=[.)](?:\s|$)))")


def to_markdown(template: str, data: dict[str, Any], words: Words) -> str:
    """The report that a template of rendering/templates makes of plain data."""
    from jinja2 import FileSystemLoader, StrictUndefined
    from jinja2.sandbox import SandboxedEnvironment

    environment = SandboxedEnvironment(
        loader=FileSystemLoader(_TEMPLATES),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
    )
    environment.filters.update(
        plain=escape,
        paragraphs=paragraphs,
        prose=prose,
        fence=fence,
        code=code,
        place=lambda place: place_label(place["source"], place["line"], words),
        ranks=lambda ranks: _ranks(ranks, words),
        label=lambda name: label(name, words),
        names=lambda names: labels(names, words),
        source=lambda name: source_label(name, words),
        spell=lambda value, name: spell(name, value, words),
        size=format_bytes,
    )
    return environment.get_template(template).render(d=data, words=words)


def escape(text: object) -> str:
    """Text that Markdown shows as it is, on one line."""
    one_line = _SPECIAL.sub(r"\\\1", " ".join(printable(str(text)).split()))
    return _STARTS_A_LIST.sub(r"\1\\", one_line)


def paragraphs(text: object) -> str:
    """The same for a text of several paragraphs, which an empty line parts."""
    return "\n\n".join(escape(part) for part in str(text).strip().split("\n\n"))


def prose(text: object) -> str:
    """A sentence of ours, in which backquotes mark code, on one line."""
    parts = str(text).split("`")
    if len(parts) % 2 == 0:
        return escape(text)
    spelled = (code(part) if number % 2 else _inside(part) for number, part in enumerate(parts))
    return "".join(spelled)


def _inside(part: str) -> str:
    """Escaped, with the spaces at its ends kept: code stands beside it."""
    before, after = part[:1].isspace(), part[-1:].isspace()
    return " " * before + escape(part) + " " * (after and bool(part.strip()))


def code(text: object) -> str:
    """A stretch of code within a line; whatever backquotes stand in it."""
    body = " ".join(printable(str(text)).split())
    ticks = "`" * (_longest_run(body) + 1)
    edge = " " if not body or body.startswith("`") or body.endswith("`") else ""
    return f"{ticks}{edge}{body}{edge}{ticks}"


def fence(text: object) -> str:
    """A code block whose fence is longer than any run of backquotes in the text."""
    body = printable(str(text)).strip("\n")
    ticks = "`" * max(3, _longest_run(body) + 1)
    return f"{ticks}\n{body}\n{ticks}"


def _ranks(ranks: dict[str, Any], words: Words) -> str:
    place = place_label(ranks["source"], ranks["line"], words)
    return ranks_label(ranks["count"], ranks["of"], ranks["first"], place, words)


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall(r"`+", text)), default=0)
