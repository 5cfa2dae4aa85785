"""`python -m gpuhelp.probes > env.json`: a snapshot with nothing but the standard library.

For machines on which gpuhelp cannot be installed; `gpuhelp env --zipapp` packs it into one file.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from datetime import datetime, timezone

from gpuhelp.probes.children import stop_all
from gpuhelp.probes.interpreter import find_python
from gpuhelp.probes.machine import Machine
from gpuhelp.probes.registry import ProbeStatus
from gpuhelp.probes.runner import Observation, observe
from gpuhelp.probes.snapshot import to_snapshot

LIMIT_S = 5.0


def main(argv: list[str] | None = None) -> int:
    """Print the snapshot as JSON, and on standard error what broke. 0, or 2 for a usage error."""
    options = _options(argv)
    machine = Machine.here()
    python = options.python
    if python is None:
        found = find_python((), machine.environ, machine.root)
        python = found.path if found else None
    observation = observe(None, Machine.here(python=python), limit_s=options.probe_timeout)
    taken_at = datetime.now(timezone.utc).isoformat(timespec="seconds")
    snapshot = to_snapshot(observation, taken_at)
    sys.stdout.write(json.dumps(snapshot, indent=2) + "\n")  # ASCII: any locale can print it
    sys.stdout.flush()
    _tell(observation)
    return 0


def _options(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="gpuhelp snapshot",
        description="Prints the facts of this machine as JSON. Read-only; secrets and names are taken out.",
        epilog="Then, anywhere: gpuhelp train.log --env env.json",
    )
    parser.add_argument("--python", metavar="PATH", help="the interpreter that ran the job")
    parser.add_argument("--probe-timeout", metavar="SECONDS", type=float, default=LIMIT_S, help="default: 5")
    return parser.parse_args(argv)


def _tell(observation: Observation) -> None:
    """Looks that broke. What is not there on this machine stands in the snapshot."""
    for report in observation.reports:
        if report.status in (ProbeStatus.TIMEOUT, ProbeStatus.ERROR):
            print(f"{report.id}: {report.status.value}: {report.detail}", file=sys.stderr)


def leave(status: int) -> None:
    """End at once: a look that hangs must not hold us."""
    sys.stderr.flush()
    stop_all()
    os._exit(status)


if __name__ == "__main__":
    leave(main())
