"""`pip show torch flash-attn`: each package with its version and its folder."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from gpuhelp.probes.facts import FactValue
from gpuhelp.probes.pasted.packages_listed import NAME, VERSION, package_facts
from gpuhelp.probes.pasted.values import Span

_NAME = re.compile(rf"Name: ({NAME})$")
_VERSION = re.compile(rf"Version: ({VERSION})$")
_FIELD = re.compile(
    r"(?:Name|Version|Summary|Home-page|Author|Author-email|License|License-Expression|Location"
    r"|Editable project location|Requires|Required-by): ?"
)
_LONGEST = 60
"""Lines of one package: a license may be told in full."""


def blocks(lines: Sequence[str]) -> Iterator[Span]:
    """Each package, from its name to the last of its fields."""
    for start, line in enumerate(lines[:-2]):
        is_head = _NAME.match(line) and _VERSION.match(lines[start + 1])
        if not is_head or not lines[start + 2].startswith("Summary: "):
            continue
        last = start + 2
        for index in range(start + 3, min(len(lines), start + _LONGEST)):
            if lines[index] == "---" or _NAME.match(lines[index]):
                break
            last = index if _FIELD.match(lines[index]) else last
        yield start, last


def read(text: str) -> Mapping[str, FactValue]:
    """`packages.<name>`; of PyTorch also its folder."""
    lines = text.split("\n")
    name, version = _NAME.match(lines[0]), _VERSION.match(lines[1])
    if name is None or version is None:
        return {}
    facts = package_facts([(name[1], version[1])])
    place = next((line for line in lines if line.startswith("Location: ")), "").partition(" ")[2].strip()
    if place and name[1].lower() == "torch":
        separator = "\\" if "\\" in place else "/"
        facts["torch.path"] = f"{place}{separator}torch"
    return facts
