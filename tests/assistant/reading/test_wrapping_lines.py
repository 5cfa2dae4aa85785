"""What one line holds of several, and what stands around several: every line comes out as it was."""

from __future__ import annotations

import json

import pytest

from gpuhelp.reading.evidence import PLAIN, Line, Wrapping
from gpuhelp.reading.pieces import whole
from gpuhelp.reading.wrappers import unwrap

SAID = "RuntimeError: CUDA error: out of memory"


def lines_of(text: str) -> tuple[Line, ...]:
    """The lines of a whole text."""
    return unwrap(whole(text))


def texts_of(text: str) -> list[str]:
    """What is left of each line."""
    return [line.text for line in lines_of(text)]


@pytest.mark.parametrize(
    "escape",
    [
        "\x1b[38;2;1;2;3m",
        "[38;2;1;2;3m",
        "[38;2;1;2;3;48;2;4;5;6m",
        "\u241b[31m",
        "\u2190[31m",
        "^[[1m",
        "\\e[31m",
        "\\033[0;31m",
        "#033[31m",
        "\x1b(B\x1b[m",
        "\x1b_bk;t=1700000000\x07",
        "\ufeff",
    ],
)
def test_terminal_sequences_are_no_text_whatever_became_of_them(escape: str) -> None:
    assert texts_of(f"{escape}{SAID}") == [SAID]


BAR = " 12%|█▏ | 3/25 [00:01<00:11]"


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (f"{BAR}Traceback (most recent call last):", [BAR, "Traceback (most recent call last):"]),
        (f"{BAR}RuntimeError: boom", [BAR, "RuntimeError: boom"]),
        (f"{BAR}[rank3]: RuntimeError: boom", [BAR, "RuntimeError: boom"]),
        (f"Epoch 0: {BAR}Epoch 1: {BAR}x", [f"Epoch 0: {BAR}", f"Epoch 1: {BAR}", "x"]),
        (
            "Sanity Checking: 0it [00:00, ?it/s]Traceback",
            ["Sanity Checking: 0it [00:00, ?it/s]", "Traceback"],
        ),
        (f"{BAR} Traceback (most recent call last):", [BAR, " Traceback (most recent call last):"]),
        (BAR, [BAR]),
        (f"{BAR} done", [f"{BAR} done"]),
        (
            "1/9 [>] - ETA: 1s\x08\x08\x08\x08\x082/9 [>]\x08\x08\x08\x08\x08boom",
            ["1/9 [>] - ETA: 1s", "2/9 [>]", "boom"],
        ),
        ("loading\x1b[2K\x1b[1GTraceback", ["loading", "Traceback"]),
    ],
)
def test_what_is_glued_to_a_progress_bar_is_a_line_of_its_own(text: str, parts: list[str]) -> None:
    lines = lines_of(text)
    assert [line.text for line in lines] == parts
    assert {line.number for line in lines} == {1}
    assert all(line.raw in text for line in lines)


TRACE = 'Traceback (most recent call last):\n  File "/u/a.py", line 3, in f\n    x("é")\nRuntimeError: boom'
LINES = TRACE.split("\n")


