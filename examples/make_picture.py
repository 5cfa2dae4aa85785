"""Draws examples/diagnosis.svg, the picture in the README, from a real run of the installed program.

    python examples/make_picture.py [LOG]        default: examples/ddp-oom.log

The program runs as anyone would run it; its coloured output is replayed into a recording console. No probes,
English and a fixed width, so that the picture does not depend on the machine it is drawn on.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
PICTURE = HERE / "diagnosis.svg"
WIDTH_COLUMNS = 100
# A page holds about this much; what lies between is counted, not shown.
FIRST_LINES = 48
LAST_LINES = 14
LIMIT_S = 60
FAILURE_FOUND = 1
WEB_FONT = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)


def run_program(log: str) -> str:
    """What `gpuhelp LOG --color always` prints; stops with a message where it does not find a failure."""
    program = shutil.which("gpuhelp", path=str(Path(sys.executable).parent))
    if program is None:
        raise SystemExit(f"no gpuhelp beside {sys.executable}; first: make dev")
    done = subprocess.run(
        [program, log, "--color", "always", "--no-probes", "--lang", "en"],
        cwd=HERE.parent,
        env={**os.environ, "COLUMNS": str(WIDTH_COLUMNS), "PYTHONIOENCODING": "utf-8"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=LIMIT_S,
        check=False,
    )
    if done.returncode != FAILURE_FOUND or not done.stdout:
        raise SystemExit(f"gpuhelp ended with {done.returncode}, expected {FAILURE_FOUND}:\n{done.stderr}")
    return done.stdout


def shorten(lines: list[str]) -> list[str]:
    """The first and last lines, with a line between them that says how many are left out."""
    left_out = len(lines) - FIRST_LINES - LAST_LINES
    if left_out <= 1:
        return lines
    return [*lines[:FIRST_LINES], "", f"  ⋯ {left_out} more lines", "", *lines[-LAST_LINES:]]


def draw(output: str, title: str) -> str:
    """The coloured output as an SVG picture of a terminal window, with fonts that need no network."""
    from rich.console import Console
    from rich.text import Text

    console = Console(record=True, width=WIDTH_COLUMNS, file=io.StringIO(), force_terminal=True)
    console.print(Text.from_ansi("\n".join(shorten(output.rstrip("\n").split("\n")))))
    # A fixed id keeps the file the same, byte for byte, while the output stays the same.
    return WEB_FONT.sub("", console.export_svg(title=title, unique_id="gpuhelp"))


def main(arguments: list[str]) -> None:
    """Write the picture and say where it is."""
    log = arguments[0] if arguments else "examples/ddp-oom.log"
    PICTURE.write_text(draw(run_program(log), f"gpuhelp {log}"), encoding="utf-8")
    print(f"{PICTURE} ({PICTURE.stat().st_size} bytes)")


if __name__ == "__main__":
    main(sys.argv[1:])
