"""`gpuhelp kb new`: what is read, asked, written and told; a real error walked to an entry that passes."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Iterator
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import pytest
import yaml

from gpuhelp.cli import main
from gpuhelp.terminal import Terminal

RunCommand = Callable[..., Any]
LIMIT_S = 60
ZETA = "RuntimeError: the zeta engine of rank 3 stopped while coupling\n"
DALI = (
    "Traceback (most recent call last):\n"
    '  File "/home/user/train.py", line 58, in <module>\n'
    "    pipe_out = pipe.run()\n"
    "RuntimeError: Critical error in pipeline:\n"
    "Error when executing GPU operator Rotate encountered:\n"
    "[/opt/dali/dali/pipeline/workspace/workspace.h:419] "
    'Assert on "tensor_meta.storage_device == StorageDevice::GPU" failed: '
    "Input with given index (0) does not have the calling backend type (GPUBackend)\n"
    "Current pipeline object is no longer valid.\n"
)
DIRECTML = (
    "onnxruntime.capi.onnxruntime_pybind11_state.RuntimeException: [ONNXRuntimeError] : 6 : "
    "RUNTIME_EXCEPTION : Non-zero status code returned while running Squeeze node. "
    r"Name:'Squeeze_5478' Status Message: D:\a\_work\1\s\onnxruntime\core\providers\dml"
    r"\DmlExecutionProvider\src\MLOperatorAuthorImpl.cpp(2804)"
    r"\onnxruntime_pybind11_state.pyd!00007FFE88F378A0: (caller: 00007FFE88F03705) Exception(1) tid(4a14) "
    "80070057 The parameter is incorrect.\n"
)
PADDLE = """\
Traceback (most recent call last):
  File "tools/train.py", line 32, in <module>
    engine = Engine(config, mode="train")
  File "/usr/local/lib/python3.7/dist-packages/paddle/device/__init__.py", line 266, in set_device
    place = _convert_to_place(device)
