"""Rewrites a module so that older Pythons run it: 3.8 and 3.9 stand on many of the machines that fail. Pure.

Only what the probes use is rewritten: slots of data classes, `strict` of zip, aliases of types that are made
when a module is imported, base classes with types, dicts joined by a bar, removeprefix and removesuffix. All
of it means the same.
"""

from __future__ import annotations

import ast
import re

_SLOTS = re.compile(r",\s*slots=True|(?<=dataclass\()slots=True(?:,\s*)?")
_STRICT = re.compile(r",\s*strict=(?:True|False)(?=\))")
_HELPERS = """
def _removeprefix(text, prefix):
    return text[len(prefix):] if text.startswith(prefix) else text


def _removesuffix(text, suffix):
    return text[:-len(suffix)] if suffix and text.endswith(suffix) else text
"""
_CUT = ("removeprefix", "removesuffix")
_TYPES = ("dict", "list", "set", "tuple", "Counter", "deque", "defaultdict")
_FUTURE = "from __future__ import annotations\n"

Edit = tuple[ast.expr | ast.stmt, str]


def lowered(source: str) -> str:
    """The module for Python 3.8 and newer."""
    text = _STRICT.sub("", _SLOTS.sub("", source))
    while (edit := _next_edit(text)) is not None:
        text = _replaced(text, *edit)
    if any(f"_{name}(" in text for name in _CUT) and _FUTURE in text:
        text = text.replace(_FUTURE, _FUTURE + _HELPERS, 1)
    return text


def _next_edit(text: str) -> Edit | None:
    """One place to rewrite, and what stands there then. One at a time, for places lie in each other."""

    def source(node: ast.expr) -> str:
        return ast.get_source_segment(text, node) or ""

    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _CUT:
            return node, f"_{node.func.attr}({source(node.func.value)}, {source(node.args[0])})"
        if isinstance(node, ast.ClassDef):
            generic = next((base for base in node.bases if isinstance(base, ast.Subscript)), None)
            if generic is not None:
                return generic, source(generic.value)
        if isinstance(node, ast.Assign) and _is_alias(node):
            return node.value, "object"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Subscript) and _is_type(node.func.value):
            return node.func, source(node.func.value)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr) and _makes_dict(node.right):
            return node, f"{{**({source(node.left)}), **({source(node.right)})}}"
    return None


def _is_type(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in _TYPES


def _makes_dict(node: ast.expr) -> bool:
    """`dict(...)` and `dict.fromkeys(...)`, which older Pythons cannot join by a bar."""
    function = node.func if isinstance(node, ast.Call) else None
    function = function.value if isinstance(function, ast.Attribute) else function
    return isinstance(function, ast.Name) and function.id == "dict"


def _is_alias(node: ast.Assign) -> bool:
    """`FactValue = str | None`, `Look = Callable[[Machine], str]`: a name that begins as types do."""
    (target, *others), value = node.targets, node.value
    if others or not isinstance(target, ast.Name) or not re.match(r"_?[A-Z][a-z]", target.id):
        return False
    union = isinstance(value, ast.BinOp) and isinstance(value.op, ast.BitOr)
    return union or (isinstance(value, ast.Subscript) and isinstance(value.value, ast.Name))


def _replaced(text: str, node: ast.expr | ast.stmt, by: str) -> str:
    """The text with that node's stretch replaced. Columns of the syntax tree count bytes."""
    lines = text.encode("utf-8").splitlines(keepends=True)
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    before = b"".join(lines[: node.lineno - 1]) + lines[node.lineno - 1][: node.col_offset]
    after = lines[node.end_lineno - 1][node.end_col_offset :] + b"".join(lines[node.end_lineno :])
    return (before + by.encode("utf-8") + after).decode("utf-8")
