"""What a small kernel came to, and which entries explain a failure of it. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from gpuhelp.probes.trial import Attempt
from gpuhelp.reasoning.findings import Finding


@dataclass(frozen=True, slots=True)
class Trial:
    """The attempt, and what the diagnosis of the first traceback found."""

    attempt: Attempt
    findings: tuple[Finding, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether anything but right results came of it."""
        attempt = self.attempt
        broken = attempt.ended or attempt.error or not attempt.runs
        return bool(broken) or not all(run.right for run in attempt.runs)


def first_error(attempt: Attempt) -> str:
    """The first traceback; empty where there is none."""
    return next(filter(None, (attempt.error, *(run.error for run in attempt.runs))), "")
