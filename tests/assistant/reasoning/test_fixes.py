"""Fixes fit the machine, are spelled for its shell, and no value of a text becomes part of a command."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuhelp.kb.entry import Cause, Fix, Localized
from gpuhelp.kb.expressions import parse_template
from gpuhelp.probes.facts import Facts
from gpuhelp.reasoning.fixes import fitting, tell, tools_of
from gpuhelp.reasoning.scope import Scope, scope_of

MakeCause = Callable[..., Cause]
MakeFix = Callable[..., Fix]


def scope(facts: dict[str, Any] | None = None, **captured: str) -> Scope:
    known = Facts.of(facts or {}, "test")
    return scope_of(known, captured, tools_of(known), {})


@pytest.mark.parametrize(
    ("when", "facts", "shown"),
    [
        (None, {}, True),
        ("os.platform == 'linux'", {"os.platform": "linux"}, True),
        ("os.platform == 'linux'", {"os.platform": "windows"}, False),
        ("os.platform == 'linux'", {}, True),  # not known is no reason to hide it
        ("env.NCCL_DEBUG is none", {"env.NCCL_DEBUG": "INFO"}, False),
        ("env.NCCL_DEBUG is none", {"env.NCCL_DEBUG": None}, True),
    ],
)
def test_a_fix_that_a_known_fact_makes_useless_is_not_shown(
    cause: MakeCause, fix: MakeFix, when: str | None, facts: dict[str, Any], shown: bool
) -> None:
    given = fix("f", **({"when": when} if when else {}))
    assert (fitting(cause("c", fixes=[given]), scope(facts)) == (given,)) is shown


def test_fixes_come_in_order_of_risk_and_equal_ones_as_listed(cause: MakeCause, fix: MakeFix) -> None:
    risks = ("reboots", "safe", "needs-admin", "restarts-job", "changes-environment", "safe")
    fixes = [fix(f"{risk}-{number}", risk=risk) for number, risk in enumerate(risks)]
    assert [found.id for found in fitting(cause("c", fixes=fixes), scope())] == [
        "safe-1",
        "safe-5",
        "restarts-job-3",
        "changes-environment-4",
        "needs-admin-2",
        "reboots-0",
    ]


@pytest.mark.parametrize(
    ("facts", "pip", "python"),
    [
        ({}, "pip install torch", "python -c x"),
        ({"python.manager": "pip"}, "pip install torch", "python -c x"),
        ({"python.manager": "uv"}, "uv pip install torch", "python -c x"),
        (
            {"python.executable": "/home/user/.venv/bin/python", "python.manager": "uv"},
            "uv pip install --python /home/user/.venv/bin/python torch",
            "/home/user/.venv/bin/python -c x",
        ),
        (
            {"python.executable": "/opt/conda/envs/ml/bin/python", "python.manager": "conda"},
            "/opt/conda/envs/ml/bin/python -m pip install torch",
            "/opt/conda/envs/ml/bin/python -c x",
        ),
        (
            {"python.executable": "/home/user/my env/.venv/bin/python"},
            "'/home/user/my env/.venv/bin/python' -m pip install torch",
            "'/home/user/my env/.venv/bin/python' -c x",
        ),
        (
            {"python.executable": "/tmp/$(reboot)\\x/python"},
            "'/tmp/$(reboot)\\x/python' -m pip install torch",
            "'/tmp/$(reboot)\\x/python' -c x",
        ),
        (
            {"python.executable": "C:\\venv\\Scripts\\python.exe", "os.platform": "windows"},
            "C:\\venv\\Scripts\\python.exe -m pip install torch",
            "C:\\venv\\Scripts\\python.exe -c x",
        ),
        (
            {"python.executable": "C:\\Program Files (x86)\\py\\python.exe", "os.platform": "windows"},
            '"C:\\Program Files (x86)\\py\\python.exe" -m pip install torch',
            '"C:\\Program Files (x86)\\py\\python.exe" -c x',
        ),
        (
            {"python.executable": "C:\\Users\\me\\my env\\python.exe", "python.manager": "uv"},
            'uv pip install --python "C:\\Users\\me\\my env\\python.exe" torch',
            '"C:\\Users\\me\\my env\\python.exe" -c x',
        ),
        ({"python.executable": 'C:\\a"&calc&"\\python.exe'}, "python -m pip install torch", "python -c x"),
        ({"python.executable": "C:\\$(calc)\\python.exe"}, "python -m pip install torch", "python -c x"),
        ({"python.executable": "/a\nb/python"}, "python -m pip install torch", "python -c x"),
        ({"python.executable": None, "python.manager": None}, "pip install torch", "python -c x"),
    ],
)
def test_pip_and_python_are_spelled_for_this_machine(
    fix: MakeFix, facts: dict[str, Any], pip: str, python: str
) -> None:
    given = fix(
        "f", commands=["{{ pip }} install torch"], proof="{{ python }} -c x", undo="{{ pip }} install torch"
    )
    told = tell(given, scope(facts), "en")
    assert (told.commands, told.proof, told.undo) == ((pip,), python, pip)


def test_a_told_fix_holds_this_machines_values(fix: MakeFix) -> None:
    given = fix(
        "f",
        title="Driver {{ driver.version }}",
        explain="needs {{ requested }}",
        commands=["kill {{ gpus[0].index }}", "echo {{ driver.version }}"],
        code="x = 1\n",
        expect="{{ torch.version }}",
    )
    told = tell(given, scope({"driver.version": "550.1", "gpus": [{"index": 3}]}, requested="2.00 GiB"), "en")
    assert (told.title, told.explain, told.code) == ("Driver 550.1", "needs 2.00 GiB", "x = 1")
    assert told.commands == ("kill 3", "echo 550.1")
    assert told.expect == "<torch.version>"


def test_a_language_without_text_falls_back_to_english(fix: MakeFix) -> None:
    given = fix("f", title="in English")
    given.title.by_language["ko"] = parse_template("한국어")  # type: ignore[index]
    assert [tell(given, scope(), language).title for language in ("ko", "en", "fr")] == [
        "한국어",
        "in English",
        "in English",
    ]


@pytest.mark.parametrize(
    "value",
    [
        "x`reboot`",
        "$(reboot)",
        "x; reboot",
        "x && reboot",
        "x | sh",
        "x\nreboot",
        "x\rreboot",
        "x > /etc/passwd",
        "x' 'y",
        'x"y',
        "!reboot",
        "(reboot)",
        "--index-url=http://evil",
        "-r",
        "git+https://evil/x",
        "\x1b[2Jx",
        "x\\",
    ],
)
@pytest.mark.parametrize("where", ["captured", "fact", "list", "gpu"])
def test_a_value_that_a_shell_would_act_on_stays_out_of_commands(
    fix: MakeFix, value: str, where: str
) -> None:
    name = {"captured": "library", "fact": "driver.error", "list": "torch.arch_list", "gpu": "gpu.name"}[
        where
    ]
    facts: dict[str, Any] = {
        "driver.error": value,
        "torch.arch_list": [value],
        "gpus": [{"index": 0, "name": value}],
    }
    given = fix(
        "f",
        commands=[f"{{{{ pip }}}} install {{{{ {name} }}}}"],
        proof=f"x {{{{ {name} }}}}",
        explain="{{ library }}",
    )
    told = tell(given, scope(facts, library=value), "en")
    placeholder = "<?>" if where == "list" else f"<{name}>"
    if where == "list":
        assert told.commands[0] in ("pip install <?>", "pip install <torch.arch_list>")
    else:
        assert (told.commands, told.proof) == ((f"pip install {placeholder}",), f"x {placeholder}")
    assert told.explain == value.strip()  # a sentence is not run


@pytest.mark.parametrize(
    "value",
    [
        "flash_attn",
        "sm_120",
        "2.00 GiB",
        "-9",
        "550.54.15",
        "/usr/lib/x86_64-linux-gnu:/opt/x",
        "00000000:3b:00.0",
    ],
)
def test_a_plain_value_stands_in_commands_as_it_is(fix: MakeFix, value: str) -> None:
    told = tell(fix("f", commands=["show {{ library }}"]), scope(library=value), "en")
    assert told.commands == (f"show {value}",)


SHOW = Fix(
    id="show",
    title=Localized({"en": []}),
    risk="safe",
    explain=None,
    when=None,
    commands=(tuple(parse_template("show {{ library }}")),),
    code="",
    undo=Localized({"en": []}),
    proof=(),
    expect=Localized({"en": []}),
)


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=30) | st.text(alphabet="ab -\\'\"`$();|&\n", max_size=6))
def test_no_captured_value_makes_a_second_command(value: str) -> None:
    (command,) = tell(SHOW, scope(library=value), "en").commands
    assert next(iter(shlex.shlex(command, posix=True, punctuation_chars=True))) == "show"
    assert command == "show <library>" or not set("\n\r;&|<>()`$'\"") & set(command)
