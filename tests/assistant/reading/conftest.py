"""Reading a text in one step, for the tests of this folder."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gpuhelp.reading.evidence import Document
from gpuhelp.reading.pieces import from_text
from gpuhelp.reading.read import read

ReadText = Callable[[str], Document]


@pytest.fixture(scope="session")
def document() -> ReadText:
    """`document(text)`: the text as reading sees it."""

    def of(text: str) -> Document:
        (found,) = read([from_text(text, "text")])
        return found

    return of
