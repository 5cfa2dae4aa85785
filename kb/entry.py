"""What an entry is: frozen records built from the plain data that gpuhelp.kb.compile makes of a YAML file.

A Signature is the part that decides whether an entry matches and how it relates to others; all of them are
read at every start. The rest of an Entry is read only once its signature matched.

The two of them are dataclasses; the small parts they are made of, by the hundred at every start, are named
tuples.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from gpuhelp.kb.evaluation import Node

Record = dict[str, Any]
"""Plain data, as it stands in the cache."""

LANGUAGES = ("en", "ko")
CAPTURED_NAMES = frozenset(
    {
        "requested", "capacity", "free", "allocated", "reserved", "gpu_index", "gpu_name",
        "compute_capability", "supported_archs", "driver_version", "cuda_driver", "cuda_runtime",
        "torch_version", "library", "symbol", "rank", "world_size", "collective", "timeout_ms", "exit_code",
        "signal", "xid", "pci", "port", "dtype_expected", "dtype_found", "device_a", "device_b", "error_code",
        "user_frame",
    }
)  # fmt: skip
"""The contract's names of values that stand in a text."""
LAYERS = (
    "code", "framework", "library", "runtime", "driver", "hardware", "container", "host", "distributed",
)  # fmt: skip


class Localized(NamedTuple):
    """One text in every language; a missing translation falls back to English."""

    by_language: Mapping[str, Any]

    def of(self, language: str) -> Any:
        """The text (or, for templates, the segments; for lists, the list) in that language."""
        return self.by_language.get(language, self.by_language.get("en"))


class Guard(NamedTuple):
    """A pattern that makes a match void: `literal` is squashed text, else `regex` is RE2."""

    literal: str = ""
    regex: str = ""


class Pattern(NamedTuple):
    """One way in which an entry shows in a text.

    kind: text | regex | exception | fuzzy. `needle` is what the kind looks for: squashed text, an RE2
    expression, a glob over exception types, or the phrase. `anchors` are squashed lower-case literals of
    which every match holds at least one, `further` more such sets; without any the pattern is always tried.
    """

    kind: str
    needle: str
    label: str
    anchors: tuple[str, ...] = ()
    further: tuple[tuple[str, ...], ...] = ()
    says: str = ""
    where: Node = None
    let: tuple[tuple[str, Node], ...] = ()
    tells: tuple[tuple[str, Node], ...] = ()
    unless: tuple[Guard, ...] = ()
    warning: bool = False
    case: bool = False


@dataclass(frozen=True, slots=True)
class Signature:
    """What decides whether an entry matches, and how it stands to others."""

    id: str
    layer: str
    patterns: tuple[Pattern, ...]
    unless: tuple[Guard, ...] = ()
    refines: tuple[str, ...] = ()
    leads_to: tuple[str, ...] = ()
    fallback: bool = False
    reports: bool = False


class Question(NamedTuple):
    """What to ask the person when facts cannot decide. kind: yes_no | choice | number | text."""

    fact: str
    kind: str
    text: Localized
    choices: Localized


class Fix(NamedTuple):
    """One thing to do. Texts and commands are parsed templates."""

    id: str
    title: Localized
    risk: str
    explain: Localized | None
    when: Node
    commands: tuple[tuple[Node, ...], ...]
    code: str
    undo: Localized
    proof: tuple[Node, ...]
    expect: Localized


class Cause(NamedTuple):
    """One reason that can lie behind a symptom. `when` confirms or refutes, `hint` only speaks for it."""

    id: str
    title: Localized
    weight: float
    when: Node
    when_source: str
    hint: Node
    because: Localized | None
    refuted: Localized | None
    ask: Question | None
    fixes: tuple[Fix, ...]


class Reference(NamedTuple):
    """Where a claim of the entry can be checked."""

    url: str
    claim: str


