"""An entry told without a log."""

from __future__ import annotations

import pytest

from gpuhelp.kb.load import KnowledgeBase
from gpuhelp.rendering.explanation import explanation_data, explanation_rows
from gpuhelp.rendering.layout import lay_out, width_of
from gpuhelp.rendering.paint import paint
from gpuhelp.words import Words


def told(knowledge: KnowledgeBase, language: str = "en", entry: str = "made-up-failure") -> str:
    return paint(lay_out(explanation_rows(knowledge.entry(entry), Words(language)), 80), color=False)


def test_causes_come_by_how_common_they_are_each_with_its_fixes(made_up: KnowledgeBase) -> None:
    lines = told(made_up).splitlines()
    causes = [line.strip() for line in lines if line.strip().startswith("○")]
    assert causes == [
        "○ The driver is older than the engine  about 50% of cases",
        "○ The GPU has little memory left  about 30% of cases",
        "○ Nobody knows  about 10% of cases",
    ]
    assert "      → Update the driver  [needs an administrator]" in lines
    assert "        $ apt-get install driver-<driver.version>" in lines


def test_it_is_told_in_korean(made_up: KnowledgeBase) -> None:
    text = told(made_up, "ko")
    assert "■ 가상 엔진이 멈췄습니다" in text
    assert "→ 드라이버를 업데이트합니다  [관리자 권한 필요]" in text
    assert "전체의 약 50%" in text


def test_data_hold_conditions_and_fixes(made_up: KnowledgeBase) -> None:
    data = explanation_data(made_up.entry("made-up-failure"), "en")
    assert list(data) == [
        "schema_version",
        "entry",
        "layer",
        "title",
        "summary",
        "leads_to",
        "causes",
        "references",
        "source",
    ]
    assert data["causes"][0]["when"] == "driver.version is known and driver.version < '500'"
    assert [fix["risk"] for fix in data["causes"][0]["fixes"]] == ["safe", "needs-admin", "reboots"]


@pytest.mark.parametrize("language", ["en", "ko"])
def test_every_shipped_entry_can_be_explained(made_up: KnowledgeBase, language: str) -> None:
    for entry in made_up.ids:
        rows = explanation_rows(made_up.entry(entry), Words(language))
        lines = paint(lay_out([one for one in rows if not one.whole], 80), color=False).splitlines()
        assert max(map(width_of, lines)) <= 80, entry
        assert "{{" not in "".join(lines), entry
