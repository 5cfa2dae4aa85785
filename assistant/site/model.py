"""What the pages say, in one language: frozen records made from the knowledge base. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import NamedTuple

from gpuhelp.kb.entry import LAYERS, Cause, Entry, Reference, Signature
from gpuhelp.kb.evaluation import Unknown
from gpuhelp.kb.load import KnowledgeBase
from gpuhelp.probes.facts import Facts
from gpuhelp.reasoning.fixes import RISKS, ToldFix, tell, tools_of
from gpuhelp.reasoning.scope import Scope
from gpuhelp.site.symptoms import Symptoms, symptoms_of

_NOTHING_KNOWN = Scope(Facts(), {**tools_of(Facts()), "gpus": Unknown(["gpus"])}, {}, {})


class Link(NamedTuple):
    """An entry as others point to it."""

    id: str
    title: str
    layer: str


class FixView(NamedTuple):
    """A fix, and the anchor under which it stays."""

    anchor: str
    told: ToldFix


class CauseView(NamedTuple):
    """A cause. `when` is the condition as it is written, `ask` what gpuhelp asks if no fact decides."""

    anchor: str
    title: str
    percent: int
    when: str
    ask: str
    fixes: tuple[FixView, ...]


class Links(NamedTuple):
    """How an entry stands to others; only entries that exist."""

    leads_to: tuple[Link, ...]
    comes_from: tuple[Link, ...]
    specific: tuple[Link, ...]
    general: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class EntryView:
    """One page about an entry. `source`: who brought it, "" if it is ours; `translated`: all of it is."""

    id: str
    family: str
    layer: str
    title: str
    summary: tuple[str, ...]
    symptoms: Symptoms
    causes: tuple[CauseView, ...]
    links: Links
    questions: tuple[str, ...]
    references: tuple[Reference, ...]
    checked: str
    source: str
    translated: bool

    @property
    def has_gaps(self) -> bool:
        """Whether a command holds a <name> that stands for a value of the machine."""
        fixes = (fix.told for cause in self.causes for fix in cause.fixes)
        return any("<" in text for fix in fixes for text in (*fix.commands, fix.proof))


class Group(NamedTuple):
    """Entries under one heading; `name` is a family or a layer."""

    name: str
    entries: tuple[EntryView, ...]


def entries_of(knowledge: KnowledgeBase, language: str) -> tuple[EntryView, ...]:
    """Every entry, by id."""
    signatures = {one.id: one for one in knowledge.signatures}
    entries = {entry_id: knowledge.entry(entry_id) for entry_id in knowledge.ids}
    known = {one.id: Link(one.id, _line(one.title.of(language)), one.layer) for one in entries.values()}
    return tuple(_entry(one, signatures, known, language) for one in entries.values())


def by_family(entries: Iterable[EntryView]) -> tuple[Group, ...]:
    """The entries by the folder they stand in."""
    found: dict[str, list[EntryView]] = {}
    for entry in entries:
        found.setdefault(entry.family, []).append(entry)
    return tuple(Group(family, _by_title(found[family])) for family in sorted(found))


def by_layer(entries: Iterable[EntryView]) -> tuple[Group, ...]:
    """The entries by their place in the stack, from the code down to the GPU, then what stands beside it."""
    listed = tuple(entries)
    groups = (Group(layer, _by_title(one for one in listed if one.layer == layer)) for layer in LAYERS)
    return tuple(group for group in groups if group.entries)


def _by_title(entries: Iterable[EntryView]) -> tuple[EntryView, ...]:
    return tuple(sorted(entries, key=lambda one: (one.title.casefold(), one.id)))


def _entry(
    entry: Entry, signatures: Mapping[str, Signature], known: Mapping[str, Link], language: str
) -> EntryView:
    summary = entry.summary.of(language).strip().split("\n\n")
    return EntryView(
        id=entry.id,
        family=entry.family,
        layer=entry.layer,
        title=_line(entry.title.of(language)),
        summary=tuple(map(_line, summary)),
        symptoms=symptoms_of(entry, signatures[entry.id]),
        causes=tuple(_cause(one, language) for one in sorted(entry.causes, key=lambda cause: -cause.weight)),
        links=_links(entry.id, signatures, known),
        questions=tuple(map(_line, entry.questions.of(language) or ())),
        references=entry.references,
        checked=entry.checked,
        source=PurePath(entry.source).name,  # a whole path would tell whose folder it is
        translated=all(language in text.by_language for text in (entry.title, entry.summary)),
    )


def _cause(cause: Cause, language: str) -> CauseView:
    told = sorted(
        (tell(fix, _NOTHING_KNOWN, language) for fix in cause.fixes), key=lambda fix: RISKS.index(fix.risk)
    )
    return CauseView(
        anchor=f"cause-{cause.id}",
        title=_line(cause.title.of(language)),
        percent=round(cause.weight * 100),
        when=_line(cause.when_source),
        ask=_line(cause.ask.text.of(language)) if cause.ask else "",
        fixes=tuple(FixView(f"fix-{cause.id}-{fix.id}", fix) for fix in told),
    )


def _links(entry_id: str, signatures: Mapping[str, Signature], known: Mapping[str, Link]) -> Links:
    own = signatures[entry_id]

    def existing(ids: Iterable[str]) -> tuple[Link, ...]:
        links = (known[one] for one in dict.fromkeys(ids) if one in known and one != entry_id)
        return tuple(sorted(links, key=lambda link: link.title.casefold()))

    return Links(
        leads_to=existing(own.leads_to),
        comes_from=existing(one.id for one in signatures.values() if entry_id in one.leads_to),
        specific=existing(one.id for one in signatures.values() if entry_id in one.refines),
        general=existing(own.refines),
    )


def _line(text: str) -> str:
    return " ".join(text.split())
