"""Writes a big, realistic training log, healthy or with failures planted at known places.

    python tests/bench/make_log.py OUT --size 1G [--seed 1] [--ranks 8] [--plant 20] [--ids cuda-oom,…]

Several ranks write into one file: logging, loguru, progress bars, NCCL INFO, wandb, checkpoints, warnings,
JSON metrics, Korean, colours, and lines that only sound like trouble. The lines are data in log_lines.txt.
What is planted are examples of the shipped entries that are log texts, each line wrapped with rank and time
as the lines around it. The manifest goes to standard output, one JSON object for each planted failure.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

if TYPE_CHECKING:
    from gpuhelp.kb.load import KnowledgeBase

LINES = Path(__file__).resolve().parent / "log_lines.txt"
CHUNK_BYTES = 4 << 20
CHUNK_SECONDS = 60
"""Of the log's own clock."""
POOL = 4096
"""Ready-made values of one kind; each chunk begins at another place in them."""
START = 1_772_323_200
"""2026-03-01 00:00:00 UTC, as the log tells it."""
JSON_MEMBERS = 40
UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_SLOT = re.compile(r"\{([a-z]+)\}")
_ESCAPES = (("\\r", "\r"), ("\\n", "\n"), ("\\e", "\x1b"))


class Failure(NamedTuple):
    """What is to be planted: an entry's id, and the text of one of its examples."""

    entry: str
    text: str


@dataclass(frozen=True, slots=True)
class Planted:
    """Where a failure stands in the file: its lines, counted from 1, its first byte, and the rank it hit."""

    entry: str
    first_line: int
    last_line: int
    offset: int
    rank: int


def make_log(
    path: Path, size_bytes: int, *, seed: int = 1, ranks: int = 8, failures: Sequence[Failure] = ()
) -> tuple[Planted, ...]:
    """Write the log and say what stands where. The same arguments give the same bytes.

    Failures are spread evenly and make the file longer; without them it ends with the last line that fits.
    """
    randomness = random.Random(seed)
    chunk = _Chunk(randomness, ranks, min(CHUNK_BYTES, size_bytes))
    with path.open("wb") as file:
        return tuple(_write(file, size_bytes, chunk, failures, randomness, ranks))


def _write(
    file: BinaryIO,
    size_bytes: int,
    chunk: _Chunk,
    failures: Sequence[Failure],
    randomness: random.Random,
    ranks: int,
) -> Iterator[Planted]:
    """Write chunk after chunk, and each failure between the two lines where its turn comes."""
    waiting = [
        (int(size_bytes * (number + 0.5) / len(failures)), failure) for number, failure in enumerate(failures)
    ]
    healthy_bytes = lines = seconds = 0
    while healthy_bytes < size_bytes:
        data = chunk.filled(seconds)
        data = data[: data.rfind(b"\n", 0, size_bytes - healthy_bytes) + 1]
        if not data:
            break
        done = 0
        while waiting and waiting[0][0] < healthy_bytes + len(data):
            target, failure = waiting.pop(0)
            end = data.find(b"\n", max(done, target - healthy_bytes)) + 1
            rank, second = randomness.randrange(ranks), seconds + CHUNK_SECONDS * end // len(data)
            said = wrapped(failure.text, rank, second)
            lines += data.count(b"\n", done, end)
            file.write(data[done:end])
            yield Planted(failure.entry, lines + 1, lines + said.count(b"\n"), file.tell(), rank)
            file.write(said)
            lines += said.count(b"\n")
            done = end
        file.write(data[done:])
        lines += data.count(b"\n", done)
        healthy_bytes += len(data)
        seconds += CHUNK_SECONDS


def wrapped(text: str, rank: int, seconds: int) -> bytes:
    """The lines of a failure as that rank logs them."""
    begin = f"[rank{rank}]: {_clock(seconds)},{seconds * 37 % 1000:03d} - trainer - ERROR - "
    return "".join(f"{begin}{line}\n" for line in text.rstrip("\n").split("\n")).encode()


class _Chunk:
    """A few megabytes of lines whose numbers are still open: a format, and where each number comes from."""

    def __init__(self, randomness: random.Random, ranks: int, size_bytes: int) -> None:
        self._randomness = randomness
        self._pools = [[make(randomness) for _ in range(POOL)] for make in _NUMBERS.values()]
        text = "".join(_records(randomness, ranks, size_bytes))
        names = _SLOT.findall(text)
        self._format = _SLOT.sub("%s", text.replace("%", "%%"))
        self._pick = itemgetter(*_places(names))
        self._step = 0

    def filled(self, seconds: int) -> bytes:
        """The lines with new numbers; the clock starts at `seconds`, steps go on."""
        values = [_clock(seconds + second) for second in range(CHUNK_SECONDS)]
        values += [str(self._step + second) for second in range(CHUNK_SECONDS)]
        self._step += CHUNK_SECONDS
        for pool in self._pools:
            turn = self._randomness.randrange(POOL)
            values += pool[turn:] + pool[:turn]
        text: str = self._format % self._pick(values)
        return text.encode()


