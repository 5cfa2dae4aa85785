"""Each row of kb/tables/checks.yaml fires on facts that mean it and on no others; causes are judged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import pytest

from gpuhelp.kb.load import KnowledgeBase
from gpuhelp.probes.facts import Facts, FactValue
from gpuhelp.reasoning.checkup import Mark, check, names_of_causes, names_wanted
from gpuhelp.reasoning.derived import derived
from gpuhelp.reasoning.fixes import tools_of
from gpuhelp.reasoning.scope import Scope, scope_of
from gpuhelp.reasoning.table_functions import TableFunctions
from gpuhelp.reasoning.troubles import Trouble, find_troubles, judged
from tests.assistant.machines import GIB, HEALTHY, NO_GPU, SERVER, WORKSTATION, Values, gpu


class Case(NamedTuple):
    """Facts that a row fires on: the entry, the cause that then stands first and its verdict, the GPUs."""

    entry: str
    cause: str
    verdict: str
    changed: Mapping[str, FactValue]
    gpus: tuple[int, ...] = ()
    machine: Values = WORKSTATION


def one(**fields: FactValue) -> dict[str, FactValue]:
    """The workstation's GPU with other values."""
    return {"gpus": [gpu(0, "NVIDIA GeForce RTX 4090", "8.9", 24, **fields)]}


def of_eight(*indices: int, **fields: FactValue) -> dict[str, FactValue]:
    """The server's GPUs, some of them with other values."""
    return {
        "gpus": [
            gpu(index, "NVIDIA H100 80GB HBM3", "9.0", 80, **(fields if index in indices else {}))
            for index in range(8)
        ]
    }


def xid(number: int, pci: str = "0000:01:00") -> dict[str, FactValue]:
    return {"kernel.xids": [{"xid": number, "pci": pci}]}


