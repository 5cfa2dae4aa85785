"""What terminals, web pages, loggers and `repr` make of characters, made undone: on one line, before or after
its prefixes come off. Everything here is looked for only where a text holds a sign of it.
"""

from __future__ import annotations

import re
from functools import lru_cache

_ESCAPES = r"(?:\x1b|[\u241b\u2190\ufffd](?=\[)|#033|\\x1[bB]|\\u001[bB]|\\033|\\e|\^\[)"
"""The escape character, and how pages, consoles, syslog, JSON, `repr` and pagers spell it."""
_ANSI = (
    _ESCAPES + r"\[[0-?]{0,64}[ -/]{0,8}[@-~]"  # colours and cursor moves
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?"  # titles and links
    r"|\x1b[P^_X][^\x07\x1b]*(?:\x07|\x1b\\)?"  # strings for programs
    r"|\x1b[()][0-9A-Za-z]|\x1b[@-Z\\-_78=>c]"
    r"|\[(?:\d{1,3}(?:;\d{1,3}){1,15}|[0-9]{1,2})m"  # what is left when the escape character was lost
)
_REMAINS = re.compile(r"\[\d[\d;]{0,63}m")
_CONTROLS = r"[\x00-\x08\x0b-\x1f\x7f\x80-\x9f\ufeff\u200b]"
_REDRAWN = r"\r|\x1b\[(?:1?G|2K)|\x08{4,}"
_ENTITY = r"&(?:lt|gt|quot|amp|apos|nbsp|#\d{1,5}|#[xX][0-9a-fA-F]{1,4});"
_ENTITIES = {"lt": "<", "gt": ">", "quot": '"', "amp": "&", "apos": "'", "nbsp": " "}
_SYSLOG = {"#011": "\t", "#015": ""}
_ESCAPED = r"""\\(?:([nrtbf"'\\/])|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2}))"""
_LETTERS = {"n": "\n", "r": "\r", "t": "\t", "b": "", "f": ""}


@lru_cache(maxsize=32)
def rare(expression: str) -> re.Pattern[str]:
    """The compiled expression; few texts need these, so none is compiled before the first one does."""
    return re.compile(expression)


def holds_sequences(text: str) -> bool:
    """True if terminal sequences may stand in the text."""
    return "\x1b" in text or _REMAINS.search(text) is not None


def holds_controls(text: str) -> bool:
    """True if characters stand there, beside tabs and line breaks, that are no text."""
    for usual in "\n\t\r":
        text = text.replace(usual, "")
    return not text.isprintable()


def layers(raw: str) -> list[str]:
    """What was drawn over one another on one line: split where the cursor went back to its start."""
    raw = raw.rstrip("\r")
    if "\r" not in raw and "\x1b[" not in raw and "\x08" not in raw:
        return [raw]
    return [layer for layer in rare(_REDRAWN).split(raw) if layer] or [""]


def without_sequences(text: str) -> str:
    """The text without terminal sequences."""
    return rare(_ANSI).sub("", text)


def without_controls(text: str) -> str:
    """The text without control characters; tabs stay, and a hard space is a space."""
    return text if text.isprintable() else rare(_CONTROLS).sub("", text).replace("\xa0", " ")


def without_entities(text: str) -> str:
    """The text of a web page's source: `&lt;module&gt;` is <module>, also where it was escaped twice."""
    for _ in range(2):
        if "&" not in text or not rare(_ENTITY).search(text):
            break
        text = rare(_ENTITY).sub(_character, text)
    return text


def _character(found: re.Match[str]) -> str:
    name = found[0][1:-1]
    if not name.startswith("#"):
        return _ENTITIES[name]
    number = int(name[2:], 16) if name[1] in "xX" else int(name[1:])
    return chr(number) if 0x20 <= number < 0xD800 or number in (9, 10) else " "


def syslog_lines(text: str) -> list[str] | None:
    """The lines that rsyslog joined with `#012`."""
    if text.count("#012") < 2 and not text.endswith("#012"):
        return None
    for spelled, meant in _SYSLOG.items():
        text = text.replace(spelled, meant)
    return text.removesuffix("#012").split("#012")


def unescaped(text: str) -> str:
    """The text that a string literal of JSON, Python or C spells."""
    return rare(_ESCAPED).sub(_meant, text)


