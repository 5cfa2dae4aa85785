"""What the NVML children told, put together: facts, and for each call that failed a few words why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from gpuhelp.probes.facts import FactValue
from gpuhelp.probes.nvml_asking import UNREADABLE
from gpuhelp.probes.processes import Owners

NO_ANSWER = "the driver did not answer"
CRASHED = "the driver library crashed"
MAX_TOLD = 12  # a detail is read by a person
UNITS = ("_celsius", "_watts", "_percent", "_bytes")
FIELD_WORDS = {
    "driver.cuda_api_version": "CUDA driver API version",
    "ecc_uncorrected": "ECC errors",
    "ecc_uncorrected_aggregate": "ECC errors of its lifetime",
    "fabric.state": "state of the NVSwitch fabric",
    "gpus": "number of GPUs",
    "handle": "access",
    "mig_instances": "MIG instances",
    "mig_mode": "MIG mode",
    "nvlinks": "NVLinks",
    "pci": "PCI address",
    "pcie_generation": "PCIe generation",
    "pcie_generation_max": "highest PCIe generation",
    "pcie_width": "PCIe width",
    "pcie_width_max": "highest PCIe width",
    "row_remap_pending": "remapped rows",
    "topology.links": "paths between GPUs",
    "uuid": "UUID",
}

CODE_WORDS = {  # nvmlReturn_t
    1: "not initialized", 2: "invalid argument", 3: "not supported", 4: "no permission",
    5: "already initialized", 6: "not found", 7: "insufficient size", 8: "external power missing",
    9: "driver not loaded", 10: "timeout", 11: "interrupt problem", 12: "library not found",
    13: "unknown to this driver", 14: "corrupted infoROM", 15: "GPU is lost", 16: "GPU requires reset",
    17: "blocked by the operating system", 18: "version mismatch", 19: "in use", 20: "out of memory",
    21: "no data", 22: "not supported with vGPU", 23: "out of resources", 24: "frequency not supported",
    25: "argument version mismatch", 26: "deprecated", 27: "not ready", 28: "GPU not found",
    29: "invalid state", 30: "reset type not supported", 999: "unknown error",
    UNREADABLE: "the answer makes no sense",
}  # fmt: skip

ALWAYS_THERE = {
    "driver.version", "driver.cuda_api_version", "gpus", "handle", "uuid", "name", "compute_capability",
    "memory", "temperature_celsius", "processes",
}  # fmt: skip
"""Fields that every GPU has: without one of them, something is wrong."""

NOT_MISSED = {"driver_model", "fabric.state", "nvlink_peers"}
"""Fields that only Windows, or machines with NVSwitches, have: that one lacks them says nothing."""

LACKING = {3, 13, 22, 26}
"""Codes that say that a GPU, or its driver, does not have what was asked for."""

Part = Mapping[str, Any]
Call = tuple[str, "int | None", str]


@dataclass(slots=True)
class Account:
    """Grows with each child. `skip` names the calls that the next one has to leave out.

    `troubles` are the calls that never came back, each with NO_ANSWER or CRASHED; `failed` are error codes,
    by GPU (None for the driver) and field.
    """

    start_error: Part | None = None
    started: bool = False
    ended: bool = False
    driver: dict[str, Any] = field(default_factory=dict)
    count: int | None = None
    gpus: dict[int, dict[str, Any]] = field(default_factory=dict)
    done: set[int] = field(default_factory=set)
    together: dict[str, Any] = field(default_factory=dict)
    failed: dict[tuple[int | None, str], int] = field(default_factory=dict)
    troubles: dict[Call, str] = field(default_factory=dict)
    skip: list[str] = field(default_factory=list)
    asked: Call | None = None

    def add(self, parts: Iterable[Part]) -> None:
        """Take in what one child printed."""
        self.asked = None
        for part in parts:
            if "ask" in part:
                function, gpu, name = part["ask"]
                self.started = self.started or function != "nvmlInit"
                self.asked = (function, gpu, name)
                continue
            self.asked = None
            self._take(part)

    def _take(self, part: Part) -> None:
        gpu = part.get("gpu")
        for name, code in part.get("failed", {}).items():
            self.failed[gpu, name] = code
        if "code" in part:
            self.start_error = part
        elif gpu is not None:
            self.gpus.setdefault(gpu, {"index": gpu}).update(part["is"])
            self.done |= {gpu} if part.get("done") else set()
        elif "driver" in part:
            self.driver.update(part["driver"])
            self.count = part.get("count", self.count)
        told = {name: part[name] for name in ("links", "fabric") if name in part}
        self.together = {**told, **self.together}  # later children leave more out
        self.ended = self.ended or bool(part.get("end"))

    def stopped(self, how: str) -> None:
        """The last child did not come to its end; the next one does without the call it was in.

        After a second such call of one GPU, it does without the GPU.
        """
        if self.asked is None:
            return
        function, gpu, _ = self.asked
        again = gpu is not None and any(other == gpu for _, other, _ in self.troubles)
        self.troubles[self.asked] = how
        place = "-" if gpu is None else gpu
        self.skip.append(f"*@{place}" if again else f"{function}@{place}")

    def facts(self, owners: Owners) -> dict[str, FactValue]:
        """Facts of the contract. A GPU that was counted, but not told to its end, has an `error`."""
        if not self.started or self.start_error is not None:
            return {}
        facts: dict[str, FactValue] = {"driver.error": None}
        facts.update({f"driver.{name}": value for name, value in self.driver.items()})
        if self.count is not None:
            facts["gpus"] = [self._gpu(index, owners) for index in range(self.count)]
        if "links" in self.together:
            facts["topology.links"] = self.together["links"]
        if "fabric" in self.together:
            facts["fabric.state"] = self.together["fabric"]
        return facts

    def _gpu(self, index: int, owners: Owners) -> dict[str, FactValue]:
        record = dict(self.gpus.get(index, {"index": index}))
        if index not in self.done:
            silence = next((how for (_, gpu, _), how in self.troubles.items() if gpu == index), NO_ANSWER)
            record.setdefault("error", silence)
        why = next((code for (gpu, _), code in self.failed.items() if gpu == index), None)
        if set(record) == {"index"} and why is not None:
            record["error"] = code_words(why)
        if "processes" in record:
            record["processes"] = [owners.describe(process) for process in record["processes"]]
        return record

    def detail(self) -> str:
        """Which calls failed and why, e.g. "temperature, power (GPU 1): no permission".

        What a GPU simply lacks comes last.
        """
        told: dict[tuple[bool, str, str], list[str]] = {}
        for name, why, code, gpus in self._missing():
            lacking = code in LACKING and name not in ALWAYS_THERE
            if not (lacking and name in NOT_MISSED):
                told.setdefault((lacking, self._where(gpus), why), []).append(field_words(name))
        groups = sorted(told.items(), key=lambda each: each[0][0])
        lines = [f"{', '.join(names)}{where}: {why}" for (_, where, why), names in groups]
        more = [f"and {len(lines) - MAX_TOLD} more"] if len(lines) > MAX_TOLD else []
        return "; ".join(lines[:MAX_TOLD] + more)

    def _missing(self) -> list[tuple[str, str, int | None, list[int | None]]]:
        """Each field that has no value, why in words, its error code if any, and on which GPUs."""
        told: dict[tuple[str, str, int | None], list[int | None]] = {}
        for (_, gpu, name), how in self.troubles.items():
            told.setdefault((name, how, None), []).append(gpu)
        for (gpu, name), code in self.failed.items():
            told.setdefault((name, code_words(code), code), []).append(gpu)
        return [
            (*field, gpus)
            for field, gpus in told.items()
            if not all(self._known(gpu, field[0]) for gpu in gpus)
        ]

    def _known(self, gpu: int | None, name: str) -> bool:
        """Another child was told it."""
        return name in self.gpus.get(gpu, {}) if gpu is not None else name.partition(".")[2] in self.driver

    def _where(self, gpus: list[int | None]) -> str:
        """Which GPUs, where it is not all of them."""
        indices = sorted({gpu for gpu in gpus if gpu is not None})
        if not indices or len(indices) == self.count:
            return ""
        return f" (GPU {', '.join(map(str, indices))})"


def code_words(code: int) -> str:
    return CODE_WORDS.get(code, f"NVML error {code}")


def field_words(name: str) -> str:
    """A field as a person says it: `power_limit_watts` is the power limit."""
    for unit in UNITS:
        name = name.removesuffix(unit)
    return FIELD_WORDS.get(name) or name.replace(".", " ").replace("_", " ")
