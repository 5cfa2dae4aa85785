"""The chat as a person meets it: the real program in a real pseudo-terminal, its screen read cell by cell."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

if sys.platform == "win32":
    pytest.skip("Windows has no pseudo-terminal of this kind", allow_module_level=True)
pexpect = pytest.importorskip("pexpect", reason="drives the pseudo-terminal")
pyte = pytest.importorskip("pyte", reason="reads the screen")
try:
    os.close(os.openpty()[0])
except OSError as no_pty:
    pytest.skip(f"no pseudo-terminal here: {no_pty}", allow_module_level=True)

PROGRAM = "from gpuhelp.cli import entrypoint; entrypoint()"
PASTE, END_PASTE = "\x1b[200~", "\x1b[201~"
CTRL_C, CTRL_D, ALT_ENTER, ENTER, TAB = "\x03", "\x04", "\x1b\r", "\r", "\t"
PATIENCE_S = 20.0
ROWS = 40
FakeNvml = Callable[..., "dict[str, str]"]
Start = Callable[..., "Chat"]


HistoryScreen: Any = pyte.HistoryScreen


class _Screen(HistoryScreen):  # type: ignore[misc]
    """A screen that answers when it is asked where its cursor is, as terminals do."""

    answer: Callable[[str], None]

    def write_process_input(self, data: str) -> None:
        self.answer(data)


class Chat:
    """The program under a terminal of that many columns."""

    def __init__(self, columns: int, environ: dict[str, str], arguments: tuple[str, ...]) -> None:
        self._screen = _Screen(columns, ROWS, history=10_000, ratio=0.001)
        self._stream = pyte.ByteStream(self._screen)
        command = ["-c", PROGRAM, *arguments]
        self.child = pexpect.spawn(sys.executable, command, env=environ, dimensions=(ROWS, columns))
        self.child.delaybeforesend = None
        self._screen.answer = self.child.send

    def send(self, text: str) -> None:
        self.child.send(text)

    def text(self) -> str:
        """Everything on the screen and scrolled off it. A wide character's second cell is empty."""
        lines = [*self._screen.history.top, *(self._screen.buffer[number] for number in range(ROWS))]
        columns = range(self._screen.columns)
        return "\n".join("".join(line[column].data for column in columns).rstrip() for line in lines).rstrip()

    def wait(self, *expected: str, without: str = "") -> str:
        """The text once it holds all that is expected and nothing of `without`; fails after a while."""
        limit = time.monotonic() + PATIENCE_S
        while time.monotonic() < limit:
            text = self.text()
            if all(one in text for one in expected) and not (without and without in text):
                return text
            if not self._read():
                break
        pytest.fail(f"{expected} did not come; the screen:\n{self.text()}")

    def ready(self) -> None:
        """Wait for the prompt: the line under it is drawn only once keys are read one by one."""
        limit = time.monotonic() + PATIENCE_S
        while not self._screen.display[-1].strip() and self._read() and time.monotonic() < limit:
            pass

    def leave(self, how: str = CTRL_D) -> int | None:
        """The exit status; fails if the program does not leave."""
        limit = time.monotonic() + PATIENCE_S
        self.ready()
        self.send(how)
        while self._read() and time.monotonic() < limit:
            pass
        assert time.monotonic() < limit, self.text()
        self.child.close()
        status: int | None = self.child.exitstatus
        return status

    def _read(self) -> bool:
        """Take in what the program wrote; False once it is gone."""
        try:
            self._stream.feed(self.child.read_nonblocking(65536, timeout=0.05))
        except pexpect.TIMEOUT:
            return True
        except pexpect.EOF:
            return False
        return True


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The compiled knowledge base, shared so that it is compiled once."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def start(cache: Path, tmp_path: Path, fake_nvml: FakeNvml) -> Iterator[Start]:
    """`start(*arguments, columns=80, nvml="no-driver", TERM=…)`: a chat that greeted."""
    started: list[Chat] = []

    def begin(*arguments: str, columns: int = 80, nvml: str = "no-driver", **more: str) -> Chat:
        kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT", "PYTHONPATH") if name in os.environ}
        places = {"XDG_CACHE_HOME": str(cache), "XDG_STATE_HOME": str(tmp_path / "state")}
        places["HOME"] = str(tmp_path)
        language = {"LANG": "C.UTF-8", "PYTHONUTF8": "1", "TERM": "xterm-256color"}
        chat = Chat(columns, {**kept, **places, **language, **fake_nvml(nvml), **more}, arguments)
        started.append(chat)
        chat.wait("/help")
        if language["TERM"] == more.get("TERM", language["TERM"]):
            chat.ready()
        return chat

    yield begin
    for chat in started:
        chat.child.close(force=True)