def _meant(found: re.Match[str]) -> str:
    letter, code, byte = found.groups()
    if letter:
        return _LETTERS.get(letter, letter)
    number = int(code or byte, 16)
    return "\ufffd" if 0xD800 <= number < 0xE000 else chr(number)


_BYTES = r"""b(['"])(.*)\1[,;)]?\s*$"""
_STRONG_BREAK = (
    r"""\\n(?=\s*$|["'\\]|\s*(?:File |Traceback )|[A-Z][\w.]{0,80}\b|(?:[a-z_]\w{0,40}\.){1,6}[A-Z])"""
)
_TELLS_OF_FAILURE = (
    r"Traceback \(most recent call last\)|(?:[Ee]rror|ERROR|[Ee]xception|[Ff]ailed|[Ff]atal)\b"
)
_IS_CODE = r"^(?: {4}|\t)|\b(?:raise |assert |print\()|^\s*return |^\s*(?:-+>|❱) ?\d"
_KEY = r'^\s{0,40}"[\w.@-]{1,40}": ?(?=")'
_QUOTES = "\"'"


def spelled_lines(text: str) -> list[str] | None:
    r"""The lines of a text that stands on one line with `\n` for its line breaks, as JSON and repr spell it.

    Code that holds such a literal, and paths such as C:\new, are no such text.
    """
    key = rare(_KEY).match(text)
    body = text[key.end() :] if key else text
    if not key and rare(_IS_CODE).search(text):
        return None
    failure = rare(_TELLS_OF_FAILURE).search(body)
    if failure is None or not rare(_STRONG_BREAK).search(body, failure.end()):
        return None
    return _lines(_unquoted(body))


def _lines(text: str) -> list[str]:
    lines = [line.rstrip("\r") for line in unescaped(text).split("\n")]
    while len(lines) > 1 and not lines[-1].strip():
        lines.pop()
    return lines


def _unquoted(text: str) -> str:
    text = text.strip()
    quote = text[:1]
    if quote in _QUOTES and quote:
        text = text[1:].rstrip(",").removesuffix(quote)
    return text


def bytes_lines(text: str) -> list[str] | None:
    r"""The lines of a line that is the repr of bytes: `b'RuntimeError: boom\r\n'`."""
    found = rare(_BYTES).match(text)
    if found is None:
        return None
    lines = _lines(found[2])
    try:
        return [line.encode("latin-1").decode("utf-8") for line in lines]
    except UnicodeError:
        return lines


_RAISED = (
    r"(?P<type>(?:[A-Za-z_]\w{0,80}\.){0,6}[A-Za-z_]\w{0,100}(?:Error|Exception))"
    r"\((?P<quote>['\"])"
)
_ENDS = {"'": r"(?:[^'\\]|\\.)*'", '"': r'(?:[^"\\]|\\.)*"'}
_LEADS_TO_ONE = (
    r"(?:[Ee]rrors?|ERROR|[Ee]xceptions?|[Ff]ail\w{0,10}|[Cc]aused?|[Cc]rash\w{0,5}|[Dd]ied|[Tt]erminated|[Rr]aised)"
    r"\b[^'\"]{0,80}$"
)
_IS_HANDLED = r"(?i)caught|retry|ignor|warn|handled|skip|expected"


def raised_lines(text: str) -> list[str] | None:
    """The lines of a line that shows an exception by its repr: `RuntimeError('CUDA error: …')`.

    They read as Python prints an exception, `RuntimeError: CUDA error: …`; what stands around it is kept.
    """
    found = rare(_RAISED).search(text)
    if found is None:
        return None
    before = text[: found.start()]
    if before.strip(" ([{") and not _leads_to_one(before):
        return None
    end = rare(_ENDS[found["quote"]]).match(text, found.end())
    if end is None or text[end.end() : end.end() + 1] not in (")", ",", ""):
        return None
    message = text[found.end() : end.end() - 1]
    if found["type"] == "KeyError":
        message = f"'{message}'"
    after = text[end.end() :].strip(" ,)]}'\".")
    lines = [before.rstrip()] if before.strip(" ([{") else []
    lines += _lines(f"{found['type']}: {message}")
    return [*lines, after] if after else lines


def _leads_to_one(before: str) -> bool:
    if before.startswith((" " * 4, "\t")) or "raise " in before:
        return False
    return bool(rare(_LEADS_TO_ONE).search(before[-120:])) and not rare(_IS_HANDLED).search(before)
