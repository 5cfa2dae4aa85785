"""A made-up machine: files under a temporary root, an environment, no interpreter unless given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from gpuhelp.probes.machine import Machine

MakeMachine = Callable[..., Machine]


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
