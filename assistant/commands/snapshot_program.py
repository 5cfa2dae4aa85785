"""Packs the probes into one file that runs with a plain Python: `gpuhelp env --zipapp FILE`.

In it are the modules of gpuhelp.probes, the start script, and NVIDIA's bindings (pynvml, one file) where they
are installed here; without them the program asks nvidia-smi.
"""

from __future__ import annotations

import io
import zipfile
from importlib.util import find_spec
from pathlib import Path

import gpuhelp.probes
from gpuhelp.commands.lowering import lowered

SHEBANG = b"#!/usr/bin/env python3\n"
MARK = "gpuhelp/probes/__main__.py"
_EPOCH = (2000, 1, 1, 0, 0, 0)
"""The same files make the same bytes, whenever they are packed."""


class NotOurs(ValueError):
    """There is a file of that name that gpuhelp has not written."""


def write_program(path: Path) -> int:
    """Write it, replacing only an earlier one, and give its size in bytes. Raises NotOurs, OSError."""
    if path.exists() and not _is_ours(path):
        raise NotOurs(str(path))
    data = SHEBANG + packed()
    path.write_bytes(data)
    path.chmod(0o755)
    return len(data)


def packed() -> bytes:
    """The archive."""
    probes = Path(gpuhelp.probes.__file__).parent
    files = {
        f"gpuhelp/probes/{each.relative_to(probes).as_posix()}": lowered(each.read_text("utf-8")).encode()
        for each in sorted(probes.rglob("*.py"))
    }
    files["gpuhelp/__init__.py"] = b'"""The part of gpuhelp that looks at a machine."""\n'
    files["__main__.py"] = Path(__file__).with_name("snapshot_main.py").read_bytes()
    files.update(_bindings())
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(files):
            info = zipfile.ZipInfo(name, _EPOCH)
            info.external_attr = 0o644 << 16
            archive.writestr(info, files[name], zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def _bindings() -> dict[str, bytes]:
    spec = find_spec("pynvml")
    origin = Path(spec.origin) if spec is not None and spec.origin else None
    if origin is None or origin.name != "pynvml.py" or not origin.is_file():
        return {}
    return {"pynvml.py": origin.read_bytes()}


def _is_ours(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            return MARK in archive.namelist()
    except (OSError, zipfile.BadZipFile):
        return False
