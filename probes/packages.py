"""What is installed for the person's interpreter, from the names in its package folders."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from gpuhelp.probes.facts import FactValue
from gpuhelp.probes.machine import Machine
from gpuhelp.probes.python_environments import minor_version_of, parse_pyvenv, prefix_of
from gpuhelp.probes.registry import ProbeUnavailable, probe

# Packages that GPU failures turn on. Those that are not installed are told as null.
GPU_PACKAGES = (
    "accelerate", "amd_smi", "apex", "auto_gptq", "autoawq", "bitsandbytes", "causal_conv1d",
    "ctransformers", "cuda_bindings", "cuda_python", "cudf", "cuml", "cupy", "cupy_cuda11x",
    "cupy_cuda12x", "cupy_cuda13x", "datasets", "deepspeed", "detectron2", "dgl", "diffusers",
    "exllamav2", "fairscale", "faiss_cpu", "faiss_gpu", "faiss_gpu_cu12", "flash_attn", "flashinfer",
    "flashinfer_python", "flax", "gptqmodel", "horovod", "huggingface_hub", "intel_extension_for_pytorch",
    "intel_extension_for_tensorflow", "jax", "jax_cuda12_pjrt", "jax_cuda12_plugin", "jax_cuda13_plugin",
    "jax_metal", "jaxlib", "keras", "liger_kernel", "lightgbm", "lightning", "llama_cpp_python",
    "mamba_ssm", "megatron_core", "mlx", "mmcv", "mpi4py", "nccl", "ninja", "numba", "numba_cuda",
    "numpy", "oneccl_bind_pt", "onnx", "onnxruntime", "onnxruntime_gpu", "open3d", "opencv_python",
    "optimum", "packaging", "peft", "pip", "pynvml", "pytorch3d", "pytorch_lightning", "pytorch_triton",
    "pytorch_triton_rocm", "ray", "safetensors", "scipy", "sentence_transformers", "setuptools",
    "sgl_kernel", "sglang", "spacy", "tensorboard", "tensorflow", "tensorflow_cpu", "tensorflow_gpu",
    "tensorflow_metal", "tensorflow_rocm", "tensorrt", "tensorrt_llm", "tf_keras", "tinycudann",
    "tokenizers", "torch", "torch_cluster", "torch_directml", "torch_geometric", "torch_scatter",
    "torch_sparse", "torch_tensorrt", "torch_xla", "torchao", "torchaudio", "torchdata", "torchtext",
    "torchvision", "transformer_engine", "transformers", "triton", "triton_rocm", "triton_windows", "trl",
    "unsloth", "vllm", "vllm_flash_attn", "wheel", "xformers", "xgboost",
)  # fmt: skip

# Libraries of the vendors as wheels. Which there are depends on the release: only those installed are told.
VENDOR_PREFIXES = ("nvidia_", "rocm", "cupy_", "jax_cuda", "jax_rocm", "tensorrt_")

# Libraries of CUDA as Conda packages, which leave a file in conda-meta and no metadata of pip.
CONDA_PREFIXES = ("cuda_", "cudatoolkit", "cudnn", "libcu", "libnv", "magma", "nccl", "pytorch_cuda")

_CONDA_FILE = re.compile(r"(?P<name>.+)-(?P<version>[^-]+)-[^-]+\.json")
_METADATA_FOLDER = re.compile(r"(?P<name>[^-]+)-(?P<version>[^-]+)(?:-[^/]*)?\.(?:dist|egg)-info")


@probe("packages.metadata", facts=("packages.<name>",), source="pip metadata")
def packages_metadata(machine: Machine) -> Mapping[str, FactValue]:
    """Versions of the packages GPU failures turn on; null where one is not installed."""
    folders = package_folders(machine)
    if not folders:
        raise ProbeUnavailable("no package folder of the job's interpreter was found")
    facts = package_facts(installed_versions(folders))
    for name, version in conda_versions(machine).items():
        known = f"packages.{name}"
        if facts.get(known) is None and (known in facts or name.startswith(CONDA_PREFIXES)):
            facts[known] = version
    return facts


def conda_versions(machine: Machine) -> dict[str, str]:
    """Versions by normalized name of what Conda installed, from conda-meta/<name>-<version>-<build>.json."""
    if machine.python is None:
        return {}
    folder = machine.path(f"{prefix_of(machine, machine.python)}/conda-meta")
    matches = (_CONDA_FILE.fullmatch(entry) for entry in sorted(_listed(folder)))
    return {normalized(match["name"]): match["version"] for match in matches if match}


def package_facts(installed: Mapping[str, str]) -> dict[str, FactValue]:
    """Facts of what is installed, a mapping of normalized names to versions."""
    facts: dict[str, FactValue] = {f"packages.{name}": installed.get(name) for name in GPU_PACKAGES}
    facts.update({f"packages.{name}": version for name, version in installed.items() if _is_vendors(name)})
    return facts


def _is_vendors(name: str) -> bool:
    return name.startswith(VENDOR_PREFIXES)


def installed_versions(folders: Iterable[Path]) -> dict[str, str]:
    """Versions by normalized name. A name in several folders counts as in the first, as for an import."""
    versions: dict[str, str] = {}
    for folder in folders:
        for entry in sorted(_listed(folder)):
            if found := parse_metadata_name(entry):
                versions.setdefault(*found)
    return versions


def parse_metadata_name(entry: str) -> tuple[str, str] | None:
    """Normalized name and version told by the name of a metadata folder, e.g. flash_attn-2.7.4.dist-info."""
    match = _METADATA_FOLDER.fullmatch(entry)
    return (normalized(match["name"]), match["version"]) if match else None


def normalized(name: str) -> str:
    """A package's name as facts spell it: lower case, `_` for each run of `-`, `_` and `.`."""
    return re.sub(r"[-_.]+", "_", name).lower()