CPU_WHEEL = {"torch.version": "2.6.0+cpu", "torch.cuda_runtime_version": None, "packages.torchvision": None}
RTX_5090 = {"gpus": [gpu(0, "NVIDIA GeForce RTX 5090", "12.0", 32)]}
UNREADABLE = {"host.device_nodes": [{"path": "/dev/nvidiactl", "present": True, "readable": False}]}
A100 = {"gpus": [gpu(index, "NVIDIA A100-SXM4-80GB", "8.0", 80) for index in range(8)]}
NOUVEAU = {**NO_GPU, "host.pci_gpus": [{"pci": "0000:01:00.0", "kernel_driver": "nouveau"}]}
NO_MODULE = {**NO_GPU, "host.pci_gpus": [{"pci": "0000:01:00.0", "kernel_driver": None}], **CPU_WHEEL}
SYSTEM_CUDNN = {
    "libraries.loaded": [{"path": "/usr/local/cuda/lib64/libcudnn.so.9", "soname": "libcudnn.so.9"}],
    "env.LD_LIBRARY_PATH": "/usr/local/cuda/lib64",
}
MISMATCH = {"driver.error": "Driver/library version mismatch", "gpus": []}
ORPHAN = {"pid": 4242, "memory_bytes": 20 * GIB}
C = Case
CASES = (
    C("torch-cpu-only-build", "cpu-wheel", "confirmed", CPU_WHEEL),
    C("cuda-no-kernel-image", "wheel-lacks-arch", "confirmed", RTX_5090, (0,)),
    C("torchvision-mismatch", "versions-differ", "confirmed", {"packages.torchvision": "0.19.0+cu124"}),
    C("cuda-lib-path-conflict", "ld-library-path", "confirmed", SYSTEM_CUDNN),
    C("cuda-driver-too-old", "driver-older-than-runtime", "confirmed",
      {"driver.version": "470.57.02", "driver.cuda_api_version": "11.4",
       "driver.kernel_module_version": None}),
    C("nvml-version-mismatch", "updated-not-rebooted", "", {"driver.kernel_module_version": "535.54.03"}),
    C("nvml-version-mismatch", "updated-not-rebooted", "confirmed",
      {**MISMATCH, "driver.module_version_on_disk": "550.90.07",
       "driver.kernel_module_version": "535.54.03"}),
    C("nvidia-driver-module-failed", "nouveau-holds-the-card", "confirmed", NOUVEAU),
    C("nvidia-driver-missing", "not-installed", "likely", {**NO_GPU, "host.pci_gpus": []}),
    C("nvidia-driver-missing", "not-installed", "likely", NO_MODULE),
    C("cuda-no-device", "hidden-by-environment", "confirmed", {"env.CUDA_VISIBLE_DEVICES": ""}),
    C("cuda-no-device", "hidden-by-environment", "confirmed", {"env.CUDA_VISIBLE_DEVICES": "-1"}),
    C("cuda-no-device", "hidden-by-environment", "confirmed",
      {"env.CUDA_VISIBLE_DEVICES": "10,0"}, machine=SERVER),
    C("cuda-invalid-device-ordinal", "index-beyond-gpus", "confirmed", {"env.CUDA_VISIBLE_DEVICES": "0,1"}),
    C("device-node-permission", "narrow-mode", "confirmed", UNREADABLE),
    C("cuda-devices-busy", "prohibited-mode", "confirmed", one(compute_mode="prohibited"), (0,)),
    C("gpu-recovery-required", "", "", of_eight(2, error="GPU requires reset"), (2,), SERVER),
    C("gpu-init-failed", "power-cable", "confirmed", one(error="Insufficient External Power"), (0,)),
    C("gpu-fell-off-bus", "power-supply", "", of_eight(1, 5, error="GPU is lost"), (1, 5), SERVER),
    C("gpu-fell-off-bus", "power-supply", "", xid(79, "0000:02:00"), (1,), SERVER),
    C("gpu-memory-error", "repair-failed", "confirmed", of_eight(4, row_remap_failure=True), (4,), SERVER),
    C("gpu-memory-error", "single-event", "confirmed", of_eight(4, row_remap_pending=True), (4,), SERVER),
    C("gpu-memory-error", "repair-failed", "confirmed", xid(64), (0,)),
    C("gpu-memory-error", "uncontained", "confirmed", xid(95), (0,)),
    C("gpu-memory-error", "", "", xid(48), (0,)),
    C("cuda-ecc-uncorrectable", "memory-wears-out", "confirmed",
      of_eight(7, ecc_uncorrected=3), (7,), SERVER),
    C("gpu-gsp-timeout", "", "", xid(119), (0,)),
    C("gpu-nvlink-error", "link-hardware", "likely", xid(74), (0,), SERVER),
    C("gpu-recovery-required", "", "", xid(154), (0,)),
    C("gpu-engine-fault", "", "", xid(62), (0,)),
    C("gpu-power-throttle", "power-brake", "confirmed",
      one(throttle_reasons=["hw_power_brake_slowdown"]), (0,)),
    C("gpu-power-throttle", "missing-plug", "confirmed", xid(54), (0,)),
    C("gpu-thermal-throttle", "poor-cooling", "confirmed",
      of_eight(0, 1, throttle_reasons=["sw_thermal_slowdown"], temperature_celsius=88), (0, 1), SERVER),
    C("gpu-pcie-degraded", "slot-or-riser", "confirmed", one(pcie_width=4, utilization_percent=90), (0,)),
    C("gpu-memory-held", "not-visible", "confirmed", one(memory_used_bytes=20 * GIB), (0,)),
    C("gpu-memory-held", "leftover-process", "confirmed", one(processes=[ORPHAN]), (0,)),
    C("cuda-system-not-ready", "manager-not-running", "confirmed",
      {"fabric.manager_running": False, "fabric.state": "In Progress"}, machine=SERVER),
    C("cuda-system-not-ready", "manager-not-running", "confirmed", A100),
    C("dataloader-shm", "container-default", "confirmed",
      {"container.kind": "docker", "container.shm_bytes": 64 << 20, "host.shm_total_bytes": 64 << 20}),
    C("dataloader-shm", "leftovers", "confirmed",
      {"host.shm_free_bytes": 1 << 20, "host.shm_stale_files": 9}),
    C("nccl-infiniband", "memlock-limit", "confirmed", {"host.memlock_bytes": 64 << 10}, machine=SERVER),
    C("disk-full", "checkpoints-fill-disk", "likely", {"host.disk_free_bytes": 1 << 20}),
)  # fmt: skip


def named(case: Case) -> str:
    return f"{case.entry}-{case.cause or 'any'}"


def scope(values: Mapping[str, FactValue], knowledge: KnowledgeBase) -> Scope:
    facts = Facts.of(values, "snapshot")
    return scope_of(facts, {}, {**tools_of(facts), **derived(facts)}, TableFunctions(knowledge))


def troubles(values: Mapping[str, FactValue], knowledge: KnowledgeBase) -> dict[str, Trouble]:
    found = check(Facts.of(values, "snapshot"), knowledge.table("checks"), TableFunctions(knowledge))
    return {trouble.entry: trouble for trouble in found.troubles}


@pytest.mark.parametrize("case", CASES, ids=named)
def test_trouble_is_found_on_its_gpus_and_its_cause_is_judged(case: Case, knowledge: KnowledgeBase) -> None:
    trouble = troubles({**case.machine, **case.changed}, knowledge)[case.entry]
    first = judged(trouble, knowledge.entry(case.entry))[0]
    assert trouble.gpus == case.gpus
    if case.cause:
        assert first.cause.id == case.cause
    if case.verdict:
        assert first.verdict.value == case.verdict


