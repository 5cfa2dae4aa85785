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
    return _faults(document, _schema())


def check_translation(document: Document) -> list[Problem]:
    """Every fault of the form of an <id>.ko.yaml."""
    schema = _schema()
    return _faults(document, {**schema["$defs"]["translation"], "$defs": schema["$defs"]})


def check_added_translation(document: Document) -> list[Problem]:
    """The same for what an entry only adds to another one: any part may be missing."""
    schema = _schema()
    part = {key: value for key, value in schema["$defs"]["translation"].items() if key != "required"}
    return _faults(document, {**part, "$defs": schema["$defs"]})


@lru_cache(maxsize=1)
def _schema() -> dict[str, Any]:
    from importlib.resources import files

    text = files("gpuhelp.kb").joinpath("schema.json").read_text("utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


def _faults(document: Document, schema: dict[str, Any]) -> list[Problem]:
    from jsonschema import Draft202012Validator

    found: dict[Problem, None] = {}
    for error in Draft202012Validator(schema).iter_errors(document.data):
        where: Path = tuple(error.absolute_path)
        for key, message, hint in _EXPLAIN.get(str(error.validator), _plain)(error):
            found[document.problem((*where, key) if key else where, message, hint)] = None
    return list(found)


Explained = Iterator[tuple[str, str, str]]
"""The key below the place of the error ("" for that place itself), what is wrong, what would be right."""


def _plain(error: Any) -> Explained:
    yield "", _short(error.message), f"schema.json: {error.validator} {_short(str(error.validator_value))}"


def _unknown_keys(error: Any) -> Explained:
    from difflib import get_close_matches

    known = sorted(error.schema.get("properties", {}))
    for key in error.instance:
        if key not in known:
            near = get_close_matches(str(key), known, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"known keys: {', '.join(known)}"
            yield str(key), f"unknown key {key!r}", hint


def _missing_key(error: Any) -> Explained:
    at_top = (
        {} if error.absolute_path else _schema()["properties"]
    )  # what depends on `existing` tells no keys
    known = {**at_top, **error.schema.get("properties", {})}
    for key in error.validator_value:
        if key not in error.instance:
            about = known.get(key, {}).get("description", "")
            yield "", f"key {key!r} is missing", about or f"add `{key}:`"


_TYPES = {
    "string": ("text", "quote it"),
    "object": ("a mapping", "write `key: value` below it"),
    "array": ("a list", "write its items below it, each after `- `"),
    "boolean": ("true or false", "write it without quotes"),
    "number": ("a number", "write it without quotes"),
}


def _wrong_type(error: Any) -> Explained:
    wanted, hint = _TYPES[error.validator_value]
    if error.instance is None:
        yield "", f"must be {wanted}, is empty", "write its value, or remove the key"
    else:
        yield "", f"must be {wanted}, is {_short(repr(error.instance))}", hint


def _not_in_list(error: Any) -> Explained:
    allowed = ", ".join(map(str, error.validator_value))
    yield "", f"{_short(repr(error.instance))} is not allowed", f"one of: {allowed}"


def _one_of(error: Any) -> Explained:
    keys = [item["required"][0] for item in error.validator_value]
    if isinstance(error.instance, dict):  # else its type is the fault
        given = [key for key in keys if key in error.instance]
        yield "", f"has {' and '.join(given) or 'none of them'}", f"needs exactly one of {', '.join(keys)}"


def _size(error: Any) -> Explained:
    """Too few or too many items or characters."""
    limit = "at least" if error.validator.startswith("min") else "at most"
    unit = "character" if error.validator.endswith("Length") else "item"
    count = len(error.instance)
    yield "", f"has {count} {unit}{'' if count == 1 else 's'}", f"needs {limit} {error.validator_value}"


def _range(error: Any) -> Explained:
    sign = {"exclusiveMinimum": "greater than", "maximum": "at most"}[error.validator]
    yield "", f"is {error.instance}", f"must be {sign} {error.validator_value}"


def _wrong_form(error: Any) -> Explained:
    rule = _FORMS.get(error.validator_value, f"must match {error.validator_value}")
    yield "", f"{_short(repr(error.instance))} has the wrong form", rule


_FORMS = {
    "^[a-z0-9]+(-[a-z0-9]+)*$": "lower-case words joined by hyphens, like cuda-no-device",
    "^[^\\n]+$": "one line",
    "^[a-z][a-z0-9_]*$": "a lower-case name, like gpu_index",
    "^[a-z][a-z0-9_]*(\\.[A-Za-z0-9_]+)+$": "the name of a fact, like driver.version",
    "^20[0-9]{2}-[01][0-9]-[0-3][0-9]$": "a day, quoted: '2026-11-30'",
    "^https?://[^\\s]+$": "begins with https:// and holds no space",
}
"""What the patterns of schema.json ask for."""


def _repeated(error: Any) -> Explained:
    twice = sorted({str(item) for item in error.instance if error.instance.count(item) > 1})
    yield "", f"{', '.join(twice)} is given twice", "keep one of them"


def _needs_other(error: Any) -> Explained:
    for key, others in error.validator_value.items():
        missing = [other for other in others if other not in error.instance]
        if key in error.instance and missing:
            yield key, f"stands without {', '.join(missing)}", f"add `{missing[0]}:`, or remove `{key}:`"


def _short(text: str) -> str:
    return text if len(text) <= 120 else text[:117] + "…"


_EXPLAIN: dict[str, Callable[[Any], Explained]] = {
    "additionalProperties": _unknown_keys,
    "required": _missing_key,
    "type": _wrong_type,
    "enum": _not_in_list,
    "oneOf": _one_of,
    "minItems": _size,
    "maxItems": _size,
    "minLength": _size,
    "maxLength": _size,
    "minProperties": _size,
    "exclusiveMinimum": _range,
    "maximum": _range,
    "pattern": _wrong_form,
    "uniqueItems": _repeated,
    "dependentRequired": _needs_other,
}
