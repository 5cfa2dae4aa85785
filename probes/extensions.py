"""Which GPUs the compiled extensions of the person's environment were built for, as their files tell it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from gpuhelp.probes.elf import NotElf, dynamic
from gpuhelp.probes.facts import FactValue
from gpuhelp.probes.fatbin import TooLate, Uncertain, architectures, in_order
from gpuhelp.probes.machine import Machine
from gpuhelp.probes.packages import normalized, package_folders
from gpuhelp.probes.python_environments import minor_version_of
from gpuhelp.probes.registry import ProbeTimeout, ProbeUnavailable, Told, probe
from gpuhelp.probes.torch_files import runtime_version

TIMEOUT_S = 3.0
LOOK_S = 2.0  # the rest is for the answer
FACT = "extensions.{}.arch_list"

# Package -> the files of its main part, below a package folder. A part for one generation only, such as
# FlashAttention 3 in vllm and xformers, is left out: it would claim less or more than the package can do.
FILES: Mapping[str, tuple[str, ...]] = {
    "apex": ("amp_C*.so", "apex/amp_C*.so"),
    "auto_gptq": ("autogptq_cuda_*.so",),
    "awq": ("awq_ext*.so", "awq_inference_engine*.so"),
    "bitsandbytes": ("bitsandbytes/libbitsandbytes_{backend}.so",),
    "causal_conv1d": ("causal_conv1d_cuda*.so",),
    "detectron2": ("detectron2/_C*.so",),
    "exllamav2": ("exllamav2_ext*.so",),
    "flash_attn": ("flash_attn_2_cuda*.so",),
    "flash_attn_3": ("flash_attn_3/_C*.so", "flash_attn_3_cuda*.so"),
    "fused_layer_norm": ("fused_layer_norm_cuda*.so",),
    "gptqmodel": ("gptqmodel_*kernels*.so",),
    "mamba_ssm": ("selective_scan_cuda*.so",),
    "mmcv": ("mmcv/_ext*.so",),
    "pytorch3d": ("pytorch3d/_C*.so",),
    "sgl_kernel": ("sgl_kernel/common_ops*.so", "sgl_kernel/sm*/common_ops*.so"),
    "tinycudann": ("tinycudann_bindings/_*_C*.so",),
    "torch_cluster": ("torch_cluster/_*_cuda.so",),
    "torch_scatter": ("torch_scatter/_*_cuda.so",),
    "torch_sparse": ("torch_sparse/_*_cuda.so",),
    "torchaudio": ("torchaudio/lib/libtorchaudio.so", "torchaudio/lib/_torchaudio.so"),
    "torchvision": ("torchvision/_C.so",),
    "transformer_engine": ("transformer_engine/libtransformer_engine.so", "libtransformer_engine.so"),
    "vllm": ("vllm/_C.abi3.so", "vllm/_C.so"),
    "xformers": ("xformers/_C.so", "xformers/_C_cuda.so"),
}  # fmt: skip


@probe(
    "extensions.files",
    facts=("extensions.<name>.arch_list",),
    timeout_s=TIMEOUT_S,
    source="compiled files of the packages",
)
def extension_architectures(machine: Machine) -> Told:
    """For each extension there is, what its machine code and PTX are for; [] for one built without GPU code.

    An extension whose code is packed in a way that is not known is not told, and named in the detail.
    """
    if not package_folders(machine):
        raise ProbeUnavailable("no package folder of the job's interpreter was found")
    found = dict(installed(machine)) | dict(built_at_run_time(machine))
    deadline = time.monotonic() + LOOK_S
    facts: dict[str, FactValue] = {}
    unknown: list[str] = []
    for name, files in sorted(found.items()):
        try:
            facts[FACT.format(name)] = list(in_order(_architectures(files, deadline)))
        except TooLate:
            raise ProbeTimeout("too much GPU code to look at each piece", facts) from None
        except (NotElf, Uncertain, OSError) as problem:
            unknown.append(f"{name}: {problem}")
    return Told(facts, "; ".join(unknown))


def installed(machine: Machine) -> Iterator[tuple[str, tuple[Path, ...]]]:
    """Names and files of the extensions in the package folders; the first folder that has one counts."""
    folders = package_folders(machine)
    backend = bitsandbytes_backend(machine)
    for name, patterns in FILES.items():
        for folder in folders:
            files = [file for each in patterns for file in sorted(folder.glob(each.format(backend=backend)))]
            if files:
                yield name, tuple(files)
                break


def built_at_run_time(machine: Machine) -> Iterator[tuple[str, tuple[Path, ...]]]:
    """The same of those that PyTorch compiled when the job ran: <cache>/py311_cu124/<name>/<name>.so.

    It stays there when the GPU or the environment changes: torch/utils/cpp_extension.py,
    _get_build_directory.
    """
    runtime = runtime_version(machine)
    if machine.python is None or runtime is None:
        return
    home = machine.environ.get("HOME", "")
    top = machine.environ.get("TORCH_EXTENSIONS_DIR") or f"{home}/.cache/torch_extensions"
    minor = minor_version_of(machine, machine.python).replace(".", "")
    for file in sorted(machine.path(f"{top}/py{minor}_cu{runtime.replace('.', '')}").glob("*/*.so")):
        if file.stem == file.parent.name:
            yield normalized(file.stem), (file,)


def bitsandbytes_backend(machine: Machine) -> str:
    """Which of its libraries bitsandbytes takes, one for each CUDA runtime: that of the installed PyTorch.

    BNB_CUDA_VERSION overrides it: bitsandbytes/cextension.py, get_cuda_bnb_library_path.
    """
    override = machine.environ.get("BNB_CUDA_VERSION", "")
    version = override or (runtime_version(machine) or "").replace(".", "")
    return f"cuda{version}" if version.isdigit() else "cuda_none"


def _architectures(files: tuple[Path, ...], deadline: float) -> list[str]:
    """Of all the files together. Raises Uncertain if they call the GPU and hold no code for it themselves."""
    found: list[str] = []
    needed: list[str] = []
    for path in files:
        with path.open("rb") as file:
            found += architectures(file, deadline)
            needed += dynamic(file).needed
    if not found and any(mark in name for name in needed for mark in ("cuda", "hip")):
        raise Uncertain("its GPU code is in another file")
    return found
