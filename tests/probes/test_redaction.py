"""What is taken out of shared texts, and what stays."""

from __future__ import annotations

import time

import pytest

from gpuhelp.probes.redaction import Identity, redact, redact_secrets

WHO = Identity.named({"alice", "root", ""}, {"node17.lab.example", "node17", "localhost"})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("login with hf_aBcDeFgHiJkLmNoPqRsT now", "login with <secret> now"),
        ("ghp_0123456789abcdefghij0123456789abcdef", "<secret>"),
        ("AKIAIOSFODNN7EXAMPLE", "<secret>"),
        ("sk-proj-abcdefgh1234567890abcd", "<secret>"),
        ("password=12345678", "password=<secret>"),
        ("glpat-abcdefghij0123456789", "<secret>"),
        ("WANDB_API_KEY=0123456789abcdef", "WANDB_API_KEY=<secret>"),
        ('"password": "hunter22"', '"password": "<secret>"'),
        (
            "pip install --index-url https://me:secret@host/simple",
            "pip install --index-url https://<secret>@host/simple",
        ),
        ("\x1b[31mhf_aBcDeFgHiJkLmNoPqRsT\x1b[0m", "\x1b[31m<secret>\x1b[0m"),
        ("[31mhf_aBcDeFgHiJkLmNoPqRsT", "[31m<secret>"),
        ("?key%3Dhf_aBcDeFgHiJkLmNoPqRsT", "?key%3D<secret>"),
        ("old_hf_aBcDeFgHiJkLmNoPqRsT", "old_<secret>"),
        ("nvapi-aBcDeFgHiJkLmNoPqRsT0123", "<secret>"),
        ("AI" + "zaSyA0123456789aBcDeFgHiJkLmNoPqRsT", "<secret>"),
        ("Authorization: Basic dXNlcjpodW50ZXIy", "Authorization: Basic <secret>"),
        ("Bearer 0123456789abcdef0123", "Bearer <secret>"),
        (r"{\"token\": \"aBcDeFgHiJ\"}", r"{\"token\": \"<secret>\"}"),
        ("AccountKey=aBcD0123==", "AccountKey=<secret>"),
        ("train --api-key Zx9kq7PwLm --lr 1e-4", "train --api-key <secret> --lr 1e-4"),
        ("Authorization token: eyJhbGciOiJI.eyJzdWIiOiIx.abc", "Authorization token: <secret>"),
    ],
)
def test_secrets_are_taken_out(text: str, expected: str) -> None:
    assert redact_secrets(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "max_tokens: 4096 and 8192 tokens",
        "num_token: 4096 pad_token: <pad>",
        "train --max-new-tokens 4096 --token 12345678 --no-token-type-ids",
        "task-0123456789abcdefgh risk_0123456789abcdefgh",
        "the bearer of this certificate",
        "tokenizer: gpt2-large",
        "hf-internal-testing/tiny-random-gpt2 sk-learn-contrib-packages",
        "bad token:\nLoading checkpoint",
        "special tokens have been added",
        "loss=0.123 sk-learn task_id",
        "sm_86 nvidia-smi GPU-11111111-2222-3333-4444-555555555555",
        "torch-2.6.0+cu124 at /opt/conda/lib",
    ],
)
def test_harmless_words_stay(text: str) -> None:
    assert redact(text, WHO) == text


@pytest.mark.parametrize("piece", ["a-", "a.", "eyJ-", "token ", "token:", "/home/", "sk-", "x://", "hf_"])
def test_a_hostile_text_costs_linear_time(piece: str) -> None:
    text = piece * (400_000 // len(piece))
    started = time.perf_counter()
    redact(text, WHO)
    assert time.perf_counter() - started < 5.0  # a quadratic pattern takes minutes


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/home/alice/x and alice@node17.lab.example", "/home/<user>/x and <user>@<host>"),
        ("/home/student/x", "/home/<user>/x"),
        (r"C:\Users\Bob\x", r"C:\Users\<user>\x"),
        (r'"C:\\Users\\Bob\\x"', r'"C:\\Users\\<user>\\x"'),
        ("alicework stays, alice goes", "alicework stays, <user> goes"),
        ("node17: node170", "<host>: node170"),
        ("root ran /opt/x", "root ran /opt/x"),
        ("localhost:29500", "localhost:29500"),
    ],
)
def test_people_and_machines_lose_their_names(text: str, expected: str) -> None:
    assert redact(text, WHO) == expected


def test_an_identity_is_read_from_the_environment() -> None:
    who = Identity.of({"USER": "alice", "HOME": "/home/bob", "HOSTNAME": "node17.lab.example"})
    assert who.users == {"alice", "bob"}
    assert who.hosts == {"node17.lab.example", "node17"}


def test_the_host_of_a_system_log_line_is_taken_out() -> None:
    nobody = Identity.named((), ())
    assert redact("Jan 16 14:04:39 gpu-node-03 kernel: [1.0] NVRM: x", nobody) == (
        "Jan 16 14:04:39 <host> kernel: [1.0] NVRM: x"
    )
    assert redact("2025-01-16T14:04:39.123+09:00 node7 sshd[12]: x", nobody) == (
        "2025-01-16T14:04:39.123+09:00 <host> sshd[12]: x"
    )
    assert redact("step 10 gpu-node-03 done: ok", nobody) == "step 10 gpu-node-03 done: ok"
