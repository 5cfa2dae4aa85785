"""Facts of made-up machines that are in order, for tests of checkups and snapshots."""

from __future__ import annotations

from gpuhelp.probes.facts import FactValue

GIB = 1 << 30
Values = dict[str, FactValue]


def gpu(index: int, name: str, capability: str, memory_gib: int, **more: FactValue) -> Values:
    """An idle GPU without a fault."""
    memory = memory_gib * GIB
    return {
        "index": index,
        "uuid": f"GPU-{index}",
        "name": name,
        "pci": f"0000:{index + 1:02x}:00.0",
        "compute_capability": capability,
        "memory_total_bytes": memory,
        "memory_used_bytes": GIB // 2,
        "memory_free_bytes": memory - GIB // 2,
        "utilization_percent": 0,
        "temperature_celsius": 40,
        "slowdown_temperature_celsius": 90,
        "throttle_reasons": ["gpu_idle"],
        "ecc_uncorrected": 0,
        "row_remap_pending": False,
        "row_remap_failure": False,
        "pcie_width": 16,
        "pcie_width_max": 16,
        "compute_mode": "default",
        "processes": [],
        **more,
    }


def machine(**more: FactValue) -> Values:
    """A workstation with one GPU and the wheel of PyTorch for CUDA 12.4."""
    return {
        "os.platform": "linux",
        "os.wsl": False,
        "python.version": "3.11.7",
        "python.manager": "pip",
        "python.executable": "/opt/venv/bin/python",
        "python.prefix": "/opt/venv",
        "torch.installed": True,
        "torch.version": "2.6.0+cu124",
        "torch.cuda_runtime_version": "12.4",
        "torch.hip_version": None,
        "packages.nvidia_cudnn_cu12": "9.1.0.70",
        "packages.torchvision": "0.21.0+cu124",
        "toolkit.nvcc_version": None,
        "driver.version": "550.90.07",
        "driver.cuda_api_version": "12.4",
        "driver.kernel_module_version": "550.90.07",
        "driver.error": None,
        "container.kind": None,
        "host.shm_total_bytes": 32 * GIB,
        "host.shm_free_bytes": 32 * GIB,
        "host.ram_available_bytes": 60 * GIB,
        "host.disk_free_bytes": 200 * GIB,
        "host.memlock_bytes": 8 << 20,
        "host.network_interfaces": ["eth0", "lo"],
        "host.pci_gpus": [{"pci": "0000:01:00.0", "name": "AD102", "kernel_driver": "nvidia"}],
        "host.device_nodes": [
            {"path": "/dev/nvidiactl", "present": True, "readable": True},
            {"path": "/dev/nvidia-uvm", "present": True, "readable": True},
            {"path": "/dev/kfd", "present": False, "readable": False},
        ],
        "libraries.loaded": [
            {"path": "/opt/venv/lib/python3.11/site-packages/nvidia/cudnn/lib/libcudnn.so.9",
             "soname": "libcudnn.so.9"},
            {"path": "/usr/lib/x86_64-linux-gnu/libcuda.so.1", "soname": "libcuda.so.1"},
        ],
        "kernel.xids": [{"xid": 31, "pci": "0000:01:00"}],
        "env.CUDA_VISIBLE_DEVICES": None,
        "fabric.manager_running": False,
        "gpus": [gpu(0, "NVIDIA GeForce RTX 4090", "8.9", 24, nvlinks_active=0, nvlinks_inactive=0)],
        **more,
    }  # fmt: skip


WORKSTATION = machine()
SERVER = machine(
    **{
        "gpus": [
            gpu(index, "NVIDIA H100 80GB HBM3", "9.0", 80, mig_mode=False, nvlinks_active=18)
            for index in range(8)
        ],
        "fabric.manager_running": True,
        "fabric.state": "Completed",
        "host.network_interfaces": ["eth0", "ibp12s0"],
        "host.memlock_bytes": None,
        "env.CUDA_VISIBLE_DEVICES": "0,1,2,3,4,5,6,7",
    }
)
NO_GPU: Values = {
    "driver.version": None,
    "driver.cuda_api_version": None,
    "driver.kernel_module_version": None,
    "driver.error": "NVML Shared Library Not Found",
    "gpus": [],
}
LAPTOP = machine(
    **{
        **NO_GPU,
        "host.pci_gpus": [],
        "torch.version": "2.6.0+cpu",
        "torch.cuda_runtime_version": None,
        "packages.torchvision": None,
    }
)
CONTAINER = machine(
    **{
        "container.kind": "docker",
        "host.shm_total_bytes": 16 * GIB,
        "host.shm_free_bytes": 16 * GIB,
        "fabric.manager_running": None,
        "torch.version": "2.7.1+cu128",
        "torch.cuda_runtime_version": "12.8",
        "packages.torchvision": "0.22.1+cu128",
    }
)
HEALTHY = {"workstation": WORKSTATION, "server": SERVER, "laptop": LAPTOP, "container": CONTAINER}
