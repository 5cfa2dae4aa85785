"""Keeps secrets out of every output, and names of people and machines out of shared ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from gpuhelp.rendering.layout import clip

LONGEST_QUOTE = 400
"""Columns of a line of a log, or of what a program said, that a person reads."""
_PREFIXES = (
    "hf_", "hf-", "sk-", "sk_", "rk_", "rk-", "pk_", "pk-", "ghp_", "ghp-", "gho_", "gho-", "ghs_", "ghs-",
    "ghu_", "ghu-", "glpat", "xox", "pypi-", "pypi_", "github_pat", "npm_", "gsk_", "r8_", "nvapi",
    "AIza", "ya29.", "SG.", "AKIA", "ASIA", "eyJ", "@",
)  # fmt: skip
_NAMES = (
    "token", "secret", "passw", "api_key", "api-key", "apikey", "access_key", "access-key", "accesskey",
    "account_key", "account-key", "accountkey", "private_key", "private-key", "privatekey", "passphrase",
    "credential", "authorization",
)  # fmt: skip
"""A text without any of these holds no secret that gpuhelp.probes.redaction would know; most texts hold none.
A name gives a secret away only where a value stands beside it."""


class Privacy:
    """What to take out of texts: always secrets; names too where the output is made to be shared.

    `hosts` are machines that the texts name, beside this one.
    """

    def __init__(self, environ: Mapping[str, str], *, share: bool, hosts: Iterable[str] = ()) -> None:
        self._environ = environ
        self._share = share
        self._hosts = tuple(host for host in hosts if _is_machine(host))

    def text(self, text: str) -> str:
        """The text as it may be shown."""
        if self._share:
            from gpuhelp.probes.redaction import Identity, redact

            return redact(text, Identity.of(self._environ, self._hosts))
        return without_secrets(text)

    def data(self, value: Any) -> Any:
        """The same for every text in plain data."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {name: self.data(inner) for name, inner in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.data(inner) for inner in value]
        return value


def _is_machine(host: str) -> bool:
    """Whether it names one machine: a service such as `ollama` before a line has neither digit nor dot."""
    return any(sign.isdigit() or sign == "." for sign in host)


def cut(text: str, width: int = LONGEST_QUOTE) -> str:
    """The beginning of a text, in columns. Secrets go first: half a token is still a part of one."""
    return clip(without_secrets(text.strip()), width)


def without_secrets(text: str) -> str:
    """The text without tokens, keys and passwords: what every output is, whoever is to read it."""
    if _may_hold_secret(text):
        from gpuhelp.probes.redaction import redact_secrets

        return redact_secrets(text)
    return text


def _may_hold_secret(text: str) -> bool:
    if any(prefix in text for prefix in _PREFIXES):
        return True
    lowered = text.lower()
    named = "=" in text or ":" in text or "--" in text
    return "bearer" in lowered or (named and any(name in lowered for name in _NAMES))