_NUMBERS: dict[str, Callable[[random.Random], str]] = {
    "loss": lambda r: f"{r.uniform(0.5, 9):.4f}",
    "lr": lambda r: f"{r.uniform(1e-5, 3e-4):.3e}",
    "grad": lambda r: f"{r.uniform(0.1, 3):.3f}",
    "tokens": lambda r: str(r.randrange(5000, 120_000)),
    "gib": lambda r: f"{r.uniform(40, 79):.2f}",
    "ms": lambda r: f"{r.randrange(1000):03d}",
    "percent": lambda r: str(r.randrange(10, 100)),
    "share": lambda r: f"{r.random():.4f}",
    "hex": lambda r: f"{r.randrange(1 << 44):012x}",
    "digit": lambda r: str(r.randrange(10)),
    "sec": lambda r: f"{r.randrange(24):02d}",
    "count": lambda r: str(r.randrange(1000, 10_000_000)),
}


def _places(names: list[str]) -> list[int]:
    """For each open number, its place among the values of a chunk: the clock, the steps, then the pools."""
    begins = {name: 2 * CHUNK_SECONDS + POOL * number for number, name in enumerate(_NUMBERS)}
    places = []
    for number, name in enumerate(names):
        second = CHUNK_SECONDS * number // len(names)
        goes_on = {"time": second, "step": CHUNK_SECONDS + second}
        places.append(goes_on[name] if name in goes_on else begins[name] + number * 31 % POOL)
    return places


def _records(randomness: random.Random, ranks: int, size_bytes: int) -> Iterator[str]:
    """Lines of log_lines.txt by their weight, somewhat more than that size; ranks are filled in."""
    weights, templates = _templates()
    made = 0
    while made < size_bytes * 1.1:
        (template,) = randomness.choices(templates, weights)
        record = _of_rank(template, randomness.randrange(ranks))
        made += len(record.encode())
        yield record


def _of_rank(template: str, rank: int) -> str:
    """The line with rank, node and process filled in; the numbers stay open."""
    fixed = {"rank": str(rank), "node": f"node{rank // 8:02d}", "pid": str(21_000 + rank)}
    return _SLOT.sub(lambda slot: fixed.get(slot[1], slot[0]), template)


def _templates() -> tuple[list[int], list[str]]:
    """The weights and the lines of log_lines.txt, with their line ends."""
    weights: list[int] = []
    templates: list[str] = []
    members = ", ".join(f'"layer.{number:02d}/grad_norm": {{grad}}' for number in range(JSON_MEMBERS))
    for row in LINES.read_text(encoding="utf-8").splitlines():
        weight, bar, line = row.partition("|")
        if bar and not row.startswith("#"):
            for written, meant in (*_ESCAPES, ("{metrics}", members)):
                line = line.replace(written, meant)
            weights.append(int(weight))
            templates.append(f"{line}\n")
    return weights, templates


def _clock(seconds: int) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(START + seconds))


# What is planted

_SAID_BY_PROGRAMS = re.compile(
    r"(?m)^\s*(?:[\w.]+\.)?\w+(?:Error|Exception|Warning|Failure)\b: ?\S"
    r"|NVRM: |NVMLError_|Killed process|oom-kill|\bKilled$|CUDA error|Assertion `|exit(?:ed with exit)? code"
    r"|^Failed to \w"
)
_WRAPPED_ALREADY = re.compile(r"(?m)^(?:[\[(>|$#]|\d+[-:]|[A-Z][a-z]{2} [ \d]\d |[\w-]+ +\| )|\r|\x1b")
_LONGEST_LINE = 400
_MOST_LINES = 30


def is_log_text(text: str) -> bool:
    """True for what a program prints, as far as a look can tell: no question, no wrapper of its own."""
    lines = text.splitlines()
    if not 0 < len(lines) <= _MOST_LINES or max(map(len, lines)) > _LONGEST_LINE:
        return False
    return bool(_SAID_BY_PROGRAMS.search(text)) and not _WRAPPED_ALREADY.search(text)


def shipped_failures(
    count: int, ids: Iterable[str] = (), *, knowledge: KnowledgeBase | None = None
) -> tuple[Failure, ...]:
    """So many log texts from the shipped entries' examples (or those ids'), each entry once before twice.

    Entries without one are left out; there are fewer than `count` if the examples are used up.
    """
    from gpuhelp.kb.load import load

    knowledge = knowledge or load()
    by_entry = [
        [
            Failure(entry_id, example.text)
            for example in knowledge.entry(entry_id).examples
            if is_log_text(example.text)
        ]
        for entry_id in tuple(ids) or knowledge.ids
    ]
    most = max(map(len, by_entry), default=0)
    ordered = [found[number] for number in range(most) for found in by_entry if number < len(found)]
    return tuple(ordered[:count])


def size_of(text: str) -> int:
    """Bytes of a size such as 64K, 12.4M or 1G. Raises ValueError for anything else."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([KMG]?)B?", text.strip().upper())
    if not found:
        raise ValueError(f"not a size: {text}")
    return int(float(found[1]) * UNITS[found[2]])


def main(arguments: list[str]) -> int:
    """Write the log, and the manifest to standard output."""
    assert __doc__
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--size", type=size_of, default=size_of("1M"), help="such as 64K, 12.4M, 1G")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--ranks", type=int, default=8)
    parser.add_argument("--plant", type=int, default=0, help="how many failures")
    parser.add_argument("--ids", default="", help="only of these entries, separated by commas")
    args = parser.parse_args(arguments)
    ids = tuple(filter(None, args.ids.split(",")))
    failures = shipped_failures(args.plant, ids) if args.plant else ()
    for planted in make_log(args.out, args.size, seed=args.seed, ranks=args.ranks, failures=failures):
        print(json.dumps(asdict(planted)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
