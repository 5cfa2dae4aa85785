"""The JSON of the contract: keys, their order, their types."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from gpuhelp.diagnosis import Diagnosis
from gpuhelp.kb.load import KnowledgeBase
from gpuhelp.probes.registry import ProbeStatus
from gpuhelp.probes.runner import ProbeReport
from gpuhelp.rendering.documents import to_data, to_json

Diagnosed = Callable[..., Diagnosis]
CONTRACT = ["schema_version", "gpuhelp_version", "sources", "status", "findings", "facts", "probes"]
FINDING = ["entry", "role", "layer", "title", "confidence", "evidence", "captured", "causes", "references"]
CAUSE = ["id", "title", "verdict", "because", "missing", "fixes"]
FIX = ["title", "risk", "commands", "undo", "proof"]


def data_of(diagnosis: Diagnosis, made_up: KnowledgeBase, language: str = "en") -> dict[str, Any]:
    data: dict[str, Any] = json.loads(to_json(to_data(diagnosis, language, made_up)))
    return data


def test_keys_stand_in_the_order_of_the_contract(diagnosed: Diagnosed, made_up: KnowledgeBase) -> None:
    data = data_of(diagnosed({"driver.version": "450.80.02"}), made_up)
    (finding,) = data["findings"]
    cause = finding["causes"][0]
    assert list(data)[: len(CONTRACT)] == CONTRACT
    assert list(finding)[: len(FINDING)] == FINDING
    assert list(cause)[: len(CAUSE)] == CAUSE
    assert list(cause["fixes"][0])[: len(FIX)] == FIX


def test_values_have_the_types_of_the_contract(diagnosed: Diagnosed, made_up: KnowledgeBase) -> None:
    log = "2025-11-14 03:12:11,985 start\n[rank3]: made-up engine libfoo stopped in bar\n"
    data = data_of(diagnosed({"driver.version": "450.80.02"}, text=log), made_up)
    (finding,) = data["findings"]
    assert data["schema_version"] == 1
    assert data["sources"] == [{"name": "text", "bytes": len(log), "lines": 2}]
    assert data["status"] == "known"
    assert 0 < finding["confidence"] <= 1
    assert finding["role"] == "root"
    assert finding["evidence"][0] == {
        "source": "text", "line": 2, "rank": 3, "text": "[rank3]: made-up engine libfoo stopped in bar",
    }  # fmt: skip
    assert finding["captured"] == {"library": "libfoo", "rank": "3", "symbol": "bar"}
    assert all(isinstance(value, str) for value in finding["captured"].values())
    assert data["facts"] == {"driver.version": {"value": "450.80.02", "source": "given"}}


def test_causes_say_what_is_missing_by_the_names_of_facts(
    diagnosed: Diagnosed, made_up: KnowledgeBase
) -> None:
    causes = {cause["id"]: cause for cause in data_of(diagnosed(), made_up)["findings"][0]["causes"]}
    assert causes["little-memory"]["missing"] == ["gpu.memory_free_bytes"]
    assert causes["little-memory"]["verdict"] == "unknown"
    assert causes["little-memory"]["ask"] == "Was memory free when it started?"
    assert causes["bad-luck"]["verdict"] == "possible"


def test_texts_are_in_the_language_and_ids_are_not(diagnosed: Diagnosed, made_up: KnowledgeBase) -> None:
    (english,) = data_of(diagnosed(), made_up)["findings"]
    (korean,) = data_of(diagnosed(), made_up, "ko")["findings"]
    assert korean["title"] == "가상 엔진이 멈췄습니다"
    assert english["title"] != korean["title"]
    for name in ("entry", "role", "layer", "confidence", "captured", "references"):
        assert english[name] == korean[name]


def test_probes_are_reported_with_status_time_and_detail(
    diagnosed: Diagnosed, made_up: KnowledgeBase
) -> None:
    report = ProbeReport("nvml.driver", ProbeStatus.TIMEOUT, 3.1, "no answer", ("gpus",))
    data = data_of(replace(diagnosed(), probes=(report,)), made_up)
    assert data["probes"] == [
        {"id": "nvml.driver", "status": "timeout", "seconds": 3.1, "detail": "no answer"}
    ]


def test_a_healthy_text_has_no_finding(diagnosed: Diagnosed, made_up: KnowledgeBase) -> None:
    data = data_of(diagnosed(text="epoch 1\n"), made_up)
    assert list(data) == CONTRACT
    assert (data["status"], data["findings"]) == ("healthy", [])


@pytest.mark.parametrize("language", ["en", "ko"])
def test_korean_stands_as_korean_in_the_file(
    diagnosed: Diagnosed, made_up: KnowledgeBase, language: str
) -> None:
    text = to_json(to_data(diagnosed(), language, made_up))
    assert ("가상 엔진" in text) is (language == "ko")
    assert text.endswith("}\n")


def test_no_character_of_a_log_steers_the_terminal_that_shows_the_json() -> None:
    """Names of sources and values hold them; who reads the JSON gets them back unchanged."""
    hostile = {"text": '\x1b[31m \x9b31m \u202e \u2028 \x7f \U000e0041 한국어 \\ "'}
    text = to_json(hostile)
    assert json.loads(text) == hostile
    assert "한국어" in text
    assert all(char == "\n" or char.isprintable() for char in text)


def test_a_line_without_end_is_cut(diagnosed: Diagnosed, made_up: KnowledgeBase) -> None:
    diagnosis = diagnosed({})
    (finding, *_) = diagnosis.findings
    line = finding.evidence[0]
    long = replace(
        finding, evidence=(type(line)(line.source, line.line, "x" * 10**6),), captured={"rank": "9" * 10**6}
    )
    data = data_of(replace(diagnosis, findings=(long,)), made_up)
    assert len(data["findings"][0]["evidence"][0]["text"]) == 20_001
    assert len(data["findings"][0]["captured"]["rank"]) == 20_001
