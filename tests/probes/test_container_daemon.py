"""The container toolkit, and which Docker daemon the person's docker speaks to."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gpuhelp.probes.container_daemon import container_daemon, daemon_of
from gpuhelp.probes.machine import Machine
from gpuhelp.probes.registry import ProbeUnavailable

MakeMachine = Callable[..., Machine]
HOME = {"HOME": "/home/alice"}
SETTINGS = "/home/alice/.docker/config.json"
USER = {"/proc/self/status": "Name:\tpython\nUid:\t1000\t1000\t1000\t1000\n"}
NATIVE = {"/usr/bin/docker": "", "/usr/bin/dockerd": "", "/var/run/docker.sock": ""}


@pytest.mark.parametrize(
    ("files", "environ", "daemon"),
    [
        (NATIVE, {}, "native"),
        ({"/usr/bin/dockerd": ""}, {}, "native"),
        ({"/snap/bin/docker": "", "/var/run/docker.sock": ""}, {}, "snap"),
        ({**NATIVE, "/snap/bin/docker": ""}, {}, "native"),
        ({"/usr/bin/docker": "", **USER, "/run/user/1000/docker.sock": ""}, {}, "rootless"),
        (NATIVE, {"DOCKER_HOST": "unix:///run/user/1000/docker.sock"}, "rootless"),
        (NATIVE, {"DOCKER_CONTEXT": "rootless"}, "rootless"),
        (NATIVE, {"DOCKER_HOST": "tcp://10.0.0.5:2375"}, "elsewhere"),
        ({**NATIVE, SETTINGS: '{"auths": {}, "currentContext": "desktop-linux"}'}, HOME, "vm"),
        ({**NATIVE, SETTINGS: '{"currentContext": "default"}'}, HOME, "native"),
        ({**NATIVE, SETTINGS: '{"currentContext": "lab"}'}, HOME, "elsewhere"),
        ({**NATIVE, SETTINGS: '{"currentContext": "lab"}'}, {**HOME, "DOCKER_CONTEXT": "default"}, "native"),
        ({**NATIVE, SETTINGS: '{"currentContext": "desk'}, HOME, "native"),
        ({**NATIVE, SETTINGS: "[1]"}, HOME, "native"),
        ({**NATIVE, "/mnt/wsl/docker-desktop/": ""}, {}, "vm"),
        ({}, {}, None),
    ],
)
def test_the_daemon_is_the_one_that_docker_would_choose(
    make_machine: MakeMachine, files: dict[str, str], environ: dict[str, str], daemon: str | None
) -> None:
    assert daemon_of(make_machine(files, environ=environ)) == daemon


def test_a_host_tells_both(make_machine: MakeMachine) -> None:
    told = container_daemon(make_machine({**NATIVE, "/usr/bin/nvidia-ctk": ""}))
    assert told.facts == {"container.toolkit_installed": True, "container.daemon": "native"}


def test_a_host_without_toolkit_and_docker_says_so(make_machine: MakeMachine) -> None:
    told = container_daemon(make_machine())
    assert told.facts == {"container.toolkit_installed": False, "container.daemon": None}


@pytest.mark.parametrize(
    ("files", "environ", "why"),
    [({"/usr/bin/podman": ""}, {}, "podman"), (NATIVE, {"DOCKER_HOST": "ssh://lab"}, "does not tell")],
)
def test_a_daemon_that_is_none_of_the_four_is_not_told(
    make_machine: MakeMachine, files: dict[str, str], environ: dict[str, str], why: str
) -> None:
    told = container_daemon(make_machine(files, environ=environ))
    assert told.facts == {"container.toolkit_installed": False}
    assert why in told.detail


def test_in_a_container_neither_can_be_seen(make_machine: MakeMachine) -> None:
    with pytest.raises(ProbeUnavailable, match="outside this container"):
        container_daemon(make_machine({**NATIVE, "/.dockerenv": ""}))


def test_other_systems_are_not_asked(make_machine: MakeMachine) -> None:
    with pytest.raises(ProbeUnavailable):
        container_daemon(make_machine(platform="macos"))
