"""Puts the compiled knowledge base into the wheel: no start has to do it, nor one on a read-only disk.

Everything else about the build stands in pyproject.toml.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildWithKnowledge(build_py):
    """The usual build, then one run of what it built."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:  # a tree that is edited compiles what changed
            # pip hands the build requirements over on the path only: a child would not find them
            path = [str(Path(self.build_lib).resolve()), *filter(None, sys.path)]
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path)}
            command = [sys.executable, "-c", "from gpuhelp.kb.load import compile_shipped; compile_shipped()"]
            subprocess.run(command, env=environment, cwd=Path(sys.executable).parent, check=True)


setup(cmdclass={"build_py": BuildWithKnowledge})
