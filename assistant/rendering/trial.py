"""What `gpuhelp check --deep` came to, for people and as data. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gpuhelp.probes.trial import Attempt, KernelRun
from gpuhelp.reasoning.trial import Trial
from gpuhelp.rendering.layout import BLANK, Row, Span, clip, one_line, row
from gpuhelp.words import Words

_LONGEST = 300


def trial_rows(trial: Trial, words: Words) -> tuple[Row, ...]:
    """A heading, a row for each GPU or for what kept it from being tried, and the entry that explains it."""
    rows = [BLANK, row(Span(words("trial.title"), "heading"))]
    for good, told, error in _lines(trial.attempt, words):
        rows.append(row(Span("✔ " if good else "✘ ", "good" if good else "bad"), told, indent=2, hang=2))
        if error:
            rows.append(row(Span(error, "quote"), indent=4))
    for entry, title in _findings(trial, words):
        rows.append(row(Span(f"{words('trial.means')}: "), Span(title, "title"), indent=4, hang=2))
        rows.append(row(Span(f"gpuhelp explain {entry}", "command"), indent=4, whole=True))
    return tuple(rows)


def trial_data(trial: Trial, words: Words) -> dict[str, Any]:
    """The same for programs."""
    attempt = trial.attempt
    return {
        "failed": trial.failed,
        "python": attempt.python or None,
        "ended": attempt.ended or None,
        "step": attempt.step or None,
        "title": words("trial.title"),
        "told": [told for _, told, _ in _lines(attempt, words)],
        "gpus": [
            {"device": run.device, "name": run.name, "right": run.right, "error": run.error or None}
            for run in attempt.runs
        ],
        "error": attempt.error or None,
        "entries": [entry for entry, _ in _findings(trial, words)],
    }


def _lines(attempt: Attempt, words: Words) -> Iterator[tuple[bool, str, str]]:
    """Whether it is good, the sentence, and the last line of the error."""
    if attempt.ended == "no python":
        yield False, words("trial.no_python"), ""
        return
    for run in attempt.runs:
        yield run.right, _run(run, words), _last(run.error)
    if attempt.error:
        yield False, _early(attempt, words), _last(attempt.error)
    if attempt.ended:
        step = words(f"trial.step.{attempt.step or 'import'}")
        values = {"step": step.replace("{device}", f"cuda:{attempt.device}")}
        values |= {"seconds": attempt.detail, "signal": attempt.detail, "detail": attempt.detail}
        yield False, words(f"trial.{attempt.ended}", **values), ""


def _run(run: KernelRun, words: Words) -> str:
    device = f"cuda:{run.device}" + (f" ({run.name})" if run.name else "")
    key = "failed" if run.error else "ok" if run.right else "wrong"
    return words(f"trial.{key}", device=device, detail=run.got)


def _early(attempt: Attempt, words: Words) -> str:
    if attempt.missing == "torch":
        return words("trial.no_torch", python=attempt.python)
    if attempt.step == "import":
        return words("trial.import")
    return words("trial.no_cuda", detail=words("trial.step.start"))


def _last(error: str) -> str:
    """The line that says what went wrong; the traceback above it is of our own script."""
    lines = [line for line in error.splitlines() if line.strip() and not line.startswith(" ")]
    start = next((line for line in lines[1:] if ":" in line), lines[-1] if lines else "")
    return clip(one_line(start), _LONGEST)


def _findings(trial: Trial, words: Words) -> list[tuple[str, str]]:
    found = () if trial.attempt.missing == "torch" else trial.findings[:1]
    return [(each.entry.id, each.entry.title.of(words.language)) for each in found]
