"""How long `gpuhelp check` takes against `python -m torch.utils.collect_env` beside it, of the same PyTorch.

    python tests/bench/check_vs_collect_env.py --python VENV/bin/python [ROUNDS]       default: 5

VENV has PyTorch installed; the CPU build will do. Prints the median of each command, the ratio, and the same
as one JSON line. It asserts nothing; the aim is a ratio of at most 1/8. The commands take turns, so that a
slow moment hits both.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

WARM_UP_ROUNDS = 1  # fills the file cache and writes the .pyc files
LIMIT_S = 120
PROGRAM = shutil.which("gpuhelp", path=str(Path(sys.executable).parent)) or "gpuhelp"
CHECK, COLLECT = "gpuhelp check", "collect_env"


def commands(python: str) -> dict[str, tuple[str, ...]]:
    """Both look at the environment of `python`."""
    return {
        CHECK: (PROGRAM, "check", "--python", python, "--lang", "en", "--color", "never"),
        COLLECT: (python, "-m", "torch.utils.collect_env"),
    }


def run_once(command: tuple[str, ...], statuses: tuple[int, ...]) -> float:
    """Wall time of one run in seconds; stops with a message where the command fails."""
    started = time.perf_counter()
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=LIMIT_S,
        check=False,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )
    seconds = time.perf_counter() - started
    if done.returncode not in statuses or not done.stdout:
        raise SystemExit(f"{command}: exit status {done.returncode}\n{done.stderr.decode(errors='replace')}")
    return seconds


def measure(python: str, rounds: int) -> dict[str, float]:
    """Median wall time in seconds of each command, run in turns. A checkup may find trouble: status 1."""
    asked = commands(python)
    times: dict[str, list[float]] = {name: [] for name in asked}
    for number in range(WARM_UP_ROUNDS + rounds):
        for name, command in asked.items():
            seconds = run_once(command, (0, 1) if name == CHECK else (0,))
            if number >= WARM_UP_ROUNDS:
                times[name].append(seconds)
    return {name: statistics.median(values) for name, values in times.items()}


def main(argv: list[str]) -> None:
    """Print the medians and the ratio for people, then the same for programs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--python", required=True, help="an interpreter with PyTorch")
    parser.add_argument("rounds", nargs="?", type=int, default=5)
    options = parser.parse_args(argv)
    medians = measure(options.python, options.rounds)
    ratio = medians[CHECK] / medians[COLLECT]
    print(f"{options.rounds} rounds, medians")
    for name, seconds in medians.items():
        print(f"{name:<16}{seconds * 1000:8.0f} ms")
    print(f"ratio           1/{1 / ratio:.1f}")
    print(json.dumps({"rounds": options.rounds, "seconds": medians, "ratio": ratio}))


if __name__ == "__main__":
    main(sys.argv[1:])