def history(tmp_path: Path) -> str:
    return (tmp_path / "state" / "gpuhelp" / "history").read_text("utf-8")


@pytest.mark.parametrize("columns", [80, 60])
def test_a_bracketed_paste_is_one_message_and_is_told_again_in_korean(
    start: Start, example: Any, columns: int
) -> None:
    chat = start(columns=columns)
    assert len(example("no-kernel-image").splitlines()) >= 30
    chat.send(PASTE + example("no-kernel-image").replace("\n", "\r") + END_PASTE)
    chat.wait("TORCH_USE_CUDA_DSA")
    chat.send(ENTER)
    text = chat.wait("What to do first", "/fix 2")
    assert text.count("■ ") == 1
    assert re.search(r"input:\d+ .*no kernel image is", text)
    assert "Looking at this machine" not in text
    chat.send("/fix 1" + ENTER)
    chat.wait("> /fix 1", "undo:")
    chat.send("/more" + ENTER)
    chat.wait("References")
    chat.send("/lang ko" + ENTER)
    korean = chat.wait("참고 자료").partition("> /lang ko")[2]
    assert "원인" in korean
    assert "What to do" not in korean
    assert chat.leave("/quit" + ENTER) == 0


def test_the_first_answer_comes_out_whole_in_korean(start: Start, example: Any) -> None:
    chat = start()
    chat.send(PASTE + example("no-kernel-image") + END_PASTE + ENTER)
    chat.wait("What to do first", "/fix 2")
    chat.send("/lang ko" + ENTER)
    korean = chat.wait("가장 먼저 할 일", "개 더 있습니다: /fix 2").partition("> /lang ko")[2]
    assert "근거" in korean
    assert "입력:27" in korean
    for english in ("Where it shows", "Causes", "What to do", "undo:", "confirmed", "ruled out", " sure"):
        assert english not in korean


@pytest.mark.parametrize("line_end", ["\r", "\n", "\r\n"])
def test_a_paste_without_brackets_is_one_message(
    start: Start, example: Any, tmp_path: Path, line_end: str
) -> None:
    chat = start("--no-probes")
    text = example("no-kernel-image").rstrip() + "\n"
    chat.send(text.replace("\n", line_end))
    screen = chat.wait("What to do first", "/fix 2")
    assert screen.count("■ ") == 1
    assert history(tmp_path).count("\n#") == 1
    stored = [line[1:] for line in history(tmp_path).splitlines() if line.startswith("+")]
    assert len(stored) == len(text.splitlines())


def test_typed_lines_are_joined_by_alt_enter_and_sent_by_enter(start: Start) -> None:
    chat = start("--no-probes")
    chat.send("RuntimeError: CUDA error: no kernel image is available")
    chat.wait("is available")
    chat.send(ALT_ENTER)
    time.sleep(0.3)
    chat.send("for execution on the device")
    chat.wait("on the device")
    chat.send(ENTER)
    assert chat.wait("cuda-no-kernel-image").count("■ ") == 1


def test_ctrl_c_clears_the_line_and_on_an_empty_one_tells_how_to_leave(start: Start) -> None:
    chat = start("--no-probes")
    chat.send("half a thought")
    chat.wait("> half a thought")
    chat.send(CTRL_C)
    chat.wait("/help", without="half a thought")
    for _ in range(2):
        chat.ready()
        chat.send(CTRL_C)
        time.sleep(0.3)
    chat.wait("press Ctrl-D or write /quit")
    assert chat.leave() == 0


