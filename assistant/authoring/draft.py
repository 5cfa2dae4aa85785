"""A first draft of an entry from a pasted error: what to look for, examples, near misses. Pure.

The draft is a whole file; what only its author knows stands as `FILL-IN`, and lint names every one of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from gpuhelp.diagnosis import diagnose
from gpuhelp.kb import regexes
from gpuhelp.kb.load import KnowledgeBase
from gpuhelp.matching.failure import describe, failure_lines
from gpuhelp.matching.view import View
from gpuhelp.reading.pieces import from_text
from gpuhelp.reading.read import read

UNWRITTEN = "FILL-IN"
_LONGEST_LINE = 400
_NEIGHBOURS = 3
_ASKED_WORDS = 8
_WRAPPED = ("[rank1]: {}", "2026-03-01 10:15:02,417 ERROR {}")
"""How the same line looks in the output of a launcher and of a logger."""


class Proposal(NamedTuple):
    """A pattern for one line. `captured` are the values that its groups hold in that line."""

    line: str
    regex: str
    captured: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Answers:
    """What only the author knows; an empty answer becomes a FILL-IN."""

    title: str = ""
    summary: str = ""
    cause: str = ""
    fix: str = ""
    command: str = ""
    undo: str = ""
    proof: str = ""
    expect: str = ""
    url: str = ""
    claim: str = ""


def propose(text: str, knowledge: KnowledgeBase) -> Proposal | None:
    """A pattern for the line that tells the failure; None for a text without one."""
    line = _telling_line(text, knowledge)
    if not line:
        return None
    source, captured = _generalized(line, knowledge.table("variables")["variables"])
    return Proposal(line, source, captured)


def draft(
    entry_id: str,
    layer: str,
    text: str,
    proposal: Proposal | None,
    answers: Answers,
    knowledge: KnowledgeBase,
) -> dict[str, Any]:
    """The entry as plain data, in the order in which it is written."""
    line = proposal.line if proposal else ""
    return {
        "id": entry_id,
        "layer": layer,
        "title": answers.title or f"{UNWRITTEN}: what happened, in plain words, one line",
        "summary": (
            answers.summary or f"{UNWRITTEN}: what it means, in which layer it lives, what to do first."
        )
        + "\n",
        "match": [{"regex": proposal.regex}]
        if proposal
        else [{"text": f"{UNWRITTEN}: words that only this error has"}],
        "questions": _questions(line),
        "causes": [_cause(answers)],
        "references": [
            {
                "url": answers.url or f"https://{UNWRITTEN}",
                "claim": answers.claim or f"{UNWRITTEN}: what that page says, in your own words",
            }
        ],
        "examples": _examples(text, proposal),
        "not_examples": _near_misses(line or text, knowledge),
    }


def _cause(answers: Answers) -> dict[str, Any]:
    fix: dict[str, Any] = {
        "id": "first-fix",
        "title": answers.fix or f"{UNWRITTEN}: what to do",
        "risk": "safe",
        "commands": [answers.command or f"echo {UNWRITTEN}"],
        "undo": answers.undo or f"{UNWRITTEN}: how to take it back",
        "proof": answers.proof or f"echo {UNWRITTEN}",
        "expect": answers.expect or f"{UNWRITTEN}: what that command shows when it worked",
    }
    title = answers.cause or f"{UNWRITTEN}: why it happens"
    return {"id": "first-cause", "title": title, "weight": 1.0, "fixes": [fix]}


def _telling_line(text: str, knowledge: KnowledgeBase) -> str:
    views = tuple(View(document, knowledge.rows("advice")) for document in read([from_text(text, "text")]))
    failing = failure_lines(views, knowledge.rows("failure_signs"))
    failure = describe(views, failing)
    if failure is not None and failure.message:
        told = f"{failure.exception}: {failure.message}" if failure.exception else failure.message
        return told.strip().splitlines()[0][:_LONGEST_LINE]
    lines = [line.text.strip() for view in views for line in view.document.lines if line.text.strip()]
    return lines[-1][:_LONGEST_LINE] if lines else ""


def _generalized(line: str, variables: Iterable[Mapping[str, Any]]) -> tuple[str, dict[str, str]]:
    """The line as an expression in which what differs from run to run is open."""
    taken: dict[str, str] = {}
    parts: list[str] = []
    done = 0
    for start, end, row in _places(line, variables):
        parts.append(regexes.escaped_part(line[done:start]))
        kept = re.match(row.get("keep", ""), line[start:end])
        head = kept.group() if kept else ""
        value = line[start + len(head) : end]
        name = row.get("name", "") if row.get("group", True) else ""
        is_named = bool(name) and name not in taken
        if is_named:
            taken[name] = " ".join(value.split())
        becomes = f"(?P<{name}>{row['becomes']})" if is_named else row["becomes"]
        parts.append(regexes.escaped_part(head) + becomes)
        done = end
    return "".join([*parts, regexes.escaped_part(line[done:])]), taken


def _places(line: str, variables: Iterable[Mapping[str, Any]]) -> list[tuple[int, int, Mapping[str, Any]]]:
    """Stretches of the line that a variable covers, in order; the first row that fits a place has it."""
    places: list[tuple[int, int, Mapping[str, Any]]] = []
    for row in variables:
        for found in re.finditer(row["regex"], line):
            if all(found.end() <= start or end <= found.start() for start, end, _ in places):
                places.append((found.start(), found.end(), row))
    return sorted(places, key=lambda place: place[0])


def _questions(line: str) -> list[str]:
    unasked = f"{UNWRITTEN}: how people ask who have no error text"
    words = re.findall(r"\b[A-Za-z][A-Za-z_]{2,}\b", line)[:_ASKED_WORDS]
    if not words:
        return [unasked]
    short = " ".join(words)
    return [f"what does {short} mean", f"how do i fix {short}", unasked]


def _examples(text: str, proposal: Proposal | None) -> list[dict[str, Any]]:
    """The pasted text, and its telling line as a launcher and as a logger print it."""
    if proposal is None:
        return [{"text": f"{UNWRITTEN}: a text in which it happened ({number})"} for number in (1, 2, 3)]
    wanted = {"captured": dict(proposal.captured)} if proposal.captured else {}
    texts = [text.strip("\n") + "\n", *(form.format(proposal.line) for form in _WRAPPED)]
    return [{"text": shown, **wanted} for shown in texts]


def _near_misses(text: str, knowledge: KnowledgeBase) -> list[dict[str, str]]:
    """Examples of other entries that read most like this one: what is easily taken for it."""
    from rapidfuzz.fuzz import token_set_ratio
    from rapidfuzz.process import extract

    texts = {
        entry_id: min((example.text for example in knowledge.entry(entry_id).examples), key=len)
        for entry_id in knowledge.ids
    }
    near = extract(text, texts, scorer=token_set_ratio, limit=_NEIGHBOURS)
    return [{"text": said, "because": f"that is {entry_id}"} for said, _, entry_id in near]


def already_known(text: str, knowledge: KnowledgeBase) -> str:
    """The id of the entry that answers this text already, "" if none does."""
    found = [
        one for one in diagnose(text, knowledge=knowledge).findings if one.entry.id != "python-exception"
    ]
    return found[0].entry.id if found and found[0].reasons and found[0].reasons[0][0] != "question" else ""
