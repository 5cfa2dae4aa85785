"""`gpuhelp kb site OUT/`: the knowledge base as pages to read and search in a browser, without a server."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from gpuhelp.errors import InputError
from gpuhelp.kb.load import KnowledgeBase
from gpuhelp.rendering.layout import Row, row
from gpuhelp.words import Words


def write_pages(
    options: argparse.Namespace, knowledge: KnowledgeBase, words: Words
) -> tuple[dict[str, Any], list[Row]]:
    """What was written, and where to begin. Raises InputError for a folder that is somebody else's."""
    if len(options.what) != 1 or not options.what[0].strip():
        raise InputError(words("error.kb_site"))
    from gpuhelp.site.pages import site_pages
    from gpuhelp.site.writing import write_site

    folder = Path(options.what[0])
    pages = site_pages(knowledge)
    changed = write_site(pages, folder)
    start = str(folder / "index.html")
    counts = {"entries": len(knowledge.ids), "files": len(pages), "changed": changed}
    told = words("kb.site.written", start=start, **counts)
    data = {"schema_version": 1, "start": start, **counts, "told": told, "faults": []}
    return data, [row(told, whole=True)]
