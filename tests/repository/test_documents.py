"""The pages at the top of the repository point only at what is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")
LINK = re.compile(r"\]\((?P<target>[^)\s]+)\)")
FENCE = re.compile(r"^ *```.*?^ *```", re.DOTALL | re.MULTILINE)


def headings(page: str) -> set[str]:
    """The anchors that GitHub makes of a page's headings."""
    titles = re.findall(r"^#+ (.+)$", FENCE.sub("", page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("name", PAGES)
def test_every_link_into_the_repository_has_a_target(name: str) -> None:
    page = (ROOT / name).read_text(encoding="utf-8")
    targets = [
        match["target"] for match in LINK.finditer(FENCE.sub("", page)) if "://" not in match["target"]
    ]
    anchors = {target.removeprefix("#") for target in targets if target.startswith("#")}
    files = {target.partition("#")[0] for target in targets} - {""}
    assert anchors - headings(page) == set()
    assert {file for file in files if not (ROOT / file).exists()} == set()


def test_the_readme_names_every_example_log() -> None:
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    logs = {file.name for file in (ROOT / "examples").glob("*.log")}
    assert len(logs) >= 6
    assert {name for name in logs if f"`{name}`" not in page} == set()
