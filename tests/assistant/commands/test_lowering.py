"""Modules rewritten for older Pythons mean the same; what only looks like a case is left alone."""

from __future__ import annotations

import ast
import json
import shutil
import subprocess
from pathlib import Path

import pytest

import gpuhelp.probes
from gpuhelp.commands.lowering import lowered
from gpuhelp.commands.snapshot_program import write_program

FUTURE = "from __future__ import annotations\n"
PROBES = sorted(Path(gpuhelp.probes.__file__).parent.rglob("*.py"))
LIMIT_S = 60
OLD = ("3.8", "3.9")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("@dataclass(frozen=True, slots=True)\nclass A: ...", "@dataclass(frozen=True)\nclass A: ..."),
        ("@dataclass(slots=True)\nclass A: ...", "@dataclass()\nclass A: ..."),
        ("zip(a, b, strict=True)", "zip(a, b)"),
        ("Value = str | None", "Value = object"),
        ("_Look = Callable[[int], str]", "_Look = object"),
        ("class A(Mapping[str, Fact]): ...", "class A(Mapping): ..."),
        ("x = dict[str, int]()", "x = dict()"),
        ("x = dict(a) | dict(b)", "x = {**(dict(a)), **(dict(b))}"),
    ],
)
def test_what_older_pythons_lack_is_rewritten(source: str, expected: str) -> None:
    assert lowered(source) == expected


@pytest.mark.parametrize(
    "source",
    ["TABLE[name](machine)", "done = one | other", "x: str | None = None", "CASES = table[0]", "é = a[0]"],
)
def test_what_runs_everywhere_is_left_alone(source: str) -> None:
    assert lowered(source) == source


def test_cutting_a_prefix_means_the_same() -> None:
    names: dict[str, object] = {}
    source = FUTURE + "told = 'é-abcx'.removeprefix('é-').removesuffix('x'), 'a'.removesuffix('')"
    exec(lowered(source), names)
    assert names["told"] == ("abc", "a")
    assert ".remove" not in lowered(source)


@pytest.mark.parametrize("path", PROBES, ids=lambda path: path.stem)
def test_every_module_still_reads_as_python_3_8(path: Path) -> None:
    tree = ast.parse(lowered(path.read_text("utf-8")), feature_version=(3, 8))
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.keyword) and node.arg == "slots"]


@pytest.mark.parametrize("version", OLD)
def test_the_program_runs_in_older_pythons(version: str, tmp_path: Path) -> None:
    found = [*Path.home().glob(f".pyenv/versions/{version}.*/bin/python"), shutil.which(f"python{version}")]
    python = next(filter(None, found), None)
    if python is None:
        pytest.skip(f"there is no Python {version} here")
    write_program(tmp_path / "snapshot.pyz")
    done = subprocess.run(
        [str(python), str(tmp_path / "snapshot.pyz")],
        capture_output=True, text=True, timeout=LIMIT_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    snapshot = json.loads(done.stdout)
    assert not [probe for probe in snapshot["probes"] if probe["status"] == "error"]
    assert snapshot["facts"]["os.platform"]
