"""The fixes of a cause that fit this machine, filled in and in order of risk. Pure; nothing is ever run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gpuhelp.kb.entry import Cause, Fix, Localized
from gpuhelp.kb.evaluation import render, truth
from gpuhelp.probes.facts import Facts
from gpuhelp.reasoning.scope import Scope

RISKS = ("safe", "restarts-job", "changes-environment", "needs-admin", "reboots")
"""From least to most."""


@dataclass(frozen=True, slots=True)
class ToldFix:
    """A fix in one language, with this machine's values in it. Empty strings where the entry says nothing."""

    id: str
    title: str
    risk: str
    explain: str
    commands: tuple[str, ...]
    code: str
    undo: str
    proof: str
    expect: str


def fitting(cause: Cause, scope: Scope) -> tuple[Fix, ...]:
    """The fixes that no known fact makes useless, least risk first."""
    kept = [fix for fix in cause.fixes if _fits(fix, scope)]
    return tuple(sorted(kept, key=lambda fix: RISKS.index(fix.risk)))


def tell(fix: Fix, scope: Scope, language: str) -> ToldFix:
    """The fix as a person reads it."""

    def text(template: Localized | None) -> str:
        return "" if template is None else render(template.of(language), scope.lookup, scope.functions).strip()

    return ToldFix(
        id=fix.id,
        title=text(fix.title),
        risk=fix.risk,
        explain=text(fix.explain),
        commands=tuple(render(command, scope.lookup, scope.functions).strip() for command in fix.commands),
        code=fix.code.rstrip("\n"),
        undo=text(fix.undo),
        proof=render(fix.proof, scope.lookup, scope.functions).strip(),
        expect=text(fix.expect),
    )


def tools_of(facts: Facts) -> Mapping[str, str]:
    """The names `pip` and `python` as they are spelled on this machine."""
    executable = _known(facts, "python.executable")
    python = _quoted(executable, facts) if executable else "python"
    if _known(facts, "python.manager") == "uv":
        return {"python": python, "pip": f"uv pip --python {python}" if executable else "uv pip"}
    return {"python": python, "pip": f"{python} -m pip" if executable else "pip"}


def _fits(fix: Fix, scope: Scope) -> bool:
    return fix.when is None or truth(fix.when, scope.lookup, scope.functions) is not False


def _known(facts: Facts, name: str) -> str:
    fact = facts.get(name)
    return fact.value if fact is not None and isinstance(fact.value, str) else ""


def _quoted(path: str, facts: Facts) -> str:
    """A path as its shell wants it."""
    if _known(facts, "os.platform") == "windows" or "\\" in path:
        return f'"{path}"' if " " in path else path
    from shlex import quote

    return quote(path)
