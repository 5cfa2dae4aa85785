"""The account of a GPU's memory: a bar, and a line for each part. Pure."""

from __future__ import annotations

from typing import Any

from gpuhelp.kb.evaluation import format_bytes
from gpuhelp.reasoning.findings import Finding
from gpuhelp.reasoning.memory_account import Holder, MemoryAccount, account_of
from gpuhelp.rendering.layout import BLANK, Row, Span, row, width_of
from gpuhelp.words import Words

_BAR_WIDTH = 50
_GLYPHS = {
    Holder.TENSORS: "█",
    Holder.GRAPHS: "▓",
    Holder.CACHE: "▒",
    Holder.CONTEXT: "◆",
    Holder.OTHERS: "▞",
    Holder.UNTOLD: "?",
    Holder.FREE: "·",
}
"""Parts are told apart without colour."""


def memory_rows(finding: Finding, words: Words) -> tuple[Row, ...]:
    """Who held the memory of the GPU, where the text tells it."""
    account = account_of(finding.scope)
    if account is None or account.largest is None:
        return ()
    labels = [words(f"memory.{part.holder.value}") for part in account.parts]
    first = max(map(width_of, labels))
    rows = [BLANK, row(Span(words("memory"), "heading")), row(_headline(account, words), indent=2)]
    rows.append(row(Span(_bar(account), unbroken=True), indent=2, whole=True))
    for part, label in zip(account.parts, labels, strict=True):
        percent = f"{part.held_bytes / account.capacity_bytes:6.1%}"
        padded = label + " " * (first - width_of(label))
        text = f"{_GLYPHS[part.holder]} {padded}  {format_bytes(part.held_bytes):>10}  {percent}"
        rows.append(row(text, indent=2, whole=True))
    if account.limit_bytes:
        rows.append(row(words("memory.limit", limit=format_bytes(account.limit_bytes)), indent=2))
    rows.append(row(words(f"memory.largest.{account.largest.holder.value}"), indent=2))
    return tuple(rows)


def memory_data(finding: Finding) -> dict[str, Any]:
    """The account as plain data, sizes in bytes; empty where the text tells none."""
    account = account_of(finding.scope)
    if account is None or account.largest is None:
        return {}
    told = {
        "gpu_index": account.gpu_index,
        "capacity_bytes": account.capacity_bytes,
        "requested_bytes": account.requested_bytes,
        "limit_bytes": account.limit_bytes,
        "parts": {part.holder.value: part.held_bytes for part in account.parts},
        "largest": account.largest.holder.value,
    }
    return {name: value for name, value in told.items() if value not in (None, "")}


def _headline(account: MemoryAccount, words: Words) -> str:
    gpu, capacity = account.gpu_index or "?", format_bytes(account.capacity_bytes)
    if account.requested_bytes is None:
        return words("memory.gpu_only", gpu=gpu, capacity=capacity)
    return words("memory.gpu", gpu=gpu, capacity=capacity, requested=format_bytes(account.requested_bytes))


def _bar(account: MemoryAccount) -> str:
    """Each part as wide as its share; one that would vanish has one column, taken from the widest."""
    widths = [max(1, round(_BAR_WIDTH * part.held_bytes / account.capacity_bytes)) for part in account.parts]
    widths[widths.index(max(widths))] += _BAR_WIDTH - sum(widths)
    return "".join(_GLYPHS[part.holder] * width for part, width in zip(account.parts, widths, strict=True))
