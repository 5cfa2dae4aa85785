"""The person's PyTorch as its files tell it; it is never imported, for it may be what is broken."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from gpuhelp.probes.facts import FactValue
from gpuhelp.probes.machine import MAX_FILE_BYTES, Machine
from gpuhelp.probes.packages import installed_versions, package_folders
from gpuhelp.probes.registry import ProbeUnavailable, probe

CMAKE_FILE = "share/cmake/Torch/TorchConfig.cmake"


@probe(
    "torch.files",
    facts=(
        "torch.installed",
        "torch.version",
        "torch.cuda_runtime_version",
        "torch.hip_version",
        "torch.path",
        "torch.cxx11_abi",
    ),
    source="files of PyTorch",
)
def torch_files(machine: Machine) -> Mapping[str, FactValue]:
    """Version and kind of build. `torch.cuda_runtime_version` is null for a build without CUDA."""
    folders = package_folders(machine)
    if not folders:
        raise ProbeUnavailable("no package folder of the job's interpreter was found")
    metadata_version = installed_versions(folders).get("torch")
    package = torch_folder(folders)
    if package is None:  # without files, but with metadata: an editable install, whose files are elsewhere
        return {"torch.installed": metadata_version is not None, "torch.version": metadata_version}
    told = build_facts(_text(package / "version.py"), _text(package / CMAKE_FILE))
    known_version = {"torch.version": metadata_version} if metadata_version else {}
    return {"torch.installed": True, "torch.path": str(machine.unrooted(package)), **known_version, **told}


def torch_folder(folders: Iterable[Path]) -> Path | None:
    """The folder of the package torch that an import finds; None where there is none."""
    packages = (folder / "torch" for folder in folders)
    return next((each for each in packages if os.path.isfile(each / "version.py")), None)  # noqa: PTH113


def runtime_version(machine: Machine) -> str | None:
    """CUDA runtime version of the installed build, e.g. 12.4; None without CUDA or without PyTorch."""
    package = torch_folder(package_folders(machine))
    told = {} if package is None else build_facts(_text(package / "version.py"), "")
    version = told.get("torch.cuda_runtime_version")
    return version if isinstance(version, str) else None


def build_facts(version_py: str, cmake: str) -> dict[str, FactValue]:
    """Facts of the texts of torch/version.py and TorchConfig.cmake. What the texts do not tell is left out.

    version.py is written by the build: `cuda: Optional[str] = '12.6'`, None in builds for CPU and for ROCm.
    The ABI stands in the CMake file of builds that could have either; later ones have the new one and do not
    say.
    """
    names = {"__version__": "torch.version", "cuda": "torch.cuda_runtime_version", "hip": "torch.hip_version"}
    constants = parse_constants(version_py)
    facts: dict[str, FactValue] = {
        names[name]: value
        for name, value in constants.items()
        if name in names and (value is None or isinstance(value, str))
    }
    abi = re.search(r"_GLIBCXX_USE_CXX11_ABI=([01])", cmake)
    if abi:
        facts["torch.cxx11_abi"] = abi[1] == "1"
    return facts


def parse_constants(source: str) -> dict[str, object]:
    """The module-level names a Python text sets to a literal; nothing is executed. Broken text sets none."""
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError):
        return {}
    constants: dict[str, object] = {}
    for statement in body:
        if not isinstance(statement, (ast.Assign, ast.AnnAssign)):
            continue
        target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
        if isinstance(target, ast.Name) and isinstance(statement.value, ast.Constant):
            constants[target.id] = statement.value.value
    return constants


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(MAX_FILE_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
