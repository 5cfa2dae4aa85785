"""Large logs: throughput beside ripgrep, peak memory, and whether every planted failure is found.

    python tests/bench/throughput.py [--size 1G] [--rounds 5]

Prints one line for each measurement and the same as JSON. ripgrep looks for the literals of the knowledge
base (`rg -i -F -c -f`) in the same file; both as whole processes, in turns, with the file in memory.
It asserts nothing: a loaded machine makes every number worse, the ratios least.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent))
import make_log

PROGRAM = shutil.which("gpuhelp", path=str(Path(sys.executable).parent)) or "gpuhelp"
OPTIONS = ("--no-probes", "--lang", "en", "--color", "never", "--format", "json")
PLANTED = 20
FACTOR = 10
RANKS, ROOT_RANK = 1000, 17


class Run(NamedTuple):
    """One process: how long it took, its largest memory, and what it wrote."""

    seconds: float
    peak_bytes: int
    output: bytes


def run(command: Sequence[str], feed: Callable[[Any], None] | None = None) -> Run:
    """Run a command to its end; `feed` writes its standard input."""
    with tempfile.TemporaryFile() as output:
        started = time.perf_counter()
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE if feed else subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.DEVNULL,
        )
        if feed is not None:
            assert process.stdin is not None
            feed(process.stdin)
            process.stdin.close()
        _, _, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - started
        process.returncode = 0
        output.seek(0)
        return Run(seconds, usage.ru_maxrss * 1024, output.read())


def found_in(output: bytes, manifest: Sequence[make_log.Planted]) -> int:
    """How many of the planted failures the answer shows at their lines."""
    findings = json.loads(output)["findings"]
    shown = {(found["entry"], line["line"]) for found in findings for line in found["evidence"]}
    return sum(
        any((planted.entry, line) in shown for line in range(planted.first_line, planted.last_line + 1))
        for planted in manifest
    )


def literals() -> list[str]:
    """Every literal of the knowledge base that the scan looks for."""
    from gpuhelp.kb.load import load

    return sorted({literal for _, own, _ in load().scan_plan["patterns"] for literal in own})


def synthetic_entries(folder: Path) -> None:
    """Nine entries for each shipped one: patterns of the same shapes, of words that no log has."""
    import yaml

    from gpuhelp.kb.files import SHIPPED
    from gpuhelp.kb.yaml_source import read_document

    for path in sorted(Path(SHIPPED, "entries").rglob("*.yaml")):
        if not path.stem.endswith(".ko"):
            entry = read_document(path.read_text("utf-8"), str(path)).data
            for number in range(1, FACTOR):
                made = {
                    **entry,
                    "id": f"{path.stem}-synthetic-{number}",
                    "match": _renamed(entry["match"], number),
                }
                made = {
                    key: value for key, value in made.items() if key not in ("unless", "refines", "leads_to")
                }
                target = folder / path.parent.name / f"{made['id']}.yaml"
                target.parent.mkdir(exist_ok=True)
                target.write_text(yaml.safe_dump(made, allow_unicode=True), "utf-8")


def _renamed(patterns: Sequence[dict[str, Any]], number: int) -> list[dict[str, Any]]:
    kinds = [(kind, item[kind]) for item in patterns for kind in ("text", "regex") if kind in item]
    renamed = [{kind: _WORD.sub(rf"\g<0>q{number}z", source)} for kind, source in kinds]
    return renamed or [{"text": f"no pattern of its own {number}"}]


_WORD = re.compile(r"(?<![\\<\w])[A-Za-z]{4,}(?![\w>])")
"""Words of a pattern, but no names of groups."""


def rank_files(folder: Path, ranks: int = RANKS) -> None:
    """The files of one job: one rank runs out of memory, ten minutes later the others stop waiting for it."""
    for rank in range(ranks):
        path = folder / f"rank{rank}.log"
        make_log.make_log(path, 40 << 10, seed=rank, ranks=1)
        text = path.read_bytes().replace(b"[rank0]", b"[rank%d]" % rank)
        said, second = (_OOM, 60) if rank == ROOT_RANK else (_TIMEOUT.format(rank=rank), 660)
        path.write_bytes(text + make_log.wrapped(said, rank, second))


_OOM = """Traceback (most recent call last):
  File "/home/user/train.py", line 88, in <module>
    loss.backward()
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 1 has 1.02 GiB free."""
_TIMEOUT = (
    "[Rank {rank}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=812, OpType=ALLREDUCE, "
    "NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600021 milliseconds before timing out."
)


def medians(commands: dict[str, Sequence[str]], rounds: int) -> dict[str, Run]:
    """The median run of each command; they take turns, so that a slow moment hits all."""
    runs: dict[str, list[Run]] = {name: [] for name in commands}
    for number in range(rounds + 1):
        for name, command in commands.items():
            done = run(command)
            if number:  # the first round fills caches
                runs[name].append(done)
    return {name: sorted(found)[len(found) // 2] for name, found in runs.items()}


def measure(size_bytes: int, rounds: int, folder: Path) -> Iterator[tuple[str, object]]:
    """Each measurement, as it is made."""
    log, words = folder / "train.log", folder / "literals.txt"
    manifest = make_log.make_log(log, size_bytes, failures=make_log.shipped_failures(PLANTED))
    listed = literals()
    words.write_text("\n".join(listed) + "\n", "utf-8")
    tenfold = folder / "entries"
    tenfold.mkdir()
    synthetic_entries(tenfold)
    commands: dict[str, Sequence[str]] = {
        "gpuhelp": (PROGRAM, str(log), *OPTIONS),
        "gpuhelp, ten times the entries": (PROGRAM, str(log), *OPTIONS, "--kb", str(tenfold)),
    }
    if ripgrep := shutil.which("rg"):
        commands["ripgrep"] = (ripgrep, "-i", "-F", "-c", "-f", str(words), str(log))
    runs = medians(commands, rounds)
    ours, tenfold_run = runs["gpuhelp"], runs["gpuhelp, ten times the entries"]
    yield "log: bytes, literals", [log.stat().st_size, len(listed)]
    yield "gpuhelp: seconds, peak MB", [round(ours.seconds, 2), ours.peak_bytes // 10**6]
    yield "planted failures found", f"{found_in(ours.output, manifest)}/{len(manifest)}"
    if "ripgrep" in runs:
        yield "ripgrep: seconds", round(runs["ripgrep"].seconds, 2)
        yield "throughput / ripgrep's", round(runs["ripgrep"].seconds / ours.seconds, 2)
    yield "time with ten times the entries / time", round(tenfold_run.seconds / ours.seconds, 2)
    yield from _other_forms(log, folder, rounds)


def _other_forms(log: Path, folder: Path, rounds: int) -> Iterator[tuple[str, object]]:
    def told(done: Run) -> list[object]:
        status = json.loads(done.output)["status"]
        return [round(done.seconds, 2), done.peak_bytes // 10**6, status]

    small = folder / "small.log"
    make_log.make_log(small, 12_400_000, failures=make_log.shipped_failures(1))
    yield (
        "12.4 MB: seconds, peak MB, status",
        told(medians({"": (PROGRAM, str(small), *OPTIONS)}, rounds)[""]),
    )
    line = folder / "line.log"
    with line.open("wb") as file:
        for _ in range(200):
            file.write(b"x" * 10**6)
        file.write(b" RuntimeError: CUDA error: device-side assert triggered ")
    yield "one line of 200 MB: seconds, peak MB, status", told(run((PROGRAM, str(line), *OPTIONS)))

    def feed(pipe: Any) -> None:
        with log.open("rb") as file:
            shutil.copyfileobj(file, pipe, 1 << 16)

    yield "the large log from a pipe: seconds, peak MB, status", told(run((PROGRAM, "-", *OPTIONS), feed))
    ranks = folder / "ranks"
    ranks.mkdir()
    rank_files(ranks)
    done = run((PROGRAM, str(ranks), *OPTIONS))
    first, *_ = findings = json.loads(done.output)["findings"]
    yield f"{RANKS} rank files: seconds, peak MB, status", told(done)
    yield "their root, and its line", [first["entry"], first["evidence"][0]["source"].rpartition("/")[2]]
    yield "what followed, and where", [[found["entry"], found.get("ranks")] for found in findings[1:]]


def main(arguments: list[str]) -> int:
    """Measure, and print."""
    assert __doc__
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=make_log.size_of, default=make_log.size_of("1G"))
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        figures = {}
        for name, value in measure(args.size, args.rounds, Path(folder)):
            figures[name] = value
            print(f"{name:<50}{value}", flush=True)
    print(json.dumps(figures))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
