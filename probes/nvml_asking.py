"""How the NVML child asks: one call at a time, announced before it is made, watched while it runs.

Runs in the child only; nothing but the standard library is imported.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

STUCK = 3  # exit status of a child that gave up on a call
UNREADABLE = -1  # in place of an NVML error code: the answer is none
NVML_ERROR_INVALID_ARGUMENT = 2
NVML_ERROR_NOT_SUPPORTED = 3
NVML_ERROR_NOT_FOUND = 6
NVML_ERROR_LIBRARY_NOT_FOUND = 12
NVML_ERROR_FUNCTION_NOT_FOUND = 13
NVML_ERROR_GPU_IS_LOST = 15
NVML_ERROR_RESET_REQUIRED = 16
NVML_ERROR_UNKNOWN = 999  # the highest
POLL_S = 0.02
SLOW = {"nvmlDeviceGetHandleByIndex"}  # its reference: "causes NVML to initialize the target GPU"
LONGER = 2  # times the patience, for a GPU that has to wake up
NAME_ROOM = 96  # NVML_DEVICE_NAME_V2_BUFFER_SIZE, NVML_DEVICE_UUID_V2_BUFFER_SIZE
VERSION_ROOM = 80  # NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE
PROCESS_NAME_ROOM = 1024  # what the bindings give nvmlSystemGetProcessName

Record = dict[str, Any]
Sound = Callable[[Any], bool]


def tell(part: Record) -> None:
    """One line, at once: the next call may never return."""
    sys.stdout.write(json.dumps(part) + "\n")
    sys.stdout.flush()


class Session:
    """A started NVML.

    `skip` names calls that are not made, as `FUNCTION@GPU`; `-` stands for no GPU, `*` for any function.

    `failed` gathers, by field, why the last call for it gave nothing: an NVML error code, or UNREADABLE.
    """

    def __init__(self, bindings: Any, skip: frozenset[str], patience_s: float) -> None:
        self.bindings = bindings
        self.skip = skip
        self.failed: Record = {}
        self._give_up_at = float("inf")
        self._patience_s = patience_s

    def watch(self) -> None:
        """End this process if one call takes longer than the patience.

        Nothing within a process can stop a call that hangs in the driver.
        """
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        while True:
            time.sleep(POLL_S)
            if time.monotonic() > self._give_up_at:
                os._exit(STUCK)

    def ask(
        self, field: str, function: str, *arguments: Any, gpu: int | None = None, sound: Sound | None = None
    ) -> Any:
        """What an NVML function returns for `field`; None without an answer, or with one that is not `sound`.

        Any call may fail on any machine: not supported, GPU lost, a function this driver or these bindings do
        not have, memory that was never filled in.
        """
        place = "-" if gpu is None else gpu
        if f"{function}@{place}" in self.skip:
            return None
        tell({"ask": [function, gpu, field]})
        self._give_up_at = time.monotonic() + self._patience_s * (LONGER if function in SLOW else 1)
        try:
            answer = getattr(self.bindings, function)(*arguments)
            whole = answer is not None and (sound is None or sound(answer))
        except self.bindings.NVMLError as error:
            return self._without(field, error.value)
        except AttributeError:
            return self._without(field, NVML_ERROR_FUNCTION_NOT_FOUND)
        except Exception:  # noqa: BLE001  bytes that are no text, sizes that are none: whatever ctypes makes of it
            return self._without(field, UNREADABLE)
        finally:
            self._give_up_at = float("inf")
        if not whole:
            return self._without(field, UNREADABLE)
        return answer

    def _without(self, field: str, why: int) -> None:
        self.failed[field] = why

    def words(self, error: Any) -> str:
        """An NVML error in NVML's own words; the bindings' where the library cannot be asked."""
        text = self.ask("", "nvmlErrorString", error.value, sound=is_text)
        self.failed.pop("", None)
        if text is not None:
            return str(text)
        known = getattr(type(error), "_errcode_to_string", {})  # str(error) may ask the library again
        return str(known.get(error.value, f"NVML error {error.value}"))

    def first(self, field: str, *calls: Callable[[], Any]) -> Any:
        """The first answer of several calls for one field; only if there is none, the field has failed."""
        for call in calls:
            answer = call()
            if answer is not None:
                self.failed.pop(field, None)
                return answer
        return None

    def take_failed(self) -> Record:
        """What failed since the last time, for the next line."""
        failed, self.failed = self.failed, {}
        return {"failed": failed} if failed else {}


def is_text(answer: Any, room: int = NAME_ROOM) -> bool:
    """A text that can be shown, and that ended before its buffer of `room` bytes did."""
    fits = isinstance(answer, str) and len(answer.encode()) < room
    return fits and answer.strip() != "" and answer.isprintable()


def is_version(answer: Any) -> bool:
    """A driver version, e.g. 550.90.07."""
    return is_text(answer, VERSION_ROOM) and answer[0].isdigit()


def within(low: int, high: int) -> Sound:
    """A number that can be meant. Memory that was never filled in holds zeros, or all ones."""
    return lambda answer: low <= answer <= high


def known(**fields: Any) -> Record:
    """The fields that were answered."""
    return {name: value for name, value in fields.items() if value is not None}


class Gpu:
    """One GPU of a session: asks with its handle, and remembers what it answered."""

    def __init__(self, session: Session, index: int, handle: Any) -> None:
        self.session, self.index, self.handle = session, index, handle

    def ask(self, field: str, function: str, *more: Any, sound: Sound | None = None, of: Any = None) -> Any:
        """An answer about this GPU, or about `of`, a part of it."""
        handle = self.handle if of is None else of
        return self.session.ask(field, function, handle, *more, gpu=self.index, sound=sound)

    def text(self, field: str, function: str, of: Any = None) -> Any:
        return self.ask(field, function, sound=is_text, of=of)

    def number(self, field: str, function: str, *more: Any, low: int = 0, high: int, of: Any = None) -> Any:
        return self.ask(field, function, *more, sound=within(low, high), of=of)