@pytest.mark.parametrize(
    ("text", "lines", "said"),
    [
        (
            json.dumps({"log": f"{SAID}\n", "stream": "stderr", "time": "T"}),
            [SAID],
            Wrapping(stream="stderr", time="T"),
        ),
        (
            json.dumps({"log": f"[rank3]: {SAID}\n", "stream": "stderr", "time": "T"}),
            [SAID],
            Wrapping(rank="3", stream="stderr", time="T"),
        ),
        (
            json.dumps(
                {
                    "level": "ERROR",
                    "message": "failed",
                    "exc_info": TRACE,
                    "local_rank": 1,
                    "rank": 3,
                    "pid": 77,
                }
            ),
            ["failed", *LINES],
            Wrapping(rank="3", pid="77", level="ERROR"),
        ),
        (
            json.dumps({"levelname": "ERROR", "msg": TRACE, "hostname": "gpu01", "ts": 1.5}),
            LINES,
            Wrapping(host="gpu01", time="1.5", level="ERROR"),
        ),
        (
            json.dumps(
                {
                    "timestamp": "T",
                    "level": "ERROR",
                    "fields": {"message": SAID},
                    "target": "t",
                    "span": {"rank": 1},
                }
            ),
            [SAID],
            Wrapping(rank="1", time="T", level="ERROR"),
        ),
        (
            json.dumps(
                {
                    "text": f"{SAID}\n",
                    "record": {
                        "level": {"name": "ERROR", "no": 40},
                        "message": SAID,
                        "process": {"id": 7, "name": "M"},
                    },
                }
            ),
            [SAID],
            Wrapping(pid="7", level="ERROR"),
        ),
        (
            json.dumps(
                {"MESSAGE": [ord(c) for c in SAID], "_HOSTNAME": "gpu01", "PRIORITY": "3", "_PID": "8"}
            ),
            [SAID],
            Wrapping(host="gpu01", pid="8", level="3"),
        ),
        (json.dumps({"message": SAID, "nodeName": "n1", "podName": "p-0"}), [SAID], Wrapping(host="n1")),
        (
            "2024-01-01T00:00:00Z stderr F " + json.dumps({"severity": "ERROR", "event": SAID}),
            [SAID],
            Wrapping(time="2024-01-01T00:00:00Z", stream="stderr", level="ERROR"),
        ),
        # rsyslog's joins, texts and exceptions as literals, pages' entities, tails
        (
            "Mar  5 10:00:00 gpu01 python[7]: " + TRACE.replace("\n", "#012").replace("    ", "#011"),
            [line.replace("    ", "\t") for line in LINES],
            Wrapping(time="Mar  5 10:00:00", host="gpu01", pid="7"),
        ),
        (json.dumps(TRACE), LINES, PLAIN),
        (json.dumps(TRACE, ensure_ascii=False), LINES, PLAIN),
        (f'  "traceback": {json.dumps(TRACE)},', LINES, PLAIN),
        (f"[rank3]: {json.dumps(TRACE)}", LINES, Wrapping(rank="3")),
        ("ERROR:root:" + TRACE.replace("\n", "\\n"), LINES, Wrapping(level="ERROR")),
        (repr(f"{TRACE}\r\n".encode()), LINES, PLAIN),
        (
            repr(RuntimeError("CUDA error: x\nCUDA kernel errors")),
            ["RuntimeError: CUDA error: x", "CUDA kernel errors"],
            PLAIN,
        ),
        (
            "Worker died: torch.OutOfMemoryError('CUDA out of memory. Tried')",
            ["Worker died:", "torch.OutOfMemoryError: CUDA out of memory. Tried"],
            PLAIN,
        ),
        ("(RuntimeError('it\\'s \"x\"'),)", ['RuntimeError: it\'s "x"'], PLAIN),
        ("KeyError('x')", ["KeyError: 'x'"], PLAIN),
        ("File &quot;x.py&quot;, in &lt;module&gt;", ['File "x.py", in <module>'], PLAIN),
        ("&amp;lt;module&amp;gt; it&#39;s&#x21;", ["<module> it's!"], PLAIN),
        ("&gt; boom", ["boom"], PLAIN),
        ('<stderr jobid="1" rank="3">x &lt;y&gt;</stderr>', ["x <y>"], Wrapping(rank="3", stream="stderr")),
        (
            "(f pid=1) boom [repeated 96x across cluster] (Ray deduplicates logs by default. Set "
            "RAY_DEDUP_LOGS=0 to disable log deduplication, or see https://docs.ray.io/x for more options.)",
            ["boom"],
            Wrapping(pid="1"),
        ),
        ("(f pid=1) boom [repeated 3x across cluster]", ["boom"], Wrapping(pid="1")),
    ],
)
def test_one_line_that_holds_several_gives_each_its_own(text: str, lines: list[str], said: Wrapping) -> None:
    found = lines_of(text)
    assert [line.text for line in found] == lines
    assert {line.wrapping for line in found} == {said}
    assert {line.number for line in found} == {1}
    assert all(line.raw in text for line in found)


def test_lines_that_a_journal_indents_stand_at_the_left() -> None:
    head = "Mar 05 10:00:00 gpu01 python[77]: "
    lines = lines_of(head + f"\n{' ' * len(head)}".join(LINES) + "\nnext")
    assert [line.text for line in lines] == [*LINES, "next"]
    assert [line.wrapping.pid for line in lines] == ["77"] * 4 + [""]


