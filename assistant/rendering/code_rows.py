"""Codes told without a log: what each is called, what it means, what to do. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from gpuhelp.kb.codes import Code
from gpuhelp.kb.entry import Entry
from gpuhelp.rendering.layout import BLANK, Row, Span, clip, one_line, row
from gpuhelp.rendering.stack import stack_row
from gpuhelp.words import Words

EntryOf = Callable[[str], Entry | None]
"""Gives the entry of an id; None where nobody has written it yet."""
Actions = Mapping[str, Mapping[str, Mapping[str, str]]]
"""What actions say, by space, key and language."""
_TOLD_WHOLE = 1
_FIRST_CAUSES = 3
_LONGEST_ASKED = 60


class Asked(NamedTuple):
    """The codes that answer a question, the likeliest first, and what a telling of them needs."""

    words: str
    codes: tuple[Code, ...]
    entry_of: EntryOf
    actions: Actions


def code_rows(asked: Asked, words: Words) -> tuple[Row, ...]:
    """The codes for a terminal: the likeliest whole, with its entry; the others in two lines each."""
    first, others = asked.codes[:_TOLD_WHOLE], asked.codes[_TOLD_WHOLE:]
    rows: list[Row] = []
    if others:
        lead = words(
            "code.several", asked=clip(one_line(asked.words), _LONGEST_ASKED), count=len(asked.codes)
        )
        rows += [row(lead), BLANK]
    for code in first:
        rows += _whole(code, asked, words)
    if others:
        rows += [BLANK, row(Span(words("code.others"), "heading"))]
    for code in others:
        rows += _short(code, words)
    return tuple(rows)


def codes_data(asked: Asked, words: Words) -> dict[str, Any]:
    """The codes as plain data."""
    return {
        "schema_version": 1,
        "asked": asked.words,
        "codes": [_data(code, asked, words) for code in asked.codes],
    }


def title_of(code: Code, words: Words) -> str:
    """`CUDA error 700 · cudaErrorIllegalAddress`."""
    number = f"0x{code.number:08X}" if code.space == "windows" else str(code.number)
    return " · ".join([words(f"code.space.{code.space}", number=number), *code.names[:1]])


def _whole(code: Code, asked: Asked, words: Words) -> Iterator[Row]:
    yield row(Span("■ ", "mark"), Span(title_of(code, words), "title"), hang=2)
    if "asked" in code.extra:
        yield row(words("code.nearest", asked=clip(one_line(code.extra["asked"]), _LONGEST_ASKED)), indent=2)
    for name in code.names[1:]:
        yield row(Span(name, "dim"), indent=2)
    yield BLANK
    yield row(code.meaning.get(words.language) or code.meaning.get("en", ""), indent=2)
    yield BLANK
    for label, value in _details(code, asked.actions, words):
        yield row(Span(f"{label}: ", "dim"), value, indent=2, hang=2)
    yield from _parts(code, asked.actions, words)
    entry = asked.entry_of(code.entry) if code.entry else None
    if entry is not None:
        yield from _entry_rows(entry, words)


def _short(code: Code, words: Words) -> Iterator[Row]:
    yield row(Span("○ ", "dim"), Span(title_of(code, words), "title"), indent=2, hang=2)
    meaning = code.meaning.get(words.language) or code.meaning.get("en", "")
    history = _history(code, words)
    yield row(meaning, *([Span(f" ({history})", "dim")] if history else ()), indent=4)


def _details(code: Code, actions: Actions, words: Words) -> Iterator[tuple[str, str]]:
    """Label and value of each further thing the table says."""
    extra = code.extra
    if code.text and _letters(code.text) not in _letters(code.names[0] if code.names else ""):
        yield words.find(f"code.text.{code.space}") or words("code.text"), code.text
    if code.restart:
        yield words("code.restart"), words("code.restart.yes")
    if extra.get("fatal") in ("yes", "no", "depends"):
        yield words("code.fatal"), words(f"code.fatal.{extra['fatal']}")
    if extra.get("who"):
        yield words("code.who"), _who(extra["who"], extra.get("also_who", ()), words)
    for key in ("action", "repeated"):
        said = _action(code, extra.get(key), actions, words)
        if said:
            yield (
                words("code.action.likely" if code.space == "sxid" and extra.get("sure") else f"code.{key}"),
                said,
            )
    history = _history(code, words)
    if history:
        yield words("code.history"), history


def _who(first: str, others: Sequence[str], words: Words) -> str:
    """Whose fault it mostly is, and whose it can be."""
    named = [words.find(f"code.who.{one}") or one for one in (first, *others)]
    return words("code.who.also", who=named[0], others=", ".join(named[1:])) if others else named[0]


def _letters(name: str) -> str:
    """A name without what tells a symbol from words: many symbols are their own description."""
    return "".join(filter(str.isalnum, name)).casefold()


def _action(code: Code, key: object, actions: Actions, words: Words) -> str:
    return actions.get(code.space, {}).get(str(key), {}).get(words.language, "")


def _history(code: Code, words: Words) -> str:
    """Which releases have it, and under which numbers."""
    parts = [words(f"code.former.{code.space}", number=old, release=release) for old, release in code.former]
    for key in () if parts else ("since", "until"):
        sentence = words.find(f"code.{key}.{code.space}")
        if sentence and code.extra.get(key):
            parts.append(sentence.format(release=code.extra[key]))
    return "; ".join(parts)


def _parts(code: Code, actions: Actions, words: Words) -> Iterator[Row]:
    """The units or recoveries that a line with this code can name."""
    parts = code.extra.get("subcodes", ())
    if not parts:
        return
    yield BLANK
    yield row(Span(words("code.subcodes"), "heading"))
    for part in parts:
        names = " / ".join([part["name"], *part.get("also", ())])
        yield row("○ ", Span(names, "title"), "  ", part[words.language], indent=2, hang=2)
        for key in part.get("actions", ()):
            yield row("→ ", _action(code, key, actions, words), indent=6, hang=2)


def _entry_rows(entry: Entry, words: Words) -> Iterator[Row]:
    """The entry in short: its first paragraph and its commonest causes."""
    language = words.language
    yield BLANK
    yield row(Span(entry.title.of(language), "title"), indent=2)
    yield stack_row(entry.layer, words)
    yield BLANK
    yield row(" ".join(entry.summary.of(language).strip().split("\n\n")[0].split()), indent=2)
    yield BLANK
    yield row(Span(words("causes"), "heading"))
    for cause in sorted(entry.causes, key=lambda cause: -cause.weight)[:_FIRST_CAUSES]:
        share = words("explain.share", percent=round(cause.weight * 100))
        yield row("○ ", cause.title.of(language), Span(f"  {share}", "dim", unbroken=True), indent=2, hang=2)
    yield BLANK
    yield row(words("code.more"), indent=2)
    yield row(Span(f"gpuhelp explain {entry.id}", "command"), indent=4, whole=True)


def _data(code: Code, asked: Asked, words: Words) -> dict[str, Any]:
    entry = asked.entry_of(code.entry) if code.entry else None
    language = words.language
    told: dict[str, Any] = {
        "space": code.space,
        "number": code.number,
        "names": list(code.names),
        "title": title_of(code, words),
        "text": code.text,
        "meaning": code.meaning.get(language) or code.meaning.get("en"),
        "entry": code.entry,
        "restart": code.restart,
        "former": [{"number": old, "until": release} for old, release in code.former],
        "nearest_to": code.extra.get("asked"),
        "details": [
            {"label": label, "value": value} for label, value in _details(code, asked.actions, words)
        ],
        "parts": [_part(part, language) for part in code.extra.get("subcodes", ())],
        "explained": None if entry is None else _entry_data(entry, language),
    }
    columns = ("since", "until", "who", "also_who", "action", "repeated", "fatal")
    return {**told, **{key: code.extra[key] for key in columns if key in code.extra}}


def _part(part: Mapping[str, Any], language: str) -> dict[str, Any]:
    told = {key: value for key, value in part.items() if key not in ("en", "ko")}
    return {**told, "meaning": part[language]}


def _entry_data(entry: Entry, language: str) -> dict[str, Any]:
    causes: Sequence[Any] = sorted(entry.causes, key=lambda cause: -cause.weight)
    return {
        "title": entry.title.of(language),
        "layer": entry.layer,
        "summary": entry.summary.of(language).strip(),
        "causes": [{"title": cause.title.of(language), "weight": cause.weight} for cause in causes],
    }
