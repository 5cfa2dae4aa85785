"""Writes a diagnosis in the format asked for."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from gpuhelp.rendering.layout import Row, Span
from gpuhelp.rendering.privacy import Privacy
from gpuhelp.terminal import Terminal
from gpuhelp.words import Words

if TYPE_CHECKING:  # `check` tells no diagnosis, and need not load what makes one
    from gpuhelp.diagnosis import Diagnosis
    from gpuhelp.kb.load import KnowledgeBase


def write(
    diagnosis: Diagnosis,
    options: argparse.Namespace,
    terminal: Terminal,
    words: Words,
    knowledge: KnowledgeBase,
) -> None:
    """Write it to standard output. Markdown is made to be shared, so names are taken out of it."""
    share = options.redact or options.format == "markdown"
    privacy = Privacy(terminal.environ, share=share, hosts=diagnosis.hosts)
    if options.format == "text":
        from gpuhelp.rendering.text import diagnosis_rows

        rows = diagnosis_rows(diagnosis, words, knowledge, everything=options.all)
        write_rows(rows, options.color, terminal, privacy)
        return
    from gpuhelp.rendering.documents import to_data

    data = privacy.data(to_data(diagnosis, words.language, knowledge))
    write_data(data, "diagnosis.md.j2", options, terminal, words)


def write_data(
    data: dict[str, Any], template: str, options: argparse.Namespace, terminal: Terminal, words: Words
) -> None:
    """Write plain data as JSON, or as Markdown through a template."""
    if options.format == "json":
        from gpuhelp.rendering.documents import to_json

        terminal.stdout.write(to_json(data))
    else:
        from gpuhelp.rendering.markdown import to_markdown

        terminal.stdout.write(to_markdown(template, data, words))


def write_rows(rows: Iterable[Row], color: str, terminal: Terminal, privacy: Privacy) -> None:
    """Lay rows out for this terminal and write them."""
    from gpuhelp.rendering.layout import lay_out
    from gpuhelp.rendering.paint import paint

    private = [one._replace(spans=tuple(_private(span, privacy) for span in one.spans)) for one in rows]
    terminal.stdout.write(paint(lay_out(private, terminal.width), color=terminal.wants_color(color)))


def _private(span: Span, privacy: Privacy) -> Span:
    return span._replace(text=privacy.text(span.text))
