"""The state of a conversation and one step of it: a message in, a new state and rows to show out.

Pure but for what the injected tools do; where messages come from and rows go is repl's and plain's affair.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from gpuhelp.chat.commands import COMMANDS, command_of, nearest_command, nearest_ids
from gpuhelp.chat.known import facts_rows
from gpuhelp.chat.telling import (
    answer_rows,
    closing_rows,
    fix_list_rows,
    help_rows,
    more_rows,
    named,
    opening_rows,
    suggestion_rows,
    why_rows,
)
from gpuhelp.diagnosis import Diagnosis, Status
from gpuhelp.probes.facts import Facts
from gpuhelp.rendering.explanation import explanation_rows
from gpuhelp.rendering.layout import Row, row
from gpuhelp.rendering.text import fix_rows, numbered_fixes
from gpuhelp.words import Words

if TYPE_CHECKING:
    from gpuhelp.kb.load import KnowledgeBase

Diagnose = Callable[[str, Facts], Diagnosis]
"""A text and the facts known beforehand, diagnosed."""


@dataclass(frozen=True, slots=True)
class Tools:
    """What a step may use. `look` is `diagnose` with a look at the machine, None where nobody may look.

    `save` writes a report and gives the path it wrote to; it raises InputError where it cannot.
    """

    knowledge: KnowledgeBase
    diagnose: Diagnose
    look: Diagnose | None
    save: Callable[[str, Diagnosis, Words], str]


@dataclass(frozen=True, slots=True)
class Session:
    """One conversation so far. `given` are facts known without a look, `text` is what was pasted last.

    `pasted` are the outputs of tools (nvidia-smi, pip list) that were pasted without a failure: the failure
    that was pasted before them, or comes after, is judged by them too.

    `pending`: the machine is still to be looked at (see look). `told` is the command answered last, empty
    where that was the diagnosis.
    """

    language: str
    tools: Tools
    diagnosis: Diagnosis | None = None
    text: str = ""
    pasted: str = ""
    given: Facts = field(default_factory=Facts)
    finished: bool = False
    pending: bool = False
    told: str = ""

    @property
    def words(self) -> Words:
        """The sentences of the conversation's language."""
        return Words(self.language)

    @property
    def whole(self) -> str:
        """The text to diagnose: the failure first, so that its lines keep their numbers."""
        return "\n\n".join(part for part in (self.text, self.pasted) if part)


_MOST_PASTED = 200_000
"""Characters of outputs that are kept."""
Answer = tuple[Session, tuple[Row, ...]]
_Handler = Callable[[Session, str], Answer]
_TellMore = Callable[[Diagnosis, Words, "KnowledgeBase"], tuple[Row, ...]]


def step(session: Session, message: str) -> Answer:
    """The next state and what to show. Raises what the tools raise; the session given stays good then."""
    if not message.strip():
        return session, ()
    command = command_of(message)
    if command is None:
        return _diagnose(session, message)
    name, argument = command
    if name in _HANDLERS:
        return _HANDLERS[name](session, argument)
    near = nearest_command(name)
    key = "chat.unknown_command.near" if near else "chat.unknown_command"
    return session, (row(session.words(key, command=f"/{name}", near=f"/{near}")),)


def look(session: Session) -> Answer:
    """The rest of a pending answer: facts of this machine, causes judged by them, the first fix."""
    if session.tools.look is None or session.diagnosis is None:
        return without_look(session)
    diagnosis = session.tools.look(session.whole, session.given)
    return _closed(replace(session, diagnosis=diagnosis, pending=False))


def without_look(session: Session) -> Answer:
    """The rest of a pending answer for a person who does not want to wait: judged by the text alone."""
    done, rows = _closed(replace(session, pending=False))
    return done, (row(session.words("chat.stopped_looking")), *rows)


def _closed(session: Session) -> Answer:
    shown = _shown(session)
    rows = closing_rows(shown, session.words, session.tools.knowledge) if shown is not None else ()
    return session, rows


def _shown(session: Session) -> Diagnosis | None:
    """The diagnosis with the paste called what this language calls it."""
    return None if session.diagnosis is None else named(session.diagnosis, session.words("chat.source"))


def _diagnose(session: Session, message: str) -> Answer:
    diagnosis = session.tools.diagnose(message, session.given)
    if diagnosis.pastes is not None and diagnosis.status is Status.HEALTHY:
        return _with_paste(session, message, diagnosis)
    if diagnosis.status is Status.HEALTHY and session.diagnosis is not None and "\n" not in message.strip():
        return session, (row(session.words("chat.kept")),)
    after = replace(session, text=message, pasted="" if diagnosis.pastes else session.pasted)
    if after.pasted:
        diagnosis = session.tools.diagnose(after.whole, session.given)
    return _answered(after, diagnosis)