def test_rich_prints_a_time_only_where_it_changes() -> None:
    lines = lines_of(f"[03/05/24 10:00:00] INFO     loading\n{' ' * 20}ERROR    {SAID}\n{' ' * 29}and more")
    assert [line.text for line in lines] == ["loading", SAID, "and more"]
    assert [line.wrapping.level for line in lines] == ["INFO", "ERROR", "ERROR"]


@pytest.mark.parametrize(
    ("place", "command"),
    [
        ("At line:1 char:1", "+ python train.py"),
        ("위치 줄:1 문자:1", "+ python train.py"),
        ("In Zeile:1 Zeichen:1", "+ & python"),
        (r"At C:\Users\me\run.ps1:107 char:13", "+             & $python -c 'x'"),
    ],
)
def test_what_powershell_says_about_an_error_is_no_text(place: str, command: str) -> None:
    report = (
        f"python.exe : {LINES[0]}\n{place}\n{command}\n+ ~~~~~~~\n"
        f"    + CategoryInfo          : NotSpecified: ({LINES[0]}:String) [], RemoteException\n"
        "    + FullyQualifiedErrorId : NativeCommandError\n \n"
    )
    found = [text for text in texts_of(report + "\n".join(LINES[1:])) if text.strip()]
    assert found == LINES


EVENT = """Log Name:      System
Source:        nvlddmkm
Date:          19/09/2024 21:27:56
Event ID:      153
Level:         Error
Computer:      DESKTOP-1
Description:
The description for Event ID 153 from source nvlddmkm cannot be found.
\\Device\\Video3"""


@pytest.mark.parametrize("mark", ["", "> "])
def test_the_description_of_a_windows_event_has_the_fields_above_it(mark: str) -> None:
    lines = lines_of("\n".join(mark + line for line in EVENT.splitlines()))
    assert lines[-1].text == "\\Device\\Video3"
    assert lines[-1].wrapping == Wrapping(host="DESKTOP-1", time="19/09/2024 21:27:56", level="Error")
    assert lines[1].wrapping == PLAIN


def test_a_panel_has_no_walls_and_a_boxed_traceback_keeps_them() -> None:
    panel = f"╭─ Error ──────╮\n│ {SAID}   │\n╰──────────────╯"
    boxed = "╭─ Traceback (most recent call last) ─╮\n│ /home/user/a.py:3 in f │\n╰──╯"
    assert texts_of(panel)[1] == SAID
    assert texts_of(f"[rank1]: {boxed}".replace("\n", "\n[rank1]: "))[1] == "│ /home/user/a.py:3 in f │"


@pytest.mark.parametrize(
    "line",
    [
        "(" * 20000 + " pid=",
        "(" + "a " * 20000 + "pid=3",
        "[" + "1," * 20000,
        '{"' * 20000,
        '{"a":' * 5000,
        '{"log":"' + "\\n" * 20000 + '","stream":"x"}',
        "Error " + "\\n" * 20000 + "x",
        "\\" * 40000 + "n",
        "RuntimeError('" * 3000,
        "RuntimeError('" + "\\'" * 20000,
        "Error: x " * 5000 + "('",
        "#012" * 10000,
        "&lt;" * 10000,
        "&amp;" * 10000,
        "12%|" * 10000,
        "3it [" * 8000,
        "9" * 40000 + "it [",
        f"{BAR}x" * 1500,
        "b'" + "\\x" * 20000,
        "2024-01-01T00:00:00Z ERROR " + "a{b}:" * 8000,
        "[38;2;1;" * 8000,
        "a" * 40000 + " | x",
        "a-" * 20000 + "1 b x",
        "\x08" * 40000,
        "\x1b[2K" * 10000,
        "╭" + "─" * 40000,
        "│ " + " │" * 20000,
        " " * 40000 + "ERROR x",
    ],
)
@pytest.mark.parametrize("times", [1, 3])
def test_hostile_lines_cost_no_more_than_their_length(line: str, times: int) -> None:
    from time import perf_counter

    started = perf_counter()
    found = lines_of(f"{line}\n" * times)
    assert perf_counter() - started < 3
    assert found[-1].number == times
