"""Prints what PyTorch tells, once imported. A script for the person's own interpreter (Python 3.8+).

One JSON object of facts a line. The first comes after the import, so that a later question that crashes or
hangs costs only its own answer. Only the standard library, nothing of gpuhelp, no CUDA context: architectures
come from the build's own list, and is_available() asks NVML (who starts this sets
PYTORCH_NVML_BASED_CUDA_CHECK=1).
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
from typing import Any

MAX_ERROR_CHARACTERS = 2000
LONGEST_S = 60  # ends this process should the one that started it be gone


def main() -> None:
    """Always exit status 0: that torch is broken is an answer."""
    if hasattr(signal, "alarm"):
        signal.alarm(LONGEST_S)
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what torch and its plugins print is no answer

    def tell(facts: dict[str, Any]) -> None:
        answers.write(json.dumps(facts) + "\n")
        answers.flush()

    try:
        torch = importlib.import_module("torch")
    except BaseException as problem:  # noqa: BLE001  an extension may raise anything, SystemExit too
        tell({"torch.import_error": f"{type(problem).__name__}: {problem}"[:MAX_ERROR_CHARACTERS]})
        return
    tell({"torch.import_error": None})
    for question in QUESTIONS:
        try:
            tell(question(torch))
        except Exception:  # noqa: BLE001  a build that lacks the function leaves the fact out
            continue


def arch_list(torch: Any) -> dict[str, Any]:
    """Architectures of the build; empty for one without GPU code.

    torch.cuda.get_arch_list() is no choice: it is empty wherever no GPU is available.
    """
    if torch.version.cuda is None and getattr(torch.version, "hip", None) is None:
        return {"torch.arch_list": []}
    return {"torch.arch_list": torch._C._cuda_getArchFlags().split()}


def cxx11_abi(torch: Any) -> dict[str, Any]:
    """Whether the build uses the C++11 ABI."""
    return {"torch.cxx11_abi": bool(torch._C._GLIBCXX_USE_CXX11_ABI)}


def cudnn_version(torch: Any) -> dict[str, Any]:
    """Version of the cuDNN that was loaded; null where the build has none. ROCm builds tell MIOpen's here."""
    if getattr(torch.version, "hip", None) is not None:
        return {"torch.cudnn_version": None}
    return {"torch.cudnn_version": dotted(torch.backends.cudnn.version(), 90000)}


def nccl_version(torch: Any) -> dict[str, Any]:
    """Version of NCCL; null where the build has none."""
    if not hasattr(torch._C, "_nccl_version"):
        return {"torch.nccl_version": None}
    version = torch.cuda.nccl.version()
    if isinstance(version, tuple):
        return {"torch.nccl_version": ".".join(str(part) for part in version[:3])}
    return {"torch.nccl_version": dotted(version, 10000)}


def cuda_available(torch: Any) -> dict[str, Any]:
    """What torch.cuda.is_available() says."""
    return {"torch.cuda_available": bool(torch.cuda.is_available())}


def dotted(number: int | None, long_from: int) -> str | None:
    """8902 and 91002 as 8.9.2 and 9.10.2: from `long_from` on, the major version counts ten thousands."""
    if not number:
        return None
    major = 10000 if number >= long_from else 1000
    return f"{number // major}.{number % major // 100}.{number % 100}"


QUESTIONS = (arch_list, cxx11_abi, cudnn_version, nccl_version, cuda_available)

if __name__ == "__main__":
    main()