def test_ctrl_c_while_the_driver_hangs_keeps_the_answer(start: Start, example: Any) -> None:
    chat = start("--probe-timeout", "60", nvml="start-hangs")
    chat.send(PASTE + example("no-kernel-image") + END_PASTE + ENTER)
    chat.wait("Looking at this machine", "cuda-no-kernel-image")
    chat.send(CTRL_C)
    chat.wait("rests on your text alone", "What to do first", without="Looking at")
    chat.send("/fix 1" + ENTER)
    chat.wait("> /fix 1")
    assert chat.leave() == 0


def test_a_tab_completes_commands_and_ids(start: Start) -> None:
    chat = start("--no-probes")
    chat.send("/expl" + TAB)
    chat.wait("> /explain")
    chat.send(" cuda-no-ker" + TAB)
    chat.wait("> /explain cuda-no-kernel-image")
    chat.send(ENTER)
    assert chat.wait("References").count("> /explain cuda-no-kernel-image") == 1


def test_the_bar_says_no_gpu_where_there_is_none(start: Start) -> None:
    assert start().wait("no GPU").splitlines()[-1].strip() == "no GPU found"


def test_the_bar_names_the_gpu_its_free_memory_and_the_driver(start: Start) -> None:
    bar = start(nvml="two-healthy-gpus").wait("driver 550.90.07").splitlines()[-1]
    assert re.search(r"2 × NVIDIA GeForce RTX 3090.* · at least \d+\.\d GiB free · driver", bar)


def test_a_hanging_driver_does_not_block_typing(start: Start) -> None:
    chat = start("--probe-timeout", "60", nvml="start-hangs")
    chat.send("/why" + ENTER)
    chat.wait("There is no answer yet", "looking for a GPU")


def test_no_korean_line_is_wider_than_the_terminal(start: Start, example: Any) -> None:
    chat = start("--lang", "ko", "--no-probes", columns=60)
    chat.send(PASTE + example("device-assert") + END_PASTE + ENTER)
    lines = chat.wait("가장 먼저 할 일", "/fix 2").splitlines()
    begins = next(number for number, line in enumerate(lines) if line.startswith("■ "))
    ends = lines.index("가장 먼저 할 일")
    assert all(not line or line[0] in " ■" or line in ("근거", "원인") for line in lines[begins:ends])


def test_secrets_are_neither_shown_again_nor_remembered(start: Start, tmp_path: Path) -> None:
    chat = start("--no-probes")
    chat.send("HF_TOKEN=hf_abcdefghijklmnopqrstuv python train.py fails with CUDA out of memory" + ENTER)
    text = chat.wait("cuda-oom")
    assert "hf_abcdefgh" not in text
    assert "hf_abcdefgh" not in history(tmp_path)


def test_a_history_that_cannot_be_written_costs_nothing(start: Start, tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file where a folder is wanted", "utf-8")
    chat = start("--no-probes")
    chat.send("/why" + ENTER)
    chat.wait("There is no answer yet")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
def test_a_pipe_in_the_place_of_the_history_is_not_waited_for(start: Start, tmp_path: Path) -> None:
    (tmp_path / "state" / "gpuhelp").mkdir(parents=True)
    os.mkfifo(tmp_path / "state" / "gpuhelp" / "history")
    chat = start("--no-probes")
    chat.send("/why" + ENTER)
    chat.wait("There is no answer yet")


def test_a_report_is_written_once(start: Start, example: Any, tmp_path: Path) -> None:
    chat = start("--no-probes")
    chat.send(PASTE + example("xid-79") + END_PASTE + ENTER)
    chat.wait("What to do first")
    chat.send("/save ~/report.md" + ENTER)
    chat.wait("Saved in ~/report.md")
    assert "gpu-fell-off-bus" in (tmp_path / "report.md").read_text("utf-8")
    chat.send("/save ~/report.md" + ENTER)
    chat.wait("exists already and stays as it is")


def test_a_dumb_terminal_is_served_line_by_line(start: Start, example: Any) -> None:
    chat = start("--no-probes", TERM="dumb")
    chat.send(example("no-kernel-image").rstrip() + "\n\n")
    assert "\x1b" not in chat.wait("What to do first")
    chat.send("/fix 1\n")
    chat.wait("undo:")
    assert chat.leave() == 0
