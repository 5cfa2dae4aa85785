"""Keeps secrets out of every output, and names of people and machines out of shared ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_HINTS = (
    "hf_", "sk-", "sk_", "rk_", "pk_", "ghp_", "gho_", "ghs_", "ghu_", "glpat", "xox", "pypi-", "github_pat", "AKIA",
    "ASIA", "eyJ", "@", "oken", "OKEN", "ecret", "ECRET", "assw", "ASSW", "pi_key", "pi-key", "PI_KEY", "PI-KEY", "pikey",
    "PIKEY", "redential", "REDENTIAL",
)  # fmt: skip
"""A text without any of these holds no secret that gpuhelp.probes.redaction would know; most texts hold none."""


class Privacy:
    """What to take out of texts: always secrets; names too where the output is made to be shared."""

    def __init__(self, environ: Mapping[str, str], *, share: bool) -> None:
        self._environ = environ
        self._share = share

    def text(self, text: str) -> str:
        """The text as it may be shown."""
        if self._share:
            from gpuhelp.probes.redaction import Identity, redact

            return redact(text, Identity.of(self._environ))
        if any(hint in text for hint in _HINTS):
            from gpuhelp.probes.redaction import redact_secrets

            return redact_secrets(text)
        return text

    def data(self, value: Any) -> Any:
        """The same for every text in plain data."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {name: self.data(inner) for name, inner in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.data(inner) for inner in value]
        return value
