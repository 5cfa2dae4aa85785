"""Small knowledge bases, and the shipped tables."""

from __future__ import annotations

import copy
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from gpuhelp.kb import files as kb_files
from gpuhelp.kb.build import build_sections
from gpuhelp.kb.codes import CODE_TABLES
from gpuhelp.kb.files import SourceFile
from gpuhelp.kb.load import KnowledgeBase
from gpuhelp.kb.lookups import Tables
from gpuhelp.kb.problems import KnowledgeError, Problem
from gpuhelp.kb.store import pack, unpack

Files = Mapping[str, Any]
"""Path below the knowledge base -> plain data, YAML text, or bytes."""

TABLES = Path(__file__).parents[2] / "kb" / "tables"

ENTRY: dict[str, Any] = {
    "id": "sample-failure",
    "layer": "code",
    "title": "Something failed in a known way",
    "summary": "A paragraph that says what this failure means.",
    "match": [{"text": "the frobnicator ran out of flux"}],
    "questions": ["why does the frobnicator stop"],
    "causes": [
        {
            "id": "no-flux",
            "title": "There is no flux",
            "weight": 0.6,
            "when": "torch.installed",
            "because": "PyTorch {{ torch.version }} is installed.",
            "ask": {
                "fact": "answers.flux",
                "text": "Did you add flux?",
                "kind": "choice",
                "choices": ["yes", "no"],
            },
            "fixes": [
                {
                    "id": "add-flux",
                    "title": "Add flux",
                    "risk": "safe",
                    "explain": "It needs flux.",
                    "commands": ["flux add {{ torch.version }}"],
                    "undo": "Remove it again.",
                    "proof": "flux show",
                    "expect": "It shows flux.",
                }
            ],
        },
        {
            "id": "old-flux",
            "title": "The flux is old",
            "weight": 0.4,
            "fixes": [
                {
                    "id": "renew-flux",
                    "title": "Renew the flux",
                    "risk": "safe",
                    "undo": "Nothing to undo.",
                    "proof": "flux show",
                    "expect": "It shows new flux.",
                }
            ],
        },
    ],
    "references": [{"url": "https://example.org/flux", "claim": "flux is needed"}],
    "examples": [
        {"text": "Error: the frobnicator ran out of flux"},
        {"text": "FATAL the frobnicator ran out of flux again"},
        {"text": "rank 3: the frobnicator ran out of flux"},
    ],
    "not_examples": [
        {"text": "the frobnicator runs", "because": "nothing failed"},
        {"text": "flux capacitor found", "because": "another program"},
    ],
}
KOREAN: dict[str, Any] = {
    "title": "알려진 방식으로 실패했습니다",
    "summary": "이 실패가 무엇을 뜻하는지 말하는 문단입니다.",
    "questions": ["왜 멈추나요"],
    "causes": {
        "no-flux": {
            "title": "플럭스가 없습니다",
            "because": "PyTorch {{ torch.version }}이 설치되어 있습니다.",
            "ask": "플럭스를 넣었습니까?",
            "choices": ["예", "아니요"],
            "fixes": {
                "add-flux": {
                    "title": "플럭스를 넣습니다",
                    "explain": "플럭스가 필요합니다.",
                    "undo": "다시 뺍니다.",
                    "expect": "플럭스가 보입니다.",
                }
            },
        },
        "old-flux": {
            "title": "플럭스가 낡았습니다",
            "fixes": {
                "renew-flux": {
                    "title": "플럭스를 바꿉니다",
                    "undo": "되돌릴 것이 없습니다.",
                    "expect": "새 플럭스가 보입니다.",
                }
            },
        },
    },
}


@pytest.fixture
def entry() -> dict[str, Any]:
    """Plain data of an entry without a fault, to be changed at will; its file is sample-failure.yaml."""
    return copy.deepcopy(ENTRY)


@pytest.fixture
def korean() -> dict[str, Any]:
    """The Korean texts of that entry."""
    return copy.deepcopy(KOREAN)


@pytest.fixture
def dump() -> Callable[[Any], str]:
    """Plain data as YAML, keys in the order given, one value a line."""
    return lambda data: yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=1000)


@pytest.fixture
def build(dump: Callable[[Any], str]) -> Callable[[Files], KnowledgeBase]:
    """The knowledge base of these files alone; raises KnowledgeError."""

    def built(files: Files) -> KnowledgeBase:
        sources = [SourceFile(path, path, _content(data, dump)) for path, data in files.items()]
        return KnowledgeBase(unpack(pack(build_sections(sources))))

    return built


def _content(data: Any, dump: Callable[[Any], str]) -> bytes:
    if isinstance(data, bytes):
        return data
    return (data if isinstance(data, str) else dump(data)).encode()


@pytest.fixture
def faults(build: Callable[[Files], KnowledgeBase]) -> Callable[[Files], tuple[Problem, ...]]:
    """Every fault of these files; none if there is none."""

    def found(files: Files) -> tuple[Problem, ...]:
        try:
            build(files)
        except KnowledgeError as error:
            return error.problems
        return ()

    return found


def _yaml(text: str) -> Any:
    return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


@pytest.fixture(scope="session")
def tables() -> Tables:
    """The look-ups over the shipped tables."""
    stems = ("gpus", "cuda_drivers", "torch_wheels", "torch_companions", *CODE_TABLES)
    data = {stem: _yaml((TABLES / f"{stem}.yaml").read_text("utf-8")) for stem in stems}
    return Tables.from_data(data)


@pytest.fixture
def root(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entry: dict[str, Any], dump: Callable[[Any], str]
) -> Path:
    """A small knowledge base in the place of the shipped one; its one entry is in entries/code."""
    folder = tmp_path / "kb"
    (folder / "entries" / "code").mkdir(parents=True)
    (folder / "tables").mkdir()
    for name in ("schema.json", *kb_files._COMPILER):
        shutil.copy(Path(kb_files.SHIPPED) / name, folder / name)
    (folder / "entries" / "code" / "sample-failure.yaml").write_text(dump(entry), "utf-8")
    (folder / "tables" / "gpus.yaml").write_text("a: 1\n", "utf-8")
    monkeypatch.setattr(kb_files, "SHIPPED", str(folder))
    monkeypatch.setattr("gpuhelp.kb.load.COMPILED", str(folder / "compiled.jsonl"))  # a wheel has one
    return folder


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"
