"""A first draft of an entry from a pasted error: what to look for, questions, examples. Pure.

The draft is a whole file; what only its author knows stands as `FILL-IN`, and lint names every one of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from gpuhelp.authoring.generalize import Proposal, plain_words
from gpuhelp.authoring.telling import Example
from gpuhelp.kb.load import KnowledgeBase

UNWRITTEN = "FILL-IN"
RISKS = ("safe", "restarts-job", "changes-environment", "needs-admin", "reboots")
CAUSE, FIX = "first-cause", "first-fix"
_ASKED_WORDS = 8
_SHORTEST_QUESTION = 3
_LONGEST_LINE = 240
_MOST_LINES, _LINES_BEFORE, _LINES_AFTER = 60, 30, 10
_SMALL = frozenset(
    re.findall(r"\w+", "a an and at by does for from has in is not of on or since the to was while with")
)
"""A question that ends with one of these was cut off in the middle."""
_WRAPPED = ("[rank1]: {}", "2026-03-01 10:15:02,417 ERROR {}")
"""How the same line looks in the output of a launcher and of a logger."""
_HANGUL = re.compile(r"[가-힣]")


@dataclass(frozen=True, slots=True)
class Answers:
    """What only the author knows; an empty answer becomes a FILL-IN."""

    title: str = ""
    summary: str = ""
    cause: str = ""
    fix: str = ""
    risk: str = ""
    command: str = ""
    undo: str = ""
    proof: str = ""
    expect: str = ""
    url: str = ""
    claim: str = ""
    question: str = ""


@dataclass(frozen=True, slots=True)
class Material:
    """All that a draft is made of. `text` is the pasted error, `known` an entry that answers it already."""

    entry_id: str
    layer: str
    text: str
    proposal: Proposal | None
    answers: Answers
    near: tuple[Example, ...]
    known: str = ""


def by_language(answers: Answers) -> tuple[Answers, Answers]:
    """The English answers, and those that were given in Korean; each is empty where the other is not."""
    given = {one.name: getattr(answers, one.name) for one in fields(Answers)}
    korean = {name: said for name, said in given.items() if _HANGUL.search(said)}
    return Answers(**{name: said for name, said in given.items() if name not in korean}), Answers(**korean)


def draft(material: Material, knowledge: KnowledgeBase) -> dict[str, Any]:
    """The entry as plain data, in the order in which it is written."""
    answers, proposal = material.answers, material.proposal
    sharper = {"refines": [material.known]} if material.known else {}
    return {
        "id": material.entry_id,
        "layer": material.layer or "library",
        "title": _line(answers.title) or f"{UNWRITTEN}: what happened, in plain words, one line",
        "summary": (
            answers.summary or f"{UNWRITTEN}: what it means, in which layer it lives, what to do first."
        )
        + "\n",
        **sharper,
        "match": [{"regex": proposal.regex}]
        if proposal
        else [{"text": f"{UNWRITTEN}: words that only this error has"}],
        "questions": _questions(material, knowledge),
        "causes": [_cause(answers)],
        "references": [
            {
                "url": answers.url or f"https://{UNWRITTEN}",
                "claim": answers.claim or f"{UNWRITTEN}: what that page says, in your own words",
            }
        ],
        "examples": _examples(material.text, proposal),
        "not_examples": [
            {"text": one.text, "because": f"that is {one.entry}: {knowledge.entry(one.entry).title.of('en')}"}
            for one in material.near
        ],
    }


def remarks(material: Material) -> dict[str, str]:
    """What is to be said beside a line of the file, by that line: values that were only assumed."""
    notes = {}
    if not material.layer:
        notes["layer: library"] = f"{UNWRITTEN}: where the fault lives; remove this remark if it is right"
    if not material.answers.risk:
        notes["risk: safe"] = f"{UNWRITTEN}: one of {', '.join(RISKS)}; then remove this remark"
    if material.proposal:
        notes["examples:"] = "the second and third are made from the first: put other real wordings there"
    return notes


def korean_draft(answers: Answers) -> dict[str, Any]:
    """The texts that the Korean file holds, by the same ids, as plain data."""
    return {
        "title": _line(answers.title) or f"{UNWRITTEN}: 무슨 일이 일어났는지 쉬운 말로 한 줄",
        "summary": (answers.summary or f"{UNWRITTEN}: 무슨 뜻인지, 어느 계층의 문제인지, 먼저 무엇을 할지.")
        + "\n",
        "questions": [answers.question or f"{UNWRITTEN}: 에러 텍스트 없이 물어볼 때 쓰는 말"],
        "causes": {
            CAUSE: {
                "title": _line(answers.cause) or f"{UNWRITTEN}: 왜 일어나는지",
                "fixes": {
                    FIX: {
                        "title": _line(answers.fix) or f"{UNWRITTEN}: 무엇을 하면 되는지",
                        "undo": answers.undo or f"{UNWRITTEN}: 어떻게 되돌리는지",
                        "expect": answers.expect or f"{UNWRITTEN}: 해결되면 그 명령이 무엇을 보여 주는지",
                    }
                },
            }
        },
    }


def _line(text: str) -> str:
    return text[:_LONGEST_LINE].strip()


def _cause(answers: Answers) -> dict[str, Any]:
    fix: dict[str, Any] = {
        "id": FIX,
        "title": _line(answers.fix) or f"{UNWRITTEN}: what to do",
        "risk": answers.risk or "safe",
        "commands": [_literal(answers.command) or f"echo {UNWRITTEN}"],
        "undo": answers.undo or f"{UNWRITTEN}: how to take it back",
        "proof": _literal(answers.proof) or f"echo {UNWRITTEN}",
        "expect": answers.expect or f"{UNWRITTEN}: what that command shows when it worked",
    }
    title = _line(answers.cause) or f"{UNWRITTEN}: why it happens"
    return {"id": CAUSE, "title": title, "weight": 1.0, "fixes": [fix]}


def _literal(command: str) -> str:
    """A command as it is run here: the interpreter and pip are those of the job."""
    said = re.sub(r"^(?:sudo\s+)?python3?(?=\s)", "{{ python }}", command)
    return re.sub(r"^(?:sudo\s+)?pip3?(?=\s)", "{{ pip }}", said)


def _questions(material: Material, knowledge: KnowledgeBase) -> list[str]:
    """How people look for this error: its words as they type them, the name of what raised it in front."""
    unasked = f"{UNWRITTEN}: how people ask who have no error text"
    asked = [material.answers.question or unasked]
    if material.proposal is None:
        return asked
    rows = knowledge.table("variables")["variables"]
    library = _library(material.text)
    words = [word for word in plain_words(_message(material.proposal.line), rows) if word.lower() != library]
    words = words[:_ASKED_WORDS]
    while words and words[-1].lower() in _SMALL:
        words.pop()
    if len(words) < _SHORTEST_QUESTION:
        return asked
    short = " ".join(words)
    named = f"{library} {short}" if library else f"why {short}"
    return [named, f"how do i fix {short}", *asked]


def _message(line: str) -> str:
    """What is said after the type of the exception."""
    return re.sub(r"^[\w.]*(?:Error|Exception)\w*: ", "", line)


def _library(text: str) -> str:
    """The package whose code raised it, by the deepest frame or the exception's own name; "" if none."""
    frames: list[str] = re.findall(r"(?:site|dist)-packages[/\\](\w+)", text)
    raised: list[str] = re.findall(r"^(\w+)(?:\.\w+)*\.\w*(?:Error|Exception)\w*:", text, re.MULTILINE)
    named = [*frames[-1:], *raised[-1:]]
    return named[0].lower() if named else ""


