"""What people read, byte for byte. Deterministic: no clock, no machine, no names, 80 columns, no colour."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO, StringIO
from pathlib import Path

import pytest

from gpuhelp import __version__
from gpuhelp.cli import main
from gpuhelp.terminal import Terminal

INPUTS = Path(__file__).parent / "inputs"
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
FACTS = INPUTS / "rtx-5090.facts.json"
Compare = Callable[[str, str], None]
CASES: dict[str, tuple[Path, tuple[str, ...]]] = {
    **{
        name: (EXAMPLES / f"{name}.log", ())
        for name in (
            "dataloader-shm",
            "ddp-oom",
            "device-assert",
            "driver-mismatch",
            "no-kernel-image",
            "xid-79",
        )
    },
    "no-kernel-image-with-facts": (EXAMPLES / "no-kernel-image.log", ("--env", str(FACTS))),
    "no-kernel-image-all": (EXAMPLES / "no-kernel-image.log", ("--all", "--env", str(FACTS))),
    "unknown-failure": (INPUTS / "unknown-failure.log", ()),
    "python-exception": (INPUTS / "python-exception.log", ()),
    "root-elsewhere": (INPUTS / "root-elsewhere.log", ()),
    "killed": (INPUTS / "killed.log", ()),
    "healthy": (INPUTS / "healthy.log", ()),
    "question-korean": (INPUTS / "question-korean.txt", ()),
}


def rendered(log: Path, *argv: str) -> str:
    """The standard output of a diagnosis of standard input."""
    out, err = StringIO(), StringIO()
    terminal = Terminal(
        BytesIO(log.read_bytes()), out, err, {"LANG": "C", "USER": "student"}, False, False, 80
    )
    status = main(["--no-probes", "--color", "never", *argv], terminal)
    assert err.getvalue() == ""
    assert status in (0, 1)
    return out.getvalue()


@pytest.mark.parametrize("language", ["en", "ko"])
@pytest.mark.parametrize("case", sorted(CASES))
def test_the_text_is_as_it_was_looked_at(golden: Compare, case: str, language: str) -> None:
    log, argv = CASES[case]
    golden(f"{case}.{language}.txt", rendered(log, "--lang", language, *argv))


@pytest.mark.parametrize("language", ["en", "ko"])
def test_the_markdown_is_as_it_was_looked_at(golden: Compare, language: str) -> None:
    argv = ("--lang", language, "--format", "markdown", "--env", str(FACTS))
    golden(f"no-kernel-image.{language}.md", rendered(EXAMPLES / "no-kernel-image.log", *argv))


def test_the_json_is_as_it_was_looked_at(golden: Compare) -> None:
    text = rendered(EXAMPLES / "no-kernel-image.log", "--lang", "en", "--format", "json", "--env", str(FACTS))
    golden("no-kernel-image.en.json", text.replace(f'"{__version__}"', '"VERSION"'))


@pytest.mark.parametrize("language", ["en", "ko"])
def test_the_checkup_is_as_it_was_looked_at(golden: Compare, language: str) -> None:
    out, err = StringIO(), StringIO()
    terminal = Terminal(BytesIO(), out, err, {}, False, False, 80)
    assert main(["check", "--env", str(FACTS), "--lang", language], terminal) == 1
    golden(f"check.{language}.txt", out.getvalue())


def test_no_render_is_left_over() -> None:
    named = {f"{case}.{language}.txt" for case in [*CASES, "check"] for language in ("en", "ko")}
    named |= {"no-kernel-image.en.md", "no-kernel-image.ko.md", "no-kernel-image.en.json"}
    assert {path.name for path in (Path(__file__).parent / "renders").iterdir()} == named
