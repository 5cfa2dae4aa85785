"""The house keeps its floors: who may import whom, and how big a room may grow. Read from syntax trees."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = {"assistant": "gpuhelp", "kb": "gpuhelp.kb", "probes": "gpuhelp.probes"}
# Rooms of the assistant, ground floor first; rooms on one floor do not import each other. What is not named
# here (errors, version, ...) lies under the ground: everyone may import it, it imports nothing of the house.
FLOORS = (
    {"reading"},
    {"scanning"},
    {"matching"},
    {"reasoning"},
    {"diagnosis"},
    {"authoring"},
    {"rendering"},
    {"site"},
    {"defect"},
    {"chat"},
    {"commands"},
    {"cli"},
    {"__main__"},
)
LEAVES = {"kb", "probes"}
FIRST_FLOOR_ABOVE_LEAVES = 1
MAX_MODULE_LINES = 400
MAX_FUNCTION_LINES = 40


@dataclass(frozen=True, slots=True)
class Module:
    """One Python file: its path in the tree, the name it is imported by, and its syntax tree."""

    path: str
    name: str
    tree: ast.Module
    lines: int


def read_modules(root: Path, folders: dict[str, str]) -> tuple[Module, ...]:
    """All modules under the folders, with the names that package-dir gives them."""
    return tuple(
        _read(root, file, package)
        for folder, package in folders.items()
        for file in sorted((root / folder).rglob("*.py"))
    )


def _read(root: Path, file: Path, package: str) -> Module:
    relative = file.relative_to(root)
    text = file.read_text(encoding="utf-8")
    parts = [*relative.parts[1:-1], *([] if file.stem == "__init__" else [file.stem])]
    return Module(relative.as_posix(), ".".join([package, *parts]), ast.parse(text), len(text.splitlines()))


def imported_names(tree: ast.Module) -> Iterator[str]:
    """Every absolute module name the tree imports, also inside functions and type-checking blocks."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def room_of(name: str) -> str | None:
    """The part below the package: 'reading' of gpuhelp.reading.lines, '' of gpuhelp, None of other names."""
    top, _, rest = name.partition(".")
    return rest.partition(".")[0] if top == "gpuhelp" else None


def floor_of(room: str) -> int | None:
    """The floor a room stands on, 0 is the ground; None for what lies under the ground."""
    return next((level for level, rooms in enumerate(FLOORS) if room in rooms), None)


def may_import(importer: str, imported: str) -> bool:
    """Whether a module of room `importer` may import from room `imported`."""
    if importer == imported or imported == "":
        return True
    if importer in LEAVES:
        return False
    level, target = floor_of(importer), floor_of(imported)
    if imported in LEAVES:
        return level is not None and level >= FIRST_FLOOR_ABOVE_LEAVES
    if target is None:
        return True
    return level is not None and target < level


def forbidden_imports(modules: tuple[Module, ...], rooms: set[str]) -> list[str]:
    """ "path imports name" for each import that climbs, or that leaves a leaf."""
    wrong = []
    for module in modules:
        importer = room_of(module.name) or ""
        if importer == "" and module.name == "gpuhelp":
            continue  # the public face re-exports from any floor
        for name in imported_names(module.tree):
            imported = room_of(name)
            if imported in rooms and not may_import(importer, imported):
                wrong.append(f"{module.path} imports {name}")
    return wrong


def functions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Every function of the tree, methods and inner functions too."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node


@pytest.fixture(scope="module")
def modules() -> tuple[Module, ...]:
    return read_modules(ROOT, PACKAGES)


def test_every_import_points_down(modules: tuple[Module, ...]) -> None:
    rooms = {room for module in modules if (room := room_of(module.name))}
    assert rooms >= {"kb", "probes", "reading", "matching", "reasoning", "rendering"}
    assert forbidden_imports(modules, rooms) == []


def test_imports_are_absolute_and_by_the_installed_name(modules: tuple[Module, ...]) -> None:
    wrong = [
        module.path
        for module in modules
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ImportFrom) and node.level
    ]
    bare = [
        f"{module.path} imports {name}"
        for module in modules
        for name in imported_names(module.tree)
        if name.partition(".")[0] in PACKAGES
    ]
    assert wrong + bare == []


def test_no_module_is_longer_than_the_limit(modules: tuple[Module, ...]) -> None:
    everything = modules + read_modules(ROOT, {"tests": "tests", "examples": "examples"})
    assert [f"{m.path}: {m.lines}" for m in everything if m.lines > MAX_MODULE_LINES] == []


def test_no_function_is_longer_than_the_limit(modules: tuple[Module, ...]) -> None:
    too_long = [
        f"{module.path}:{function.lineno} {function.name}: {length}"
        for module in modules
        for function in functions(module.tree)
        if (length := (function.end_lineno or 0) - function.lineno + 1) > MAX_FUNCTION_LINES
    ]
    assert too_long == []


def test_no_module_is_a_drawer_for_everything(modules: tuple[Module, ...]) -> None:
    drawers = {"utils", "util", "helpers", "misc"}
    assert [m.path for m in modules if m.name.rpartition(".")[2] in drawers] == []


def test_every_module_says_what_it_is_for(modules: tuple[Module, ...]) -> None:
    assert [module.path for module in modules if not ast.get_docstring(module.tree)] == []


@pytest.mark.parametrize(
    ("importer", "imported", "allowed"),
    [
        ("kb", "probes", False),
        ("probes", "kb", False),
        ("kb", "reading", False),
        ("probes", "errors", False),
        ("reading", "kb", False),
        ("reading", "probes", False),
        ("reading", "matching", False),
        ("reading", "errors", True),
        ("matching", "reading", True),
        ("matching", "kb", True),
        ("matching", "reasoning", False),
        ("reasoning", "probes", True),
        ("rendering", "diagnosis", True),
        ("diagnosis", "rendering", False),
        ("chat", "rendering", True),
        ("chat", "commands", False),
        ("cli", "commands", True),
        ("errors", "reading", False),
        ("reading", "reading", True),
    ],
)
def test_the_rule_knows_up_from_down(importer: str, imported: str, allowed: bool) -> None:
    assert may_import(importer, imported) is allowed


def test_an_upward_import_inside_a_function_is_found(tmp_path: Path) -> None:
    (tmp_path / "assistant" / "reading").mkdir(parents=True)
    text = "def f():\n    from gpuhelp.matching.engine import scan\n    return scan\n"
    (tmp_path / "assistant" / "reading" / "lines.py").write_text(text, encoding="utf-8")
    found = forbidden_imports(read_modules(tmp_path, {"assistant": "gpuhelp"}), {"reading", "matching"})
    assert found == ["assistant/reading/lines.py imports gpuhelp.matching.engine.scan"]
