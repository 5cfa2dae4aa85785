"""Plain data as the text of an entry's file: blocks for what has several lines, keys in their order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def to_yaml(data: Mapping[str, Any], schema: str) -> str:
    """The file, with the first line by which editors find the schema."""
    import yaml

    class Dumper(yaml.SafeDumper):
        """Indents lists below their key, as the shipped entries do."""

        def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
            super().increase_indent(flow, False)

    def text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
        style = "|" if "\n" in value.strip("\n") or value.endswith("\n") else None
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)

    Dumper.add_representer(str, text)
    body = yaml.dump(dict(data), Dumper=Dumper, sort_keys=False, allow_unicode=True, width=120)
    return f"# yaml-language-server: $schema={schema}\n{body}"
