"""The small parts of the chat: command lines, completion, reading line by line, the bar, the report."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from gpuhelp.chat.commands import command_of, completions
from gpuhelp.chat.known import bar_text
from gpuhelp.chat.plain import Lines, messages
from gpuhelp.chat.report import save_report
from gpuhelp.chat.screen import message_rows
from gpuhelp.chat.session import Session, step
from gpuhelp.chat.watch import Watch
from gpuhelp.errors import InputError
from gpuhelp.kb.load import KnowledgeBase
from gpuhelp.probes.facts import Facts, FactValue
from gpuhelp.rendering.layout import Row, width_of
from gpuhelp.words import Words

GIB = 1 << 30
EN, KO = Words("en"), Words("ko")
IDS = ("cuda-no-device", "cuda-oom", "host-oom-killed")


def gpu(name: str, free_gib: int) -> dict[str, FactValue]:
    return {"index": 0, "name": name, "memory_free_bytes": free_gib * GIB, "memory_total_bytes": 24 * GIB}


@pytest.mark.parametrize(
    ("message", "command"),
    [
        ("/fix 2", ("fix", "2")),
        ("  /FIX   2  ", ("fix", "2")),
        ("/save my report.md", ("save", "my report.md")),
        ("/", ("", "")),
        ("/usr/bin/python: not found", None),
        ("/train.py:3: error", None),
        ("/help\nsecond line", None),
        ("what does /fix do", None),
    ],
)
def test_a_command_is_told_from_a_text(message: str, command: tuple[str, str] | None) -> None:
    assert command_of(message) == command


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("/e", [("/explain", "/e")]),
        ("/explain oom", [("cuda-oom", "oom"), ("host-oom-killed", "oom")]),
        ("/explain cuda-n", [("cuda-no-device", "cuda-n")]),
        ("/fix ", [("1", ""), ("2", "")]),
        ("/lang k", [("ko", "k")]),
        ("error /e", []),
        ("/e\n", []),
    ],
)
def test_only_commands_are_completed(typed: str, offered: list[tuple[str, str]]) -> None:
    assert list(completions(typed, IDS, 2)) == offered


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("/help\n/quit\n", ["/help", "/quit"]),
        ("Traceback\n  File\nError: x\n\n/fix 1\n", ["Traceback\n  File\nError: x", "/fix 1"]),
        ("KeyError: 1\n\nDuring handling\nError: x\n", ["KeyError: 1\n\nDuring handling\nError: x"]),
        ("\n\nwhy is it slow\n\n", ["why is it slow"]),
        ("Error: x\r\nmore\r\n", ["Error: x\nmore"]),
        ("", []),
    ],
)
def test_lines_become_messages(typed: str, expected: list[str]) -> None:
    lines = Lines(io.BytesIO(typed.encode()))
    assert list(messages(lines, lambda: None)) == expected


@pytest.mark.parametrize(
    ("facts", "text"),
    [
        (None, "looking for a GPU …"),
        ({"gpus": []}, "no GPU found"),
        ({"driver.version": None, "driver.error": "NVML Shared Library Not Found"}, "no GPU found"),
        ({"driver.error": "Driver/library version mismatch"}, "GPU driver: Driver/library version mismatch"),
        ({}, "GPU: could not look"),
        (
            {"driver.version": "550.54", "gpus": [gpu("RTX 3090", 20)]},
            "RTX 3090 · 20.0 GiB free · driver 550.54",
        ),
        (
            {"driver.version": "550.54", "gpus": [gpu("RTX 3090", 20), gpu("RTX 3090", 3)]},
            "2 × RTX 3090 · at least 3.0 GiB free · driver 550.54",
        ),
        ({"gpus": [{"index": 0, "error": "the driver did not answer"}]}, "the driver did not answer"),
    ],
)
def test_the_bar_says_what_is_known_of_the_gpu(facts: dict[str, FactValue] | None, text: str) -> None:
    assert bar_text(None if facts is None else Facts.of(facts, "nvml"), EN, 80) == text


@pytest.mark.parametrize("width", [40, 60, 80])
@pytest.mark.parametrize("words", [EN, KO])
def test_the_bar_fits_and_cuts_the_name_first(width: int, words: Words) -> None:
    values: Mapping[str, FactValue] = {
        "driver.version": "550.54.15",
        "gpus": [gpu("NVIDIA A100-SXM4-80GB MIG 1g.10gb with a name that goes on and on", 9)],
    }
    text = bar_text(Facts.of(values, "nvml"), words, width)
    assert width_of(text) <= width
    assert "9.0 GiB" in text
    assert "…" in text


def test_the_watch_reports_a_look_that_breaks_as_not_known() -> None:
    def look() -> Facts:
        raise OSError("no")

    watch, changes = Watch(look, Facts()), []
    watch.changed = lambda: changes.append(watch.text(EN, 80))
    assert watch.text(EN, 80) == "looking for a GPU …"
    watch.refresh()
    assert watch.join(5)
    assert changes == ["GPU: could not look"]


def test_where_nobody_may_look_the_bar_says_so_or_shows_the_snapshot() -> None:
    assert Watch(None, Facts()).text(EN, 80) == "this machine is not looked at"
    given = Facts.of({"driver.version": "550.54", "gpus": [gpu("RTX 3090", 20)]}, "snapshot")
    assert Watch(None, given).text(EN, 80).startswith("RTX 3090")


def test_a_long_paste_stays_on_the_screen_as_head_and_end(shown: Callable[[Iterable[Row]], str]) -> None:
    message = "\n".join(f"line {number}" for number in range(1, 31))
    assert shown(message_rows(message, EN, 80)).splitlines() == [
        "> line 1", "line 2", "line 3", "line 4", "… 25 lines …", "line 30",
    ]  # fmt: skip
    assert shown(message_rows("why is it slow", EN, 80)) == "> why is it slow"


def test_a_report_is_fit_to_share_and_overwrites_nothing(
    make_session: Callable[..., Session], knowledge: KnowledgeBase, example: Any, tmp_path: Path
) -> None:
    text = example("no-kernel-image") + "\nHF_TOKEN=hf_abcdefghijklmnop1234\n"
    session, _ = step(make_session(probes=False), text)
    assert session.diagnosis is not None
    path = tmp_path / "report.md"
    environ = {"USER": "student", "HOME": "/home/student"}
    assert save_report(str(path), session.diagnosis, KO, knowledge, environ) == str(path)
    text = path.read_text("utf-8")
    assert "cuda-no-kernel-image" in text
    assert "student" not in text
    assert "hf_abc" not in text
    with pytest.raises(InputError, match="이미 있어서"):
        save_report(str(path), session.diagnosis, KO, knowledge, environ)
    assert path.read_text("utf-8") == text
    for impossible in (str(tmp_path / "nowhere" / "x.md"), "a\0b", "~nobody-by-this-name/x.md"):
        with pytest.raises(InputError, match="cannot be written"):
            save_report(impossible, session.diagnosis, EN, knowledge, environ)
