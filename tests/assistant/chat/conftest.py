"""A conversation without a terminal: the shipped entries, a made-up machine, a record of what is saved."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from gpuhelp.chat.session import Session, Tools
from gpuhelp.diagnosis import Diagnosis, Observe, diagnose_texts
from gpuhelp.kb.load import KnowledgeBase, load
from gpuhelp.probes.facts import Facts, FactValue
from gpuhelp.probes.registry import ProbeStatus
from gpuhelp.probes.runner import Observation, ProbeReport
from gpuhelp.reading.evidence import Evidence
from gpuhelp.reading.pieces import from_text
from gpuhelp.rendering.layout import Row
from gpuhelp.words import Words

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
MACHINE: dict[str, FactValue] = {
    "driver.version": "570.86.10",
    "driver.cuda_api_version": "12.8",
    "gpus": [
        {
            "index": 0,
            "name": "NVIDIA GeForce RTX 5090",
            "compute_capability": "12.0",
            "sm": "sm_120",
            "memory_total_bytes": 34359738368,
            "memory_free_bytes": 33285996544,
        }
    ],
}
FAILED_PROBE = ProbeReport("torch.ask", ProbeStatus.TIMEOUT, 3.0, "no answer within 3.0 s", ())
MakeSession = Callable[..., Session]


class Saved:
    """Stands in for the disk: remembers what was to be written, or refuses with `error`."""

    def __init__(self) -> None:
        self.reports: list[tuple[str, str, str]] = []
        self.error: Exception | None = None

    def __call__(self, path: str, diagnosis: Diagnosis, words: Words) -> str:
        if self.error is not None:
            raise self.error
        self.reports.append((path, diagnosis.findings[0].entry.id, words.language))
        return path


def look_at_made_up_machine(wanted: Iterable[str], evidence: Evidence) -> Observation:
    return Observation(Facts.of(MACHINE, "nvml"), (FAILED_PROBE,))


@pytest.fixture(scope="session")
def knowledge(tmp_path_factory: pytest.TempPathFactory) -> KnowledgeBase:
    """The shipped entries."""
    return load(cache_dir=tmp_path_factory.mktemp("kb-cache"))


@pytest.fixture
def example() -> Callable[[str], str]:
    """`example("xid-79")`: the text of an example log."""
    return lambda name: (EXAMPLES / f"{name}.log").read_text(encoding="utf-8")


@pytest.fixture
def shown() -> Callable[[Iterable[Row]], str]:
    """What rows say, unwrapped and without colour."""
    return lambda rows: "\n".join("".join(span.text for span in row.spans) for row in rows)


@pytest.fixture
def saved() -> Saved:
    """What the session of make_session saves."""
    return Saved()


@pytest.fixture
def make_session(knowledge: KnowledgeBase, saved: Saved) -> MakeSession:
    """`make_session(language="en", probes=True, given={})`."""

    def session(
        language: str = "en", *, probes: bool = True, given: dict[str, FactValue] | None = None
    ) -> Session:
        def diagnose(text: str, facts: Facts, observe: Observe | None = None) -> Diagnosis:
            texts = (from_text(text, "input"),)
            return diagnose_texts(texts, facts=facts, probes=observe, knowledge=knowledge)

        def look(text: str, facts: Facts) -> Diagnosis:
            return diagnose(text, facts, look_at_made_up_machine)

        tools = Tools(knowledge, diagnose, look if probes else None, saved)
        return Session(language, tools, given=Facts.of(given or {}, "snapshot"))

    return session
