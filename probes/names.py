"""The fact names of the contract: type, unit and meaning of each.

Read by facts, snapshots, lints and documents.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum


class FactType(Enum):
    """What a known, non-null value of a fact is in Python and in JSON."""

    TEXT = "text"
    INTEGER = "integer"
    NUMBER = "number"
    FLAG = "true or false"
    TEXTS = "list of texts"
    RECORDS = "list of records"
    ANY = "anything"


@dataclass(frozen=True, slots=True)
class FactName:
    """One name of the contract.

    `<...>` in `name` stands for any one name; `fields` describe the records of a list.
    """

    name: str
    type: FactType
    meaning: str
    unit: str = ""
    fields: tuple[FactName, ...] = ()


_TEXT, _INTEGER, _NUMBER, _FLAG = FactType.TEXT, FactType.INTEGER, FactType.NUMBER, FactType.FLAG
_TEXTS, _RECORDS, _ANY = FactType.TEXTS, FactType.RECORDS, FactType.ANY

PROCESS_FIELDS = (
    FactName("pid", _INTEGER, "process id, as the driver tells it"),
    FactName("name", _TEXT, "name of the program, without its path"),
    FactName("user", _TEXT, "who owns the process"),
    FactName("memory_bytes", _INTEGER, "GPU memory the process holds", "bytes"),
    FactName("is_self", _FLAG, "the process belongs to the person who asks"),
)

MIG_FIELDS = (
    FactName("uuid", _TEXT, "identity, as CUDA_VISIBLE_DEVICES takes it"),
    FactName("name", _TEXT, "product name and profile, e.g. NVIDIA A100-SXM4-40GB MIG 3g.20gb"),
    FactName("gpu_instance_id", _INTEGER, "id of the GPU instance"),
    FactName("compute_instance_id", _INTEGER, "id of the compute instance in it"),
    FactName("memory_total_bytes", _INTEGER, "memory of the instance", "bytes"),
    FactName("memory_used_bytes", _INTEGER, "memory in use, by anybody", "bytes"),
)

LINK_FIELDS = (
    FactName("from", _INTEGER, "index of one GPU"),
    FactName("to", _INTEGER, "index of the other GPU"),
    FactName("kind", _TEXT, "nvlink, or where the PCIe paths meet: pix, pxb, phb, node or sys"),
    FactName("nvlink_count", _INTEGER, "NVLinks between them that are up, or that both have to switches"),
)

GPU_FIELDS = (
    FactName("index", _INTEGER, "NVML index, which is the order of nvidia-smi"),
    FactName("uuid", _TEXT, "identity that survives reordering"),
    FactName("name", _TEXT, "product name"),
    FactName("pci", _TEXT, "PCI address, e.g. 0000:01:00.0"),
    FactName("error", _TEXT, "why this GPU does not answer; absent when it does"),
    FactName("compute_capability", _TEXT, "compute capability, e.g. 8.6"),
    FactName("sm", _TEXT, "architecture name of the compute capability, e.g. sm_86"),
    FactName("gfx", _TEXT, "architecture name of an AMD GPU, e.g. gfx1100"),
    FactName("driver_model", _TEXT, "WDDM, TCC or MCDM (Windows)"),
    FactName("memory_total_bytes", _INTEGER, "memory of the GPU", "bytes"),
    FactName("memory_used_bytes", _INTEGER, "memory in use, by anybody", "bytes"),
    FactName("memory_free_bytes", _INTEGER, "memory that can still be allocated", "bytes"),
    FactName("utilization_percent", _INTEGER, "share of the last sample in which a kernel ran", "percent"),
    FactName("temperature_celsius", _INTEGER, "temperature of the GPU", "celsius"),
    FactName("memory_temperature_celsius", _INTEGER, "temperature of the GPU memory", "celsius"),
    FactName("slowdown_temperature_celsius", _INTEGER, "temperature at which clocks are lowered", "celsius"),
    FactName("power_watts", _NUMBER, "power drawn", "watts"),
    FactName("power_limit_watts", _NUMBER, "power limit in force", "watts"),
    FactName("throttle_reasons", _TEXTS, "why clocks are lowered at the moment"),
    FactName("ecc_uncorrected", _INTEGER, "uncorrected ECC errors since the driver was loaded"),
    FactName("ecc_uncorrected_aggregate", _INTEGER, "uncorrected ECC errors since the GPU was made"),
    FactName("retired_pages", _INTEGER, "memory pages taken out of use"),
    FactName("remapped_rows", _INTEGER, "memory rows replaced by spare ones"),
    FactName("row_remap_pending", _FLAG, "a row remapping waits for a reset"),
    FactName("row_remap_failure", _FLAG, "a row could not be remapped: no spare ones are left"),
    FactName("pcie_generation", _INTEGER, "PCIe generation of the link now"),
    FactName("pcie_generation_max", _INTEGER, "PCIe generation the link can reach"),
    FactName("pcie_width", _INTEGER, "PCIe lanes of the link now"),
    FactName("pcie_width_max", _INTEGER, "PCIe lanes the link can reach"),
    FactName("mig_mode", _FLAG, "MIG is on; absent where the GPU knows no MIG"),
    FactName("nvlinks_active", _INTEGER, "NVLinks of this GPU that are up"),
    FactName("nvlinks_inactive", _INTEGER, "NVLinks of this GPU that are down"),
    FactName("mig_instances", _RECORDS, "MIG instances", fields=MIG_FIELDS),
    FactName("compute_mode", _TEXT, "default, exclusive_thread, prohibited or exclusive_process"),
    FactName("persistence_mode", _FLAG, "the driver stays loaded while nothing runs"),
    FactName("processes", _RECORDS, "processes that hold GPU memory", fields=PROCESS_FIELDS),
)

FACT_NAMES = (
    FactName("os.platform", _TEXT, "linux, windows or macos"),
    FactName("os.kernel", _TEXT, "version of the kernel"),
    FactName("os.distribution", _TEXT, "distribution and its version"),
    FactName("os.wsl", _FLAG, "Linux runs inside Windows (WSL)"),
    FactName("python.version", _TEXT, "version of the interpreter that ran the job"),
    FactName("python.executable", _TEXT, "path of that interpreter"),
    FactName("python.prefix", _TEXT, "folder of its environment"),
    FactName("python.manager", _TEXT, "what made the environment: pip, conda, uv or poetry"),
    FactName("driver.version", _TEXT, "driver version, e.g. 550.90.07"),
    FactName("driver.cuda_api_version", _TEXT, "CUDA driver API version (what nvidia-smi shows)"),
    FactName("driver.kernel_module_version", _TEXT, "version of the kernel module that is loaded"),
    FactName("driver.module_version_on_disk", _TEXT, "version of the kernel module a reboot would load"),
    FactName("driver.module_open", _FLAG, "the loaded kernel module is the open one"),
    FactName("driver.error", _TEXT, "why NVML does not start, in its own words; null when it does"),
    FactName("fabric.manager_running", _FLAG, "the fabric manager runs"),
    FactName("fabric.manager_version", _TEXT, "version of the fabric manager"),
    FactName("fabric.state", _TEXT, "state of the NVSwitch fabric as nvidia-smi tells it, e.g. Completed"),
    FactName("gpus", _RECORDS, "GPUs of this machine, by index", fields=GPU_FIELDS),
    FactName("topology.links", _RECORDS, "how GPUs are linked to each other", fields=LINK_FIELDS),
    FactName("torch.installed", _FLAG, "PyTorch is installed for that interpreter"),
    FactName("torch.version", _TEXT, "version of PyTorch, e.g. 2.6.0+cu124"),
    FactName("torch.cuda_runtime_version", _TEXT, "CUDA runtime version of the build; null: no CUDA build"),
    FactName("torch.hip_version", _TEXT, "HIP version of the build; null: no ROCm build"),
    FactName("torch.arch_list", _TEXTS, "architectures the build holds machine code for"),
    FactName("torch.cxx11_abi", _FLAG, "the build uses the C++11 ABI"),
    FactName("torch.cudnn_version", _TEXT, "cuDNN version PyTorch loads"),
    FactName("torch.nccl_version", _TEXT, "NCCL version PyTorch was linked with"),
    FactName("torch.path", _TEXT, "folder of the package torch"),
    FactName("torch.import_error", _TEXT, "why `import torch` fails; null when it works"),
    FactName(
        "torch.cuda_available",
        _FLAG,
        "torch.cuda.is_available(), asked through NVML: true says a GPU is visible, not that CUDA starts",
    ),
    FactName("toolkit.nvcc_version", _TEXT, "version of the CUDA compiler; null: none found"),
    FactName("toolkit.cuda_home", _TEXT, "folder of the CUDA toolkit; null: none found"),
    FactName("packages.<name>", _TEXT, "version of an installed package; null: not installed"),
    FactName(
        "extensions.<name>.arch_list", _TEXTS, "architectures a compiled extension holds machine code for"
    ),
    FactName("env.<NAME>", _TEXT, "an environment variable; null: not set"),
    FactName("container.kind", _TEXT, "docker, podman, kubernetes, singularity or lxc; null: none"),
    FactName("container.shm_bytes", _INTEGER, "size of the container's /dev/shm", "bytes"),
    FactName("container.gpu_devices", _TEXTS, "GPU device nodes the container was given"),
    FactName("container.memory_limit_bytes", _INTEGER, "memory limit of the container; null: none", "bytes"),
    FactName("container.toolkit_installed", _FLAG, "the NVIDIA container toolkit is installed"),
    FactName("container.daemon", _TEXT, "native, vm, snap or rootless"),
    FactName("scheduler.kind", _TEXT, "slurm, kubernetes or pbs; null: none"),
    FactName("scheduler.job_id", _TEXT, "id of the job"),
    FactName("scheduler.memory_limit_bytes", _INTEGER, "memory the job was given on this node", "bytes"),
    FactName(
        "host.device_nodes",
        _RECORDS,
        "device files that GPU programs open",
        fields=(
            FactName("path", _TEXT, "path of the device file"),
            FactName("present", _FLAG, "it is there"),
            FactName("readable", _FLAG, "this user may open it for reading and writing"),
        ),
    ),
    FactName("host.groups", _TEXTS, "groups of the user"),
    FactName(
        "host.pci_gpus",
        _RECORDS,
        "NVIDIA GPUs on the PCI bus, whether or not their driver works",
        fields=(
            FactName("pci", _TEXT, "PCI address"),
            FactName("name", _TEXT, "product name"),
            FactName("kernel_driver", _TEXT, "kernel driver that holds it, e.g. nvidia, nouveau, vfio-pci"),
        ),
    ),
    FactName("host.network_interfaces", _TEXTS, "network interfaces"),
    FactName("host.ram_total_bytes", _INTEGER, "memory of the host", "bytes"),
    FactName("host.ram_available_bytes", _INTEGER, "memory of the host that programs can still get", "bytes"),
    FactName("host.commit_limit_bytes", _INTEGER, "memory the kernel promises at most", "bytes"),
    FactName(
        "host.address_space_limit_bytes", _INTEGER, "limit of a process (ulimit -v); null: none", "bytes"
    ),
    FactName("host.shm_total_bytes", _INTEGER, "size of /dev/shm", "bytes"),
    FactName("host.shm_free_bytes", _INTEGER, "free space of /dev/shm", "bytes"),
    FactName("host.shm_stale_files", _INTEGER, "files in /dev/shm that no process uses"),
    FactName("host.disk_free_bytes", _INTEGER, "free space of the working folder", "bytes"),
    FactName("host.memlock_bytes", _INTEGER, "limit of locked memory (ulimit -l); null: none", "bytes"),
    FactName("host.open_files_limit", _INTEGER, "limit of open files (ulimit -n); null: none"),
    FactName(
        "libraries.loaded",
        _RECORDS,
        "shared libraries that CUDA programs of this environment would load",
        fields=(FactName("path", _TEXT, "path of the file"), FactName("soname", _TEXT, "name it answers to")),
    ),
    FactName(
        "kernel.xids",
        _RECORDS,
        "NVIDIA driver errors in the kernel log",
        fields=(
            FactName("xid", _INTEGER, "number of the error"),
            FactName("pci", _TEXT, "PCI address of the GPU"),
        ),
    ),
    FactName(
        "kernel.oom_kills",
        _RECORDS,
        "processes the kernel killed for memory",
        fields=(FactName("pid", _INTEGER, "process id"), FactName("name", _TEXT, "name of the program")),
    ),
    FactName("answers.<id>", _ANY, "what the person answered"),
)

_PLAIN = {fact.name: fact for fact in FACT_NAMES if "<" not in fact.name}
_GPU = {fact.name: fact for fact in GPU_FIELDS}
_PATTERNS = (
    (re.compile(r"packages\.[a-z0-9_]+"), "packages.<name>"),
    (re.compile(r"extensions\.[a-z0-9_]+\.arch_list"), "extensions.<name>.arch_list"),
    (re.compile(r"env\.[A-Za-z_][A-Za-z0-9_]*"), "env.<NAME>"),
    (re.compile(r"answers\.[A-Za-z0-9_-]+"), "answers.<id>"),
)
_PATTERN_NAMES = {fact.name: fact for fact in FACT_NAMES if "<" in fact.name}


def fact_name(name: str) -> FactName | None:
    """The entry of the contract that `name` falls under, or None.

    `gpu` (the GPU a finding speaks of) counts as a name, and so does `gpu.<field>`.
    """
    if name in _PLAIN:
        return _PLAIN[name]
    if name == "gpu":
        return _PLAIN["gpus"]
    if name.startswith("gpu."):
        return _GPU.get(name[len("gpu.") :])
    for pattern, entry in _PATTERNS:
        if pattern.fullmatch(name):
            return _PATTERN_NAMES[entry]
    return None


def is_fact_name(name: str) -> bool:
    """Whether the contract knows `name`; patterns such as `env.<NAME>` are matched."""
    return fact_name(name) is not None