ValueError: The device should not be 'gpu', since PaddlePaddle is not compiled with CUDA
"""


class Typing(BytesIO):
    """A person at the terminal; Ctrl-C where the lines end, if `breaks_off`."""

    def __init__(self, *lines: str, breaks_off: bool = False) -> None:
        super().__init__("".join(f"{line}\n" for line in lines).encode())
        self._breaks_off = breaks_off

    def readline(self, size: int | None = -1, /) -> bytes:
        """The next line."""
        line = super().readline(size)
        if not line and self._breaks_off:
            raise KeyboardInterrupt
        return line


def typed(stdin: BytesIO, *argv: str | Path) -> tuple[int, str, str]:
    """Status, output and errors of a command with a person at the terminal."""
    out, err = StringIO(), StringIO()
    environ = {"LANG": "en_US.UTF-8", "PATH": os.environ.get("PATH", "")}
    status = main([str(part) for part in argv], Terminal(stdin, out, err, environ, True, True))
    return status, out.getvalue(), err.getvalue()


def filled(path: Path) -> None:
    """Every FILL-IN gets a text, as lint asks for; remarks are taken out."""
    text = re.sub(r"  # FILL-IN.*", "", path.read_text("utf-8"))
    text = text.replace("https://FILL-IN", "https://example.com/zeta").replace("echo FILL-IN", "echo zeta")
    numbers: Iterator[int] = iter(range(99))
    text = re.sub(r"FILL-IN", lambda _: f"written {next(numbers)}", text)
    path.write_text(text, "utf-8")


@pytest.mark.parametrize("error", [DALI, DIRECTML, PADDLE], ids=["dali", "directml", "paddle"])
def test_a_real_error_becomes_an_entry_that_passes_by_the_printed_advice(
    gpuhelp: RunCommand, tmp_path: Path, error: str
) -> None:
    log = tmp_path / "error.txt"
    log.write_text(error, "utf-8")
    told = gpuhelp("kb", "new", "zeta-stopped", "--from", log, "--to", tmp_path, "--korean")
    assert (told.status, told.err) == (0, "")
    steps = re.findall(r"^  \d\. gpuhelp (kb .+)$", told.out, re.MULTILINE)
    assert [step.split()[1] for step in steps] == ["lint", "test", "try"]
    named = gpuhelp(*steps[0].split())
    assert named.status == 1
    places = int(re.search(r"\((\d+) places\)", told.out).group(1))  # type: ignore[union-attr]
    assert named.out.count("still to be written") == places
    assert re.search(r"zeta-stopped\.ko\.yaml:1:9: still to be written", named.out)
    for name in ("zeta-stopped.yaml", "zeta-stopped.ko.yaml"):
        filled(tmp_path / name)
    for step in steps:
        ran = gpuhelp(*step.split())
        assert (ran.status, ran.err) == (0, ""), ran.out
    assert "+ zeta-stopped" in ran.out


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "cp949"])
@pytest.mark.parametrize("is_piped", [True, False])
def test_any_encoding_is_read(gpuhelp: RunCommand, tmp_path: Path, encoding: str, is_piped: bool) -> None:
    said = f"경로를 찾을 수 없습니다: 학습 데이터 폴더\r\n{ZETA}"
    log = tmp_path / "error.txt"
    log.write_bytes(said.encode(encoding))
    source = ("--from", "-") if is_piped else ("--from", log)
    stdin = log.read_bytes() if is_piped else b""
    told = gpuhelp("kb", "new", "zeta-stopped", *source, "--to", tmp_path, stdin=stdin)
    assert told.status == 0, told.err
    written = yaml.safe_load((tmp_path / "zeta-stopped.yaml").read_text("utf-8"))
    assert written["examples"][0]["text"] == said.replace("\r\n", "\n")
    assert written["match"] == [{"regex": r"the zeta engine of rank (?P<rank>\d+) stopped while coupling"}]


def test_tokens_do_not_get_into_the_file(gpuhelp: RunCommand, tmp_path: Path) -> None:
    secret = "hf_abcdefghijklmnopqrstuvwxyzABCDEFGH"
    gpuhelp("kb", "new", "zeta", "--to", tmp_path, stdin=f"HF_TOKEN={secret}\n{ZETA}".encode())
    assert secret not in (tmp_path / "zeta.yaml").read_text("utf-8")


def test_without_a_terminal_nothing_is_asked(gpuhelp: RunCommand, tmp_path: Path) -> None:
    told = gpuhelp("kb", "new", "zeta", "--to", tmp_path, "--layer", "driver", stdin=ZETA.encode())
    assert (told.status, told.err) == (0, "")
    assert "?" not in told.out.replace("(?P<", "")
    assert "\nlayer: driver\n" in (tmp_path / "zeta.yaml").read_text("utf-8")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["zeta.yaml"]


def test_the_answers_stand_in_the_file(tmp_path: Path) -> None:
    answers = ["library", "The zeta engine stopped", "It means much.", "It is old", "Install a newer one"]
    rest = [
        "pip install zeta",
        "Install the old one",
        "pip show zeta",
        "2.0",
        "https://example.com",
        "So",
        "why",
    ]
    stdin = Typing(ZETA.strip(), "", *answers, *rest, "very", "changes-environment")
    status, out, err = typed(stdin, "kb", "new", "zeta", "--to", tmp_path)
    assert (status, err) == (0, "")
    text = (tmp_path / "zeta.yaml").read_text("utf-8")
    assert "FILL-IN" not in text
    (fix,) = yaml.safe_load(text)["causes"][0]["fixes"]
    assert fix["risk"] == "changes-environment"
    assert fix["commands"] == ["{{ pip }} install zeta"]
    assert out.count("put at risk (safe, restarts-job") == 2  # asked again: `very` is none of them


def test_the_end_of_the_input_keeps_the_answers(tmp_path: Path) -> None:
    stdin = Typing(ZETA.strip(), "", "library", "The zeta engine stopped")
    status, out, err = typed(stdin, "kb", "new", "zeta", "--to", tmp_path)
    assert (status, err) == (0, "")
    assert "title: The zeta engine stopped\n" in (tmp_path / "zeta.yaml").read_text("utf-8")
    assert out.count("?") < 6


def test_ctrl_c_at_a_question_keeps_the_answers_and_says_so_in_one_line(tmp_path: Path) -> None:
    stdin = Typing(ZETA.strip(), "", "library", "The zeta engine stopped", breaks_off=True)
    status, _, err = typed(stdin, "kb", "new", "zeta", "--to", tmp_path)
    assert status == 130
    assert err.count("\n") == 1
    assert "what was answered so far is in the file" in err
    assert "title: The zeta engine stopped\n" in (tmp_path / "zeta.yaml").read_text("utf-8")


def test_ctrl_c_before_the_questions_writes_nothing(tmp_path: Path) -> None:
    status, _, err = typed(Typing("RuntimeError: x", breaks_off=True), "kb", "new", "zeta", "--to", tmp_path)
    assert (status, err.strip()) == (130, "nothing was written")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="there are no pseudo-terminals")
def test_a_paste_with_empty_lines_is_taken_whole(program: str, tmp_path: Path) -> None:
    import pty

    ours, theirs = pty.openpty()
    os.write(ours, f"ValueError: zeta said:\n\n\n{ZETA}\n".encode())
    command = [program, "kb", "new", "zeta", "--to", str(tmp_path), "--layer", "code"]
    with subprocess.Popen(command, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        os.set_blocking(ours, False)
        assert child.stdout is not None
        while b"plain words" not in child.stdout.readline() + child.stdout.read1():  # type: ignore[attr-defined]
            assert child.poll() is None
        os.write(ours, b"\x04")
        _, err = child.communicate(timeout=LIMIT_S)
    os.close(theirs)
    os.close(ours)
    assert (child.returncode, err) == (0, b"")
    written = yaml.safe_load((tmp_path / "zeta.yaml").read_text("utf-8"))
    assert written["examples"][0]["text"] == f"ValueError: zeta said:\n\n\n{ZETA}"


def test_a_file_that_exists_stays_without_force(gpuhelp: RunCommand, tmp_path: Path) -> None:
    path = tmp_path / "zeta.yaml"
    path.write_text("mine", "utf-8")
    argv = ("kb", "new", "zeta", "--to", tmp_path)
    refused = gpuhelp(*argv, stdin=ZETA.encode())
    assert (refused.status, refused.out, refused.err.count("\n")) == (2, "", 1)
    assert "--force" in refused.err
    assert path.read_text("utf-8") == "mine"
    assert gpuhelp(*argv, "--force", stdin=ZETA.encode()).status == 0
    assert path.read_text("utf-8").startswith("# yaml-language-server")
    assert gpuhelp(*argv, "--force", stdin=ZETA.encode()).status == 0
    assert [one.name for one in tmp_path.iterdir()] == ["zeta.yaml"]


def test_an_old_korean_file_stays_without_force(gpuhelp: RunCommand, tmp_path: Path) -> None:
    korean = tmp_path / "zeta.ko.yaml"
    korean.write_text("mine", "utf-8")
    refused = gpuhelp("kb", "new", "zeta", "--to", tmp_path, "--korean", stdin=ZETA.encode())
    assert refused.status == 2
    assert korean.read_text("utf-8") == "mine"
    assert not (tmp_path / "zeta.yaml").exists()


def test_a_folder_that_is_a_file_is_told_in_one_line(gpuhelp: RunCommand, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", "utf-8")
    told = gpuhelp("kb", "new", "zeta", "--to", tmp_path / "file", stdin=ZETA.encode())
    assert (told.status, told.out, told.err.count("\n")) == (2, "", 1)
    assert "cannot be written" in told.err


def test_a_write_that_fails_leaves_nothing_and_is_told(
    gpuhelp: RunCommand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    told = gpuhelp("kb", "new", "zeta", "--to", tmp_path, stdin=ZETA.encode())
    assert told.status == 2
    assert told.err.endswith("cannot be written: No space left on device\n")
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_be_read_is_told_in_one_line(gpuhelp: RunCommand, tmp_path: Path) -> None:
    told = gpuhelp("kb", "new", "zeta", "--from", tmp_path / "none.txt", "--to", tmp_path)
    assert (told.status, told.out, told.err.count("\n")) == (2, "", 1)


@pytest.mark.parametrize(
    ("given", "near"),
    [
        ("My_Zeta", "my-zeta"),
        ("zeta stopped", "zeta-stopped"),
        ("", "my-library-failed"),
        ("z" * 61, "z" * 60),
    ],
)
@pytest.mark.parametrize(("language", "rule"), [("en", "joined by hyphens"), ("ko", "하이픈")])
def test_a_bad_id_says_the_rule_and_a_good_one(
    gpuhelp: RunCommand, given: str, near: str, language: str, rule: str
) -> None:
    told = gpuhelp("kb", "new", given, "--lang", language)
    assert told.status == 2
    assert rule in told.err
    assert told.err.endswith(f"gpuhelp kb new {near}\n")


def test_an_id_that_is_taken_is_refused(gpuhelp: RunCommand, tmp_path: Path) -> None:
    told = gpuhelp("kb", "new", "cuda-oom", "--to", tmp_path, stdin=ZETA.encode())
    assert told.status == 2
    assert "existing: extend" in told.err


def test_an_entry_that_answers_already_is_named_and_refined(gpuhelp: RunCommand, tmp_path: Path) -> None:
    error = b"zeta stage 4 went wrong: CUDA error: invalid device function\n"
    told = gpuhelp("kb", "new", "zeta", "--to", tmp_path, stdin=error)
    assert "note: cuda-invalid-device-function answers this text already" in told.out
    written = yaml.safe_load((tmp_path / "zeta.yaml").read_text("utf-8"))
    assert written["refines"] == ["cuda-invalid-device-function"]
    assert "cuda-invalid-device-function" not in str(written["not_examples"])


def test_at_the_terminal_that_is_told_before_the_questions(tmp_path: Path) -> None:
    stdin = Typing("zeta stage 4 went wrong: CUDA error: invalid device function", "")
    status, out, _ = typed(stdin, "kb", "new", "zeta", "--to", tmp_path)
    assert status == 0
    assert out.count("note: cuda-invalid-device-function answers this text already") == 1
    assert out.index("note: ") < out.index("Where does the fault live")


def test_a_korean_author_gets_korean_words_and_the_korean_file(gpuhelp: RunCommand, tmp_path: Path) -> None:
    told = gpuhelp("kb", "new", "zeta", "--to", tmp_path, "--lang", "ko", stdin=ZETA.encode())
    assert "다음 단계" in told.out
    assert (tmp_path / "zeta.ko.yaml").is_file()


def test_try_with_an_unknown_id_names_the_nearest(gpuhelp: RunCommand) -> None:
    told = gpuhelp("kb", "try", "cuda-ooom", stdin=b"x\n")
    assert told.status == 2
    assert "did you mean cuda-oom" in told.err


def test_control_characters_of_a_paste_steer_no_terminal(gpuhelp: RunCommand, tmp_path: Path) -> None:
    told = gpuhelp("kb", "new", "zeta", "--to", tmp_path, stdin=f"\x1b]0;x\x07{ZETA}".encode())
    assert told.status == 0
    assert "\x1b" not in told.out


@pytest.mark.parametrize(
    "argv",
    [
        ("--family", "../../evil"),
        ("--family", ".."),
        ("--family", "a/b"),
        ("--family", "/etc/evil"),
        ("--to", "/tmp/" + "a" * 300),
    ],
)
def test_a_place_that_cannot_be_meant_is_one_line(gpuhelp: RunCommand, argv: tuple[str, str]) -> None:
    told = gpuhelp("kb", "new", "zeta-stopped", *argv, stdin=ZETA.encode())
    assert (told.status, told.out, told.err.count("\n")) == (2, "", 1)
    assert argv[1] in told.err
