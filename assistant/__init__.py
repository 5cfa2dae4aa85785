"""gpuhelp: what went wrong with a GPU job, proved where possible, with a fix that fits.

import gpuhelp
diagnosis = gpuhelp.diagnose(open("train.log").read())
diagnosis.findings[0].entry.id
"""

from __future__ import annotations

from typing import Any

__version__ = "0.1.0"
__all__ = ["Diagnosis", "__version__", "diagnose"]


def __getattr__(name: str) -> Any:
    """The public names, loaded when first asked for: importing gpuhelp alone costs nothing."""
    if name in ("diagnose", "Diagnosis", "Status"):
        from gpuhelp import diagnosis

        return getattr(diagnosis, name)
    raise AttributeError(f"module 'gpuhelp' has no attribute {name!r}")
