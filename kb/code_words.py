"""Which codes a person means: "700", "Xid 79", "exit code -11", a name, a line of a log. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from gpuhelp.kb.codes import SPACES, Code, CodeBook, Table, folded, texts_of

_LONGEST_ASKED = 400
"""Characters that are looked at; a code is said in fewer."""
_LONGEST_NUMBER = 12
_SHORTEST_TEXT = 12
"""Shorter texts of libraries ("success", "timeout") stand in too many other sentences."""
_SPEAKERS = (
    ("sxid", r"\bsxid"),
    ("xid", r"\bxid"),
    ("nccl", r"\b[nr]ccl"),
    ("cublas", r"\bcublas"),
    ("cudnn", r"\bcudnn"),
    ("cusolver", r"\bcusolver"),
    ("cufft", r"\bcufft"),
    ("cusparse", r"\bcusparse"),
    ("curand", r"\bcurand"),
    ("nvrtc", r"\bnvrtc"),
    ("nvml", r"\b(?:nvml|pynvml|nvidia-smi)"),
    ("hip", r"\b(?:hip|rocm)"),
    ("winerror", r"\bwinerror"),
    ("windows", r"\b(?:windows|ntstatus)\b"),
    ("signal", r"\b(?:signal|시그널|신호)"),
    ("exit", r"\b(?:exit|exited|exitcode|returncode|return(?:ed)?\s+(?:code|status)|종료)"),
    ("cuda", r"\b(?:cuda|cudart|curesult|gpuassert)"),
)
"""Words that say whose code it is; the first that stands in the text counts."""
_NUMBER = re.compile(r"(?<![\w.])[-+]?(?:0x[0-9a-f]+|\d+)(?![\w.]*\w)", re.IGNORECASE)
_XID_LINE = re.compile(r"\bS?Xid\s*\([^)]*\)\s*:", re.IGNORECASE)
"""A line of the kernel log: the address of the GPU stands before the number."""
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+|[A-Za-z]{6,}|SIG[A-Z]{2,}", re.IGNORECASE)
_NEAR = 0.86
_SUGGESTED = 3


def find_codes(tables: Mapping[str, Table] | CodeBook, words: str) -> tuple[Code, ...]:
    """The codes meant, the likeliest first; empty if there is none.

    A name that is not known gives the nearest of its family, with the name asked for under extra["asked"].
    """
    book = tables if isinstance(tables, CodeBook) else CodeBook(tables)
    asked = " ".join(words.split())[:_LONGEST_ASKED]
    space = _space_in(asked)
    return (
        _by_name(book, asked)
        or _by_text(book, asked, space)
        or _by_number(book, asked, space)
        or _by_short_name(book, asked, space)
        or _by_near_name(book, asked)
    )


def names_near(tables: Mapping[str, Table] | CodeBook, words: str) -> tuple[str, ...]:
    """The names of codes that come nearest to what was typed, for a suggestion."""
    from difflib import get_close_matches

    book = tables if isinstance(tables, CodeBook) else CodeBook(tables)
    names = {name.casefold(): name for code in book.everything() for name in code.names[:2]}
    near = get_close_matches(words[:_LONGEST_ASKED].strip().casefold(), names, _SUGGESTED, 0.7)
    return tuple(names[name] for name in near)


def _space_in(asked: str) -> str | None:
    return next((space for space, said in _SPEAKERS if re.search(said, asked, re.IGNORECASE)), None)


def _by_name(book: CodeBook, asked: str) -> tuple[Code, ...]:
    wanted = {token.casefold() for token in _NAME.findall(asked)}
    if not wanted:
        return ()
    found = (code for code in book.everything() if any(name.casefold() in wanted for name in code.names))
    return _unique(found)


def _by_text(book: CodeBook, asked: str, space: str | None) -> tuple[Code, ...]:
    """By the whole text of a library, or by the longest one that stands in the line."""
    said, found = folded(asked), dict[int, list[Code]]()
    for code in book.everything():
        if space not in (None, code.space, *(("exit",) if code.space == "signal" else ())):
            continue
        for text in texts_of(code):
            if text == said or (
                len(text) >= _SHORTEST_TEXT and re.search(rf"(?<!\w){re.escape(text)}(?!\w)", said)
            ):
                found.setdefault(len(text), []).append(code)
    return _unique(found[max(found)]) if found else ()


def _by_number(book: CodeBook, asked: str, space: str | None) -> tuple[Code, ...]:
    line = _XID_LINE.search(asked)
    written = _NUMBER.search(asked, line.end() if line else 0)
    if written is None or len(written[0]) > _LONGEST_NUMBER:
        return ()
    digits = written[0].lower()
    number = int(digits, 16 if "0x" in digits else 10)
    if space == "signal":
        return book.numbered("signal", abs(number)) or book.numbered("exit", number)
    if space == "cuda" and re.search(r"cuda runtime error", asked, re.IGNORECASE):
        # PyTorch up to 1.4 wrote so, built with CUDA before and after 10.1
        return tuple(sorted(book.numbered("cuda", number), key=lambda code: code.number == number))
    if space is not None:
        return book.numbered(space, number)
    if number < 0 or "0x" in digits:
        return book.numbered("exit", number) or _anywhere(book, number)
    return _anywhere(book, number)


def _anywhere(book: CodeBook, number: int) -> tuple[Code, ...]:
    """A bare number means something in many spaces: everything it can mean, the likeliest first."""
    found = [code for space in SPACES if space != "windows" for code in book.numbered(space, number)]
    if abs(number) > 0xFFFF:
        found += book.numbered("windows", number)
    return _unique(sorted(found, key=lambda code: _likelihood(code, number)))


def _likelihood(code: Code, number: int) -> int:
    """Smaller is likelier: what people meet first, then what only one library calls so."""
    if number == 0 or (code.entry is None and code.space not in ("exit", "signal")):
        return 8
    if code.space == "exit":
        return 0 if number >= 124 else 3
    if code.space == "xid":
        return 2 if code.entry != "gpu-engine-fault" else 6 if "until" in code.extra else 4
    if code.space == "cuda":
        return 5 if code.number != number or code.entry == "cuda-other-error" else 1
    return {"signal": 3, "sxid": 1, "cudnn": 6, "winerror": 6}.get(code.space, 7)


def _by_short_name(book: CodeBook, asked: str, space: str | None) -> tuple[Code, ...]:
    """`cublas not supported`, `GPU_IS_LOST`: the name without what all names of its library begin with."""
    said = _squeezed(asked)
    if len(said) < 6:
        return ()
    found = (
        code
        for code in book.everything()
        if space in (None, code.space)
        and any(_squeezed(name) == said or said in _shortened(name, code.space) for name in code.names)
    )
    return _unique(found)


def _shortened(name: str, space: str) -> tuple[str, ...]:
    """A name without its beginning, and the same with the name of the library before it."""
    short = _squeezed(
        re.sub(r"^(?:[a-z]+_STATUS_|[a-z]+_ERROR_|(?:cuda|hip)Error|nccl)", "", name, flags=re.I)
    )
    return (short, space + short, f"{space}error{short}") if len(short) >= 6 else ()


def _squeezed(words: str) -> str:
    return re.sub(r"[\W_]+", "", words).casefold()


def _by_near_name(book: CodeBook, asked: str) -> tuple[Code, ...]:
    """The longest known name that begins the one asked for, else one that is misspelled."""
    from difflib import get_close_matches

    for token in _NAME.findall(asked):
        wanted = token.casefold()
        names = {name.casefold(): code for code in book.everything() for name in code.names}
        parts = wanted.split("_")
        begun = ("_".join(parts[:count]) for count in range(len(parts) - 1, 2, -1))
        near = next((name for name in begun if name in names), None)
        near = near or next(iter(get_close_matches(wanted, names, 1, _NEAR)), None)
        if near is not None and len(near) >= 8:
            code = names[near]
            return (replace(code, extra={**code.extra, "asked": token}),)
    return ()


def _unique(codes: Iterable[Code]) -> tuple[Code, ...]:
    return tuple({(code.space, code.number): code for code in codes}.values())
