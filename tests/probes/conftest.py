"""A made-up machine: files under a temporary root, an environment, no interpreter unless given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from gpuhelp.probes.machine import Machine

MakeMachine = Callable[..., Machine]

SITE = "/env/lib/python3.11/site-packages"
"""Where packages lie in the environment of `with_files`."""
VENV = {
    "/env/bin/python": "",
    "/env/pyvenv.cfg": "home = /usr/bin\nversion = 3.11.7\n",
    f"{SITE}/torch/version.py": "__version__ = '2.6.0+cu124'\ncuda = '12.4'\n",
}


@pytest.fixture
def make_machine(tmp_path: Path) -> MakeMachine:
    """`make_machine({"/proc/version": "text"}, environ={}, python=None, platform="linux")`.

    A path that ends in a slash is a folder; its text is not used.
    """

    def machine(
        files: Mapping[str, str] | None = None,
        *,
        environ: Mapping[str, str] | None = None,
        python: str | None = None,
        platform: str = "linux",
    ) -> Machine:
        root = tmp_path / "root"
        root.mkdir(exist_ok=True)
        for name, text in (files or {}).items():
            path = root / name.lstrip("/")
            if name.endswith("/"):
                path.mkdir(parents=True, exist_ok=True)
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return Machine(environ=environ or {}, python=python, root=root, platform=platform)

    return machine


@pytest.fixture
def with_files(make_machine: MakeMachine) -> MakeMachine:
    """`with_files({path: bytes}, environ={})`: one whose environment has PyTorch."""

    def machine(files: Mapping[str, bytes], environ: Mapping[str, str] | None = None) -> Machine:
        made = make_machine(VENV, environ=environ, python="/env/bin/python")
        for name, raw in files.items():
            path = made.path(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(raw)
        return made

    return machine
