"""Reads what the child scripts print: JSON objects, one a line, beside whatever a broken library prints."""

from __future__ import annotations

import json
from typing import Any


def json_lines(text: str) -> tuple[dict[str, Any], ...]:
    """The lines that are whole JSON objects, in order.

    A half line (the child was killed) and garbage are no answers.
    """
    parts = []
    for line in text.splitlines():
        try:
            part = json.loads(line)
        except ValueError:
            continue
        if isinstance(part, dict):
            parts.append(part)
    return tuple(parts)


def last_line(text: str) -> str:
    """The last line with something on it, at most 300 characters: what a traceback says in the end."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:300] if lines else ""
