"""Environments as installers leave them: their files, and the facts that are true of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.probes.made_elf import a_library, gpu_code

PREFIX = "/work/env"
PYTHON = f"{PREFIX}/bin/python"
PIP = "home = /usr/bin\ninclude-system-site-packages = false\nversion = 3.11.7\n"
UV = "home = /home/alice/.local/share/uv\nimplementation = CPython\nuv = 0.5.11\nversion_info = 3.12.7\n"


@dataclass(frozen=True, slots=True)
class Environment:
    """One environment: `facts` are those that its probes have to tell, `unknown` those that none may tell."""

    name: str
    facts: Mapping[str, object]
    packages: Mapping[str, str] = field(default_factory=dict)
    torch: tuple[str, str | None, str | None] | None = None  # version, cuda, hip of torch/version.py
    settings: str | None = PIP
    python: str = "3.11"
    files: Mapping[str, bytes] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()

    def all_files(self) -> dict[str, bytes]:
        """Every file, by its path on the machine."""
        site = f"{PREFIX}/lib/python{self.python}/site-packages"
        made = {PYTHON: b"", f"{site}/pip/__init__.py": b""}
        if self.settings is not None:
            made[f"{PREFIX}/pyvenv.cfg"] = self.settings.encode()
        for name, version in self.packages.items():
            made[f"{site}/{name}-{version}.dist-info/METADATA"] = (
                f"Name: {name}\nVersion: {version}\n".encode()
            )
        if self.torch is not None:
            made[f"{site}/torch/version.py"] = _version_py(*self.torch).encode()
        made.update({path.replace("SITE", site): raw for path, raw in self.files.items()})
        return made


def _version_py(version: str, cuda: str | None, hip: str | None) -> str:
    return (
        "from typing import Optional\n\n"
        "__all__ = ['__version__', 'debug', 'cuda', 'git_version', 'hip', 'xpu']\n"
        f"__version__ = {version!r}\ndebug = False\ncuda: Optional[str] = {cuda!r}\n"
        f"git_version = '63d5e9221bedd1546b7d364b5ce4171547db12a9'\nhip: Optional[str] = {hip!r}\n"
        "xpu: Optional[str] = None\n"
    )


def _wheel(version: str, cuda: str, packages: Mapping[str, str], **more: object) -> Environment:
    """A CUDA wheel of pip with the libraries it depends on; versions as its own metadata names them."""
    told = {f"packages.{name}": each for name, each in packages.items()}
    base = {"torch.installed": True, "torch.version": version, "torch.cuda_runtime_version": cuda,
            "torch.hip_version": None, "packages.torch": version, "python.manager": "pip"}  # fmt: skip
    return Environment(
        name=version,
        packages={"torch": version, **packages},
        torch=(version, cuda, None),
        facts={**base, **told, **more},
    )


CUDA_13 = "SITE/nvidia/cu13/lib"

ENVIRONMENTS = (
    Environment(
        name="CPU wheel",
        packages={"torch": "2.6.0+cpu", "torchvision": "0.21.0+cpu", "numpy": "2.1.3"},
        torch=("2.6.0+cpu", None, None),
        facts={
            "torch.installed": True,
            "torch.version": "2.6.0+cpu",
            "torch.cuda_runtime_version": None,
            "torch.hip_version": None,
            "torch.path": f"{PREFIX}/lib/python3.11/site-packages/torch",
            "packages.torchvision": "0.21.0+cpu",
            "packages.triton": None,
            "python.version": "3.11.7",
            "python.prefix": PREFIX,
            "python.executable": PYTHON,
            "python.manager": "pip",
            "libraries.loaded": [],
        },
        unknown=("packages.nvidia_cudnn_cu12", "extensions.torchvision.arch_list"),
    ),
    _wheel(
        "2.3.1+cu118",
        "11.8",
        {
            "nvidia_cudnn_cu11": "8.7.0.84",
            "nvidia_cuda_runtime_cu11": "11.8.89",
            "nvidia_nccl_cu11": "2.20.5",
        },
    ),
    _wheel(
        "2.4.1+cu121",
        "12.1",
        {"nvidia_cudnn_cu12": "9.1.0.70", "nvidia_nccl_cu12": "2.20.5", "triton": "3.0.0"},
    ),
    Environment(
        name="2.7.1+cu128 with extensions",
        packages={"torch": "2.7.1+cu128", "nvidia_cudnn_cu12": "9.7.1.26", "flash_attn": "2.7.4.post1"},
        torch=("2.7.1+cu128", "12.8", None),
        files={
            "SITE/flash_attn_2_cuda.cpython-311-x86_64-linux-gnu.so": a_library(
                needed=["libc10_cuda.so", "libcudart.so.12"],
                parts={".nv_fatbin": gpu_code(["sm_80", "sm_90"])},
            ),
            "SITE/torch/lib/libtorch_cuda.so": a_library(
                "libtorch_cuda.so", needed=["libcudnn.so.9"], rpath="$ORIGIN/../../nvidia/cudnn/lib"
            ),
            "SITE/nvidia/cudnn/lib/libcudnn.so.9": a_library("libcudnn.so.9"),
        },
        facts={
            "torch.version": "2.7.1+cu128",
            "torch.cuda_runtime_version": "12.8",
            "packages.nvidia_cudnn_cu12": "9.7.1.26",
            "packages.flash_attn": "2.7.4.post1",
            "extensions.flash_attn.arch_list": ["sm_80", "sm_90"],
            "libraries.loaded": [
                {
                    "path": f"{PREFIX}/lib/python3.11/site-packages/nvidia/cudnn/lib/libcudnn.so.9",
                    "soname": "libcudnn.so.9",
                }
            ],
        },
    ),
    Environment(
        name="2.9.0+cu130, whose libraries share one folder",
        packages={"torch": "2.9.0+cu130", "nvidia_cuda_runtime": "13.0.48", "nvidia_cudnn_cu13": "9.13.0.50"},
        torch=("2.9.0+cu130", "13.0", None),
        files={
            "SITE/torch/lib/libtorch_global_deps.so": a_library(
                needed=["libcudart.so.13"], rpath="$ORIGIN/../../nvidia/cu13/lib"
            ),
            f"{CUDA_13}/libcudart.so.13": a_library("libcudart.so.13"),
        },
        facts={
            "torch.version": "2.9.0+cu130",
            "torch.cuda_runtime_version": "13.0",
            "packages.nvidia_cuda_runtime": "13.0.48",
            "packages.nvidia_cudnn_cu13": "9.13.0.50",
            "libraries.loaded": [
                {
                    "path": f"{PREFIX}/lib/python3.11/site-packages/nvidia/cu13/lib/libcudart.so.13",
                    "soname": "libcudart.so.13",
                }
            ],
        },
    ),
    Environment(
        name="ROCm wheel",
        packages={"torch": "2.6.0+rocm6.2.4", "pytorch_triton_rocm": "3.2.0"},
        torch=("2.6.0+rocm6.2.4", None, "6.2.41134-65d174c3e"),
        facts={
            "torch.version": "2.6.0+rocm6.2.4",
            "torch.cuda_runtime_version": None,
            "torch.hip_version": "6.2.41134-65d174c3e",
            "packages.pytorch_triton_rocm": "3.2.0",
            "packages.triton": None,
        },
    ),
    Environment(
        name="source build, installed",
        packages={"torch": "2.8.0a0+git1a2b3c4"},
        torch=("2.8.0a0+git1a2b3c4", "12.6", None),
        files={"SITE/torch/share/cmake/Torch/TorchConfig.cmake": b'set(X "-D_GLIBCXX_USE_CXX11_ABI=1")\n'},
        facts={
            "torch.version": "2.8.0a0+git1a2b3c4",
            "torch.cuda_runtime_version": "12.6",
            "torch.cxx11_abi": True,
        },
    ),
    Environment(
        name="source build, editable",
        packages={"torch": "2.8.0a0+git1a2b3c4"},
        facts={"torch.installed": True, "torch.version": "2.8.0a0+git1a2b3c4"},
        unknown=("torch.cuda_runtime_version", "torch.path"),
    ),
    Environment(
        name="conda",
        settings=None,
        python="3.10",
        packages={"numpy": "1.26.4"},
        torch=("2.3.1", "12.1", None),
        files={
            f"{PREFIX}/conda-meta/python-3.10.14-hd12c33a_0_cpython.json": b"{}",
            f"{PREFIX}/conda-meta/pytorch-2.3.1-py3.10_cuda12.1_cudnn8.9.2_0.json": b"{}",
            f"{PREFIX}/conda-meta/pytorch-cuda-12.1-ha16c6d3_5.json": b"{}",
            f"{PREFIX}/conda-meta/cuda-cudart-12.1.105-0.json": b"{}",
            f"{PREFIX}/conda-meta/libcublas-12.1.0.26-0.json": b"{}",
            f"{PREFIX}/conda-meta/faiss-gpu-1.8.0-py3.10_h4c7d538_0_cuda12.1.1.json": b"{}",
            f"{PREFIX}/conda-meta/history": b"==> 2024-06-01 <==\n",
            "SITE/torch-2.3.1-py3.10.egg-info/PKG-INFO": b"",
        },
        facts={
            "torch.version": "2.3.1",
            "torch.cuda_runtime_version": "12.1",
            "python.manager": "conda",
            "python.version": "3.10.14",
            "packages.torch": "2.3.1",
            "packages.pytorch_cuda": "12.1",
            "packages.cuda_cudart": "12.1.105",
            "packages.libcublas": "12.1.0.26",
            "packages.faiss_gpu": "1.8.0",
            "packages.numpy": "1.26.4",
        },
        unknown=("packages.python", "packages.pytorch"),
    ),
    Environment(
        name="uv",
        settings=UV,
        python="3.12",
        packages={"torch": "2.7.1", "nvidia_cudnn_cu12": "9.5.1.17", "nvidia_cusparselt_cu12": "0.6.3"},
        torch=("2.7.1+cu126", "12.6", None),
        facts={
            # PyPI's wheel says 2.7.1 in its metadata, and what it was built for in its files
            "torch.version": "2.7.1+cu126",
            "packages.torch": "2.7.1",
            "torch.cuda_runtime_version": "12.6",
            "python.manager": "uv",
            "python.version": "3.12.7",
            "packages.nvidia_cusparselt_cu12": "0.6.3",
        },
    ),
    Environment(
        name="TensorFlow and JAX, no PyTorch",
        packages={
            "tensorflow": "2.17.0",
            "keras": "3.5.0",
            "jax": "0.4.35",
            "jaxlib": "0.4.34",
            "jax_cuda12_plugin": "0.4.35",
            "jax_cuda12_pjrt": "0.4.35",
            "nvidia_cudnn_cu12": "9.5.0.50",
            "onnxruntime_gpu": "1.20.0",
        },
        facts={
            "torch.installed": False,
            "torch.version": None,
            "packages.torch": None,
            "packages.tensorflow": "2.17.0",
            "packages.keras": "3.5.0",
            "packages.jax": "0.4.35",
            "packages.jaxlib": "0.4.34",
            "packages.jax_cuda12_plugin": "0.4.35",
            "packages.nvidia_cudnn_cu12": "9.5.0.50",
            "packages.onnxruntime_gpu": "1.20.0",
            "packages.onnxruntime": None,
            "libraries.loaded": [],
        },
        unknown=("torch.path", "torch.cuda_runtime_version"),
    ),
)
