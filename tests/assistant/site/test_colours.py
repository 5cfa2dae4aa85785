"""The colours of the pages: every text can be read on what it stands on, in light and in dark (WCAG 2 AA)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gpuhelp.site import pages

LEAST_RATIO = 4.5
SHEET = (Path(pages.__file__).parent / "static" / "site.css").read_text("utf-8")
THEMES = [
    dict(re.findall(r"--(\w+): (#[0-9a-f]{3,6});", rule))
    for rule in re.findall(r"\{ color-scheme[^}]*", SHEET)
]
PAIRS = [(text, ground) for text in ("ink", "soft", "accent") for ground in ("paper", "card", "tint", "code")]
PAIRS += [("warn", "card"), ("hot", "card"), ("paper", "accent")]


def luminance(colour: str) -> float:
    """The relative luminance of #rgb or #rrggbb, 0 to 1 (WCAG 2.2, relative luminance)."""
    digits = colour[1:] if len(colour) == 7 else "".join(digit * 2 for digit in colour[1:])
    parts = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """The contrast ratio of two colours, 1 to 21."""
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def test_black_on_white_has_the_ratio_that_the_standard_names() -> None:
    assert contrast("#000", "#ffffff") == pytest.approx(21)


def test_the_dark_colours_are_the_same_however_dark_is_chosen() -> None:
    light, switched, preferred = THEMES
    assert switched == preferred
    assert set(switched) == set(light)


@pytest.mark.parametrize("theme", THEMES[:2], ids=["light", "dark"])
def test_every_text_stands_out_from_its_ground(theme: dict[str, str]) -> None:
    ratios = {pair: round(contrast(theme[pair[0]], theme[pair[1]]), 2) for pair in PAIRS}
    assert {pair: ratio for pair, ratio in ratios.items() if ratio < LEAST_RATIO} == {}
