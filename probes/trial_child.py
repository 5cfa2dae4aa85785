"""Runs one small kernel on every GPU that PyTorch sees. For the person's own interpreter (Python 3.8+).

Only started when the person asks for it: it opens a CUDA context and takes some hundred MiB of GPU memory for
a moment. One JSON object a line: the step before it is taken, and what came of it. Only the standard library,
nothing of gpuhelp.
"""

from __future__ import annotations

import sys

# This script's folder comes first on the path, where its neighbours would hide packages of the same name.
if __name__ == "__main__" and not getattr(sys.flags, "safe_path", False):
    del sys.path[0]

import importlib
import json
import os
import signal
import traceback
from typing import Any

LONGEST_S = 90  # ends this process should the one that started it be gone
SIZE = 64
MAX_ERROR_CHARACTERS = 8000


def main() -> None:
    """Always exit status 0: that something fails is an answer."""
    if hasattr(signal, "alarm"):
        signal.alarm(LONGEST_S)
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what torch and its plugins print is no answer

    def tell(**told: Any) -> None:
        answers.write(json.dumps(told) + "\n")
        answers.flush()

    tell(step="import")
    try:
        torch = importlib.import_module("torch")
    except ModuleNotFoundError as problem:
        tell(missing=problem.name or "", **failure())
        return
    except BaseException:  # noqa: BLE001  an extension may raise anything, SystemExit too
        tell(**failure())
        return
    tell(step="start", version=str(torch.__version__))
    try:
        count = torch.cuda.device_count() if torch.cuda.is_available() else 0
        if not count:
            torch.cuda.init()
    except BaseException:  # noqa: BLE001
        tell(**failure())
        return
    tell(count=count)
    for index in range(count):
        tell(step="kernel", device=index)
        try:
            tell(device=index, name=torch.cuda.get_device_name(index), **kernel(torch, index))
        except BaseException:  # noqa: BLE001
            tell(device=index, **failure())


def failure() -> dict[str, str]:
    """The traceback of the exception in hand, as PyTorch would show it to the person."""
    return {"error": traceback.format_exc()[-MAX_ERROR_CHARACTERS:]}


def kernel(torch: Any, index: int) -> dict[str, Any]:
    """A product of matrices of ones: each element is the number of columns, whatever the precision."""
    ones = torch.ones(SIZE, SIZE, device=f"cuda:{index}")
    product = ones @ ones
    torch.cuda.synchronize(index)
    return {"expected": float(SIZE**3), "sum": float(product.sum().item())}


if __name__ == "__main__":
    main()