class Example(NamedTuple):
    """A text the entry must match (or, among `not_examples`, must not)."""

    text: str
    captured: Mapping[str, str]
    facts: Mapping[str, object] | None
    cause: str
    ruled_out: tuple[str, ...]
    because: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """Everything gpuhelp knows about one class of failure.

    `origin` is its file; `source` names the folder or package that brought or extended it, "" if it is ours.
    `checked` is the day on which the references were last read, "" if nobody noted it.
    """

    id: str
    family: str
    layer: str
    origin: str
    source: str
    title: Localized
    summary: Localized
    questions: Localized
    leads_to: tuple[str, ...]
    causes: tuple[Cause, ...]
    references: tuple[Reference, ...]
    checked: str
    examples: tuple[Example, ...]
    not_examples: tuple[Example, ...]


def signature_from(record: Record, wants: Callable[[Record], bool] | None = None) -> Signature:
    """A signature from its cached record, with the patterns that somebody `wants`: all if nobody says."""
    patterns = record["patterns"] if wants is None else filter(wants, record["patterns"])
    return Signature(
        id=record["id"],
        layer=record["layer"],
        patterns=tuple(map(_pattern, patterns)),
        unless=_guards(record.get("unless", ())),
        refines=tuple(record.get("refines", ())),
        leads_to=tuple(record.get("leads_to", ())),
        fallback=record.get("fallback", False),
        reports=record.get("reports", False),
    )


def entry_from(record: Record) -> Entry:
    """An entry from its cached record."""
    return Entry(
        id=record["id"],
        family=record["family"],
        layer=record["layer"],
        origin=record["origin"],
        source=record["source"],
        title=Localized(record["title"]),
        summary=Localized(record["summary"]),
        questions=Localized(record["questions"]),
        leads_to=tuple(record["leads_to"]),
        causes=tuple(_cause(item) for item in record["causes"]),
        references=tuple(Reference(**item) for item in record["references"]),
        checked=record["checked"],
        examples=tuple(_example(item) for item in record["examples"]),
        not_examples=tuple(_example(item) for item in record["not_examples"]),
    )


def _pattern(record: Record) -> Pattern:
    return Pattern(
        kind=record["kind"],
        needle=record["needle"],
        label=record["label"],
        anchors=tuple(record.get("anchors", ())),
        further=tuple(tuple(group) for group in record.get("further", ())),
        says=record.get("says", ""),
        where=record.get("where"),
        let=tuple((name, node) for name, node in record.get("let", ())),
        tells=tuple((name, node) for name, node in record.get("tells", ())),
        unless=_guards(record.get("unless", ())),
        warning=record.get("warning", False),
        case=record.get("case", False),
    )


def _guards(records: Any) -> tuple[Guard, ...]:
    return tuple(Guard(**record) for record in records)


def _cause(record: Record) -> Cause:
    return Cause(
        id=record["id"],
        title=Localized(record["title"]),
        weight=record["weight"],
        when=record.get("when"),
        when_source=record.get("when_source", ""),
        hint=record.get("hint"),
        because=_optional(record.get("because")),
        refuted=_optional(record.get("refuted")),
        ask=_question(record.get("ask")),
        fixes=tuple(_fix(item) for item in record["fixes"]),
    )


def _question(record: Record | None) -> Question | None:
    if record is None:
        return None
    return Question(record["fact"], record["kind"], Localized(record["text"]), Localized(record["choices"]))


def _fix(record: Record) -> Fix:
    return Fix(
        id=record["id"],
        title=Localized(record["title"]),
        risk=record["risk"],
        explain=_optional(record.get("explain")),
        when=record.get("when"),
        commands=tuple(tuple(command) for command in record["commands"]),
        code=record.get("code", ""),
        undo=Localized(record["undo"]),
        proof=tuple(record["proof"]),
        expect=Localized(record["expect"]),
    )


def _optional(record: Record | None) -> Localized | None:
    return None if record is None else Localized(record)


def _example(record: Record) -> Example:
    return Example(
        text=record["text"],
        captured=record.get("captured", {}),
        facts=record.get("facts"),
        cause=record.get("cause", ""),
        ruled_out=tuple(record.get("ruled_out", ())),
        because=record.get("because", ""),
    )