def _with_paste(session: Session, message: str, alone: Diagnosis) -> Answer:
    """What a tool printed, pasted by itself: the failure of before is judged again, else it is read out."""
    pasted = f"{session.pasted}\n\n{message}".strip()[-_MOST_PASTED:]
    after = replace(session, pasted=pasted)
    if session.diagnosis is None or session.diagnosis.status is Status.HEALTHY:
        return _answered(replace(after, text=""), alone)
    return _answered(after, session.tools.diagnose(after.whole, session.given))


def _answered(session: Session, diagnosis: Diagnosis) -> Answer:
    pending = diagnosis.status is Status.KNOWN and session.tools.look is not None
    after = replace(session, diagnosis=diagnosis, pending=pending, told="")
    return after, _told_again(after)


def _told_again(session: Session) -> tuple[Row, ...]:
    """The diagnosis as far as it is known by now."""
    shown = _shown(session)
    if shown is None:
        return ()
    tell = opening_rows if session.pending else answer_rows
    return tell(shown, session.words, session.tools.knowledge, session.text)


def _about_diagnosis(name: str, tell: _TellMore) -> _Handler:
    """A command that tells more of the last diagnosis."""

    def handle(session: Session, argument: str) -> Answer:
        shown = _shown(session)
        if shown is None:
            return session, (row(session.words("chat.nothing_yet")),)
        return replace(session, told=f"/{name}"), tell(shown, session.words, session.tools.knowledge)

    return handle


def _fix(session: Session, argument: str) -> Answer:
    words, shown = session.words, _shown(session)
    if shown is None:
        return session, (row(words("chat.nothing_yet")),)
    numbered = numbered_fixes(shown.findings[0]) if shown.findings else ()
    if not numbered:
        return session, (row(words("chat.no_fix")),)
    told = replace(session, told=f"/fix {argument}".strip())
    if not argument:
        return told, fix_list_rows(shown, words)
    number = int(argument) if argument.isdecimal() and len(argument) < 6 else 0
    if not 1 <= number <= len(numbered):
        return session, (row(words("chat.no_such_fix", number=argument, last=len(numbered))),)
    return told, fix_rows(numbered[number - 1], shown.findings[0], words)


def _facts(session: Session, argument: str) -> Answer:
    facts = session.given if session.diagnosis is None else session.diagnosis.facts
    return replace(session, told="/facts"), facts_rows(facts, session.diagnosis, session.words)


def _explain(session: Session, argument: str) -> Answer:
    words, knowledge = session.words, session.tools.knowledge
    entry_id = "-".join(argument.lower().replace("_", " ").replace("-", " ").split())
    if not entry_id:
        return session, (row(words("chat.explain_usage")),)
    if entry_id in knowledge.ids:
        told = replace(session, told=f"/explain {entry_id}")
        return told, explanation_rows(knowledge.entry(entry_id), words)
    near = suggestion_rows(nearest_ids(entry_id, knowledge.ids), words, knowledge)
    lead = (row(words("chat.nearest_entries")), *near) if near else ()
    return session, (row(words("chat.no_such_entry", id=argument)), *lead)


def _lang(session: Session, argument: str) -> Answer:
    language = argument.lower()
    if language not in ("en", "ko"):
        return session, (row(session.words("chat.lang_usage")),)
    switched = replace(session, language=language)
    if switched.told:
        return step(switched, switched.told)
    return switched, _told_again(switched) or (row(switched.words("chat.lang_done")),)


def _save(session: Session, argument: str) -> Answer:
    shown = _shown(session)
    if shown is None:
        return session, (row(session.words("chat.nothing_yet")),)
    path = argument.strip("\"'")
    if not path:
        return session, (row(session.words("chat.save.usage")),)
    written = session.tools.save(path, shown, session.words)
    return session, (row(session.words("chat.save.done", path=written)),)


def _help(session: Session, argument: str) -> Answer:
    return replace(session, told="/help"), help_rows(session.words, COMMANDS)


def _quit(session: Session, argument: str) -> Answer:
    return replace(session, finished=True), ()


_HANDLERS: dict[str, _Handler] = {
    "why": _about_diagnosis("why", why_rows),
    "more": _about_diagnosis("more", more_rows),
    "fix": _fix,
    "facts": _facts,
    "explain": _explain,
    "lang": _lang,
    "save": _save,
    "help": _help,
    "quit": _quit,
}