def _examples(text: str, proposal: Proposal | None) -> list[dict[str, Any]]:
    """The pasted text, and its telling line as a launcher and as a logger print it."""
    if proposal is None:
        kept = [{"text": text.strip("\n") + "\n"}] if text.strip() else []
        unwritten = [{"text": f"{UNWRITTEN}: a text in which it happened ({number})"} for number in (1, 2, 3)]
        return [*kept, *unwritten][:3]
    texts = [
        _excerpt(text, proposal.line).strip("\n") + "\n",
        *(form.format(proposal.line) for form in _WRAPPED),
    ]
    return [{"text": shown, **_captured(proposal.captured)} for shown in texts]


def _excerpt(text: str, line: str) -> str:
    """The text, of a long one what stands around the telling line: an example is read by people."""
    lines = text.split("\n")
    if len(lines) <= _MOST_LINES:
        return text
    said = line.partition(": ")[2] or line
    numbers = [number for number, shown in enumerate(lines) if said in shown or line in shown]
    at = numbers[-1] if numbers else len(lines) - 1
    return "\n".join(lines[max(0, at - _LINES_BEFORE) : at + _LINES_AFTER])


def _captured(captured: Mapping[str, str]) -> dict[str, Any]:
    return {"captured": dict(captured)} if captured else {}
