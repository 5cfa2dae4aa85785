"""Takes secrets, user names and host names out of texts that are made to be shared."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from gpuhelp.probes.facts import FactValue

USER, HOST, SECRET = "<user>", "<host>", "<secret>"
# Names that name nobody. Taking `root` out of a text would only spoil paths.
NOBODY = frozenset(
    {
        "admin", "app", "azureuser", "conda", "data", "default", "docker", "ec2-user", "guest",
        "home", "jetson", "jovyan", "linux", "nobody", "nvidia", "opc", "python", "root", "runner",
        "test", "torch", "ubuntu", "user", "users", "vagrant", "vscode",
    }
)  # fmt: skip
SHORTEST_NAME = 3  # two letters are a word more often than a name
LOCAL_HOSTS = frozenset({"localhost", "localhost.localdomain"})

# The texts are hostile: each repetition that can start at many places is bounded, so that time stays linear.
_BEGIN = r"(?:(?<![A-Za-z0-9])|(?<=[0-9;\[]m)|(?<=%[0-9A-Fa-f]{2}))"
"""No letter or digit stands before a token, unless it ends a colour sequence or a `%3D` of a URL."""
_SECRETS: tuple[tuple[tuple[str, ...], str], ...] = (
    (
        ("hf_", "gho_", "ghp_", "ghs_", "ghu_", "npm_", "gsk_", "r8_"),
        r"(?:hf|gh[opsu]|npm|gsk|r8)_[A-Za-z0-9]{16,}",
    ),
    (("github_pat_",), r"github_pat_[A-Za-z0-9_]{20,}"),
    (
        ("glpat", "xox", "pypi-AgE", "nvapi", "AIza"),
        r"(?:glpat|xox[abprs]|pypi-AgE|nvapi|AIza)[A-Za-z0-9_-]{16,}",
    ),
    (("ya29.", "SG."), r"(?:ya29|SG)\.[A-Za-z0-9_-]{16,}(?:\.[A-Za-z0-9_-]{1,256})?"),
    # OpenAI, Anthropic, Stripe: without a digit it is a name
    (("k-", "k_"), r"[prs]k[-_](?=[\w-]{0,40}\d)[A-Za-z0-9_-]{16,}"),
    (("AKIA", "ASIA"), r"(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
    (("eyJ",), r"eyJ[A-Za-z0-9_-]{8,256}\.[A-Za-z0-9_-]{8,4096}\.[A-Za-z0-9_-]*"),
)
"""Each with stretches of which one stands in every match: without one the expression is not even compiled."""
_SET_TO = r"\\?[\"']?[ \t]{0,8}[=:][ \t]{0,8}\\?[\"']?"
_NAMED = r"(?:api|access|account|private)[_-]?key|secret|passwd|password|passphrase|credential"
_NAMES = ("key", "secret", "passw", "passphrase", "credential")
_NAMED_SECRETS: tuple[tuple[tuple[str, ...], str], ...] = (
    # first, since the name `Authorization: token` would take the word Bearer for the value
    (("authorization",), rf"(?i)(authorization{_SET_TO}(?:bearer|basic|token)[ \t]{{1,8}})[^\s\"',;&]{{8,}}"),
    (("bearer",), r"(?i)(\bbearer[ \t]{1,8})(?=[^\s]{0,80}\d)[A-Za-z0-9._~+/=-]{16,}"),
    (_NAMES, rf"(?i)((?:{_NAMED}){_SET_TO})[^\s\"',;&\\]{{4,}}"),
    # not a count of tokens, not a special token such as <pad>
    (("token",), rf"(?i)(token{_SET_TO})(?!\d+\b|[<\[])[^\s\"',;&\\]{{4,}}"),
    (
        ("--",),
        rf"(?i)(--[a-z-]{{0,20}}(?:{_NAMED}|token)[ \t]{{1,8}})(?=\S{{0,80}}\d)(?!\d+\b)[^\s\"',;&]{{8,}}",
    ),
)
_URL_USER = r"(?i)\b([a-z][a-z0-9+.-]{0,20}://)[^\s/@]{1,256}@"
_SYSLOG_HOST = (
    r"(?m)^((?:[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d|\d{4}-\d\d-\d\dT[\d:.,]{8,18}(?:Z|[+-][\d:]{4,6})?) )"
    r"[\w.-]{1,64}( (?:kernel|[\w./@-]{1,80}(?:\[\d+\])?):)"
)
_HOME = r"(?i)((?:/home|/Users|/scratch|[a-z]:[\\/]+Users)[\\/]+)([^\\/\s:;,\"']+)"


@dataclass(frozen=True, slots=True)
class Identity:
    """The names to take out: of the person and of the machine."""

    users: frozenset[str]
    hosts: frozenset[str]

    @classmethod
    def of(cls, environ: Mapping[str, str], hosts: Iterable[str] = ()) -> Identity:
        """Names in this environment, the host's own, and those of other hosts."""
        users = {environ.get(name, "") for name in ("USER", "LOGNAME", "USERNAME", "SUDO_USER")}
        users.add(re.split(r"[\\/]", environ.get("HOME") or environ.get("USERPROFILE") or "")[-1])
        host = (
            environ.get("HOSTNAME")
            or environ.get("COMPUTERNAME")
            or (os.uname().nodename if hasattr(os, "uname") else "")
        )
        return cls.named(users, (host, host.split(".")[0], *hosts))

    @classmethod
    def named(cls, users: Iterable[str], hosts: Iterable[str]) -> Identity:
        """An identity of these names, without those that name nobody."""
        return cls(
            frozenset(name for name in users if len(name) >= SHORTEST_NAME and name.lower() not in NOBODY),
            frozenset(
                name for name in hosts if len(name) >= SHORTEST_NAME and name.lower() not in LOCAL_HOSTS
            ),
        )


def redact_secrets(text: str) -> str:
    """The text without tokens, keys and passwords."""
    for hints, token in _SECRETS:
        if any(hint in text for hint in hints):
            text = re.sub(_BEGIN + token, SECRET, text)
    lowered = text.lower()
    for hints, named in _NAMED_SECRETS:
        if any(hint in lowered for hint in hints):
            text = re.sub(named, rf"\g<1>{SECRET}", text)
    return re.sub(_URL_USER, rf"\g<1>{SECRET}@", text) if "://" in text and "@" in text else text


def redact(text: str, identity: Identity) -> str:
    """The text without secrets, and without the names of people and machines as far as they are known."""
    text = re.sub(_SYSLOG_HOST, rf"\g<1>{HOST}\g<2>", re.sub(_HOME, _home, redact_secrets(text)))
    for names, mark in ((identity.hosts, HOST), (identity.users, USER)):
        for name in sorted(names, key=len, reverse=True):
            text = re.sub(rf"(?<![\w<]){re.escape(name)}(?![\w>])", mark, text)
    return text


def redact_value(value: FactValue, identity: Identity) -> FactValue:
    """The same for each text in a fact's value."""
    if isinstance(value, str):
        return redact(value, identity)
    if isinstance(value, Mapping):
        return {name: redact_value(each, identity) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [redact_value(each, identity) for each in value]
    return value


def _home(match: re.Match[str]) -> str:
    return match[0] if match[2].lower() in NOBODY else f"{match[1]}{USER}"
