"""What numbers, names and texts of codes mean: CUDA, its libraries, Xids, exit statuses. Pure look-ups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

Table = Mapping[str, Any]
_BEYOND_POSIX = 0xFFFF
"""No exit status or signal is larger; what is, is a Windows NTSTATUS, printed with or without sign."""
_SIGNAL_OFFSET = 128
"""A shell adds it to the signal that ended a program."""
_LONGEST_NUMBER = 20
_OWN_COLUMNS = frozenset(
    {"code", "number", "name", "runtime", "driver", "also", "text", "en", "ko", "entry", "restart"}
)


class Space(NamedTuple):
    """Where the codes of a library stand: the file of kb/tables, and the key of its rows."""

    table: str
    rows: str = "codes"


SPACES = {
    "cuda": Space("cuda_errors", "errors"),
    "xid": Space("xids"),
    "exit": Space("signals", "exit_statuses"),
    "signal": Space("signals", "signals"),
    "nccl": Space("nccl_results"),
    "nvml": Space("nvml_returns"),
    "cublas": Space("cublas_statuses"),
    "cudnn": Space("cudnn_statuses"),
    "cusolver": Space("cusolver_statuses"),
    "cufft": Space("cufft_results"),
    "cusparse": Space("cusparse_statuses"),
    "curand": Space("curand_statuses"),
    "nvrtc": Space("nvrtc_results"),
    "hip": Space("hip_errors"),
    "sxid": Space("sxids"),
    "windows": Space("signals", "windows"),
    "winerror": Space("signals", "windows_loader"),
}
"""Every space of codes, the likeliest first."""
CODE_TABLES = frozenset(space.table for space in SPACES.values())


@dataclass(frozen=True, slots=True)
class Code:
    """One code. `names`: the usual one first. `text`: what the library prints for it. `meaning`: by language.

    entry: id of the entry to look at first; restart: the process must end; former: numbers of older releases,
    each with the last release that used it; extra: the further columns of its row.
    """

    space: str
    number: int
    names: tuple[str, ...]
    text: str | None
    meaning: Mapping[str, str]
    entry: str | None = None
    restart: bool = False
    former: tuple[tuple[int, str], ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)


class CodeBook:
    """All codes of the tables; a table is read when its space is first asked for. An absent one is empty."""

    def __init__(self, tables: Mapping[str, Table]) -> None:
        self._tables = tables
        self._read: dict[str, tuple[Code, ...]] = {}

    def of(self, space: str) -> tuple[Code, ...]:
        """The codes of one space in the order of its table; empty for a space that does not exist."""
        if space not in self._read:
            self._read[space] = _codes(space, self._tables)
        return self._read[space]

    def everything(self) -> Iterator[Code]:
        """Every code of every space."""
        return (code for space in SPACES for code in self.of(space))

    def numbered(self, space: str, number: int) -> tuple[Code, ...]:
        """The codes with that number: today's, then the one that older releases gave this number."""
        if space == "exit":
            return self._endings(number)
        if space == "windows":
            number &= 0xFFFF_FFFF
        today = [code for code in self.of(space) if code.number == number]
        older = [code for code in self.of(space) if any(old == number for old, _ in code.former)]
        return (*today, *older)

    def find(self, space: str, number_or_name: object) -> Code | None:
        """The code of one space by its number (of today, else of older releases) or name; None if unknown."""
        written = str(number_or_name).strip()
        try:
            number = (
                int(written, 16 if "0x" in written.lower() else 10)
                if len(written) <= _LONGEST_NUMBER
                else None
            )
        except ValueError:
            number = None
        if number is not None:
            return next(iter(self.numbered(space, number)), None)
        named = (code for code in self.of(space) if written.casefold() in map(str.casefold, code.names))
        return next(named, None)

    def _endings(self, status: int) -> tuple[Code, ...]:
        """What an exit status says: its own row, the signal behind it, or a Windows status."""
        if abs(status) > _BEYOND_POSIX:
            return self.numbered("windows", status)
        exact = tuple(code for code in self.of("exit") if code.number == status)
        signal = -status if status < 0 else status - _SIGNAL_OFFSET
        return exact or tuple(
            Code("exit", status, code.names, code.text, code.meaning, code.entry, extra={"signal": signal})
            for code in self.of("signal")
            if code.number == signal
        )


def folded(words: str) -> str:
    """A text as it is compared: white space, case and a full stop at the end do not count."""
    return " ".join(words.split()).casefold().rstrip(".")


def texts_of(code: Code) -> tuple[str, ...]:
    """The texts that libraries print for it, of older releases too, folded, with and without brackets."""
    old = code.extra.get("old_text", ())
    told = [text for text in (code.text, *((old,) if isinstance(old, str) else old)) if text]
    return tuple(
        dict.fromkeys(form for text in told for form in (folded(text), folded(text.partition(" (")[0])))
    )


def _codes(space: str, tables: Mapping[str, Table]) -> tuple[Code, ...]:
    place = SPACES.get(space)
    table = tables.get(place.table) if place else None
    if place is None or not table:
        return ()
    former, old_texts = _cuda_history(table) if space == "cuda" else ({}, {})
    made = [_code(space, row, former, old_texts) for row in table.get(place.rows, ())]
    return tuple(_joined(made))


def _code(
    space: str, row: Table, former: Mapping[int, list[int]], old_texts: Mapping[int, list[str]]
) -> Code:
    written = row.get("code", row.get("number"))
    number = int(written, 16) if isinstance(written, str) else int(written or 0)
    names = [row.get(key) for key in ("runtime", "driver", "name")] + list(row.get("also") or ())
    extra = {key: value for key, value in row.items() if key not in _OWN_COLUMNS}
    if number in old_texts:
        extra["old_text"] = old_texts[number]
    return Code(
        space=space,
        number=number,
        names=tuple(str(name) for name in names if name),
        text=row.get("text"),
        meaning={language: row[language] for language in ("en", "ko") if language in row},
        entry=row.get("entry"),
        restart=bool(row.get("restart")),
        former=tuple((old, "10.0") for old in former.get(number, ())),
        extra=extra,
    )


def _cuda_history(table: Table) -> tuple[dict[int, list[int]], dict[int, list[str]]]:
    """Numbers before CUDA 10.1 and texts of older releases, by the number of today."""
    former: dict[int, list[int]] = {}
    for old, today in table.get("before_10_1", {}).items():
        if int(old) != int(today):
            former.setdefault(int(today), []).append(int(old))
    texts: dict[int, list[str]] = {}
    for row in table.get("old_texts", ()):
        texts.setdefault(row["code"], []).append(row["text"])
    return former, texts


def _joined(codes: Iterable[Code]) -> Iterator[Code]:
    """One code for rows of one name: today's number, with those of older releases."""
    by_name: dict[tuple[str, ...] | int, list[Code]] = {}
    for code in codes:
        by_name.setdefault(code.names or code.number, []).append(code)
    for same in by_name.values():
        today = next((code for code in same if "until" not in code.extra), same[0])
        older = tuple((code.number, str(code.extra["until"])) for code in same if code is not today)
        yield replace(today, former=(*today.former, *older)) if older else today
