"""Markdown reports: the data of the JSON output through a Jinja2 template. Pure."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from gpuhelp.rendering.layout import printable
from gpuhelp.words import Words

_TEMPLATES = Path(__file__).resolve().parent / "templates"
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~])")


def to_markdown(template: str, data: dict[str, Any], words: Words) -> str:
    """The report that a template of rendering/templates makes of plain data."""
    from jinja2 import FileSystemLoader, StrictUndefined
    from jinja2.sandbox import SandboxedEnvironment

    environment = SandboxedEnvironment(
        loader=FileSystemLoader(_TEMPLATES), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False
    )
    environment.filters.update(plain=escape, fence=fence)
    return environment.get_template(template).render(d=data, words=words)


def escape(text: object) -> str:
    """Text that Markdown shows as it is, on one line."""
    return _SPECIAL.sub(r"\\\1", " ".join(printable(str(text)).split()))


def fence(text: object) -> str:
    """A code block whose fence is longer than any run of backquotes in the text."""
    body = printable(str(text)).strip("\n")
    longest = max((len(run) for run in re.findall(r"`+", body)), default=0)
    ticks = "`" * max(3, longest + 1)
    return f"{ticks}\n{body}\n{ticks}"
