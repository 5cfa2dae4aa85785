"""The command line with made-up streams: which command runs, what it reads, how it ends."""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Callable
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import pytest

from gpuhelp.cli import main
from gpuhelp.defect import report_defect
from gpuhelp.terminal import Terminal, language_of

RunCommand = Callable[..., Any]
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
OOM = EXAMPLES / "ddp-oom.log"
HEALTHY = b"epoch 1 loss 0.52\nepoch 2 loss 0.41\n"
FAILURE = b"RuntimeError: made-up engine libfoo stopped in bar\n"
COMMANDS = ("diagnose", "explain", "check", "env", "kb", "chat")


class Stopping(StringIO):
    """An output that ends as soon as something is written to it."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error

    def write(self, text: str) -> int:
        raise self.error


def run_with(out: StringIO, *argv: str, stdin: bytes = HEALTHY) -> tuple[int, str]:
    """Exit status and standard error of a run that writes to `out`."""
    err = StringIO()
    terminal = Terminal(BytesIO(stdin), out, err, {"LANG": "C"}, False, False)
    return main(argv, terminal), err.getvalue()


@pytest.mark.parametrize(
    ("stdin", "status"),
    [(HEALTHY, 0), (FAILURE, 1), (b"ValueError: zorble\n", 1)],
    ids=["healthy", "known", "other"],
)
@pytest.mark.parametrize("format_", ["text", "json", "markdown"])
def test_the_exit_status_says_whether_a_failure_was_found(
    gpuhelp: RunCommand, entries: Path, stdin: bytes, status: int, format_: str
) -> None:
    ran = gpuhelp("--no-probes", "--kb", entries, "--format", format_, stdin=stdin)
    assert (ran.status, ran.err) == (status, "")
    assert ran.out


@pytest.mark.parametrize("stdin", [b"", b"   \n\n\t\n", b"\xef\xbb\xbf"])
@pytest.mark.parametrize(
    ("language", "told"), [("en", "nothing to diagnose"), ("ko", "진단할 내용이 없습니다")]
)
def test_nothing_to_diagnose_is_said_on_standard_error(
    gpuhelp: RunCommand, stdin: bytes, language: str, told: str
) -> None:
    ran = gpuhelp("--lang", language, stdin=stdin)
    assert (ran.status, ran.out) == (0, "")
    assert told in ran.err


def test_a_dash_is_standard_input_among_files(gpuhelp: RunCommand, entries: Path, tmp_path: Path) -> None:
    log = tmp_path / "rank0.log"
    log.write_bytes(HEALTHY)
    ran = gpuhelp(log, "-", "--no-probes", "--kb", entries, "--format", "json", stdin=FAILURE)
    data = json.loads(ran.out)
    assert [source["name"] for source in data["sources"]] == [str(log), "standard input"]
    assert data["findings"][0]["evidence"][0]["source"] == "standard input"


def test_several_files_are_one_incident(gpuhelp: RunCommand, entries: Path, tmp_path: Path) -> None:
    logs = []
    for rank in range(3):
        logs.append(tmp_path / f"rank{rank}.log")
        logs[-1].write_bytes(FAILURE if rank == 1 else HEALTHY)
    ran = gpuhelp("--no-probes", *logs, "--kb", entries, "--format", "json")
    data = json.loads(ran.out)
    assert len(data["sources"]) == 3
    assert len(data["findings"]) == 1
    assert data["findings"][0]["evidence"][0]["source"] == str(logs[1])


@pytest.mark.parametrize(
    "argv",
    [
        ["--format", "json", "diagnose", "{log}", "--no-probes"],
        ["diagnose", "--format", "json", "--no-probes", "{log}"],
        ["{log}", "--no-probes", "--format=json"],
        ["--no-probes", "{log}", "--format", "json"],
        ["--lang", "ko", "--no-probes", "diagnose", "--format", "json", "{log}"],
        ["--no-probes", "--format", "json", "--", "{log}"],
    ],
)
def test_options_stand_before_and_after_the_command_and_the_files(
    gpuhelp: RunCommand, argv: list[str]
) -> None:
    ran = gpuhelp(*(part.format(log=OOM) for part in argv))
    assert ran.status == 1
    assert json.loads(ran.out)["findings"][0]["entry"] == "cuda-oom"


def test_the_value_of_an_option_is_no_command(gpuhelp: RunCommand) -> None:
    ran = gpuhelp("--env", "check", OOM)
    assert ran.status == 2
    assert "check: no such snapshot" in ran.err


def test_a_command_wins_over_a_file_of_its_name(
    gpuhelp: RunCommand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entries: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("check").write_bytes(FAILURE)
    as_command = gpuhelp("check", "--no-probes")
    as_file = gpuhelp("./check", "--no-probes", "--kb", entries)
    after_dashes = gpuhelp("--no-probes", "--kb", entries, "--", "check")
    assert as_command.out.startswith("This machine")
    assert "The made-up engine stopped" in as_file.out
    assert "The made-up engine stopped" in after_dashes.out


@pytest.mark.parametrize(
    ("argv", "english", "korean"),
    [
        (["--frobnicate"], "no such option or argument: --frobnicate", "없는 옵션이나 인자"),
        (["--format", "xml"], "--format cannot be xml; choose from text, json, markdown", "쓸 수 있는 값"),
        (["--format"], "--format needs a value", "값이 필요합니다"),
        (["--no-probes=yes"], "--no-probes takes no value", "값을 줄 수 없습니다"),
        (["kb"], "missing: list|lint|test", "빠진 인자"),
        (
            ["kb", "frobnicate"],
            "list|lint|test|new|try|search|explain-match|coverage|schema|site cannot be frobnicate",
            "frobnicate 값을 쓸 수 없습니다",
        ),
        (["explain"], "missing: ID", "빠진 인자"),
        (["--probe-timeout", "soon"], "--probe-timeout has to be a number of seconds", "초 단위 숫자"),
        (["--probe-timeout", "-1"], "seconds", "초 단위 숫자"),
        (["--probe-timeout", "nan"], "seconds", "초 단위 숫자"),
        (["check", "train.log"], "no such option or argument: train.log", "없는 옵션이나 인자"),
        (["chekc"], "did you mean `gpuhelp check`?", "혹시 `gpuhelp check`입니까?"),
        (["explian"], "did you mean `gpuhelp explain`?", "혹시 `gpuhelp explain`입니까?"),
        (["explain", "cuda-ooom"], "did you mean cuda-oom", "혹시 cuda-oom"),
        (["explain", "zzzzqqqq"], "`gpuhelp kb list` lists them", "`gpuhelp kb list`로"),
        (["kb", "list", "cuda-ooom"], "did you mean cuda-oom", "혹시 cuda-oom"),
        (
            ["--python", "/nowhere/python"],
            "/nowhere/python: no such interpreter",
            "파이썬 실행 파일이 없습니다",
        ),
        (["check", "--python", "/nowhere/python"], "no such interpreter", "파이썬 실행 파일이 없습니다"),
        (["env", "--python", "/nowhere/python"], "no such interpreter", "파이썬 실행 파일이 없습니다"),
        (["--env", "/nowhere/e.json"], "make one with `gpuhelp env > e.json`", "스냅샷 파일이 없습니다"),
        (["check", "--env", "/nowhere/e.json"], "no such snapshot", "스냅샷 파일이 없습니다"),
    ],
)
def test_what_is_wrong_with_the_command_line_is_one_line(
    gpuhelp: RunCommand, argv: list[str], english: str, korean: str
) -> None:
    for language, told in (("en", english), ("ko", korean)):
        ran = gpuhelp(*argv, "--lang", language, stdin=FAILURE)
        assert (ran.status, ran.out) == (2, "")
        assert ran.err.count("\n") == 1
        assert told in ran.err


def test_a_language_that_does_not_exist_is_told_in_english(gpuhelp: RunCommand) -> None:
    ran = gpuhelp("--lang", "fr", OOM)
    assert ran.status == 2
    assert "--lang cannot be fr; choose from en, ko" in ran.err


def test_a_file_that_is_not_there_is_one_line_each(gpuhelp: RunCommand, tmp_path: Path) -> None:
    ran = gpuhelp(tmp_path / "a.log", OOM, tmp_path / "b.log", tmp_path)
    lines = ran.err.splitlines()
    assert (ran.status, ran.out) == (2, "")
    assert [
        str(tmp_path / name) in line for name, line in zip(("a.log", "b.log", ""), lines, strict=True)
    ] == [True] * 3
    assert "folder" in lines[2]


def test_a_file_that_may_not_be_read_is_said_so(gpuhelp: RunCommand, tmp_path: Path) -> None:
    log = tmp_path / "secret.log"
    log.write_bytes(FAILURE)
    log.chmod(0)
    try:
        log.read_bytes()
    except PermissionError:
        ran = gpuhelp(log)
        assert (ran.status, ran.err.count("\n")) == (2, 1)
        assert str(log) in ran.err
    else:
        log.chmod(0o600)
        pytest.skip("this user may read everything")


def test_a_file_that_is_no_text_is_refused(gpuhelp: RunCommand, tmp_path: Path) -> None:
    model = tmp_path / "model.pt"
    model.write_bytes(b"PK\x03\x04\x00\x00" + bytes(range(256)))
    ran = gpuhelp(model)
    assert (ran.status, ran.err.count("\n")) == (2, 1)
    assert "not text" in ran.err


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig"])
def test_a_log_of_windows_powershell_is_read(
    gpuhelp: RunCommand, entries: Path, tmp_path: Path, encoding: str
) -> None:
    text = "RuntimeError: made-up engine libfoo stopped in bar 오류\n"
    marks = {"utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}
    log = tmp_path / "train.log"
    log.write_bytes(marks.get(encoding, b"") + text.encode(encoding))
    ran = gpuhelp(log, "--no-probes", "--kb", entries)
    assert ran.status == 1
    assert "made-up engine libfoo stopped in bar 오류" in ran.out


def test_stray_bytes_cost_nothing(gpuhelp: RunCommand, entries: Path) -> None:
    ran = gpuhelp("--no-probes", "--kb", entries, stdin=b"\xff\xfa\x80 caf\xe9\n" + FAILURE)
    assert ran.status == 1
    assert "The made-up engine stopped" in ran.out


def test_a_hostile_log_steers_no_terminal(gpuhelp: RunCommand, entries: Path) -> None:
    log = (
        "\x1b]0;owned\x07\x1b[2J\x1b[31mmade-up engine libfoo stopped in \x1b[8mbar\u202e\x9b2J\x08\x08\x00\n"
    )
    for argv in (["--color", "never"], ["--format", "markdown"]):
        ran = gpuhelp("--no-probes", "--kb", entries, *argv, stdin=log.replace("\x00", "").encode())
        assert ran.status == 1
        assert re.findall(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", ran.out) == []
    name = gpuhelp("\x1b[31mno\x07such.log")
    assert name.status == 2
    assert "\x1b" not in name.err
    assert "\x07" not in name.err


@pytest.mark.parametrize(("choice", "tty", "colored"), [
    ("always", False, True), ("never", True, False), ("auto", True, True), ("auto", False, False),
])  # fmt: skip
def test_colour_as_asked(gpuhelp: RunCommand, choice: str, tty: bool, colored: bool) -> None:
    ran = gpuhelp(OOM, "--no-probes", "--color", choice, tty=tty)
    assert ("\x1b[" in ran.out) is colored
    assert re.sub(r"\x1b\[[0-9;]*m", "", ran.out) == gpuhelp(OOM, "--no-probes", "--color", "never").out


@pytest.mark.parametrize("environ", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_no_colour_on_a_terminal_that_does_not_want_it(gpuhelp: RunCommand, environ: dict[str, str]) -> None:
    assert "\x1b[" not in gpuhelp(OOM, "--no-probes", tty=True, environ=environ).out


@pytest.mark.parametrize(("language", "usage"), [("en", "usage: gpuhelp"), ("ko", "사용법: gpuhelp")])
def test_help_is_told_in_both_languages(gpuhelp: RunCommand, language: str, usage: str) -> None:
    for argv in (["--help"], ["-h"], *([command, "--help"] for command in COMMANDS), [str(OOM), "--help"]):
        ran = gpuhelp(*argv, "--lang", language)
        assert (ran.status, ran.err) == (0, "")
        assert ran.out.startswith(usage)
        if language == "ko":
            assert not re.search(r"\b(show|arguments|options:|this help)\b", ran.out.replace("[OPTIONS]", ""))


def test_help_names_every_command_and_the_exit_status(gpuhelp: RunCommand) -> None:
    page = gpuhelp("--help").out
    assert all(f"  {command} " in page for command in COMMANDS)
    assert "Exit status: 0" in page


def test_the_version_is_one_line(gpuhelp: RunCommand) -> None:
    from gpuhelp import __version__

    ran = gpuhelp("--version")
    assert (ran.status, ran.out, ran.err) == (0, f"gpuhelp {__version__}\n", "")


@pytest.mark.parametrize(
    ("environ", "language"),
    [
        ({"LANG": "ko_KR.UTF-8"}, "ko"),
        ({"LANG": "en_US.UTF-8"}, "en"),
        ({"LC_ALL": "ko_KR.UTF-8", "LANG": "en_US.UTF-8"}, "ko"),
        ({"LC_ALL": "C", "LANG": "ko_KR.UTF-8"}, "en"),
        ({"LANG": "C"}, "en"),
        ({"LANG": "Korean_Korea.949"}, "ko"),
        ({"LANG": "kok_IN"}, "en"),
    ],
)
def test_the_language_follows_the_locale(gpuhelp: RunCommand, environ: dict[str, str], language: str) -> None:
    assert language_of(environ) == language
    told = "No failure found" if language == "en" else "문제를 찾지 못했습니다"
    assert told in gpuhelp("--no-probes", stdin=HEALTHY, environ={"LANG": "", **environ}).out


def test_lang_wins_over_the_locale(gpuhelp: RunCommand) -> None:
    ran = gpuhelp("--no-probes", "--lang=en", stdin=HEALTHY, environ={"LANG": "ko_KR.UTF-8"})
    assert "No failure found" in ran.out


def test_a_reader_that_leaves_is_an_error_of_nobody() -> None:
    assert run_with(Stopping(BrokenPipeError(errno.EPIPE, "Broken pipe")), "--no-probes") == (0, "")


def test_an_interrupt_ends_with_130_and_nothing_else() -> None:
    assert run_with(Stopping(KeyboardInterrupt()), "--no-probes") == (130, "")


def test_a_full_disk_is_no_defect() -> None:
    status, err = run_with(Stopping(OSError(errno.ENOSPC, "No space left on device")), "--no-probes")
    assert (status, err) == (2, "gpuhelp: the answer cannot be written: No space left on device\n")


@pytest.mark.parametrize("error", [ValueError("odd"), OSError(errno.EBADF, "Bad file"), RecursionError()])
def test_a_defect_ends_in_a_report_and_not_in_a_traceback(error: Exception) -> None:
    status, err = run_with(Stopping(error), "--no-probes", "--color=never")
    assert status == 3
    assert err.count("\n") == 1
    assert "Traceback" not in err
    report = Path(err.split(" a report is in ")[1].strip()).read_text(encoding="utf-8")
    assert report.startswith("gpuhelp ")
    assert type(error).__name__ in report
    assert "arguments: --no-probes --color\n" in report


def test_a_report_holds_no_names_no_secrets_and_no_values(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("USER", "alice")
    secret = "hf" + "_abcdefghijklmnopqrstuvwxyz012345"
    _, err = run_with(Stopping(ValueError(f"{secret} of alice in /home/alice/x")), "--no-probes")
    report = Path(err.split(" a report is in ")[1].strip()).read_text(encoding="utf-8")
    assert "alice" not in report
    assert secret not in report


def test_the_wanted_width_is_kept(gpuhelp: RunCommand) -> None:
    narrow, wide = (gpuhelp(OOM, "--no-probes", width=width).out for width in (50, 120))
    assert len(narrow.splitlines()) > len(wide.splitlines())
    assert narrow.split()[:40] == wide.split()[:40]


def test_the_width_is_no_number_of_any_length(monkeypatch: pytest.MonkeyPatch) -> None:
    """int() refuses more than 4300 digits."""
    monkeypatch.setenv("COLUMNS", "9" * 5000)
    assert Terminal.here().width >= 40


@pytest.mark.parametrize("argv", [["a" * 300], ["--kb", "a" * 300, "-"], ["--python", "a" * 300, "-"]])
def test_a_name_that_is_too_long_is_no_defect(gpuhelp: RunCommand, argv: list[str]) -> None:
    ran = gpuhelp(*argv, stdin=b"x")
    assert ran.status == 2
    assert ran.err.count("\n") == 1


def test_a_report_in_a_folder_of_all_follows_no_link(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Whoever may write there could have foreseen the name and put a link in its place."""
    target = tmp_path / "precious"
    target.write_text("mine")
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / f"defect-{os.getpid()}.txt").symlink_to(target)
    monkeypatch.setenv("XDG_STATE_HOME", str(target))
    monkeypatch.setattr("tempfile.tempdir", str(shared))
    path = Path(report_defect(ValueError("x \ud800"), []))
    assert path.parent == shared
    assert "ValueError" in path.read_text("utf-8")
    assert target.read_text() == "mine"
