"""How gpuhelp fares on a peer's labelled logs (GPUAlert), under the peer's own labels.

    python tests/bench/gpualert.py CASES.jsonl [--labels LABELS.yaml]

Every line of CASES.jsonl is an object with id, label and text. Each text is diagnosed in this process,
without probes; gpualert_labels.yaml says which label an answer of ours is. Printed: precision, recall and F1
of each label, macro-F1 over the logs whose class has an entry and over all, the logs whose class has none
yet, every miss, and the figures as one JSON line. Few texts are distinct with numbers masked: a smoke test.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from gpuhelp.diagnosis import Diagnosis, Status, diagnose
from gpuhelp.kb.load import KnowledgeBase, load

LABELS = Path(__file__).resolve().parent / "gpualert_labels.yaml"
NO_ANSWER = "generic"
"""The peer's bucket for what fits no label."""
SHOWN_CHARACTERS = 90

Row = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Mapped:
    """The data of gpualert_labels.yaml."""

    labels: tuple[str, ...]
    answers: Mapping[str, str | Sequence[Row]]
    words: Sequence[Row]
    classes: Mapping[str, Sequence[Row]]

    def label_of(self, entry: str, line: str) -> str:
        """The label of an answer: its entry, and the first line of its evidence."""
        rows = next((rows for glob, rows in self.answers.items() if fnmatchcase(entry, glob)), self.words)
        return rows if isinstance(rows, str) else _first(rows, line, "label") or NO_ANSWER

    def class_of(self, label: str, text: str) -> str:
        """Our id for what a log with that label shows. Raises KeyError for a label that is not known."""
        return _first(self.classes[label], text, "id")


@dataclass(frozen=True, slots=True)
class Judged:
    """One log: what it is by label and by our ids, and what we answered."""

    case: str
    label: str
    wanted: str
    answer: str
    got: str
    masked: str
    shown: str

    @property
    def right(self) -> bool:
        return self.got == self.label


@dataclass(frozen=True, slots=True)
class Score:
    """How one label did, as shares of one."""

    count: int
    precision: float
    recall: float

    @property
    def f1(self) -> float:
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


def read_labels(path: Path = LABELS) -> Mapped:
    """The mapping in that file."""
    import yaml

    return Mapped(**yaml.safe_load(path.read_text(encoding="utf-8")))


def judged(case: Mapping[str, Any], mapped: Mapped, knowledge: KnowledgeBase) -> Judged:
    """One log of the corpus, diagnosed. A log that we call healthy gets the label "healthy"."""
    diagnosis = diagnose(case["text"], knowledge=knowledge)
    answer, got, line = _answer(diagnosis, mapped)
    return Judged(
        case=case["id"],
        label=case["label"],
        wanted=mapped.class_of(case["label"], case["text"]),
        answer=answer,
        got=got,
        masked=re.sub(r"\d+", "#", case["text"]),
        shown=(line or case["text"].strip().splitlines()[-1])[:SHOWN_CHARACTERS],
    )


def _answer(diagnosis: Diagnosis, mapped: Mapped) -> tuple[str, str, str]:
    """The first finding's id, its label, and the line that shows it; without a finding, the status twice."""
    if diagnosis.findings:
        first = diagnosis.findings[0]
        line = first.evidence[0].text.strip()
        return first.entry.id, mapped.label_of(first.entry.id, line), line
    status = diagnosis.status.value
    return status, status if diagnosis.status is Status.HEALTHY else NO_ANSWER, ""


def scores(results: Iterable[Judged], labels: Iterable[str]) -> dict[str, Score]:
    """The score of each label that occurs."""
    results = tuple(results)
    wanted = Counter(result.label for result in results)
    given = Counter(result.got for result in results)
    hits = Counter(result.label for result in results if result.right)
    return {
        label: Score(wanted[label], hits[label] / (given[label] or 1), hits[label] / wanted[label])
        for label in labels
        if wanted[label]
    }


def macro_f1(by_label: Mapping[str, Score]) -> float:
    """The mean of all labels' F1; 0 if there is none."""
    return sum(score.f1 for score in by_label.values()) / (len(by_label) or 1)


def _first(rows: Sequence[Row], text: str, name: str) -> str:
    """That field of the first row whose expression stands in the text; empty if there is none."""
    return next((row[name] for row in rows if re.search(row.get("says", ""), text)), "")


def _print_scores(title: str, by_label: Mapping[str, Score]) -> None:
    print(f"\n{title}")
    for label, score in by_label.items():
        shares = f"precision {score.precision:.4f}   recall {score.recall:.4f}   F1 {score.f1:.4f}"
        print(f"  {label:<16}{score.count:5}   {shares}")
    print(f"  macro-F1 {macro_f1(by_label):.4f}")


def _print_groups(title: str, results: Iterable[Judged]) -> None:
    """One line for each distinct text: how many logs, the first of them, what it is, and what we said."""
    groups: dict[tuple[str, str], list[Judged]] = defaultdict(list)
    for result in results:
        groups[result.masked, result.answer].append(result)
    print(f"\n{title}: {sum(map(len, groups.values()))} logs, {len(groups)} distinct texts")
    for (_, answer), group in groups.items():
        first = group[0]
        print(f"  {len(group):3} x {first.case:<27} {first.label} ({first.wanted}) -> {first.got} ({answer})")
        print(f"        {first.shown}")


def report(results: Sequence[Judged], labels: Sequence[str], ids: Iterable[str]) -> dict[str, float]:
    """Print everything; the figures come back."""
    known = set(ids)
    ready = [result for result in results if result.wanted in known]
    apart = [result for result in results if result.wanted not in known]
    with_entry, over_all = scores(ready, labels), scores(results, labels)
    _print_scores(f"Logs whose class has an entry: {len(ready)}", with_entry)
    _print_scores(f"All logs: {len(results)}", over_all)
    missing = Counter(f"{result.label} ({result.wanted})" for result in apart)
    print(f"\nNo entry yet: {len(apart)} logs")
    for name, count in missing.items():
        print(f"  {count:3} x {name}")
    _print_groups("Misses where there is an entry", [result for result in ready if not result.right])
    _print_groups("Misses where there is none yet", [result for result in apart if not result.right])
    other = [result for result in ready if result.right and result.answer != result.wanted]
    _print_groups("Right label, another class than ours", other)
    return {
        "logs": len(results),
        "distinct_texts": len({(result.label, result.masked) for result in results}),
        "labels_with_entry": len(with_entry),
        "macro_f1_with_entry": round(macro_f1(with_entry), 4),
        "macro_f1_all": round(macro_f1(over_all), 4),
        "no_entry_yet": len(apart),
    }


def main(arguments: list[str]) -> int:
    """Print the report for people, then the figures for programs."""
    assert __doc__
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", type=Path)
    parser.add_argument("--labels", type=Path, default=LABELS)
    args = parser.parse_args(arguments)
    mapped, knowledge = read_labels(args.labels), load()
    cases = [json.loads(line) for line in args.cases.read_text(encoding="utf-8").splitlines() if line.strip()]
    results = [judged(case, mapped, knowledge) for case in cases]
    print(json.dumps(report(results, mapped.labels, knowledge.ids)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
