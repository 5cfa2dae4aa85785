"""Log text in a Markdown report is text: no markup, HTML, link or template, no fence that ends early."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from gpuhelp.rendering.markdown import code, escape, fence, paragraphs, to_markdown
from gpuhelp.words import Words

RunCommand = Callable[..., Any]
PARSER = MarkdownIt("gfm-like", {"linkify": False})
HOSTILE = [
    "`code` and ``more``",
    "| a | b |",
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[click](https://example.com)",
    "![image](https://example.com/x.png)",
    "<https://example.com>",
    "**bold** __bold__ *it* _it_ ~~gone~~",
    "# heading",
    "> quote",
    "- item",
    "+ item",
    "1. item",
    "2) item",
    "=====",
    "&lt;b&gt; &amp; &#42;",
    "{{ 7 * 7 }} {% for x in y %}",
    "\\* \\` a\\",
    "[ref]: https://example.com",
    "$x$ ~~~ ``` ***",
    "\x1b[31mred\x1b[0m",
]


def tokens(markdown: str) -> set[str]:
    """The kinds of everything that a reader of this Markdown sees."""
    found = PARSER.parse(markdown)
    return {inner.type for token in found for inner in (token, *(token.children or ()))}


def shown(markdown: str) -> str:
    """The text that a reader sees."""
    inline = [token for token in PARSER.parse(markdown) if token.type == "inline"]
    return " ".join("".join(child.content for child in token.children or ()) for token in inline)


COLOUR = r"\x1b\[\d*m"


@pytest.mark.parametrize("text", HOSTILE)
def test_escaped_text_is_seen_as_it_stands(text: str) -> None:
    markdown = escape(text)
    assert tokens(markdown) <= {"paragraph_open", "inline", "text", "text_special", "paragraph_close"}
    assert shown(markdown) == re.sub(COLOUR, "", text)


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Zl", "Zp"]), max_size=80))
def test_any_escaped_text_is_one_paragraph_of_plain_text(text: str) -> None:
    assert tokens(f"x {escape(text)}") <= {
        "paragraph_open",
        "inline",
        "text",
        "text_special",
        "paragraph_close",
    }


@pytest.mark.parametrize("text", [*HOSTILE, "````\n```\n`````", "ends in `", "` begins", "no line end"])
def test_a_fence_is_longer_than_any_run_of_backquotes_in_it(text: str) -> None:
    (block,) = PARSER.parse(fence(text))
    assert block.type == "fence"
    assert block.content.strip("\n") == re.sub(COLOUR, "", text)


@pytest.mark.parametrize("text", [*HOSTILE, "`", "a``b`c", " x ", "", "two\nlines"])
def test_a_stretch_of_code_ends_where_it_should(text: str) -> None:
    children = PARSER.parse(f"{code(text)} after")[1].children or []
    assert [child.type for child in children] == ["code_inline", "text"]
    assert children[0].content.strip() == " ".join(re.sub(COLOUR, "", text).split())
    assert children[1].content == " after"


def test_paragraphs_stay_apart() -> None:
    assert paragraphs("one\nline\n\ntwo *stars*\n") == "one line\n\ntwo \\*stars\\*"


LOG = """\
Traceback (most recent call last):
  File "/home/user/train.py", line 3, in <module>
    run()
  File "/home/user/`x`|<b>.py", line 4, in run
    go()
RuntimeError: {failure} [click](https://example.com) | <img src=x> {{{{ 7 * 7 }}}} {{% raw %}} ```` ```
"""


@pytest.mark.parametrize("failure", ["made-up engine lib_a_b stopped in [x](y)", "zorble frobnication"])
@pytest.mark.parametrize("language", ["en", "ko"])
def test_a_hostile_log_leaves_the_report_in_order(
    gpuhelp: RunCommand, entries: Path, failure: str, language: str
) -> None:
    log = LOG.format(failure=failure)
    argv = ("--no-probes", "--kb", entries, "--format", "markdown", "--lang", language)
    ran = gpuhelp(*argv, stdin=log.encode())
    kinds = tokens(ran.out)
    assert ran.status == 1
    assert not kinds & {"image", "html_block", "html_inline", "strikethrough", "table_open"}
    assert "49" not in ran.out
    assert 'https://example.com"' not in ran.out
    links = [
        t.attrs["href"] for b in PARSER.parse(ran.out) for t in b.children or () if t.type == "link_open"
    ]
    assert "https://example.com" not in links
    assert any(
        "[click](https://example.com) | <img src=x> {{ 7 * 7 }} {% raw %} ```` ```" in token.content
        for token in PARSER.parse(ran.out)
        if token.type in ("fence", "inline")
    )


def test_a_template_that_misses_a_value_is_an_error_and_not_a_gap() -> None:
    from jinja2 import UndefinedError

    with pytest.raises(UndefinedError):
        to_markdown("checkup.md.j2", {}, Words("en"))
