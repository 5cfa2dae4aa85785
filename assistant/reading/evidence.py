"""What reading makes of a text: lines with their origin, Python errors, and the sources they came from.

Records that are made by the thousand, here and in matching, are named tuples: as frozen as dataclasses, and
seven times cheaper to define at every start.
"""

from __future__ import annotations

from typing import NamedTuple


class Source(NamedTuple):
    """One text as the person gave it: a file, standard input, or a paste. `rank` is what its name tells.

    `skipped_lines` of its lines stand before the part that was asked for.
    """

    name: str
    size_bytes: int
    line_count: int
    rank: str = ""
    skipped_lines: int = 0

    @property
    def read_lines(self) -> int:
        """How many of its lines were read."""
        return self.line_count - self.skipped_lines


class Wrapping(NamedTuple):
    """What the wrappers around a line said: strings as they stood there, empty where they said nothing."""

    rank: str = ""
    host: str = ""
    time: str = ""
    pid: str = ""
    level: str = ""
    stream: str = ""


PLAIN = Wrapping()


class Line(NamedTuple):
    """One line: `text` without wrappers, `raw` as it stood, `number` counted from 1 in its source."""

    number: int
    text: str
    raw: str
    wrapping: Wrapping = PLAIN


BREAK = Line(0, "\x01", "")
"""Stands where lines of the source were left out: a character that no pattern looks for."""


class Frame(NamedTuple):
    """One call of a traceback."""

    file: str
    line: str
    function: str
    is_library: bool

    @property
    def place(self) -> str:
        """file:line, as the contract's user_frame wants it."""
        return f"{self.file}:{self.line}"


class PythonError(NamedTuple):
    """One exception: its type, its message, and its frames from the outermost call to the innermost.

    `first` and `last` are indexes into the document's lines, and so is `said`: the first and last line of
    type and message. `chained` is true when the next error in the text was raised while this one was handled,
    or because of it. `type` is empty where the text ended first.
    """

    type: str
    message: str
    frames: tuple[Frame, ...]
    first: int
    last: int
    said: tuple[int, int]
    chained: bool = False

    @property
    def name(self) -> str:
        """The last component of the type: torch.cuda.OutOfMemoryError -> OutOfMemoryError."""
        return self.type.rpartition(".")[2]

    @property
    def user_frame(self) -> Frame | None:
        """The deepest frame in the user's own code."""
        return next((frame for frame in reversed(self.frames) if not frame.is_library), None)


class Episode(NamedTuple):
    """Lines that belong together and tell of one event that is no Python error: `kind` is what it is.

    `first`, `last` and `telling` are indexes of lines; `telling` is that of the line that says what failed.
    """

    kind: str
    first: int
    last: int
    telling: int


class Document(NamedTuple):
    """One source, read: lines, Python errors in order, and the indexes of lines that echo source code."""

    source: Source
    lines: tuple[Line, ...]
    errors: tuple[PythonError, ...] = ()
    echoes: frozenset[int] = frozenset()
    episodes: tuple[Episode, ...] = ()


Evidence = tuple[Document, ...]
"""All sources of one incident, in the order given."""
