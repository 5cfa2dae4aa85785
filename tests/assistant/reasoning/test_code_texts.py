"""What a text tells of a code is in the language of that text."""

from __future__ import annotations

import re
from collections.abc import Mapping

from gpuhelp.kb.evaluation import render_whole
from gpuhelp.kb.expressions import parse_template
from gpuhelp.kb.lookups import Tables
from gpuhelp.probes.facts import Facts
from gpuhelp.reasoning.scope import Scope, scope_of

ROW = {"code": 710, "runtime": "cudaErrorAssert", "en": "A check failed.", "ko": "검사가 실패했습니다."}
TABLES: Mapping[str, object] = {"cuda_errors": {"errors": [ROW], "before_10_1": {"59": 710}}}


def scope(facts: Mapping[str, str], error_code: str) -> Scope:
    functions = Tables.from_data(TABLES).functions()
    return scope_of(Facts.of(dict(facts), "given"), {"error_code": error_code}, {}, functions)


def told(where: Scope, language: str) -> str | None:
    text = "{{ code_name('cuda', error_code) }}: {{ code_meaning('cuda', error_code) }}"
    return render_whole(parse_template(text), where.lookup, where.functions_in(language))


def test_a_meaning_is_told_in_the_language_of_the_text() -> None:
    for facts in ({}, {"os.platform": "linux"}):
        for number in ("710", "59", "cudaErrorAssert"):
            assert told(scope(facts, number), "en") == "cudaErrorAssert: A check failed."
            korean = told(scope(facts, number), "ko")
            assert korean is not None
            assert re.search("[가-힣]", korean)


def test_a_code_that_no_table_knows_is_unknown() -> None:
    assert told(scope({}, "12345"), "en") is None
