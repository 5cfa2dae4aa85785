"""Secrets are taken out of every output; names of people and machines out of what is made to be shared."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuhelp.probes.redaction import redact_secrets
from gpuhelp.rendering.privacy import Privacy, without_secrets

RunCommand = Callable[..., Any]

# Put together here, so that no scanner takes them for real ones.
SECRETS = [
    "hf" + "_abcdefghijklmnopqrstuvwxyz012345",
    "gh" + "p_0123456789abcdefghijABCDEFGHIJ0123456",
    "gh" + "o_0123456789abcdefghijABCDEFGHIJ0123456",
    "github" + "_pat_11ABCDEFG0123456789_abcdefghij",
    "gl" + "pat-0123456789abcdefghij",
    "sk" + "-proj-0123456789abcdefghijABCD",
    "xox" + "b-0123456789-abcdefghijklmnop",
    "AK" + "IA0123456789ABCDEF",
    "pypi" + "-AgEIcHlwaS5vcmcCJDAxMjM0NTY3",
    "ey" + "JhbGciOiJIUzI1NiJ9.ey" + "JzdWIiOiIxMjM0NTY3ODkwIn0.abcdefghijk",
]
NAMED = [
    "api_key=Zm9vYmFyYmF6",
    "WANDB_API_KEY: 0123456789abcdef",
    "password = hunter2222",
    "HF_TOKEN=abcdefgh",
    "accessKey='Zm9vYmFyYmF6'",
    "aws_secret = Zm9vYmFyYmF6",
    "https://someone:hunter2222@example.com/simple",
]
PERSON = {"USER": "alice", "HOME": "/home/alice", "HOSTNAME": "heart-of-gold"}
WITH_NAMES = "alice@heart-of-gold:/home/alice/train.py"
FORMATS = ("text", "json", "markdown")


@pytest.mark.parametrize("text", [*SECRETS, *NAMED])
def test_the_quick_look_misses_no_secret(text: str) -> None:
    line = f"before {text} after"
    assert redact_secrets(line) != line
    assert without_secrets(line) == redact_secrets(line)


@given(st.text(max_size=200))
def test_a_text_that_is_passed_over_holds_no_secret(text: str) -> None:
    assert without_secrets(text) == redact_secrets(text)


def test_names_stay_unless_the_output_is_to_be_shared() -> None:
    assert Privacy(PERSON, share=False).text(WITH_NAMES) == WITH_NAMES
    shared = Privacy(PERSON, share=True).text(WITH_NAMES)
    assert "alice" not in shared
    assert "heart-of-gold" not in shared


def test_data_is_cleaned_through_and_through() -> None:
    data = {"a": [f"x {SECRETS[0]}", ("y", {"z": SECRETS[1]})], "n": 3, "none": None, "flag": True}
    cleaned = Privacy({}, share=False).data(data)
    assert "abcdefghij" not in json.dumps(cleaned)
    assert (cleaned["n"], cleaned["none"], cleaned["flag"]) == (3, None, True)


LOG = f"""\
Traceback (most recent call last):
  File "/home/alice/train.py", line 3, in <module>
    login("{SECRETS[0]}")
RuntimeError: made-up engine libfoo stopped in bar on heart-of-gold with {SECRETS[1]}
"""


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("text", [LOG, LOG.replace("made-up engine", "zorble")], ids=["known", "unknown"])
def test_secrets_are_in_no_output(gpuhelp: RunCommand, entries: Path, format_: str, text: str) -> None:
    argv = ("--no-probes", "--kb", entries, "--format", format_, "--all")
    ran = gpuhelp(*argv, stdin=text.encode(), environ=PERSON)
    assert ran.status == 1
    assert "<secret>" in ran.out.replace("\\", "")
    for secret in SECRETS[:2]:
        assert secret[6:14] not in ran.out


@pytest.mark.parametrize(
    ("format_", "redact", "named"),
    [("text", False, True), ("json", False, True), ("markdown", False, False)]
    + [(format_, True, False) for format_ in FORMATS],
)
def test_names_are_left_out_of_markdown_and_where_it_is_asked_for(
    gpuhelp: RunCommand, entries: Path, format_: str, redact: bool, named: bool
) -> None:
    argv = ["--no-probes", "--kb", entries, "--format", format_, *(["--redact"] if redact else [])]
    ran = gpuhelp(*argv, stdin=LOG.encode(), environ=PERSON)
    assert ("alice" in ran.out) is named
    assert ("heart-of-gold" in ran.out) is named


def test_a_secret_at_the_place_where_a_line_is_cut_leaves_no_half(gpuhelp: RunCommand, entries: Path) -> None:
    line = "made-up engine libfoo stopped in bar "
    line += "x" * (400 - len(line) - 12) + " " + SECRETS[0]
    ran = gpuhelp("--no-probes", "--kb", entries, stdin=line.encode(), width=120)
    assert "hf" + "_abc" not in ran.out


def test_a_secret_in_a_file_name_is_not_told_on_standard_error(gpuhelp: RunCommand) -> None:
    ran = gpuhelp(f"{SECRETS[0]}.log")
    assert ran.status == 2
    assert SECRETS[0] not in ran.err


LAUNCHED = """\
gpu-node17: RuntimeError: CUDA error: an illegal memory access was encountered
gpu-node17: step 4 failed on gpu-node17
gpu-node18: step 4 done
gpu-node18: step 5 waits
"""


@pytest.mark.parametrize(
    "options", [("--format", "markdown"), ("--format", "json", "--redact"), ("--redact",)]
)
def test_machines_that_the_log_names_are_taken_out_of_what_is_shared(
    gpuhelp: RunCommand, options: tuple[str, ...]
) -> None:
    shown = gpuhelp("--no-probes", *options, stdin=LAUNCHED.encode()).out
    assert "illegal memory access" in shown
    assert "gpu-node17" not in shown


def test_machines_are_named_where_nothing_is_shared(gpuhelp: RunCommand) -> None:
    assert "gpu-node17" in gpuhelp("--no-probes", stdin=LAUNCHED.encode()).out


def test_a_service_before_a_line_is_no_machine() -> None:
    privacy = Privacy({}, share=True, hosts=["ollama", "node7", "10.0.0.5"])
    assert privacy.text("ollama on node7 (10.0.0.5)") == "ollama on <host> (<host>)"
