"""What a small kernel came to, and which entry explains a failure of it. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from gpuhelp.diagnosis import Diagnosis, diagnose
from gpuhelp.kb.load import KnowledgeBase
from gpuhelp.probes.trial import Attempt


@dataclass(frozen=True, slots=True)
class Trial:
    """The attempt, and the diagnosis of what PyTorch printed when it failed (None: it printed nothing)."""

    attempt: Attempt
    diagnosis: Diagnosis | None = None

    @property
    def failed(self) -> bool:
        """Whether anything but right results came of it."""
        attempt = self.attempt
        return bool(attempt.ended or attempt.error or not attempt.runs) or not all(
            run.right for run in attempt.runs
        )


def judged_trial(attempt: Attempt, knowledge: KnowledgeBase) -> Trial:
    """The attempt with the diagnosis of its first traceback."""
    errors = [attempt.error, *(run.error for run in attempt.runs)]
    text = next(filter(None, errors), "")
    return Trial(attempt, diagnose(text, knowledge=knowledge) if text else None)
