"""Nothing of the machine it was written on, and no unfinished note, is left in the repository."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SKIPPED_FOLDERS = {".git", ".venv", "venv", "build", "dist", "__pycache__"}
# Names that stand for anybody. A log taken from a real person gets one of these in its paths.
ANYBODY = {
    "user",
    "username",
    "student",
    "researcher",
    "you",
    "me",
    "alice",
    "bob",
    "ubuntu",
    "runner",
    "jovyan",
}
HOME = re.compile(r"(?:/home/|/Users/|[A-Za-z]:\\+Users\\+)(?P<name>[\w.-]+)")
# Spelled in pieces, so that this file does not find itself.
ROOT_HOME = "/ro" + "ot/"
NOTES = re.compile(r"\b(?:TO" + r"DO|FIX" + r"ME)\b")


def text_files(root: Path) -> Iterator[tuple[str, str]]:
    """Path and text of every file that reads as UTF-8, tools' caches left out."""
    for file in sorted(root.rglob("*")):
        folders = file.relative_to(root).parts[:-1]
        if not file.is_file() or any(skipped(folder) for folder in folders):
            continue
        try:
            yield file.relative_to(root).as_posix(), file.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue


def skipped(folder: str) -> bool:
    return folder in SKIPPED_FOLDERS or folder.endswith((".egg-info", "_cache")) or folder == ".hypothesis"


def traces(text: str) -> list[str]:
    """Home folders of real people in a text: the path up to the name."""
    found = [match[0] for match in HOME.finditer(text) if match["name"].lower() not in ANYBODY]
    return found + [ROOT_HOME] * (ROOT_HOME in text)


@pytest.fixture(scope="module")
def files() -> dict[str, str]:
    return dict(text_files(ROOT))


def test_no_home_folder_of_a_real_person(files: dict[str, str]) -> None:
    assert "README.md" in files
    found = {path: names for path, text in files.items() if (names := traces(text))}
    assert found == {}


def test_no_note_of_unfinished_work(files: dict[str, str]) -> None:
    assert {path: match[0] for path, text in files.items() if (match := NOTES.search(text))} == {}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/home/user/train.py", []),
        ("/home/student/.cache", []),
        ("C:\\Users\\me\\torch", []),
        ("/home/" + "zaphod/train.py", ["/home/" + "zaphod"]),
        ("cd " + ROOT_HOME + "x", [ROOT_HOME]),
    ],
)
def test_a_real_name_is_told_from_a_stand_in(text: str, expected: list[str]) -> None:
    assert traces(text) == expected
