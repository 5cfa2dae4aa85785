"""Every kind of environment tells the right facts by its files alone: no interpreter of it is started."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuhelp.probes.machine import Machine
from gpuhelp.probes.names import fact_name
from gpuhelp.probes.registry import ProbeStatus
from gpuhelp.probes.runner import observe
from tests.probes.fake_environments import ENVIRONMENTS, PYTHON, Environment

WANTED = ("torch.version", "packages.*", "python.version", "extensions.*", "libraries.loaded")
BY_NAME = {each.name: each for each in ENVIRONMENTS}


def laid_out(root: Path, environment: Environment) -> Machine:
    for name, raw in environment.all_files().items():
        path = root / name.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(raw)
    return Machine(environ={}, python=PYTHON, root=root, platform="linux")


@pytest.mark.parametrize("name", BY_NAME)
def test_an_environment_tells_what_is_in_it(tmp_path: Path, name: str) -> None:
    environment = BY_NAME[name]
    facts = observe(WANTED, laid_out(tmp_path, environment)).facts.values_by_name()
    told = {fact: facts[fact] for fact in environment.facts if fact in facts}
    assert told == dict(environment.facts)
    assert [fact for fact in environment.unknown if fact in facts] == []


@pytest.mark.parametrize("name", BY_NAME)
def test_no_probe_of_files_fails_or_tells_what_the_contract_does_not_know(tmp_path: Path, name: str) -> None:
    seen = observe(WANTED, laid_out(tmp_path, BY_NAME[name]))
    assert {each.status for each in seen.reports} <= {ProbeStatus.OK, ProbeStatus.UNAVAILABLE}
    assert [fact for fact in seen.facts if fact_name(fact) is None] == []


def test_an_environment_that_is_gone_is_not_an_environment_without_packages(tmp_path: Path) -> None:
    seen = observe(WANTED, Machine(environ={}, python=PYTHON, root=tmp_path, platform="linux"))
    assert not [fact for fact in seen.facts if fact.startswith(("torch.", "packages.", "python."))]
    assert {each.status for each in seen.reports if each.id != "libraries.search"} == {
        ProbeStatus.UNAVAILABLE
    }
