"""Prints what NVML tells. A script that runs in a process of its own, because NVML can hang or crash.

    python -I -S -B nvml_child.py DIRECTORY-OF-PYNVML PATIENCE-S [FUNCTION@GPU ...]

One JSON object a line, each written as soon as it is known, so that a call that hangs or crashes costs only
what comes after it; the calls named at the end are left out, so that a second child can tell the rest:

    {"ask": [function, GPU index or null, field]}                before every call but the start
    {"error": words, "code": NVML error code}                    NVML did not start
    {"driver": {...}, "count": number of GPUs, "failed": {...}}
    {"gpu": index, "is": {...}, "failed": {...}}                 several for each GPU
    {"gpu": index, "is": {...}, "done": true}                    the last of a GPU
    {"links": [...]}, {"fabric": state}, {"failed": {...}}
    {"end": true}

A field that cannot be read is left out; `failed` says why by its NVML error code. Only init, shutdown, get
and error-string calls.
"""

from __future__ import annotations

import contextlib
import importlib
import signal
import sys
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gpuhelp.probes import nvml_links as links
    from gpuhelp.probes.nvml_asking import Gpu, Record, Session

LONGEST_S = 60  # ends this process should the one that started it be gone
MAX_DATA_BYTES = 1 << 30  # a size that the library tells may be garbage
MAX_GPUS = 256


def main(pynvml_directory: str, patience_s: str, *skip: str) -> int:
    """Exit status 0 when NVML started, 1 when it did not; the first line but questions says which."""
    guard()
    find_siblings()
    sys.path.append(pynvml_directory)
    from gpuhelp.probes.nvml_asking import Session, tell

    bindings = importlib.import_module("pynvml")
    session = Session(bindings, frozenset(skip), float(patience_s))
    tell({"ask": ["nvmlInit", None, "start"]})
    try:
        bindings.nvmlInit()
    except bindings.NVMLError as error:
        session.watch()
        tell({"error": session.words(error), "code": error.value})
        return 1
    session.watch()
    look(session)
    session.ask("shutdown", "nvmlShutdown")
    tell({"end": True})
    return 0


def guard() -> None:
    """Limits on this process: its time and its memory."""
    if hasattr(signal, "alarm"):
        signal.alarm(LONGEST_S)
    with contextlib.suppress(ImportError, AttributeError, OSError, ValueError):
        resource = importlib.import_module("resource")
        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        bound = MAX_DATA_BYTES if hard == resource.RLIM_INFINITY else min(hard, MAX_DATA_BYTES)
        resource.setrlimit(resource.RLIMIT_DATA, (bound, hard))


def find_siblings() -> None:
    """Make the modules beside this script importable by their full names, without the rest of the package."""
    if "gpuhelp" in sys.modules:
        return
    for name, path in (("gpuhelp", []), ("gpuhelp.probes", [str(Path(__file__).parent)])):
        module = ModuleType(name)
        module.__path__ = path
        sys.modules[name] = module


def look(session: Session) -> None:
    """Tell driver and count, every GPU, and what holds between them.

    A GPU with a call that is left out comes last, for it may have more of them.
    """
    from gpuhelp.probes.nvml_asking import tell, within

    count = session.ask("gpus", "nvmlDeviceGetCount", sound=within(0, MAX_GPUS))
    tell({"driver": driver(session), **({} if count is None else {"count": count}), **session.take_failed()})
    troubled = {place for _, _, place in (each.partition("@") for each in session.skip)}
    order = sorted(range(count or 0), key=lambda index: (str(index) in troubled, index))
    gpus = [gpu for index in order if f"*@{index}" not in session.skip and (gpu := one_gpu(session, index))]
    together(session, sorted(gpus, key=lambda each: each[0].index), whole=len(gpus) == count)


def driver(session: Session) -> Record:
    """`version`, e.g. 550.90.07, and `cuda_api_version`, e.g. 12.4 (NVML gives 12040)."""
    from gpuhelp.probes.nvml_asking import is_version, known, within

    # The first fails without libcuda, and on drivers that do not have it; the second always has an answer.
    field, sound = "driver.cuda_api_version", within(1000, 1_000_000)
    functions = "nvmlSystemGetCudaDriverVersion_v2", "nvmlSystemGetCudaDriverVersion"
    number = session.first(field, *(partial(session.ask, field, each, sound=sound) for each in functions))
    api = None if number is None else f"{number // 1000}.{number % 1000 // 10}"
    version = session.ask("driver.version", "nvmlSystemGetDriverVersion", sound=is_version)
    return known(version=version, cuda_api_version=api)


def one_gpu(session: Session, index: int) -> tuple[Gpu, str | None, links.NvLinks | None] | None:
    """Tell one GPU, field by field. What comes back says how it is linked; None for one without a handle."""
    from gpuhelp.probes import nvml_fields, nvml_sharing
    from gpuhelp.probes.nvml_asking import Gpu, tell
    from gpuhelp.probes.nvml_links import nvlink_fields, nvlinks

    function = "nvmlDeviceGetHandleByIndex"
    handle = session.ask("handle", function, index, gpu=index)
    if handle is None:
        failed = session.take_failed().get("failed", {})
        if failed:  # else the call was left out
            error = {"error": error_words(session, failed["handle"])}
            tell({"gpu": index, "is": error, "failed": failed, "done": True})
        return None
    gpu, pci = Gpu(session, index, handle), None
    for read in (*nvml_fields.READERS, *nvml_sharing.READERS):
        fields = read(gpu)
        pci = fields.get("pci", pci)
        tell_fields(session, index, fields)
    found = nvlinks(gpu)
    tell_fields(session, index, nvlink_fields(found))
    tell({"gpu": index, "is": {}, "done": True})
    return gpu, pci, found


def tell_fields(session: Session, index: int, fields: Record) -> None:
    """One line of a GPU; with `error`, if one of the calls said that the GPU is lost.

    Other errors say that one call is not for this GPU.
    """
    from gpuhelp.probes.nvml_asking import NVML_ERROR_GPU_IS_LOST, NVML_ERROR_RESET_REQUIRED, tell

    failed = session.take_failed()
    for why in failed.get("failed", {}).values():
        if why in (NVML_ERROR_GPU_IS_LOST, NVML_ERROR_RESET_REQUIRED):
            fields = {**fields, "error": error_words(session, why)}
    tell({"gpu": index, "is": fields, **failed})


def error_words(session: Session, code: int) -> str:
    return session.words(session.bindings.NVMLError(code))


def together(
    session: Session, gpus: list[tuple[Gpu, str | None, links.NvLinks | None]], *, whole: bool
) -> None:
    """Tell how the GPUs are linked, and the state of the fabric. `whole`: these are all GPUs there are."""
    from gpuhelp.probes.nvml_asking import tell
    from gpuhelp.probes.nvml_links import fabric_state, topology, worst

    pairs = topology(gpus)
    if pairs or (whole and "topology.links" not in session.failed):
        tell({"links": pairs})
    states = [state for gpu, _, _ in gpus if (state := fabric_state(gpu)) is not None]
    state = worst(states)
    tell({**({} if state is None else {"fabric": state}), **session.take_failed()})


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
