"""`gpuhelp` without input, on a terminal: a conversation. Puts together what the chat needs from outside."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from gpuhelp.chat.screen import Screen
from gpuhelp.chat.session import Session, Tools
from gpuhelp.chat.watch import Watch
from gpuhelp.commands.common import given_facts, host_of, knowledge_of, machine_of, observer_of
from gpuhelp.diagnosis import Diagnosis, Observe, diagnose_texts
from gpuhelp.kb.load import KnowledgeBase
from gpuhelp.probes.facts import Facts
from gpuhelp.rendering.privacy import Privacy
from gpuhelp.scanning.gather import gather_text
from gpuhelp.terminal import Terminal
from gpuhelp.words import Words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gpuhelp.rendering.layout import Row

_WATCHED = ("driver.version", "driver.error", "gpus")


def run(options: argparse.Namespace, terminal: Terminal, words: Words) -> int:
    """0 when the person leaves. Raises what is wrong with the options before anything is typed."""
    observe = observer_of(options, terminal)
    if observe is not None:
        machine_of(options, terminal)
    tools = _tools(knowledge_of(options, terminal), observe, terminal)
    session = Session(words.language, tools, given=given_facts(options))
    screen = Screen(terminal, options.color, Privacy(terminal.environ, share=options.redact))
    if _is_plain(terminal):
        return _run_plain(session, screen)
    from gpuhelp.chat.repl import run_repl

    return run_repl(session, screen, Watch(_gpu_look(observe), session.given), _report)


def _tools(knowledge: KnowledgeBase, observe: Observe | None, terminal: Terminal) -> Tools:
    def diagnose(text: str, given: Facts, probes: Observe | None = None) -> Diagnosis:
        texts = (gather_text(text, "input", knowledge),)
        host = host_of(terminal)
        return diagnose_texts(texts, facts=given, probes=probes, knowledge=knowledge, host=host)

    def look(text: str, given: Facts) -> Diagnosis:
        return diagnose(text, given, observe)

    def save(path: str, diagnosis: Diagnosis, words: Words) -> str:
        from gpuhelp.chat.report import save_report

        return save_report(path, diagnosis, words, knowledge, terminal.environ)

    return Tools(knowledge, diagnose, look if observe is not None else None, save)


def _gpu_look(observe: Observe | None) -> Callable[[], Facts] | None:
    return None if observe is None else lambda: observe(_WATCHED, ()).facts


def _report(error: Exception) -> str:
    from gpuhelp.defect import report_defect

    return report_defect(error, ["chat"])


def _is_plain(terminal: Terminal) -> bool:
    both = terminal.stdin_is_terminal and terminal.stdout_is_terminal
    return not both or terminal.environ.get("TERM") == "dumb"


def _run_plain(session: Session, screen: Screen) -> int:
    from gpuhelp.chat.conversation import Conversation, Outside
    from gpuhelp.chat.plain import run_plain
    from gpuhelp.rendering.layout import row

    stdout, terminal = screen.terminal.stdout, screen.terminal

    def show(rows: Iterable[Row]) -> None:
        stdout.write(screen.text(rows, terminal.width))
        stdout.flush()

    @contextmanager
    def busy(text: str) -> Iterator[None]:
        show((row(text),))
        yield

    def prompt() -> None:
        if terminal.stdin_is_terminal:
            stdout.write("> ")
            stdout.flush()

    words = session.words
    show((row(words("chat.welcome")), row(words("chat.welcome_lines")), row(words("chat.welcome_help"))))
    return run_plain(Conversation(session, Outside(show, busy, _report)), terminal.stdin, prompt)
