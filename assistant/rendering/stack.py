"""The small picture of the stack: which layer an answer is about. Pure."""

from __future__ import annotations

from gpuhelp.rendering.layout import Row, Span, row
from gpuhelp.words import Words

STACK = ("code", "framework", "library", "runtime", "driver", "hardware")
"""Top to bottom. Container, host and distributed stand beside it."""
BESIDE = ("container", "host", "distributed")


def stack_row(layer: str, words: Words) -> Row:
    """One row: the layers from the code down to the GPU, the one spoken of marked."""
    spans: list[Span] = []
    for name in (*STACK, *((layer,) if layer in BESIDE else ())):
        if spans:
            spans.append(Span(" + " if name in BESIDE else " > ", "dim"))
        label = words(f"layer.{name}")
        here = name == layer
        spans.append(Span(f"[{label}]" if here else label, "here" if here else "dim", unbroken=True))
    return row(*spans, indent=2, hang=2)
