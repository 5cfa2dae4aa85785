"""`python -Im pytest tests/golden --update-golden` writes the renders again.

Look at the difference before you keep it: these are the texts that people read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

RENDERS = Path(__file__).parent / "renders"
Compare = Callable[[str, str], None]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write the renders, do not compare")


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The compiled knowledge base lies in a folder of the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Compare:
    """`golden("ddp-oom.en.txt", text)`: the text is, byte for byte, what the file holds."""
    update = request.config.getoption("--update-golden", default=False)

    def compare(name: str, text: str) -> None:
        path = RENDERS / name
        if update:
            path.write_bytes(text.encode("utf-8"))
        assert path.is_file(), f"{path} is missing: run pytest tests/golden --update-golden"
        assert text == path.read_bytes().decode("utf-8"), f"{name} differs: see golden/conftest.py"

    return compare
