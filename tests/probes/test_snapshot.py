"""Snapshots: written without names and secrets, read with care."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gpuhelp.probes.facts import Facts, FactValue
from gpuhelp.probes.redaction import Identity
from gpuhelp.probes.registry import ProbeStatus
from gpuhelp.probes.runner import Observation, ProbeReport
from gpuhelp.probes.snapshot import SnapshotError, read_snapshot, to_snapshot

WHO = Identity.named({"alice"}, {"gpu-node-17"})


def snapshot_of(facts: dict[str, FactValue], detail: str = "") -> dict[str, Any]:
    report = ProbeReport("nvml.driver", ProbeStatus.UNAVAILABLE, 0.0123, detail, ("gpus",))
    seen = Observation(Facts.of(facts, "nvml"), (report,))
    return to_snapshot(seen, "2025-01-02T03:04:05Z", identity=WHO)


def test_a_snapshot_has_the_form_of_the_contract() -> None:
    assert snapshot_of({"driver.version": "550.90.07", "driver.error": None}, "no driver") == {
        "schema_version": 1,
        "taken_at": "2025-01-02T03:04:05Z",
        "facts": {"driver.error": None, "driver.version": "550.90.07"},
        "probes": [{"id": "nvml.driver", "status": "unavailable", "seconds": 0.0123, "detail": "no driver"}],
    }


def test_what_was_written_is_read_again() -> None:
    facts: dict[str, FactValue] = {
        "gpus": [
            {"index": 0, "sm": "sm_86", "power_watts": 25.5, "processes": [{"pid": 7, "is_self": True}]}
        ],
        "torch.arch_list": ["sm_80"],
        "torch.cuda_runtime_version": None,
        "os.wsl": False,
    }
    read = read_snapshot(json.dumps(snapshot_of(facts)))
    assert read.values_by_name() == dict(sorted(facts.items()))
    assert {fact.source for fact in read.values()} == {"snapshot"}


def test_a_bare_object_of_facts_is_read() -> None:
    assert read_snapshot('{"gpu.sm": "sm_120", "torch.arch_list": ["sm_80"]}').values_by_name() == {
        "gpu.sm": "sm_120",
        "torch.arch_list": ["sm_80"],
    }
    assert len(read_snapshot("{}")) == 0


def test_names_of_a_later_gpuhelp_are_passed_over() -> None:
    text = json.dumps({"schema_version": 1, "facts": {"driver.version": "550", "quantum.bits": 3}})
    assert list(read_snapshot(text)) == ["driver.version"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "object is expected"),
        ('{"schema_version": 2, "facts": {}}', "schema version 2"),
        ('{"facts": {}}', "schema version None"),
        ('{"schema_version": true, "facts": {}}', "schema version True"),
        ('{"schema_version": 1, "facts": []}', "`facts`"),
        ('{"hello": 1}', "gpuhelp knows"),
        ('{"driver.version": 550}', "driver.version has to be text, not a number"),
        ('{"os.wsl": "yes"}', "os.wsl has to be true or false, not text"),
        ('{"host.ram_total_bytes": true}', r"host.ram_total_bytes has to be integer \(bytes\)"),
        ('{"host.ram_total_bytes": 1.5}', "host.ram_total_bytes"),
        ('{"torch.arch_list": "sm_80"}', "torch.arch_list has to be list of texts"),
        ('{"torch.arch_list": [80]}', "torch.arch_list"),
        ('{"gpus": {"index": 0}}', "gpus has to be list of records, not an object"),
        ('{"gpus": ["RTX"]}', r"gpus\[0\] has to be an object"),
        ('{"gpus": [{"processes": [7]}]}', r"gpus\[0\].processes\[0\] has to be an object"),
        ('{"gpu": ["RTX"]}', "gpu has to be an object"),
    ],
)
def test_a_snapshot_that_cannot_be_read_says_why_in_one_line(text: str, message: str) -> None:
    with pytest.raises(SnapshotError, match=message) as caught:
        read_snapshot(text)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200


def test_a_field_of_a_record_that_does_not_fit_is_not_known() -> None:
    facts = read_snapshot(
        '{"gpus": [{"index": 0, "memory_total_bytes": "24 GB", "processes": [{"pid": "7", "name": "x"}]}]}'
    )
    assert facts["gpus"].value == [{"index": 0, "processes": [{"name": "x"}]}]


def test_names_and_secrets_are_taken_out() -> None:
    text = json.dumps(
        snapshot_of(
            {
                "python.prefix": "/home/alice/job/.venv",
                "env.LD_LIBRARY_PATH": "/data/alice/lib:/opt/gpu-node-17/lib",
                "env.MASTER_ADDR": "10.1.2.3",
                "host.groups": ["alice", "video"],
                "torch.import_error": "OSError: /Users/bob/x hf_abcdefghijklmnopqrstuvwxyz token=abcd1234",
                "gpus": [
                    {
                        "index": 0,
                        "processes": [
                            {"pid": 1, "user": "bob", "is_self": False},
                            {"pid": 2, "user": "alice", "is_self": True},
                        ],
                    }
                ],
            },
            "gpu-node-17 did not answer alice",
        )
    )
    for word in ("alice", "bob", "gpu-node-17", "10.1.2.3", "hf_abc", "abcd1234"):
        assert word not in text
    assert json.loads(text)["facts"]["python.prefix"] == "/home/<user>/job/.venv"
    processes = json.loads(text)["facts"]["gpus"][0]["processes"]
    assert [each["user"] for each in processes] == ["<other user>", "<user>"]


def test_words_of_the_contract_stay_though_somebody_is_called_so() -> None:
    who = Identity.named({"conda", "slurm"}, {"vm", "podman"})
    seen = Observation(Facts.of({"scheduler.kind": "slurm", "container.kind": "podman"}, "x"), ())
    facts = to_snapshot(seen, "2025-01-02T03:04:05Z", identity=who)["facts"]
    assert facts == {"container.kind": "podman", "scheduler.kind": "slurm"}


def test_a_job_id_loses_the_name_of_its_server() -> None:
    assert snapshot_of({"scheduler.job_id": "123.head-node"})["facts"]["scheduler.job_id"] == "123"


def test_a_local_master_is_no_secret() -> None:
    assert snapshot_of({"env.MASTER_ADDR": "localhost"})["facts"]["env.MASTER_ADDR"] == "localhost"
    assert snapshot_of({"env.MASTER_ADDR": "127.0.0.1"})["facts"]["env.MASTER_ADDR"] == "127.0.0.1"
