"""Prefixes that could be anything on one line, and count where most lines of a text carry them.

`ollama | `, `3: `, `node1: `, ` > `: each form has a cheap hint, so that its expression is compiled only when
the first lines look like it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import NamedTuple

from gpuhelp.reading.wrappers.escapes import rare
from gpuhelp.reading.wrappers.prefixes import Prefix, Told, joined, nothing_told

SAMPLE_LINES = 200
_FIRST_LINES = 10
_FEWEST = 2
_MOST_FORMS = 3


class Form(NamedTuple):
    """One such prefix. `hint` is cheap; `fits` looks at all that the expression found, by group."""

    hint: Callable[[str], bool]
    expression: str
    fits: Callable[[list[Told], list[str]], bool] = lambda told, prefixes: True


def _few_distinct(told: list[Told], prefixes: list[str]) -> bool:
    """True where the same prefixes come again and again, as names of machines do and words do not."""
    return len(set(prefixes)) < len(prefixes)


def _is_numbering(prefixes: list[str]) -> bool:
    numbers = [int(found[0]) for found in (re.search(r"\d+", prefix) for prefix in prefixes) if found]
    rising = all(before < after for before, after in pairwise(numbers))
    return len(numbers) >= 3 and rising and numbers[0] > 0


def _are_ranks(told: list[Told], prefixes: list[str]) -> bool:
    return not _is_numbering(prefixes)


def _are_numbers(told: list[Told], prefixes: list[str]) -> bool:
    return _is_numbering(prefixes)


def _are_machines(told: list[Told], prefixes: list[str]) -> bool:
    return _few_distinct(told, prefixes) and not any(map(rare(_NO_MACHINE).match, prefixes))


def _first(text: str) -> str:
    return text.lstrip(" ")[:1]


_NO_MACHINE = (
    r"(?i)(?:gpu|cuda|device|epoch|step|iter\w*|layer|batch|fold|trial|line|rank|worker)[_-]?\d{1,5}: ?$"
    r"|https?|[a-z]:|.*(?:error|warning|info|exception)"
)
_FORMS = (
    Form(lambda text: _first(text) in (">", "#"), r" {0,3}(?:(?:> ?){1,3}|#(?!\d) ?)"),
    # docker compose, docker service, foreman
    Form(
        lambda text: "|" in text[:160] and _first(text).isalnum(),
        r"(?:\d\d:\d\d:\d\d )?(?:[A-Za-z][\w.-]{0,62}@)?(?P<host>[A-Za-z][\w.-]{0,62}) +\| ?",
    ),
    # srun --label, MPICH's -prepend-rank, mpirun's ranks; numbered lines look the same, but count up
    Form(lambda text: _first(text).isdigit(), r" {0,4}(?P<label>\d{1,4}):(?: |$)", _are_ranks),
    Form(lambda text: text[:1] == "[", r"\[(?P<label>\d{1,4})\](?: |$)", _are_ranks),
    Form(lambda text: _first(text).isdigit(), r" {0,6}\d{1,7}(?::(?: |$)| ?[|│](?: |$)|\t)", _are_numbers),
    Form(lambda text: _first(text).isdigit(), r"\d{1,7}:(?!\d)", _are_numbers),
    Form(lambda text: text[2:3] == ":" and text[5:6] == ":", r"(?P<time>%CLOCK%) "),
    # grep over several logs, tail of several
    Form(
        lambda text: any(end in text[:240] for end in (".log:", ".out:", ".err:", ".txt:")),
        r"(?:[\w./@+-]{0,160}?rank[_-]?(?P<label>\d{1,5})[\w.-]{0,40}?|[\w./@+-]{1,200}?)"
        r"\.(?:log|out|err|txt):(?:\d{1,9}:)?",
    ),
    # gh run view --log
    Form(lambda text: text.count("\t") > 1, r"[^\t\n]{1,160}\t[^\t\n]{1,160}\t\ufeff?(?P<time>%DATE%) ?"),
    # pdsh, clush
    Form(
        lambda text: ": " in text[:65] or text.endswith(":"),
        r"(?P<host>[A-Za-z][\w.-]{0,62}\d[\w.-]{0,20}):(?: |$)",
        _are_machines,
    ),
    # stern, torchx
    Form(
        lambda text: "-" in text[:80] and text[:1].islower(),
        r"(?P<host>[a-z0-9]{1,63}(?:[.-][a-z0-9]{1,63}){0,12}-(?=[a-z]{0,9}\d)[a-z0-9]{1,63}) "
        r"[a-z0-9][a-z0-9-]{0,62} ",
        _few_distinct,
    ),
    Form(lambda text: "/" in text[:48], r"[a-z][\w-]{0,40}/(?P<label>\d{1,5}) (?:\[(?P<label>\d{1,5})\]:)?"),
    # journalctl where months have other names; docker build's summary
    Form(
        lambda text: text[:1].isalpha() and text[:24].count(":") > 1,
        r"(?P<time>[^\W\d_]{2,6}\.? {1,2}\d{1,2} \d\d:\d\d:\d\d) (?P<host>[\w.-]{1,64}) "
        r"[\w./@()-]{1,80}(?:\[(?P<pid>\d{1,10})\])?: ",
    ),
    Form(lambda text: _first(text).isdigit() and "." in text[:10], r" {0,6}\d{1,6}\.\d{1,4} (?=[\[A-Za-z ])"),
)


def find_forms(lines: Iterable[str], strip: Callable[[str], str]) -> tuple[Prefix | None, ...]:
    """The steps that take prefixes off the lines of a text: forms of the paste; None for the table's.

    `lines` is a sample; `strip` takes off what the table knows.
    """
    sample = [line for line in lines if line.strip()]
    steps: list[Prefix | None] = []
    while True:
        form = _common_form(sample) if sum(map(bool, steps)) < _MOST_FORMS else None
        if form is not None:
            steps.append(form)
            sample = [line[form.take_off(line, 0, nothing_told()) :] for line in sample]
        elif steps and steps[-1] is None:
            return tuple(steps)
        else:
            steps.append(None)
            sample = [strip(line) for line in sample]
        sample = [line for line in sample if line.strip()]


def _common_form(sample: list[str]) -> Prefix | None:
    if len(sample) < _FEWEST:
        return None
    first = sample[:_FIRST_LINES]
    for form in _FORMS:
        if sum(map(form.hint, first)) * 10 >= len(first) * 6:
            prefix = joined((("", form.expression),))
            if _is_common(form, prefix, sample):
                return prefix
    return None


def _is_common(form: Form, prefix: Prefix, sample: list[str]) -> bool:
    told: list[Told] = []
    prefixes: list[str] = []
    for line in sample:
        said = nothing_told()
        end = prefix.take_off(line, 0, said)
        if end:
            told.append(said)
            prefixes.append(line[:end])
    hits = len(prefixes)
    return hits >= _FEWEST and hits * 10 >= len(sample) * 8 and form.fits(told, prefixes)
