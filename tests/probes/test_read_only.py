"""The promise "read-only", read off the syntax trees of probes/."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import gpuhelp.probes

SOURCES = sorted(Path(gpuhelp.probes.__file__).parent.rglob("*.py"))
STARTERS = {"system", "popen", "fork", "forkpty", "posix_spawn", "posix_spawnp", "startfile"}
WRITERS = {
    "write_text", "write_bytes", "touch", "mkdir", "makedirs", "unlink", "remove", "rmdir", "rename",
    "symlink_to", "hardlink_to", "chmod", "chown", "truncate", "rmtree",
}  # fmt: skip
NVML_ALLOWED = re.compile(
    r"nvml(Init|Shutdown|ErrorString|(System|Device)Get\w*|Memory_v2|Return)$"
)  # the last two are no functions


def trees() -> Iterator[tuple[Path, ast.AST]]:
    for path in SOURCES:
        yield path, ast.parse(path.read_text(encoding="utf-8"))


def calls() -> Iterator[tuple[Path, ast.Call, str]]:
    for path, tree in trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                function = node.func
                yield (
                    path,
                    node,
                    function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", ""),
                )


def test_there_are_sources_to_read() -> None:
    assert {"runner.py", "nvml_child.py", "torch_child.py"} <= {path.name for path in SOURCES}


def test_only_one_module_starts_processes() -> None:
    importers = set()
    for path, tree in trees():
        for node in ast.walk(tree):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            if {name.split(".")[0] for name in names} & {"subprocess", "multiprocessing", "pty"}:
                importers.add(path.name)
    assert importers == {"children.py"}


def test_no_shell_and_no_other_way_to_start_a_process() -> None:
    for path, call, name in calls():
        assert name not in STARTERS, (path.name, call.lineno)
        assert not name.startswith(("exec", "spawn")), (path.name, call.lineno)
        assert not [word for word in call.keywords if word.arg == "shell"], (path.name, call.lineno)


def test_no_file_is_opened_for_writing() -> None:
    for path, call, name in calls():
        if name == "open":
            modes = [each.value for each in call.args if isinstance(each, ast.Constant)]
            assert modes in (["r"], ["rb"]), (path.name, call.lineno)
        moves_a_file = (
            name == "replace" and len(call.args) == 1 and not call.keywords
        )  # other two: text, dataclass
        assert not moves_a_file, (path.name, call.lineno)
        assert name not in WRITERS, (path.name, call.lineno)


def test_a_descriptor_is_written_to_only_where_a_child_answers() -> None:
    writers = {path.name for path, _, name in calls() if name in {"fdopen", "dup2"}}
    assert writers == {"torch_child.py", "trial_child.py"}


def test_nvml_is_only_asked() -> None:
    names = set()
    for _, tree in trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and node.attr.startswith("nvml"):
                names.add(node.attr)
            if (
                isinstance(node, ast.Constant)
                and isinstance(node.value, str)
                and re.match(r"nvml[A-Z]\w*$", node.value)
            ):
                names.add(node.value)
    assert {"nvmlInit", "nvmlShutdown", "nvmlDeviceGetMemoryInfo"} <= names
    assert not [name for name in names if not NVML_ALLOWED.match(name)]


@pytest.mark.parametrize(
    "name",
    ["nvmlDeviceSetPersistenceMode", "nvmlDeviceResetGpuLockedClocks", "nvmlDeviceClearEccErrorCounts"],
)
def test_the_rule_would_notice_a_call_that_changes_something(name: str) -> None:
    assert not NVML_ALLOWED.match(name)


def test_probes_import_neither_the_knowledge_base_nor_the_assistant() -> None:
    for path, tree in trees():
        for node in ast.walk(tree):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            ours = [name for name in names if name.split(".")[0] == "gpuhelp"]
            assert all(name.startswith("gpuhelp.probes") for name in ours), (path.name, ours)
