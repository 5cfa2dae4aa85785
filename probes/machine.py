"""The machine as probes see it: environment, files, interpreter, children. Tests hand in a made-up one."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePath

from gpuhelp.probes.children import Children

ROOT_USER = 0
MAX_FILE_BYTES = 1 << 20  # the files probes read are small; a larger one is not what it claims to be


def _platform() -> str:
    return {"win32": "windows", "darwin": "macos"}.get(sys.platform, "linux")


@dataclass(frozen=True, slots=True)
class Machine:
    """Where probes look.

    `python` is the interpreter that ran the person's job (None: not found). `root` is the top of the file
    system, so that a test can offer its own /proc, /dev and /sys. `platform` is linux, windows or macos.
    """

    environ: Mapping[str, str]
    python: str | None = None
    root: Path = Path("/")
    children: Children = field(default_factory=Children)
    platform: str = field(default_factory=_platform)

    @classmethod
    def here(cls, *, python: str | None = None) -> Machine:
        """This machine, with the environment as it is now."""
        return cls(environ=dict(os.environ), python=python)

    def path(self, absolute: str | os.PathLike[str]) -> Path:
        """`absolute` below this machine's root."""
        text = os.fspath(absolute)
        return Path(text) if self.root == Path("/") else self.root / text.lstrip("/")

    def unrooted(self, path: Path) -> PurePath:
        """A path below the root as programs of this machine would spell it: the inverse of `path`."""
        root = self.root.resolve()
        return Path("/") / path.relative_to(root) if path.is_relative_to(root) else path

    def is_file(self, absolute: str | os.PathLike[str]) -> bool:
        """Whether a file is there, as far as one may see. Path.is_file raises where one may not look."""
        return os.path.isfile(self.path(absolute))  # noqa: PTH113

    def is_dir(self, absolute: str | os.PathLike[str]) -> bool:
        """The same for a folder."""
        return os.path.isdir(self.path(absolute))  # noqa: PTH112

    def exists(self, absolute: str | os.PathLike[str]) -> bool:
        """The same for anything."""
        return os.path.exists(self.path(absolute))  # noqa: PTH110

    def is_own(self, absolute: str | os.PathLike[str]) -> bool:
        """Whether a file belongs to this user or to root; always so on Windows."""
        if not hasattr(os, "geteuid"):
            return True
        try:
            return self.path(absolute).stat().st_uid in (ROOT_USER, os.geteuid())
        except OSError:
            return False

    def resolved(self, absolute: str | os.PathLike[str]) -> Path:
        """The path without links, below the root; a loop of links ends where it begins."""
        return Path(os.path.realpath(self.path(absolute)))

    def read(self, absolute: str | os.PathLike[str]) -> str | None:
        """The text of a small file, or None if it is not there or may not be read. A pipe would never end."""
        if not self.is_file(absolute):
            return None
        try:
            with self.path(absolute).open("rb") as file:
                return file.read(MAX_FILE_BYTES).decode("utf-8", "replace")
        except OSError:
            return None
