"""What GPUs can do, for people and as data: one line for all a model can, one for each it cannot. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gpuhelp.reasoning.abilities import Ability, Model
from gpuhelp.rendering.gpu_lines import gpu_numbers
from gpuhelp.rendering.layout import BLANK, Row, Span, row
from gpuhelp.words import Words


def ability_rows(models: Iterable[Model], words: Words) -> list[Row]:
    """A block for each model; nothing where no GPU is known well enough."""
    rows: list[Row] = []
    for model in models:
        heading = words("check.can", gpu=model.name, capability=model.compute_capability)
        rows += [BLANK, row(Span(heading, "heading"))]
        can = [each.name for each in model.abilities if each.can]
        unknown = [each.name for each in model.abilities if each.can is None]
        if can:
            rows.append(row(Span("✔ ", "good"), " · ".join(can), indent=2, hang=2))
        rows += [_cannot(each, words) for each in model.abilities if each.can is False]
        if unknown:
            told = f"{' · '.join(unknown)}  {words('mark.unknown')}"
            rows.append(row(Span("? ", "likely"), told, indent=2, hang=2))
    return rows


def ability_data(model: Model, words: Words) -> dict[str, Any]:
    """One model for programs; `can` is null where it is not known."""
    return {
        "name": model.name,
        "compute_capability": model.compute_capability,
        "gpus": list(model.gpus),
        "told": words("check.can", gpu=model.name, capability=model.compute_capability),
        "numbers": gpu_numbers(model.gpus),
        "can": {each.id: each.can for each in model.abilities},
        "abilities": [
            {"id": each.id, "name": each.name, "can": each.can, "why": _why(each, words)}
            for each in model.abilities
        ],
    }


def _cannot(ability: Ability, words: Words) -> Row:
    return row(Span("– ", "dim"), Span(f"{ability.name} "), _why(ability, words), indent=2, hang=2)


def _why(ability: Ability, words: Words) -> str:
    return ability.why.get(words.language) or ability.why.get("en", "")
