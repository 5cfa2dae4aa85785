"""Words mean the same however they are said, in both languages; small words and endings mean nothing."""

from __future__ import annotations

import pytest

from gpuhelp.kb.load import KnowledgeBase
from gpuhelp.matching.stemming import stem
from gpuhelp.matching.wording import Wording


@pytest.fixture
def wording(knowledge: KnowledgeBase) -> Wording:
    return Wording(knowledge.table("synonyms"), knowledge.table("question_words"))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("How do I fix the CUDA error?", "fixing cuda errors"),
        ("GPU가", "gpu는"),
        ("드라이버를", "드라이버가"),
        ("그래픽카드가 안 잡혀요", "graphics card not detected"),
        ("그래픽 카드 인식이 안돼요", "my gpu is undetected"),
        ("메모리 부족", "out of memory"),
        ("why isn't pytorch seeing the gpu", "torch does not see the gpu"),
    ],
)
def test_what_means_the_same_becomes_the_same_words(one: str, other: str, wording: Wording) -> None:
    assert set(wording.words(one)) - {"see"} == set(wording.words(other)) - {"see"}


def test_a_word_within_a_longer_one_is_not_meant(wording: Wording) -> None:
    assert "ram" in wording.words("램이 부족해요")
    assert "ram" not in wording.words("프로그램이 느려요")


def test_names_of_code_stay_whole(wording: Wording) -> None:
    assert wording.words("torch.cuda.is_available") == ("torch", "cuda", "is_available")
    assert wording.words("CUDA_VISIBLE_DEVICES=2") == ("cuda_visible_devices", "2")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("is it not working at all", ("broken", "all")),
        ("how can i do this", ()),
        ("어떻게 하나요", ()),
        ("쿠다 드라이버 버전", ("cuda", "driver", "version")),
        ("", ()),
    ],
)
def test_only_words_with_a_meaning_are_told(text: str, words: tuple[str, ...], wording: Wording) -> None:
    assert wording.words(text) == words


@pytest.mark.parametrize(
    ("words", "surely"),
    [(("gpu",), 1.0), (("is_available",), 1.0), (("model", "batch", "memory"), 1.0), (("bread",), 0.0)],
)
def test_a_field_is_known_by_its_words(words: tuple[str, ...], surely: float, wording: Wording) -> None:
    assert wording.of_field(words) == surely


def test_one_word_that_other_fields_use_makes_it_less_sure(wording: Wording) -> None:
    assert 0 < wording.of_field(("memory",)) < wording.of_field(("memory", "batch")) < 1


@pytest.mark.parametrize("text", ["best card for gaming", "오늘 날씨 어때요", "배그 할 때 렉 걸려요"])
def test_a_topic_of_its_own_is_elsewhere(text: str, wording: Wording) -> None:
    assert wording.is_elsewhere(text)


@pytest.mark.parametrize("text", ["resume from a checkpoint", "프로그램이 멈춰요", "out of memory"])
def test_what_the_entries_are_about_is_not_elsewhere(text: str, wording: Wording) -> None:
    assert not wording.is_elsewhere(text)


@pytest.mark.parametrize(
    ("word", "bare"),
    [
        ("detected", "detect"),
        ("detecting", "detect"),
        ("stopped", "stop"),
        ("queries", "query"),
        ("killed", "kill"),
        ("bus", "bus"),
        ("caches", "cach"),
        ("sm120", "sm120"),
        ("메모리", "메모리"),
    ],
)
def test_english_words_lose_their_endings(word: str, bare: str) -> None:
    assert stem(word) == bare
