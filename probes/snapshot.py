"""A snapshot: the facts of a machine as a file, taken where the job failed and read where it is diagnosed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from gpuhelp.probes.facts import Facts, FactValue
from gpuhelp.probes.names import FactName, FactType, fact_name
from gpuhelp.probes.redaction import HOST, LOCAL_HOSTS, NOBODY, USER, Identity, redact, redact_value
from gpuhelp.probes.runner import Observation

SCHEMA_VERSION = 1
SOURCE = "snapshot"
OTHER_USER = "<other user>"
# Words of ours, which a person or a machine may happen to be called.
CLOSED_VOCABULARIES = frozenset(
    {"os.platform", "python.manager", "container.kind", "container.daemon", "scheduler.kind"}
)

_PYTHON_TYPES: dict[FactType, tuple[type, ...]] = {
    FactType.TEXT: (str,),
    FactType.INTEGER: (int,),
    FactType.NUMBER: (int, float),
    FactType.FLAG: (bool,),
    FactType.TEXTS: (list,),
    FactType.RECORDS: (list,),
}


class SnapshotError(ValueError):
    """A snapshot that cannot be read; the message is one line for the person who gave it."""


def read_snapshot(text: str) -> Facts:
    """The facts of a snapshot: the full form, or a bare object of facts.

    Names that gpuhelp does not know are passed over, and so are fields of records with a value of another
    type: other tools spell them their own way. Raises SnapshotError: no JSON, another schema version, a fact
    of the wrong type, a bare object without a known name.
    """
    document = _parse(text)
    full = "facts" in document or "schema_version" in document
    values = _facts_of_full_form(document) if full else document
    known = {name: value for name, value in values.items() if fact_name(name) is not None}
    if values and not known and not full:
        raise SnapshotError(
            f"snapshot: no fact in it has a name that gpuhelp knows (first: {next(iter(values))!r})"
        )
    return Facts.of({name: _checked(name, value) for name, value in known.items()}, SOURCE)


def to_snapshot(
    observation: Observation, taken_at: str, *, identity: Identity | None = None
) -> dict[str, Any]:
    """The snapshot of an observation, ready for JSON, without secrets, user names and host names.

    `taken_at` is an ISO 8601 time. `identity` names what to take out; the default is this person on this
    machine.
    """
    who = identity or Identity.of(os.environ)
    facts = {name: _redacted(name, fact.value, who) for name, fact in observation.facts.items()}
    probes = [
        {
            "id": each.id,
            "status": each.status.value,
            "seconds": each.seconds,
            "detail": redact(each.detail, who),
        }
        for each in observation.reports
    ]
    return {"schema_version": SCHEMA_VERSION, "taken_at": taken_at, "facts": facts, "probes": probes}


def _parse(text: str) -> dict[str, Any]:
    import json

    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as problem:
        where = f" (line {problem.lineno})" if isinstance(problem, json.JSONDecodeError) else ""
        raise SnapshotError(f"snapshot: this is not JSON{where}") from problem
    if not isinstance(document, dict):
        raise SnapshotError("snapshot: a JSON object is expected")
    return document


def _facts_of_full_form(document: Mapping[str, Any]) -> Mapping[str, Any]:
    version = document.get("schema_version")
    if version != SCHEMA_VERSION or isinstance(version, bool):
        raise SnapshotError(
            f"snapshot: schema version {version!r} is not one that this gpuhelp reads ({SCHEMA_VERSION})"
        )
    facts = document.get("facts")
    if not isinstance(facts, dict):
        raise SnapshotError("snapshot: `facts` has to be an object")
    return facts


def _checked(name: str, value: FactValue) -> FactValue:
    """The value, its records without fields that do not fit. Raises SnapshotError for another type."""
    entry = fact_name(name)
    if entry is None or value is None or entry.type is FactType.ANY:
        return value
    if name == "gpu":  # the one GPU of a finding, where the contract's entry is the list of all
        return _record(name, value, entry.fields)
    if not _fits(value, entry.type):
        raise SnapshotError(f"snapshot: {name} has to be {_called(entry)}, not {_json_word(value)}")
    if entry.type is FactType.RECORDS and isinstance(value, list):
        return [_record(f"{name}[{number}]", record, entry.fields) for number, record in enumerate(value)]
    return value


def _record(name: str, record: FactValue, fields: tuple[FactName, ...]) -> FactValue:
    if not isinstance(record, dict):
        raise SnapshotError(f"snapshot: {name} has to be an object, not {_json_word(record)}")
    types = {field.name: field for field in fields}
    kept: dict[str, FactValue] = {}
    for key, value in record.items():
        field = types.get(key)
        if field is not None and value is not None and not _fits(value, field.type):
            continue
        if field is not None and field.type is FactType.RECORDS and isinstance(value, list):
            value = [
                _record(f"{name}.{key}[{number}]", inner, field.fields) for number, inner in enumerate(value)
            ]
        kept[key] = value
    return kept


def _fits(value: FactValue, kind: FactType) -> bool:
    if isinstance(value, bool) and kind is not FactType.FLAG:
        return False
    if not isinstance(value, _PYTHON_TYPES[kind]):
        return False
    return kind is not FactType.TEXTS or all(isinstance(each, str) for each in value)  # type: ignore[union-attr]


def _called(entry: FactName) -> str:
    return f"{entry.type.value} ({entry.unit})" if entry.unit else entry.type.value


def _json_word(value: object) -> str:
    words = {
        str: "text",
        bool: "true or false",
        int: "a number",
        float: "a number",
        list: "a list",
        dict: "an object",
    }
    return words.get(type(value), "null")


def _redacted(name: str, value: FactValue, who: Identity) -> FactValue:
    if name in CLOSED_VOCABULARIES:
        return value
    if name == "env.MASTER_ADDR" and isinstance(value, str):
        return value if value in LOCAL_HOSTS or value.startswith("127.") else HOST
    if name == "scheduler.job_id" and isinstance(value, str):
        value = value.split(".")[0]  # PBS appends the name of its server
    if name == "gpus" and isinstance(value, list):
        value = [_without_users(gpu) for gpu in value]
    return redact_value(value, who)


def _without_users(gpu: FactValue) -> FactValue:
    if not isinstance(gpu, Mapping) or not isinstance(gpu.get("processes"), list):
        return gpu
    return {**gpu, "processes": [_without_user(each) for each in gpu["processes"]]}  # type: ignore[union-attr]


def _without_user(process: FactValue) -> FactValue:
    """`is_self` still tells whose it is."""
    if not isinstance(process, Mapping) or process.get("user") in (None, *NOBODY):
        return process
    return {**process, "user": USER if process.get("is_self") else OTHER_USER}
