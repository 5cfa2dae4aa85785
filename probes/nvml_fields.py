"""What the NVML child reads of one GPU: each reader asks for a few fields and leaves out what has no answer.

Runs in the child only.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from gpuhelp.probes.nvml_asking import NVML_ERROR_UNKNOWN, UNREADABLE, Gpu, Record, known

EVENT_REASONS = (  # nvmlClocksEventReason*, bit by bit, as nvidia-smi names them
    "gpu_idle", "applications_clocks_setting", "sw_power_cap", "hw_slowdown", "sync_boost",
    "sw_thermal_slowdown", "hw_thermal_slowdown", "hw_power_brake_slowdown", "display_clock_setting",
)  # fmt: skip
NOT_LOWERED = {"gpu_idle"}  # an idle GPU is not held back
TEMPERATURE_GPU = 0  # NVML_TEMPERATURE_GPU
THRESHOLD_SLOWDOWN = 1  # NVML_TEMPERATURE_THRESHOLD_SLOWDOWN
FIELD_MEMORY_TEMPERATURE = 82  # NVML_FI_DEV_MEMORY_TEMP
UNCORRECTED = 1  # NVML_MEMORY_ERROR_TYPE_UNCORRECTED
VOLATILE, AGGREGATE = 0, 1  # NVML_VOLATILE_ECC, NVML_AGGREGATE_ECC
RETIREMENT_CAUSES = (0, 1)  # NVML_PAGE_RETIREMENT_CAUSE_*: several single bit errors, a double bit error
MILLIWATTS_PER_WATT = 1000
MAX_MILLIWATTS = 20_000_000
MAX_CELSIUS = 250
MAX_REASONS = (1 << 16) - 1  # the bits in use end far below
MAX_MEMORY_BYTES = 1 << 45
MAX_COUNT = 1 << 40  # of errors and the like


Reader = Callable[[Gpu], Record]


def identity(gpu: Gpu) -> Record:
    """`uuid`, `name`, `pci`, `compute_capability` and `sm`."""
    fields = known(uuid=gpu.text("uuid", "nvmlDeviceGetUUID"), name=gpu.text("name", "nvmlDeviceGetName"))
    pci = gpu.ask("pci", "nvmlDeviceGetPciInfo", sound=lambda info: pci_address(info) is not None)
    if pci is not None:
        fields["pci"] = pci_address(pci)
    capability = gpu.ask(
        "compute_capability",
        "nvmlDeviceGetCudaComputeCapability",
        sound=lambda pair: 0 < pair[0] < 100 and 0 <= pair[1] < 100,
    )
    if capability is not None:
        major, minor = capability
        fields.update(compute_capability=f"{major}.{minor}", sm=f"sm_{major}{minor}")
    return fields


def pci_address(info: Any) -> str | None:
    """As Linux spells it, e.g. 0000:01:00.0; NVML has eight digits for the domain."""
    raw = info.busId
    text = (raw.decode("ascii") if isinstance(raw, bytes) else str(raw)).lower()
    domain, colon, rest = text.partition(":")
    if not colon or len(rest) < 7 or set(domain + rest) - set("0123456789abcdef:."):
        return None
    return f"{domain[4:] if len(domain) == 8 and domain.startswith('0000') else domain}:{rest}"


def memory(gpu: Gpu) -> Record:
    """Total, used and free, in bytes.

    `used` is without what the driver reserves, as in nvidia-smi, where NVML can.
    """
    info = memory_info(gpu, "memory")
    if info is None:
        return {}
    return {"memory_total_bytes": info.total, "memory_used_bytes": info.used, "memory_free_bytes": info.free}


def memory_info(gpu: Gpu, field: str, of: Any = None) -> Any:
    version = getattr(gpu.session.bindings, "nvmlMemory_v2", None)
    plain = partial(gpu.ask, field, "nvmlDeviceGetMemoryInfo", sound=plausible_memory, of=of)
    newer = partial(gpu.ask, field, "nvmlDeviceGetMemoryInfo", version, sound=plausible_memory, of=of)
    return gpu.session.first(field, *((newer, plain) if version else (plain,)))


def plausible_memory(info: Any) -> bool:
    return bool(0 < info.total <= MAX_MEMORY_BYTES and max(info.used, info.free) <= info.total)


def load(gpu: Gpu) -> Record:
    """Utilization in percent, power and its limit in watts."""
    rates = gpu.ask(
        "utilization_percent", "nvmlDeviceGetUtilizationRates", sound=lambda each: each.gpu <= 100
    )
    drawn = gpu.number("power_watts", "nvmlDeviceGetPowerUsage", high=MAX_MILLIWATTS)
    limit = gpu.number("power_limit_watts", "nvmlDeviceGetEnforcedPowerLimit", high=MAX_MILLIWATTS)
    return known(
        utilization_percent=None if rates is None else rates.gpu,
        power_watts=None if drawn is None else drawn / MILLIWATTS_PER_WATT,
        power_limit_watts=None if limit is None else limit / MILLIWATTS_PER_WATT,
    )


def heat(gpu: Gpu) -> Record:
    """Temperatures in degrees Celsius, and why clocks are lowered."""
    of_gpu = gpu.number("temperature_celsius", "nvmlDeviceGetTemperature", TEMPERATURE_GPU, high=MAX_CELSIUS)
    slowdown = gpu.number(
        "slowdown_temperature_celsius", "nvmlDeviceGetTemperatureThreshold", THRESHOLD_SLOWDOWN,
        low=1, high=MAX_CELSIUS,
    )  # fmt: skip
    return known(
        temperature_celsius=of_gpu,
        memory_temperature_celsius=memory_temperature(gpu),
        slowdown_temperature_celsius=slowdown,
        throttle_reasons=throttle_reasons(gpu),
    )


def memory_temperature(gpu: Gpu) -> Any:
    """NVML answers such a field with an error code of its own. 0 is what GPUs without the sensor tell."""
    field = "memory_temperature_celsius"
    values = gpu.ask(field, "nvmlDeviceGetFieldValues", [FIELD_MEMORY_TEMPERATURE])
    if values is None:
        return None
    why = values[0].nvmlReturn
    if why != 0:
        gpu.session.failed[field] = why if 0 < why <= NVML_ERROR_UNKNOWN else UNREADABLE
        return None
    if not 0 <= values[0].value.uiVal <= MAX_CELSIUS:
        gpu.session.failed[field] = UNREADABLE
        return None
    return values[0].value.uiVal or None


def throttle_reasons(gpu: Gpu) -> Any:
    """Names of the reasons in force. The function had another name before driver 535."""
    field = "throttle_reasons"
    functions = "nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"
    calls = (partial(gpu.number, field, function, high=MAX_REASONS) for function in functions)
    bits = gpu.session.first(field, *calls)
    return None if bits is None else reasons_of(bits)


def reasons_of(bits: int) -> list[str]:
    reasons = (name for bit, name in enumerate(EVENT_REASONS) if bits >> bit & 1)
    return [name for name in reasons if name not in NOT_LOWERED]


def repairs(gpu: Gpu) -> Record:
    """Uncorrected ECC errors, retired pages (before Ampere) and remapped rows (since)."""
    fields: Record = known(
        ecc_uncorrected=ecc(gpu, "ecc_uncorrected", VOLATILE),
        ecc_uncorrected_aggregate=ecc(gpu, "ecc_uncorrected_aggregate", AGGREGATE),
    )
    lists = [
        gpu.ask("retired_pages", "nvmlDeviceGetRetiredPages", cause, sound=lambda pages: len(pages) < 1 << 16)
        for cause in RETIREMENT_CAUSES
    ]
    if all(pages is not None for pages in lists):
        fields["retired_pages"] = sum(map(len, lists))
    rows = gpu.ask("row_remap_pending", "nvmlDeviceGetRemappedRows", sound=plausible_rows)
    if rows is not None:
        corrected, uncorrected, pending, failure = rows
        fields.update(
            remapped_rows=corrected + uncorrected,
            row_remap_pending=bool(pending),
            row_remap_failure=bool(failure),
        )
    return fields


def ecc(gpu: Gpu, field: str, counter: int) -> Any:
    return gpu.number(field, "nvmlDeviceGetTotalEccErrors", UNCORRECTED, counter, high=MAX_COUNT)


def plausible_rows(rows: Any) -> bool:
    corrected, uncorrected, pending, failure = rows
    return bool(corrected < 1 << 20 and uncorrected < 1 << 20 and pending <= 1 and failure <= 1)


def pcie(gpu: Gpu) -> Record:
    """Generation and lanes of the PCIe link, now and at most."""
    asked = (
        ("pcie_generation", "nvmlDeviceGetCurrPcieLinkGeneration", 16),
        ("pcie_generation_max", "nvmlDeviceGetMaxPcieLinkGeneration", 16),
        ("pcie_width", "nvmlDeviceGetCurrPcieLinkWidth", 64),
        ("pcie_width_max", "nvmlDeviceGetMaxPcieLinkWidth", 64),
    )
    answers = {field: gpu.number(field, function, low=1, high=high) for field, function, high in asked}
    return known(**answers)


READERS: tuple[Reader, ...] = (identity, memory, load, heat, repairs, pcie)
