"""A report of a fault of gpuhelp itself: versions and traceback in a file that is ready to be sent."""

from __future__ import annotations

import os
import platform
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path


def report_defect(error: BaseException, argv: Sequence[str]) -> str:
    """Where the report was written: a file of the person's log folder, a temporary one, or standard error.

    It is made to be sent: without the values of options, secrets, and names of people and machines.
    """
    from platformdirs import user_log_dir

    text = _report(error, argv)
    for folder in (Path(user_log_dir("gpuhelp", appauthor=False)), None):
        try:
            return _write(text, folder)
        except OSError:
            continue
    sys.stderr.write(text)
    return "standard error"


def _write(text: str, folder: Path | None) -> str:
    """The new file's path; None is the temporary folder.

    The name cannot be foreseen: in a folder that all may write to, a link could stand there already.
    """
    import tempfile

    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    handle, path = tempfile.mkstemp(dir=folder, prefix=f"defect-{os.getpid()}-", suffix=".txt")
    with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
        file.write(text)
    return path


def _report(error: BaseException, argv: Sequence[str]) -> str:
    from gpuhelp import __version__
    from gpuhelp.probes.redaction import Identity, redact

    head = f"gpuhelp {__version__}, Python {sys.version.split()[0]}, {platform.platform()}\n"
    shape = " ".join(part.partition("=")[0] if part.startswith("-") else "…" for part in argv)
    text = f"{head}arguments: {shape}\n\n{''.join(traceback.format_exception(error))}"
    return redact(text, Identity.of(os.environ))
