"""What numbers mean: CUDA errors, exit statuses, signals. Pure look-ups in cuda_errors.yaml, signals.yaml."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_BEYOND_POSIX = 0xFFFF
"""No exit status or signal is larger; what is, is a Windows NTSTATUS, printed with or without sign."""


@dataclass(frozen=True, slots=True)
class CudaError:
    """One CUDA error. entry: id of the entry that explains it; restart: the process must end."""

    code: int
    runtime_name: str | None
    driver_name: str | None
    text: str | None
    entry: str | None
    restart: bool


@dataclass(frozen=True, slots=True)
class Ending:
    """How a process ended. meaning: a sentence per language; entry: where to look first, if that is clear."""

    name: str
    meaning: Mapping[str, str]
    entry: str | None
    signal: int | None = None


def cuda_error(
    errors: Mapping[str, Any], number_or_name: int | str, *, pre_10_1: bool = False
) -> CudaError | None:
    """The error of this number, name (either API) or text as printed; None if there is none.

    pre_10_1: the number comes from a CUDA runtime older than 10.1, which numbered many errors differently.
    """
    key = _integer(number_or_name)
    if key is None:
        return _cuda_error_called(errors, str(number_or_name))
    code = errors.get("before_10_1", {}).get(key) if pre_10_1 else key
    row = next((row for row in errors.get("errors", ()) if row["code"] == code), None)
    return _cuda_error(row) if row else None


def ending(signals: Mapping[str, Any], status: int | str) -> Ending | None:
    """What an exit status says: 137, -9, "SIGKILL", 0xC0000005 (also as decimal); None if not known."""
    number = _integer(status)
    if number is None:
        return _signal_row(signals, "name", str(status).strip().upper())
    if abs(number) > _BEYOND_POSIX:
        return _windows_row(signals, f"0x{number & 0xFFFF_FFFF:08X}")
    exact = next((row for row in signals.get("exit_statuses", ()) if row["code"] == number), None)
    if exact:
        return _ending(exact, f"exit status {number}")
    return _signal_row(signals, "number", -number if number < 0 else number - 128)


def loader_error(signals: Mapping[str, Any], win_error: int | str) -> Ending | None:
    """What a WinError number of a failed DLL load says; None if not known."""
    number = _integer(win_error)
    row = next((row for row in signals.get("windows_loader", ()) if row["code"] == number), None)
    return _ending(row, row["name"]) if row else None


def _integer(value: int | str) -> int | None:
    if isinstance(value, int):
        return value
    text = str(value).strip()
    try:
        return int(text, 16 if text.lower().startswith("0x") else 10) if len(text) <= 20 else None
    except ValueError:
        return None


def _cuda_error_called(errors: Mapping[str, Any], words: str) -> CudaError | None:
    wanted = _folded(words)
    for row in errors.get("errors", ()):
        if wanted and wanted in {_folded(row.get(key)) for key in ("runtime", "driver", "text")}:
            return _cuda_error(row)
    old = next((row for row in errors.get("old_texts", ()) if _folded(row["text"]) == wanted), None)
    return cuda_error(errors, old["code"]) if old else None


def _folded(words: str | None) -> str:
    return " ".join((words or "").split()).casefold().rstrip(".")


def _cuda_error(row: Mapping[str, Any]) -> CudaError:
    return CudaError(
        code=row["code"],
        runtime_name=row.get("runtime"),
        driver_name=row.get("driver"),
        text=row.get("text"),
        entry=row.get("entry"),
        restart=bool(row.get("restart")),
    )


def _signal_row(signals: Mapping[str, Any], key: str, value: object) -> Ending | None:
    row = next((row for row in signals.get("signals", ()) if row[key] == value), None)
    return _ending(row, row["name"], row["number"]) if row else None


def _windows_row(signals: Mapping[str, Any], code: str) -> Ending | None:
    row = next((row for row in signals.get("windows", ()) if row["code"].upper() == code.upper()), None)
    return _ending(row, row["name"]) if row else None


def _ending(row: Mapping[str, Any], name: str, signal: int | None = None) -> Ending:
    return Ending(name, {"en": row["en"], "ko": row["ko"]}, row.get("entry"), signal)
