"""A cause is confirmed, likely, possible, unknown or ruled out, and what would decide it is named."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gpuhelp.kb.entry import Cause, Fix
from gpuhelp.probes.facts import Fact, Facts
from gpuhelp.reasoning.judge import Verdict, judge, names_wanted
from gpuhelp.reasoning.scope import Scope, scope_of

MakeCause = Callable[..., Cause]
MakeFix = Callable[..., Fix]
ARCHS = "gpu.sm not in torch.arch_list"


def scope(facts: dict[str, Any], **captured: str) -> Scope:
    return scope_of(Facts.of(facts, "nvml"), captured, {}, {})


@pytest.mark.parametrize(
    ("given", "facts", "verdict", "missing"),
    [
        ({"when": "driver.version is none"}, {"driver.version": None}, "confirmed", ()),
        ({"when": "driver.version is none"}, {"driver.version": "550"}, "ruled_out", ()),
        ({"when": "driver.version is none"}, {}, "unknown", ("driver.version",)),
        ({"when": ARCHS}, {"torch.arch_list": ["sm_80"], "gpus": [{"sm": "sm_120"}]}, "confirmed", ()),
        ({"when": ARCHS}, {"torch.arch_list": ["sm_80"]}, "unknown", ("gpu.sm",)),
        ({"when": ARCHS}, {}, "unknown", ("gpu.sm", "torch.arch_list")),
        ({"when": "os.wsl or driver.version is none"}, {"os.wsl": True}, "confirmed", ()),
        ({"when": "os.wsl and driver.version is none"}, {"os.wsl": False}, "ruled_out", ()),
        ({"when": "os.wsl or driver.version is none"}, {"os.wsl": False}, "unknown", ("driver.version",)),
        (
            {"when": "driver.version is none", "hint": "os.wsl"},
            {"os.wsl": True},
            "likely",
            ("driver.version",),
        ),
        (
            {"when": "driver.version is none", "hint": "os.wsl"},
            {"os.wsl": False},
            "unknown",
            ("driver.version",),
        ),
        (
            {"when": "driver.version is none", "hint": "os.wsl"},
            {"driver.version": "5", "os.wsl": True},
            "ruled_out",
            (),
        ),
        ({"hint": "os.wsl"}, {"os.wsl": True}, "likely", ()),
        ({"hint": "os.wsl"}, {}, "possible", ()),
        ({"weight": 0.7}, {}, "likely", ()),
        ({"weight": 0.7, "hint": "os.wsl"}, {"os.wsl": False}, "possible", ()),
        ({"weight": 0.7, "hint": "os.wsl"}, {}, "likely", ()),
        ({"weight": 0.6, "when": "os.wsl"}, {}, "unknown", ("os.wsl",)),
        ({}, {}, "possible", ()),
        ({"when": "version(driver.version) < version('x')"}, {"driver.version": "5"}, "unknown", ()),
        ({"when": "driver.version < 3"}, {"driver.version": ["odd"]}, "unknown", ()),
    ],
)
def test_each_verdict(
    cause: MakeCause, given: dict[str, Any], facts: dict[str, Any], verdict: str, missing: tuple[str, ...]
) -> None:
    (judgement,) = judge((cause("c", **given),), scope(facts))
    assert (judgement.verdict.value, judgement.missing) == (verdict, missing)


def test_the_best_supported_cause_is_told_first_and_equal_ones_by_weight(cause: MakeCause) -> None:
    causes = (
        cause("out", when="os.wsl == false", weight=0.9),
        cause("light", weight=0.1),
        cause("unknown", when="driver.version is none", weight=0.2),
        cause("light-too", weight=0.1),
        cause("hinted", hint="os.wsl", weight=0.1),
        cause("sure", when="os.wsl", weight=0.05),
    )
    ordered = [judgement.cause.id for judgement in judge(causes, scope({"os.wsl": True}))]
    assert ordered == ["sure", "hinted", "unknown", "light", "light-too", "out"]


def test_values_that_decided_are_told_with_their_source(cause: MakeCause) -> None:
    facts = Facts({"os.wsl": Fact(True, "you"), "gpus": Fact([{"index": 0, "sm": "sm_75"}], "nvml")})
    found = scope_of(facts, {"requested": "2 GiB"}, {}, {})
    (judgement,) = judge((cause("c", when="os.wsl and gpu.sm == 'sm_75' and bytes(requested) > 1"),), found)
    assert [(used.name, used.value, used.source) for used in judgement.used] == [
        ("gpu.sm", "sm_75", "nvml"),
        ("os.wsl", True, "you"),
        ("requested", "2 GiB", "text"),
    ]


def test_a_cause_that_nothing_decided_used_nothing(cause: MakeCause) -> None:
    (judgement,) = judge((cause("c", when="os.wsl and driver.version is none"),), scope({"os.wsl": True}))
    assert (judgement.verdict, judgement.used) == (Verdict.UNKNOWN, ())


def test_every_fact_that_a_cause_asks_for_is_wanted_and_captured_values_are_not(
    cause: MakeCause, fix: MakeFix
) -> None:
    told = fix(
        "f",
        when="os.wsl",
        commands=["{{ pip }} install --index-url {{ torch_index(gpu.sm, driver.cuda_api_version) }}"],
        proof="{{ python }} {{ requested }}",
        title="{{ env.A }}",
        explain="{{ env.B }}",
        undo="{{ env.C }}",
        expect="{{ env.D }}",
    )
    given = cause(
        "c",
        when="torch.version is none and bytes(requested) > 1",
        hint="gpus | length > 1",
        because="{{ host.ram_total_bytes | size }}",
        refuted="{% if os.kernel is known %}{{ container.kind }}{% endif %}",
        fixes=[told],
    )
    assert names_wanted((given,)) == {
        "torch.version", "gpus", "host.ram_total_bytes", "os.kernel", "container.kind", "os.wsl", "gpu.sm",
        "driver.cuda_api_version", "env.A", "env.B", "env.C", "env.D",
    }  # fmt: skip
