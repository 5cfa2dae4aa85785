"""The command line with made-up streams, the installed command, and the entries with a made-up one more."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from io import BytesIO, StringIO
from pathlib import Path

import pytest

from gpuhelp.cli import main
from gpuhelp.diagnosis import Diagnosis, diagnose
from gpuhelp.kb.load import KnowledgeBase, load
from gpuhelp.probes.facts import FactValue
from gpuhelp.terminal import Terminal

ENTRIES = Path(__file__).parent / "entries"
ENGLISH = {"LANG": "en_US.UTF-8", "PATH": os.environ.get("PATH", "")}
LIMIT_S = 60


@dataclass(frozen=True)
class Ran:
    """What a command did."""

    status: int
    out: str
    err: str


RunCommand = Callable[..., Ran]


@pytest.fixture(scope="session", autouse=True)
def own_folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Caches and logs lie in a folder of the tests, not in the person's home."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME"):
            patch.setenv(name, str(tmp_path_factory.mktemp(name.lower())))
        yield


@pytest.fixture
def gpuhelp() -> RunCommand:
    """`gpuhelp("check", "--lang", "ko", stdin=b"", environ={}, tty=False, width=80)`: one run."""

    def run(
        *argv: str | Path,
        stdin: bytes = b"",
        environ: Mapping[str, str] | None = None,
        tty: bool = False,
        width: int = 80,
    ) -> Ran:
        out, err = StringIO(), StringIO()
        environ = {**ENGLISH, **(environ or {})}
        terminal = Terminal(BytesIO(stdin), out, err, environ, False, tty, width)
        status = main([str(part) for part in argv], terminal)
        return Ran(status, out.getvalue(), err.getvalue())

    return run


@pytest.fixture(scope="session")
def program() -> str:
    """The path of the installed command `gpuhelp`."""
    found = shutil.which("gpuhelp", path=str(Path(sys.executable).parent))
    if found is None:
        pytest.skip("the command gpuhelp is not installed beside this interpreter")
    return found


@pytest.fixture
def installed(program: str) -> RunCommand:
    """`installed("train.log", stdin=b"", environ={})`: the installed command in a process of its own."""

    def run(*argv: str | Path, stdin: bytes = b"", environ: Mapping[str, str] | None = None) -> Ran:
        kept = {name: value for name, value in os.environ.items() if name.startswith("XDG_")}
        done = subprocess.run(
            [program, *map(str, argv)],
            input=stdin,
            capture_output=True,
            timeout=LIMIT_S,
            check=False,
            env={**ENGLISH, **kept, **(environ or {})},
        )
        return Ran(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))

    return run


@pytest.fixture(scope="session")
def entries() -> Path:
    """The folder with the made-up entry, for --kb."""
    return ENTRIES


@pytest.fixture(scope="session")
def made_up(tmp_path_factory: pytest.TempPathFactory) -> KnowledgeBase:
    """The shipped entries and the made-up one."""
    return load([ENTRIES], cache_dir=tmp_path_factory.mktemp("kb-cache"))


@pytest.fixture
def diagnosed(made_up: KnowledgeBase) -> Callable[..., Diagnosis]:
    """`diagnosed(facts={}, text="…")`: a diagnosis of the made-up failure."""

    def run(
        facts: Mapping[str, FactValue] | None = None,
        text: str = "made-up engine libfoo stopped in bar\n",
    ) -> Diagnosis:
        return diagnose(text, facts=dict(facts or {}), knowledge=made_up)

    return run