@pytest.mark.parametrize("case", CASES, ids=named)
def test_nothing_else_is_found(case: Case, knowledge: KnowledgeBase) -> None:
    assert set(troubles({**case.machine, **case.changed}, knowledge)) == {case.entry}


@pytest.mark.parametrize("name", HEALTHY)
def test_a_machine_in_order_has_no_trouble(name: str, knowledge: KnowledgeBase) -> None:
    assert troubles(HEALTHY[name], knowledge) == {}


def test_every_row_fires_in_some_case(knowledge: KnowledgeBase) -> None:
    scopes = [scope({**case.machine, **case.changed}, knowledge) for case in CASES]
    silent = [
        (row["entry"], number)
        for number, row in enumerate(knowledge.table("checks"))
        if not any(find_troubles([row], each) for each in scopes)
    ]
    assert silent == []


def test_rows_name_causes_and_layers_that_exist(knowledge: KnowledgeBase) -> None:
    for row in knowledge.table("checks"):
        causes = {cause.id for cause in knowledge.entry(row["entry"]).causes}
        assert row.get("cause", next(iter(causes))) in causes, row["entry"]
        assert set(row) <= {"layer", "entry", "when", "each", "cause"}


@pytest.mark.parametrize("case", CASES, ids=named)
def test_what_is_not_known_is_no_trouble(case: Case, knowledge: KnowledgeBase) -> None:
    rows = [row for row in knowledge.table("checks") if row["entry"] == case.entry]
    assert find_troubles(rows, scope({}, knowledge)) == ()
    healthy_but_unknown = {k: v for k, v in case.machine.items() if k not in case.changed}
    assert case.entry not in {
        each.entry for each in find_troubles(rows, scope(healthy_but_unknown, knowledge))
    }


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("an idle link", {"gpus": [gpu(0, "NVIDIA L4", "8.9", 24, pcie_width=8)]}),
        ("a power cap", {"gpus": [gpu(0, "NVIDIA L4", "8.9", 24, throttle_reasons=["sw_power_cap"])]}),
        ("a newer minor CUDA", {"torch.version": "2.9.0+cu128", "torch.cuda_runtime_version": "12.8",
                                "packages.torchvision": None}),
        ("a UUID", {"env.CUDA_VISIBLE_DEVICES": "GPU-0"}),
        ("a program's Xid", {"kernel.xids": [{"xid": 13, "pci": ""}, {"xid": 43, "pci": ""}]}),
        ("a row that was replaced since", xid(63)),
        ("unlimited memlock", {"host.network_interfaces": ["ib0"], "host.memlock_bytes": None}),
        ("conda's own libraries", {"libraries.loaded": [
            {"path": "/opt/venv/lib/libcudnn.so.9", "soname": "libcudnn.so.9"}]}),
        ("a passed-through GPU", {**HEALTHY["laptop"],
                                   "host.pci_gpus": [{"pci": "1", "kernel_driver": "vfio-pci"}]}),
        ("memory held in a container", {"container.kind": "docker", **one(memory_used_bytes=20 * GIB)}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_what_looks_like_trouble_and_is_none(
    name: str, changed: Mapping[str, FactValue], knowledge: KnowledgeBase
) -> None:
    assert troubles({**WORKSTATION, **changed}, knowledge) == {}, name


def test_one_odd_gpu_among_others_is_named(knowledge: KnowledgeBase) -> None:
    gpus: list[FactValue] = [
        gpu(0, "NVIDIA RTX A6000", "8.6", 48),
        gpu(1, "NVIDIA GeForce RTX 5090", "12.0", 32),
    ]
    assert troubles({**WORKSTATION, "gpus": gpus}, knowledge)["cuda-no-kernel-image"].gpus == (1,)


def test_a_layer_with_trouble_is_marked_and_a_gpu_on_the_bus_is_not_absent(knowledge: KnowledgeBase) -> None:
    facts = Facts.of({**WORKSTATION, **NOUVEAU}, "snapshot")
    checkup = check(facts, knowledge.table("checks"), TableFunctions(knowledge))
    marks = {layer.name: layer.mark for layer in checkup.layers}
    assert marks["driver"] is Mark.TROUBLE
    assert marks["hardware"] is Mark.UNKNOWN


def test_a_checkup_asks_for_no_fact_that_imports_pytorch(knowledge: KnowledgeBase) -> None:
    names = names_wanted(knowledge.table("checks"))
    assert {"gpus", "kernel.xids", "libraries.loaded", "host.pci_gpus", "fabric.state"} <= names
    assert not names & {
        "torch.arch_list",
        "torch.cudnn_version",
        "torch.cuda_available",
        "torch.import_error",
    }
    entries = [knowledge.entry(row["entry"]) for row in knowledge.table("checks")]
    assert not names_of_causes(entries) & {"torch.arch_list", "torch.cuda_available", "torch.import_error"}
