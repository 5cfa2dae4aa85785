"""Containers, control groups and schedulers."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gpuhelp.probes.cgroups import memory_limits, parse_limit
from gpuhelp.probes.container import container, container_kind, kind_by_cgroup
from gpuhelp.probes.machine import Machine
from gpuhelp.probes.registry import ProbeUnavailable
from gpuhelp.probes.scheduler import parse_mib, scheduler, slurm_memory_bytes

MakeMachine = Callable[..., Machine]
GIB = 1 << 30


@pytest.mark.parametrize(
    ("files", "environ", "kind"),
    [
        ({"/.dockerenv": ""}, {}, "docker"),
        ({"/run/.containerenv": ""}, {}, "podman"),
        ({"/.singularity.d/": ""}, {}, "singularity"),
        ({}, {"APPTAINER_CONTAINER": "/images/x.sif"}, "singularity"),
        ({"/.dockerenv": ""}, {"KUBERNETES_SERVICE_HOST": "10.0.0.1"}, "kubernetes"),
        ({"/var/run/secrets/kubernetes.io/": ""}, {}, "kubernetes"),
        ({"/run/systemd/container": "lxc\n"}, {}, "lxc"),
        ({}, {"container": "podman"}, "podman"),
        ({"/proc/self/cgroup": "12:memory:/docker/0123abcd\n"}, {}, "docker"),
        ({"/proc/self/cgroup": "0::/\n"}, {}, None),
        ({}, {}, None),
    ],
)
def test_a_container_is_known_by_its_marks(
    make_machine: MakeMachine, files: dict[str, str], environ: dict[str, str], kind: str | None
) -> None:
    assert container_kind(make_machine(files, environ=environ)) == kind


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("0::/kubepods.slice/kubepods-burstable.slice/cri-containerd-1.scope", "kubernetes"),
        ("0::/machine.slice/libpod-1.scope", "podman"),
        ("4:memory:/lxc/box", "lxc"),
        ("0::/user.slice/user-1000.slice", None),
    ],
)
def test_a_control_group_may_name_the_container(text: str, kind: str | None) -> None:
    assert kind_by_cgroup(text) == kind


def test_a_container_tells_what_it_was_given(make_machine: MakeMachine) -> None:
    machine = make_machine(
        {
            "/.dockerenv": "",
            "/dev/shm/": "",
            "/dev/nvidia0": "",
            "/dev/nvidiactl": "",
            "/proc/self/cgroup": "0::/\n",
            "/sys/fs/cgroup/memory.max": f"{8 * GIB}\n",
        }
    )
    facts = dict(container(machine))
    assert isinstance(facts.pop("container.shm_bytes"), int)
    assert facts == {
        "container.kind": "docker",
        "container.gpu_devices": ["/dev/nvidia0", "/dev/nvidiactl"],
        "container.memory_limit_bytes": 8 * GIB,
    }


def test_outside_a_container_all_is_looked_and_there_is_none(make_machine: MakeMachine) -> None:
    assert set(container(make_machine()).values()) == {None}


def test_a_container_of_another_kind_is_not_none(make_machine: MakeMachine) -> None:
    with pytest.raises(ProbeUnavailable, match="systemd-nspawn"):
        container(make_machine({"/run/systemd/container": "systemd-nspawn\n"}))


def test_other_systems_are_not_asked(make_machine: MakeMachine) -> None:
    with pytest.raises(ProbeUnavailable):
        container(make_machine(platform="windows"))


@pytest.mark.parametrize(
    ("text", "limit"), [("max\n", None), (f"{GIB}\n", GIB), ("9223372036854771712\n", None), ("", None)]
)
def test_a_limit_is_a_number_below_no_limit(text: str, limit: int | None) -> None:
    assert parse_limit(text) == limit


def test_each_level_of_a_v2_group_limits(make_machine: MakeMachine) -> None:
    machine = make_machine(
        {
            "/proc/self/cgroup": "0::/system.slice/job.scope\n",
            "/sys/fs/cgroup/system.slice/memory.max": f"{4 * GIB}\n",
            "/sys/fs/cgroup/system.slice/job.scope/memory.max": "max\n",
        }
    )
    assert memory_limits(machine) == (4 * GIB,)


def test_a_v1_group_is_found_under_its_own_mount(make_machine: MakeMachine) -> None:
    machine = make_machine(
        {
            "/proc/self/cgroup": "11:cpu,cpuacct:/x\n4:memory:/docker/0123abcd\n",
            "/sys/fs/cgroup/memory/memory.limit_in_bytes": f"{2 * GIB}\n",
        }
    )
    assert memory_limits(machine) == (2 * GIB,)


def test_no_limit_is_not_the_same_as_no_answer(make_machine: MakeMachine) -> None:
    unlimited = make_machine({"/proc/self/cgroup": "0::/x\n", "/sys/fs/cgroup/x/memory.max": "max\n"})
    assert memory_limits(unlimited) == ()
    assert memory_limits(make_machine({"/proc/self/cgroup": "0::/y\n"})) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [("4096", 4 * GIB), ("4096M", 4 * GIB), ("4G", 4 * GIB), ("1t", 1024 * GIB), ("", None), ("all", None)],
)
def test_slurm_counts_memory_in_mib(text: str, expected: int | None) -> None:
    assert parse_mib(text) == expected


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"SLURM_MEM_PER_NODE": "65536"}, 64 * GIB),
        ({"SLURM_MEM_PER_CPU": "2048", "SLURM_CPUS_ON_NODE": "8"}, 16 * GIB),
        ({"SLURM_MEM_PER_GPU": "32768", "SLURM_GPUS_ON_NODE": "2"}, 64 * GIB),
        ({"SLURM_MEM_PER_GPU": "32768"}, None),
        ({"SLURM_MEM_PER_NODE": "0"}, None),
        ({"SLURM_MEM_PER_CPU": "2048"}, None),
        ({}, None),
    ],
)
def test_slurm_tells_the_memory_of_a_job_on_its_node(environ: dict[str, str], expected: int | None) -> None:
    assert slurm_memory_bytes(environ) == expected


def test_the_smaller_of_grant_and_control_group_limits_a_job(make_machine: MakeMachine) -> None:
    machine = make_machine(
        {"/proc/self/cgroup": "0::/slurm/job_7\n", "/sys/fs/cgroup/slurm/job_7/memory.max": f"{32 * GIB}\n"},
        environ={"SLURM_JOB_ID": "7", "SLURM_MEM_PER_NODE": "65536"},
    )
    assert scheduler(machine) == {
        "scheduler.kind": "slurm",
        "scheduler.job_id": "7",
        "scheduler.memory_limit_bytes": 32 * GIB,
    }


@pytest.mark.parametrize(
    ("environ", "kind", "job_id"),
    [
        ({"PBS_JOBID": "12.head"}, "pbs", "12.head"),
        ({"KUBERNETES_SERVICE_HOST": "10.0.0.1"}, "kubernetes", None),
        ({}, None, None),
    ],
)
def test_other_schedulers_are_known_by_their_environment(
    make_machine: MakeMachine, environ: dict[str, str], kind: str | None, job_id: str | None
) -> None:
    facts = scheduler(make_machine(environ=environ))
    assert (facts["scheduler.kind"], facts["scheduler.job_id"]) == (kind, job_id)


def test_a_scheduler_we_do_not_know_is_not_none(make_machine: MakeMachine) -> None:
    with pytest.raises(ProbeUnavailable):
        scheduler(make_machine(environ={"LSB_JOBID": "9"}))
