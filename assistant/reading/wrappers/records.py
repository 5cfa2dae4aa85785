"""Lines that are JSON objects: what docker, Kubernetes, journald and structured loggers write."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from json import loads
from typing import Any

from gpuhelp.reading.wrappers.prefixes import Told, tell

_MESSAGES = ("log", "message", "msg", "MESSAGE", "event", "text", "textPayload", "body", "@message")
_EXCEPTIONS = (
    "exc_info", "exception", "stack_trace", "stacktrace", "stack", "traceback", "exc_text",
    "error.stack_trace",
)  # fmt: skip
_INNER = ("fields", "record", "jsonPayload", "error", "err", "data", "span")
"""Objects that hold the message in place of the outer one."""
_FIELDS = {
    "rank": ("rank", "global_rank", "RANK"),
    "local": ("local_rank", "LOCAL_RANK"),
    "host": ("host", "hostname", "_HOSTNAME", "host.name", "nodeName", "pod_name", "podName", "pod"),
    "time": ("time", "timestamp", "ts", "asctime", "@timestamp", "__REALTIME_TIMESTAMP", "t"),
    "pid": ("pid", "process", "process_id", "_PID", "SYSLOG_PID"),
    "level": ("level", "levelname", "severity", "lvl", "log.level", "loglevel", "PRIORITY"),
    "stream": ("stream",),
}
_FIELD_OF = {name: field for field, names in _FIELDS.items() for name in names}
_WITNESSES = frozenset(name for field in ("time", "level", "stream") for name in _FIELDS[field]) | {
    "logger",
    "name",
    "kubernetes",
    "record",
    "nodeName",
    "podName",
    "target",
}
"""An object with a message is a record of a log if one of these stands beside it."""


def record_lines(text: str, told: Told) -> list[str] | None:
    """The lines of the message, and of the exception after it; None if the text is no record of a log."""
    try:
        record = loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict):
        return None
    said = _said(record)
    for inner in _objects(record):
        said += [part for part in _said(inner) if not any(part in known for known in said)]
    exceptions = [part for part in (_text_of(record, _EXCEPTIONS), *_inner_exceptions(record)) if part]
    if not exceptions and not (said and _WITNESSES.intersection(record)):
        return None
    for holder in (record, *_objects(record)):
        _tell_fields(holder, told)
    lines = "\n".join(dict.fromkeys(said + exceptions)).split("\n")
    while len(lines) > 1 and not lines[-1].strip():
        lines.pop()
    return [line.rstrip("\r") for line in lines]


def _objects(record: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for name in _INNER:
        if isinstance(record.get(name), dict):
            yield record[name]


def _inner_exceptions(record: Mapping[str, Any]) -> Iterator[str]:
    for inner in _objects(record):
        yield _text_of(inner, _EXCEPTIONS)


def _said(record: Mapping[str, Any]) -> list[str]:
    message = _text_of(record, _MESSAGES)
    return [message.rstrip("\n")] if message else []


def _text_of(record: Mapping[str, Any], names: tuple[str, ...]) -> str:
    """The first of these values that is text; journald writes what is no UTF-8 as a list of bytes."""
    for name in names:
        value = record.get(name)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, list) and value:
            if all(isinstance(part, str) for part in value):
                return "\n".join(part.rstrip("\n") for part in value)
            if all(isinstance(part, int) and 0 <= part < 256 for part in value):
                return bytes(value).decode("utf-8", "replace")
    return ""


def _tell_fields(record: Mapping[str, Any], told: Told) -> None:
    for name, value in record.items():
        field = _FIELD_OF.get(name)
        if field and (plain := _plain(value)):
            tell(told, field, plain)


def _plain(value: object) -> str:
    """The value as it stood; loguru and ECS keep names and numbers in objects of their own."""
    if isinstance(value, dict):
        value = value.get("id") or value.get("name") or value.get("repr")
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return ""
    return str(value).strip()
