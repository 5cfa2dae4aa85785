"""From names of files to texts, whole or sifted: what a person gave is read once, whatever its size."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from io import BytesIO, RawIOBase
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, Protocol, cast

from gpuhelp.kb.load import KnowledgeBase
from gpuhelp.reading.pieces import RawText, from_text
from gpuhelp.reading.sources import ALL, Notes, Opened, Selection, open_sources
from gpuhelp.scanning.sift import WHOLE_BYTES, Sifting

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

    from gpuhelp.scanning.scanner import Scanner

_TOLD_EVERY_S = 0.1


class Watcher(Protocol):
    """Is told how the reading goes on."""

    def begin(self, name: str, size_bytes: int | None) -> None:
        """The next source, and how large it is, if that is known."""
        ...

    def advance(self, done_bytes: int) -> None:
        """How much of the source was read."""
        ...


class Gathered(NamedTuple):
    """The texts, and whether a Ctrl-C left some unread."""

    texts: tuple[RawText, ...]
    interrupted: bool = False


def gather(
    paths: Iterable[str],
    stdin: BinaryIO,
    knowledge: KnowledgeBase,
    *,
    selection: Selection = ALL,
    notes: Notes | None = None,
    watcher: Watcher | None = None,
    meanwhile: Callable[[], None] | None = None,
) -> Gathered:
    """The texts behind the names. What a Ctrl-C leaves unread is left out. Raises InputError, see sources.

    `meanwhile` is done once while a large file is scanned.
    """
    sifting = Sifting(lambda: scanner_of(knowledge), meanwhile)
    patient = _Interruptible(stdin)
    try:
        for opened in open_sources(paths, cast(BinaryIO, patient), selection, notes):
            _take(sifting, opened, watcher)
    except KeyboardInterrupt:  # the person has waited long enough: what is known so far is the answer
        return Gathered(sifting.texts(), interrupted=True)
    return Gathered(sifting.texts(), patient.interrupted)


class _Interruptible(RawIOBase):
    """Standard input that ends with a Ctrl-C, so that what it gave before is not lost."""

    def __init__(self, stream: BinaryIO) -> None:
        super().__init__()
        # read would wait until it has all it can take
        self._read_some = getattr(stream, "read1", stream.read)
        self.interrupted = False

    def readable(self) -> bool:
        """True."""
        return True

    def read(self, size: int = -1, /) -> bytes:
        """What is there of the next bytes; nothing at the end, or after a Ctrl-C."""
        if self.interrupted:
            return b""
        try:
            return bytes(self._read_some(size))
        except KeyboardInterrupt:
            self.interrupted = True
            return b""

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        """How many bytes were read."""
        target = memoryview(buffer).cast("B")
        part = self.read(len(target))
        target[: len(part)] = part
        return len(part)


def gather_text(text: str, name: str, knowledge: KnowledgeBase) -> RawText:
    """A text that is in memory already, sifted if it is large."""
    raw = from_text(text, name)
    if raw.size_bytes <= WHOLE_BYTES:
        return raw
    sifting = Sifting(lambda: scanner_of(knowledge))
    sifting.take(name, BytesIO(raw.text.encode("utf-8", "replace")))
    return sifting.texts()[0]


def scanner_of(knowledge: KnowledgeBase) -> Scanner:
    """The scanner for all that this knowledge base knows."""
    from gpuhelp.scanning.scanner import Scanner

    return Scanner(knowledge.scan_plan, cache_dir=knowledge.cache_dir)


def _take(sifting: Sifting, opened: Opened, watcher: Watcher | None) -> None:
    after_block = None if watcher is None else _told(opened, watcher)
    sifting.take(opened.name, opened.reader, opened.rank, opened.skipped_lines, after_block)


def _told(opened: Opened, watcher: Watcher) -> Callable[[], None]:
    """Tells the watcher how far a source is read, a few times each second: asking the file costs a block."""
    watcher.begin(opened.name, opened.size_bytes)
    next_s = 0.0

    def after_block() -> None:
        nonlocal next_s
        now_s = time.monotonic()
        if now_s >= next_s:
            next_s = now_s + _TOLD_EVERY_S
            watcher.advance(opened.done_bytes())

    return after_block
