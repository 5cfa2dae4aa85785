"""How long an answer takes when the NVIDIA driver hangs, against the limit on all looks at the machine.

    python tests/bench/probe_limit.py [ROUNDS]       default: 3

Builds the fake NVML library whose start never returns, and diagnoses one log with several limits, start of
Python included. Prints the longest wall time of each limit, and the same as one JSON line; asserts nothing.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
LOG = TESTS.parent / "examples" / "ddp-oom.log"
LIBRARY = TESTS / "probes" / "fake_nvml" / "nvml.c"
HANGS = TESTS / "probes" / "fake_nvml" / "scenarios" / "start-hangs.txt"
LIMITS_S = (0.5, 1.0, 2.0, 5.0)
DEFAULT_ROUNDS = 3
PROGRAM = shutil.which("gpuhelp", path=str(Path(sys.executable).parent)) or "gpuhelp"


def build(folder: Path) -> None:
    """Compile the library that hangs; stops with a message where there is no compiler."""
    compiler = os.environ.get("CC") or next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
    if compiler is None:
        raise SystemExit("needs a C compiler")
    target = ["-shared", "-fPIC", "-o", str(folder / "libnvidia-ml.so.1"), str(LIBRARY)]
    subprocess.run([*compiler.split(), *target], check=True)


def run_once(limit_s: float, folder: Path) -> tuple[float, dict[str, str]]:
    """Wall time of one run in seconds, and how each look ended."""
    environ = {**os.environ, "LD_LIBRARY_PATH": str(folder), "FAKE_NVML_SCENARIO": str(HANGS)}
    argv = [PROGRAM, str(LOG), "--probe-timeout", str(limit_s), "--format", "json"]
    started = time.perf_counter()
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, check=False, env=environ)
    seconds = time.perf_counter() - started
    return seconds, {report["id"]: report["status"] for report in json.loads(done.stdout)["probes"]}


def main(arguments: list[str]) -> None:
    """Print the figures for people, then the same for programs."""
    rounds = int(arguments[0]) if arguments else DEFAULT_ROUNDS
    longest: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as name:
        build(Path(name))
        run_once(LIMITS_S[0], Path(name))  # compiles the knowledge base and fills the file cache
        for limit_s in LIMITS_S:
            runs = [run_once(limit_s, Path(name)) for _ in range(rounds)]
            longest[str(limit_s)] = max(seconds for seconds, _ in runs)
            late = sorted(
                {probe for _, told in runs for probe, status in told.items() if status == "timeout"}
            )
            seconds, beyond = longest[str(limit_s)], longest[str(limit_s)] - limit_s
            print(f"limit {limit_s:4.1f} s   longest {seconds:5.2f} s   beyond {beyond:+.2f} s   {late}")
    print(json.dumps({"rounds": rounds, "longest_seconds": longest}))


if __name__ == "__main__":
    main(sys.argv[1:])
