"""The CUDA toolkit a person compiles with: its folder, and what its compiler says of itself."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from gpuhelp.probes.children import ChildStatus
from gpuhelp.probes.facts import FactValue
from gpuhelp.probes.machine import Machine
from gpuhelp.probes.python_environments import prefix_of
from gpuhelp.probes.registry import ProbeFailed, ProbeTimeout, probe

TIMEOUT_S = 3.0
DEFAULT_HOME = "/usr/local/cuda"


@probe(
    "toolkit.nvcc",
    facts=("toolkit.nvcc_version", "toolkit.cuda_home"),
    timeout_s=TIMEOUT_S,
    source="nvcc",
)
def toolkit(machine: Machine) -> Mapping[str, FactValue]:
    """Version of nvcc (e.g. 12.4) and folder of its toolkit, found as PyTorch finds it; null: none."""
    nvcc = next((path for path in nvcc_candidates(machine) if machine.is_file(path)), None)
    home = cuda_home(machine, nvcc)
    facts: dict[str, FactValue] = {"toolkit.cuda_home": home}
    if nvcc is None:
        return {**facts, "toolkit.nvcc_version": None}
    result = machine.children.run(
        (str(machine.path(nvcc)), "--version"), timeout_s=TIMEOUT_S, env=machine.environ
    )
    version = parse_nvcc_version(result.stdout)
    if version is not None:
        return {**facts, "toolkit.nvcc_version": version}
    if result.status is ChildStatus.TIMEOUT:
        raise ProbeTimeout(f"nvcc did not answer within {result.seconds:.1f} s", facts)
    raise ProbeFailed(f"nvcc did not tell its version: {result.error or result.stderr.strip()[:200]}", facts)


def parse_nvcc_version(text: str) -> str | None:
    """The release in what `nvcc --version` prints: "Cuda compilation tools, release 12.4, V12.4.131"."""
    match = re.search(r"release (\d+\.\d+)", text)
    return match[1] if match else None


def nvcc_candidates(machine: Machine) -> Iterator[str]:
    """Where nvcc may stand: CUDA_HOME or CUDA_PATH, PATH, the interpreter's environment, the usual folder."""
    environ, name = machine.environ, "nvcc.exe" if machine.platform == "windows" else "nvcc"
    for home in (environ.get("CUDA_HOME"), environ.get("CUDA_PATH")):
        if home:
            yield f"{home}/bin/{name}"
    for folder in environ.get("PATH", "").split(";" if machine.platform == "windows" else ":"):
        if folder:
            yield f"{folder}/{name}"
    if machine.python is not None:
        yield f"{prefix_of(machine, machine.python)}/bin/{name}"
    yield f"{DEFAULT_HOME}/bin/{name}"


def cuda_home(machine: Machine, nvcc: str | None) -> str | None:
    """The toolkit's folder: CUDA_HOME or CUDA_PATH if it exists, else nvcc's, else the usual one."""
    for home in (machine.environ.get("CUDA_HOME"), machine.environ.get("CUDA_PATH")):
        if home and machine.is_dir(home):
            return home
    if nvcc is not None:
        return nvcc.rpartition("/")[0].rpartition("/")[0] or "/"
    return DEFAULT_HOME if machine.is_dir(DEFAULT_HOME) else None
