"""All that is shipped, read once."""

from __future__ import annotations

import pytest

from gpuhelp.kb.load import KnowledgeBase, load


@pytest.fixture(scope="session")
def knowledge() -> KnowledgeBase:
    """The shipped entries and tables."""
    return load()
