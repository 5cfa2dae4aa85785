"""A raw text becomes a document whose lines, errors and counts agree."""

from __future__ import annotations

import pytest

from gpuhelp.reading.pieces import from_text
from gpuhelp.reading.read import read


@pytest.mark.parametrize(
    ("text", "count"),
    [("", 0), ("a", 1), ("a\n", 1), ("a\nb", 2), ("a\n\n", 2), ("\n", 1), ("a\rb\rc\nd", 2)],
)
def test_a_source_counts_the_lines_of_its_file(text: str, count: int) -> None:
    (document,) = read([from_text(text, "x")])
    assert document.source.line_count == count


def test_lines_that_were_joined_still_count() -> None:
    words = "x" * 80 + "\n" + "y" * 80 + "\n" + "z" * 3
    (document,) = read([from_text(words, "x")])
    assert (len(document.lines), document.source.line_count) == (1, 3)


def test_every_text_is_one_document_under_its_own_name() -> None:
    evidence = read([from_text("ValueError: a", "rank0.log"), from_text("fine", "rank1.log")])
    assert [document.source.name for document in evidence] == ["rank0.log", "rank1.log"]
    assert [len(document.errors) for document in evidence] == [1, 0]


def test_an_error_points_at_the_lines_it_stands_on() -> None:
    calls = '> Traceback (most recent call last):\n>   File "a.py", line 3, in f\n>     x()\n'
    text = f"ok\n{calls}> ValueError: a\n> b\n\nend"
    (document,) = read([from_text(text, "x")])
    (error,) = document.errors
    assert (error.first, error.last, error.said) == (1, 5, (4, 5))
    assert document.lines[error.said[0]].raw == "> ValueError: a"
    assert [document.lines[index].text for index in document.echoes] == ["    x()"]
