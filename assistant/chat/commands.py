"""The chat's commands: what a command looks like, which there are, and what may follow them. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

COMMANDS = {
    "why": "",
    "more": "",
    "fix": "N",
    "facts": "",
    "explain": "ID",
    "lang": "en|ko",
    "save": "FILE",
    "help": "",
    "quit": "",
}
"""Every command with what it takes, in the order of /help."""
_COMMAND = re.compile(r"/([a-z?]*)(?:[ \t]+(.*))?", re.IGNORECASE)
_SUGGESTED_IDS = 5


def command_of(message: str) -> tuple[str, str] | None:
    """(name, argument) of a command; None for any other message.

    A path at the start of a log line ("/usr/bin/python: …") is none, and neither is a text of several lines.
    """
    found = _COMMAND.fullmatch(message.strip())
    return (found[1].lower(), (found[2] or "").strip()) if found else None


def nearest_command(name: str) -> str:
    """The command that was probably meant; empty where none is near."""
    from difflib import get_close_matches

    begun = [known for known in COMMANDS if name and known.startswith(name)]
    near = begun or get_close_matches(name, COMMANDS, 1, 0.5)
    return near[0] if near else ""


def nearest_ids(wanted: str, ids: Sequence[str]) -> tuple[str, ...]:
    """The entries whose ids come nearest, best first: those that hold the words, then similar spellings."""
    from difflib import get_close_matches

    parts = [part for part in re.split(r"[\s_-]+", wanted) if part]
    holding = [entry for entry in ids if all(part in entry for part in parts)]
    near = get_close_matches(wanted, ids, _SUGGESTED_IDS, 0.5)
    return tuple(dict.fromkeys([*holding, *near]))[:_SUGGESTED_IDS]


def completions(text: str, ids: Sequence[str], fix_count: int) -> Iterator[tuple[str, str]]:
    """(what may stand in place of the last word, that last word) for a command line that is being typed."""
    if not text.startswith("/") or "\n" in text:
        return
    name, space, argument = text[1:].partition(" ")
    if not space:
        yield from ((f"/{known}", text) for known in COMMANDS if known.startswith(name.lower()))
        return
    numbers = [str(number) for number in range(1, fix_count + 1)]
    offered = {"explain": ids, "fix": numbers, "lang": ("en", "ko")}.get(name, ())
    begun = argument.lstrip()
    starting = [one for one in offered if one.startswith(begun)]
    inside = [one for one in offered if begun in one and one not in starting] if name == "explain" else []
    yield from ((one, begun) for one in (*starting, *inside))
