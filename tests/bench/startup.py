"""How long a one-shot diagnosis takes, start of Python included, against `python -c pass` beside it.

    python tests/bench/startup.py [ROUNDS]       default: 15

Prints the median of each command, the ratio, and the same as one JSON line. It asserts nothing: a loaded
machine makes every number worse, the ratio least. The commands take turns, so that a slow moment hits all.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

TRACEBACK = Path(__file__).resolve().parent / "traceback.txt"
DEFAULT_ROUNDS = 15
WARM_UP_ROUNDS = 2  # fills the file cache and writes the .pyc files
LIMIT_S = 60
# The command people type, beside the interpreter that runs this.
PROGRAM = shutil.which("gpuhelp", path=str(Path(sys.executable).parent)) or "gpuhelp"
DIAGNOSE = (PROGRAM, str(TRACEBACK), "--no-probes", "--lang", "en", "--color", "never")
COMMANDS: dict[str, tuple[str, ...]] = {
    "python -c pass": (sys.executable, "-c", "pass"),
    "gpuhelp text": (*DIAGNOSE, "--format", "text"),
    "gpuhelp json": (*DIAGNOSE, "--format", "json"),
}
BASELINE = "python -c pass"
EXPECTED_STATUS = {BASELINE: 0}
FAILURE_FOUND = 1


def run_once(name: str) -> float:
    """Wall time of one run in seconds; stops with a message where the command fails."""
    started = time.perf_counter()
    done = subprocess.run(
        COMMANDS[name],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=LIMIT_S,
        check=False,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )
    seconds = time.perf_counter() - started
    if done.returncode != EXPECTED_STATUS.get(name, FAILURE_FOUND) or bool(done.stdout) == (name == BASELINE):
        raise SystemExit(f"{name}: exit status {done.returncode}\n{done.stderr.decode(errors='replace')}")
    return seconds


def measure(rounds: int) -> dict[str, float]:
    """Median wall time in seconds of each command, run in turns."""
    times: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for number in range(WARM_UP_ROUNDS + rounds):
        for name in COMMANDS:
            seconds = run_once(name)
            if number >= WARM_UP_ROUNDS:
                times[name].append(seconds)
    return {name: statistics.median(values) for name, values in times.items()}


def main(arguments: list[str]) -> None:
    """Print the medians and ratios for people, then the same for programs."""
    rounds = int(arguments[0]) if arguments else DEFAULT_ROUNDS
    medians = measure(rounds)
    ratios = {name: seconds / medians[BASELINE] for name, seconds in medians.items()}
    print(f"{len(TRACEBACK.read_text(encoding='utf-8').splitlines())} lines, {rounds} rounds, medians")
    for name, seconds in medians.items():
        print(f"{name:<16}{seconds * 1000:8.1f} ms   x {ratios[name]:.2f}")
    print(json.dumps({"rounds": rounds, "seconds": medians, "ratio": ratios}))


if __name__ == "__main__":
    main(sys.argv[1:])
