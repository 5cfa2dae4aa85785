"""Checks a document against kb/schema.json and says each fault in words an author can act on."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

from gpuhelp.kb.problems import Problem
from gpuhelp.kb.yaml_source import Document, Path


def check_entry(document: Document) -> list[Problem]:
    """Every fault of an entry's form."""
    return list(_faults(document, _schema()))


def check_translation(document: Document) -> list[Problem]:
    """Every fault of the form of an <id>.ko.yaml."""
    schema = _schema()
    return list(_faults(document, {**schema["$defs"]["translation"], "$defs": schema["$defs"]}))


@lru_cache(maxsize=1)
def _schema() -> dict[str, Any]:
    from importlib.resources import files

    text = files("gpuhelp.kb").joinpath("schema.json").read_text("utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


def _faults(document: Document, schema: dict[str, Any]) -> Iterator[Problem]:
    from jsonschema import Draft202012Validator

    for error in Draft202012Validator(schema).iter_errors(document.data):
        where: Path = tuple(error.absolute_path)
        explain = _EXPLAIN.get(str(error.validator), _plain)
        for key, message, hint in explain(error):
            yield document.problem((*where, key) if key else where, message, hint)


Explained = Iterator[tuple[str, str, str]]


def _plain(error: Any) -> Explained:
    yield "", _short(error.message), ""


def _unknown_keys(error: Any) -> Explained:
    from difflib import get_close_matches

    known = sorted(error.schema.get("properties", {}))
    for key in error.instance:
        if key not in known:
            near = get_close_matches(str(key), known, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"known keys: {', '.join(known)}"
            yield str(key), f"unknown key {key!r}", hint


def _missing_key(error: Any) -> Explained:
    for key in error.validator_value:
        if key not in error.instance:
            about = error.schema.get("properties", {}).get(key, {}).get("description", "")
            yield "", f"key {key!r} is missing", about


def _wrong_type(error: Any) -> Explained:
    names = {"string": "text", "object": "a mapping", "array": "a list", "boolean": "true or false"}
    wanted = names.get(error.validator_value, str(error.validator_value))
    hint = "quote it" if error.validator_value == "string" else ""
    yield "", f"must be {wanted}, is {_short(repr(error.instance))}", hint


def _not_in_list(error: Any) -> Explained:
    yield "", f"{error.instance!r} is not allowed", f"one of: {', '.join(map(str, error.validator_value))}"


def _one_of(error: Any) -> Explained:
    keys = [item["required"][0] for item in error.validator_value]
    yield "", f"needs exactly one of {', '.join(keys)}", ""


def _too_short(error: Any) -> Explained:
    yield "", f"has {len(error.instance)}, needs at least {error.validator_value}", ""


def _short(text: str) -> str:
    return text if len(text) <= 120 else text[:117] + "…"


_EXPLAIN: dict[str, Callable[[Any], Explained]] = {
    "additionalProperties": _unknown_keys,
    "required": _missing_key,
    "type": _wrong_type,
    "enum": _not_in_list,
    "oneOf": _one_of,
    "minItems": _too_short,
    "minLength": _too_short,
}
