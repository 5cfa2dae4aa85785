"""Plain data as the text of an entry's file: blocks for what has several lines, keys in their order.

Nothing is folded and nothing refers to another place: the file is for people who edit it, and compare it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_ENDLESS = 10**9


def to_yaml(data: Mapping[str, Any], schema: str, remarks: Mapping[str, str] | None = None) -> str:
    """The file, with the first line by which editors find the schema; without `schema` no such line.

    `remarks` are put as comments behind the first line that reads as their key.
    """
    head = f"# yaml-language-server: $schema={schema}\n" if schema else ""
    return head + _remarked(_dumped(data), remarks or {})


def _dumped(data: Mapping[str, Any]) -> str:
    import yaml

    class Dumper(yaml.SafeDumper):
        """Indents lists below their key, as the shipped entries do; says twice what stands twice."""

        def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
            super().increase_indent(flow, False)

        def ignore_aliases(self, data: Any) -> bool:
            return True

    def text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
        # a block holds neither blanks at the ends of its lines nor tabs
        shown = "\n".join(line.rstrip() for line in value.expandtabs(4).split("\n"))
        is_block = "\n" in value.strip("\n") or value.endswith("\n")
        style = "|" if is_block else None
        return dumper.represent_scalar("tag:yaml.org,2002:str", shown if is_block else value, style=style)

    Dumper.add_representer(str, text)
    return str(yaml.dump(dict(data), Dumper=Dumper, sort_keys=False, allow_unicode=True, width=_ENDLESS))


def _remarked(text: str, remarks: Mapping[str, str]) -> str:
    left = dict(remarks)
    lines = []
    for line in text.split("\n"):
        remark = left.pop(line.strip(), "")
        lines.append(f"{line}  # {remark}" if remark else line)
    return "\n".join(lines)