def package_folders(machine: Machine) -> tuple[Path, ...]:
    """The folders the interpreter imports packages from, in its order; () if none is there."""
    if machine.python is None:
        return ()
    prefix = prefix_of(machine, machine.python)
    config = parse_pyvenv(machine.read(f"{prefix}/pyvenv.cfg") or "")
    minor = minor_version_of(machine, machine.python)
    folders = _search_path(machine)
    if not config or config.get("include-system-site-packages") == "true":
        folders += _user_folders(machine, minor)
    folders += _prefix_folders(machine, prefix, minor)
    if config.get("include-system-site-packages") == "true" and "home" in config:
        base = config["home"].rpartition("/")[0] or "/usr"
        folders += _prefix_folders(machine, base, minor)
    # Path.is_dir raises where this user may not look
    return tuple(dict.fromkeys(folder for folder in folders if os.path.isdir(folder)))  # noqa: PTH112


def _search_path(machine: Machine) -> list[Path]:
    separator = ";" if machine.platform == "windows" else ":"
    return [machine.path(each) for each in machine.environ.get("PYTHONPATH", "").split(separator) if each]


def _user_folders(machine: Machine, minor: str) -> list[Path]:
    home = machine.environ.get("PYTHONUSERBASE") or f"{machine.environ.get('HOME', '')}/.local"
    return [machine.path(f"{home}/lib/python{minor}/site-packages")] if home.startswith("/") else []


def _prefix_folders(machine: Machine, prefix: str, minor: str) -> list[Path]:
    """Of one prefix; where the version is not known, of every version there."""
    libraries = [machine.path(f"{prefix}/{lib}") for lib in ("lib", "lib64")]
    if prefix == "/usr":  # Debian: pip installs into /usr/local, packages of the system into dist-packages
        libraries.insert(0, machine.path("/usr/local/lib"))
    found = [machine.path(f"{prefix}/Lib/site-packages")] if machine.platform == "windows" else []
    for library in libraries:
        for kind in ("dist-packages", "site-packages"):
            found += sorted(library.glob(f"python{minor or '3.*'}/{kind}"))
            found += sorted(library.glob(f"python{minor or '3.*'}t/{kind}"))
    return [*found, *(library / "python3/dist-packages" for library in libraries)]


def _listed(folder: Path) -> list[str]:
    try:
        return [entry.name for entry in folder.iterdir()]
    except OSError:
        return []
