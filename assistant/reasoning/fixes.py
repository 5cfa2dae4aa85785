"""The fixes of a cause that fit this machine, filled in and in order of risk. Pure; nothing is ever run."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from gpuhelp.kb.entry import Cause, Fix, Localized
from gpuhelp.kb.evaluation import Node, Unknown, render, truth
from gpuhelp.probes.facts import Facts
from gpuhelp.reasoning.scope import Scope

RISKS = ("safe", "restarts-job", "changes-environment", "needs-admin", "reboots")
"""From least to most."""


class ToldFix(NamedTuple):
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
    """The fix as a person reads it. In commands stand no values that a shell would act on."""
    uv, functions = _uv_for(scope), scope.functions_in(language)

    def text(template: Localized | None) -> str:
        return "" if template is None else uv(render(template.of(language), scope.lookup, functions)).strip()

    def command(template: Node) -> str:
        return uv(render(template, lambda name: _inert(scope.lookup(name), name), functions)).strip()

    return ToldFix(
        id=fix.id,
        title=text(fix.title),
        risk=fix.risk,
        explain=text(fix.explain),
        commands=tuple(command(template) for template in fix.commands),
        code=fix.code.rstrip("\n"),
        undo=text(fix.undo),
        proof=command(fix.proof),
        expect=text(fix.expect),
    )


def tools_of(facts: Facts) -> Mapping[str, str]:
    """The names `pip` and `python` as they are spelled on this machine."""
    executable = _known(facts, "python.executable")
    python = _quoted(executable, facts) if executable else "python"
    if _known(facts, "python.manager") == "uv":
        return {"python": python, "pip": "uv pip"}
    return {"python": python, "pip": f"{python} -m pip" if executable else "pip"}


def _fits(fix: Fix, scope: Scope) -> bool:
    return fix.when is None or truth(fix.when, scope.lookup, scope.functions) is not False


def _known(facts: Facts, name: str) -> str:
    fact = facts.get(name)
    return fact.value if fact is not None and isinstance(fact.value, str) else ""


def _uv_for(scope: Scope) -> Callable[[str], str]:
    """Names the interpreter in commands of `uv pip`, which takes it only after the subcommand."""
    python = scope.values.get("python", "python")
    if scope.values.get("pip") != "uv pip" or python == "python":
        return str
    return lambda text: re.sub(_UV_COMMAND, lambda found: f"{found[0]} --python {python}", text)


_UV_COMMAND = r"\buv pip (?:install|uninstall|list|show|freeze|check|tree)\b"
_SPELLED = ("pip", "python")
_ACTIVE = r"[\x00-\x1f\x7f`$;&|<>()\"'!]|^-(?!\d+$)|://|\\$"
"""What makes a value more than a word to a shell or to pip: quotes, substitution, commands, options."""


def _inert(value: object, name: str) -> object:
    """The value, or an unknown one where a shell would do more than read it. The text may be hostile."""
    if name in _SPELLED:
        return value
    if isinstance(value, str):
        return Unknown([name]) if re.search(_ACTIVE, value) else value
    if isinstance(value, Mapping):
        return {key: _inert(item, f"{name}.{key}") for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_inert(item, name) for item in value]
    return value


def _quoted(path: str, facts: Facts) -> str:
    """A path as its shell wants it; a name for it where no quotes would hold it."""
    if _known(facts, "os.platform") == "windows" or re.match(r"[A-Za-z]:\\|\\\\", path):
        if re.search(r"[\x00-\x1f`$%\"]", path):
            return "python"
        return path if re.fullmatch(r"[\w.:\\/+~-]+", path) else f'"{path}"'
    if not path.isprintable():
        return "python"
    from shlex import quote

    return quote(path)
