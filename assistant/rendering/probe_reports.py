"""Which looks at the machine failed, and why, as rows for a terminal. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from gpuhelp.rendering.layout import BLANK, Row, Span, row
from gpuhelp.rendering.privacy import cut
from gpuhelp.words import Words

if TYPE_CHECKING:
    from gpuhelp.probes.runner import ProbeReport


def probe_rows(reports: Iterable[ProbeReport], words: Words) -> tuple[Row, ...]:
    """The looks that failed, each with what it came to."""
    failed = [report for report in reports if report.status.value in ("timeout", "error", "unavailable")]
    if not failed:
        return ()
    rows = [BLANK, row(Span(words("not_looked"), "heading"))]
    for report in failed:
        state = words(f"probe.{report.status.value}")
        rows.append(row(Span(f"{report.id}  ", "name"), f"{state}: {cut(report.detail)}", indent=2, hang=2))
    return tuple(rows)
