"""Opening names in one step, for the tests of this folder."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from io import BytesIO
from pathlib import Path

import pytest

from gpuhelp.reading.sources import ALL, Notes, Selection, open_sources

OpenAll = Callable[..., "dict[str, str]"]


@pytest.fixture(scope="session")
def opened() -> OpenAll:
    """`opened(path, …, stdin=b"", selection=ALL, notes=Notes())`: the text of each source by its name."""

    def run(
        *paths: str | Path, stdin: bytes = b"", selection: Selection = ALL, notes: Notes | None = None
    ) -> dict[str, str]:
        return {
            source.name: b"".join(iter(partial(source.reader.read, 4096), b"")).decode("utf-8", "replace")
            for source in open_sources(map(str, paths), BytesIO(stdin), selection, notes)
        }

    return run


@pytest.fixture(scope="session")
def told() -> Callable[[Notes], dict[str, str]]:
    """`told(notes)`: the names that were noted, by the kind of note."""

    def of(notes: Notes) -> dict[str, str]:
        keyed = [saying for saying in notes.sayings if not isinstance(saying, str)]
        return {saying.key: str(saying.values.get("names") or saying.values.get("path")) for saying in keyed}

    return of
