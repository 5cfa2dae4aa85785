"""Outputs of tools in a text that a person pasted, read as facts: which, where, and what they say.

Pure: nothing is looked at but the text. This module is imported at every start, so it knows the marks only;
`outputs` knows the rest, and a tool's own reader is imported only where one of its marks stands in the text.
"""

from __future__ import annotations

__all__ = ["MARKS", "SOURCE", "is_marked", "may_hold"]

SOURCE = "pasted"
"""What facts of a text name as their source."""
MARKS = (
    ("nvidia-smi", "smi_table", ("NVIDIA-SMI ",), ("Driver Version", "KMD Version")),
    ("nvidia-smi", "smi_failures",
     ("NVIDIA-SMI has failed", "Failed to initialize NVML", "No devices were found",
      "determine the device handle"), ()),
    ("nvidia-smi -q", "smi_query", ("NVSMI LOG",), ()),
    ("nvidia-smi -L", "smi_list", ("(UUID: GPU-",), ()),
    ("nvidia-smi topo -m", "smi_topology", ("GPU0",), (" X ", "\tX\t")),
    ("nvidia-smi --query", "smi_csv",
     ("--query-", " [MiB]", "index, ", "uuid, ", "name, ", "_version, ", "pid, "),
     ("--query-", "[MiB]", "driver_version", "memory.total", "memory.used", "memory.free",
      "utilization.gpu", "gpu_uuid", "compute_cap", "pcie.link", "temperature.gpu", "power.draw")),
    ("nvcc", "nvcc", ("Cuda compilation tools",), ()),
    ("vllm collect-env", "collect_env", ("vLLM Version",), ()),
    ("collect_env", "collect_env", ("PyTorch version",), ()),
    ("accelerate env", "hugging_face", ("`Accelerate` version:",), ()),
    ("transformers env", "hugging_face", ("`transformers` version:",), ()),
    ("diffusers-cli env", "hugging_face", ("`diffusers` version:", "Diffusers version:"), ()),
    ("ds_report", "ds_report", ("DeepSpeed general environment info",), ()),
    ("pip list", "pip_list", ("Package ", "pip list", "pip3 list"), (" Version", "pip list", "pip3 list")),
    ("pip show", "pip_show", ("Version: ",), ("Summary: ",)),
    ("pip freeze", "pip_freeze",
     ("==",),
     ("pip freeze", "pip3 freeze", "numpy==", "filelock==", "typing_extensions==")),
    ("conda list", "conda_list", ("# packages in environment at", "conda list", "mamba list"), ()),
    ("conda env export", "conda_export", ("dependencies:",), ()),
    ("rocm-smi", "rocm_smi", ("ROCm System Management Interface",), ()),
    ("rocminfo", "rocminfo", ("Marketing Name:",), ()),
    ("amd-smi", "amd_smi", ("AMD-SMI ", "amd-smi", "TARGET_GRAPHICS_VERSION"), ()),
    ("docker info", "docker_info", ("Runtimes:",), ()),
    ("lspci", "lspci", ("NVIDIA Corporation",), ()),
    ("dmesg", "kernel_messages", ("NVRM: Xid", "Killed process"), ()),
    ("ulimit -a", "limits", ("max locked memory",), ()),
    ("df", "disks", ("/dev/shm", "Mounted on"), ()),
    ("free", "memory", ("Mem:", "메모리:"), ()),
    ("python --version", "python_version", ("Python 3.",), ()),
    ("uname", "uname", ("GNU/Linux",), ()),
    ("/proc/driver/nvidia/version", "module_version", ("NVRM version:",), ()),
    ("torch", "torch_prompt",
     ("torch.__version__", "torch.version.", "torch.cuda.", "torch.backends."),
     (">>> ", " -c ", "In [")),
)  # fmt: skip
"""A tool as a person calls it, the module that reads its output, literals of which one stands in every
output, and, where those are common in logs, literals of which one stands in the text too."""


def is_marked(text: str, marks: tuple[str, ...], also: tuple[str, ...]) -> bool:
    """Whether one of the marks stands in the text, and one of the others if there are any."""
    return any(mark in text for mark in marks) and (not also or any(mark in text for mark in also))


def may_hold(text: str) -> bool:
    """Whether a text may hold the output of some tool: a few fast searches, before anything is imported."""
    return any(is_marked(text, marks, also) for _, _, marks, also in MARKS)
