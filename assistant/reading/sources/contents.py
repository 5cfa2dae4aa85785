"""What is inside a file, made an open source: the text itself, a packed one, or each member of an archive."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Generator, Iterable, Iterator
from io import BytesIO, RawIOBase
from typing import IO, BinaryIO, NamedTuple, cast

from gpuhelp.errors import InputError, Saying
from gpuhelp.reading.sources.names import MOST_FILES, STANDARD_INPUT, Place, refusal, refusal_of
from gpuhelp.reading.sources.notes import Notes
from gpuhelp.reading.sources.selection import ALL, Selection
from gpuhelp.reading.sources.streams import (
    BLOCK_BYTES,
    SNIFFED_BYTES,
    Chunks,
    LogFile,
    again,
    beginning,
    blocks,
)
from gpuhelp.reading.sources.texts import as_text

STANDARD_INPUT_NAME = "standard input"
MOST_UNPACKED_BYTES = 64 << 30
"""Of one packed file: memory is bounded anyway, but this much takes minutes, and a bomb hides far more."""
_DEEPEST_ARCHIVE = 2
_MOST_PACKINGS = 2


class Opened(NamedTuple):
    """A source ready to be read, until the next one is asked for.

    `reader` gives UTF-8; stray bytes in it are for whoever reads to replace. `size_bytes` is how large the
    file is where it lies, packed or not (None for a pipe), `done_bytes` how far it is read. `rank` is what
    the name tells. `skipped_lines` stand before the part that was selected.
    """

    name: str
    size_bytes: int | None
    reader: BinaryIO
    rank: str
    skipped_lines: int
    base: RawIOBase

    def done_bytes(self) -> int:
        """How many of the `size_bytes` were read."""
        return self.base.tell()


class _Found(NamedTuple):
    """A stream on the way to its text: `base` is where it comes from, `reader` what it is by now.

    `faults` fills with the reasons why the stream ends before it should.
    """

    name: str
    size_bytes: int | None
    base: RawIOBase
    reader: RawIOBase
    faults: list[str]
    rank: str = ""
    depth: int = 0


class Opener:
    """Opens places; what is left out or cut off goes to the notes."""

    def __init__(self, stdin: BinaryIO, selection: Selection, notes: Notes) -> None:
        self._stdin = stdin
        self._selection = selection
        self._notes = notes

    def sources(self, place: Place) -> Generator[Opened, None, None]:
        """The sources in one file: itself, or members of an archive; only a note where it is unreadable."""
        try:
            yield from self.opened(place)
        except InputError as error:
            self._note(error, place)

    def opened(self, place: Place) -> Generator[Opened, None, None]:
        """Like `sources`. Raises InputError for what cannot be read."""
        faults: list[str] = []
        if place.name == STANDARD_INPUT:
            base = Chunks(_blocks_of_input(self._stdin, faults.append))
            with base:
                yield from self._contents(_Found(STANDARD_INPUT_NAME, None, base, base, faults), place)
            return
        try:
            file = LogFile(place.name, lambda error: faults.append(error.strerror or str(error)))
        except (OSError, ValueError) as error:
            raise refusal_of(error, place.name) from None
        with file:
            before = os.fstat(file.fileno())
            is_file = stat.S_ISREG(before.st_mode)
            size = before.st_size if is_file and before.st_size else None  # those of /proc have none
            if is_file and not before.st_size:
                if not place.is_named:  # empty, or one of /proc and /sys, which may never end
                    yield self._text(_Found(place.name, 0, file, Chunks(iter(())), faults), b"")
                    return
                os.set_blocking(file.fileno(), False)  # /proc/kmsg would wait for the kernel's next line
            yield from self._contents(_Found(place.name, size, file, file, faults), place)
            if is_file and os.fstat(file.fileno()).st_size != before.st_size:
                self._notes.add("changed", place.name)

    def _note(self, error: InputError, place: Place) -> None:
        keys = {saying.key for saying in error.sayings if isinstance(saying, Saying)}
        if not place.is_named and keys <= {"error.not_text", "error.no_logs", "error.packing"}:
            self._notes.add("no_text", place.name)
        else:
            self._notes.fault(*error.sayings)

    def _contents(self, found: _Found, place: Place) -> Iterator[Opened]:
        head, found = self._without_packings(found)
        if not head and found.faults:
            raise refusal("broken_archive", found.name, reason=found.faults[0])
        try:
            if _is_archive(head):
                if place.in_folder:
                    self._notes.add("archive_in_folder", place.name)
                    return
                yield from self._members(found, head)
            else:
                yield self._text(found, head)
        finally:
            if found.faults:
                self._notes.add("cut_off", found.name)

    def _without_packings(self, found: _Found) -> tuple[bytes, _Found]:
        """The first bytes of what is in the stream, and the stream behind them."""
        head = beginning(found.reader, SNIFFED_BYTES)
        if head[:1].isalnum() and not head.startswith((b"BZh", b"7z", b"Rar!")):
            return head, found
        from gpuhelp.reading.sources.packing import OTHERS, packing_of, unpacked

        for _ in range(_MOST_PACKINGS):
            if not (packing := packing_of(head)):
                break
            stream = unpacked(again(head, found.reader), packing, found.faults.append)
            found = found._replace(reader=Chunks(self._capped(stream, found.name, [MOST_UNPACKED_BYTES])))
            head = beginning(found.reader, SNIFFED_BYTES)
        if head.startswith(OTHERS):
            raise refusal("packing", found.name)
        return head, found

    def _capped(self, chunks: Iterable[bytes], name: str, left: list[int]) -> Iterator[bytes]:
        """The chunks until `left[0]` bytes are used up."""
        for chunk in chunks:
            left[0] -= len(chunk)
            if left[0] < 0:
                self._notes.add("too_large", name)
                return
            yield chunk

    def _text(self, found: _Found, head: bytes) -> Opened:
        reader, skipped_lines = as_text(found.reader, head, found.name), 0
        if self._selection != ALL:
            from gpuhelp.reading.sources.selecting import selected

            try:
                reader, skipped_lines = selected(
                    reader, self._selection, lambda kind: self._notes.add(kind, found.name)
                )
            except OSError as error:  # no room for what has to be kept of a pipe
                raise refusal_of(error, found.name) from None
        stream = cast("BinaryIO", reader)  # it reads all that a BinaryIO does, and readinto as well
        return Opened(found.name, found.size_bytes, stream, found.rank, skipped_lines, found.base)

    def _members(self, found: _Found, head: bytes) -> Iterator[Opened]:
        from gpuhelp.reading.sources.archives import BrokenArchiveError

        if found.depth >= _DEEPEST_ARCHIVE:
            self._notes.add("nested", found.name)
            return
        count = 0
        try:
            for member in self._logs_in(found, head):
                try:
                    for opened in self._contents(member, Place(member.name, False)):
                        count += 1
                        yield opened
                except InputError as error:
                    self._note(error, Place(member.name, False))
        except BrokenArchiveError as error:
            if count:
                self._notes.add("cut_off", found.name)
            elif not _is_other_zip(found, head):
                raise refusal("broken_archive", found.name, reason=error) from None
        if not count:
            raise refusal("not_text" if _is_other_zip(found, head) else "no_logs", found.name)

    def _logs_in(self, found: _Found, head: bytes) -> Iterator[_Found]:
        """The members of an archive that may be logs."""
        from gpuhelp.reading.sources.archives import is_zip, tar_members, zip_members
        from gpuhelp.reading.sources.names import is_archive_name, may_be_log
        from gpuhelp.reading.sources.ranks import rank_of_name

        left, faults, count = [MOST_UNPACKED_BYTES], list[str](), 0
        if is_zip(head):
            members = zip_members(_seekable(found, head), faults.append)
        else:
            members = tar_members(again(head, found.reader))
        for member in members:
            name = f"{found.name}:{member.name}"
            if may_be_log(member.name) or is_archive_name(member.name):
                count += 1
                if count > MOST_FILES:
                    self._notes.add("too_many", found.name)
                    return
                faults.clear()
                base = Chunks(self._capped(blocks(member.reader), found.name, left))
                yield _Found(name, member.size_bytes, base, base, faults, rank_of_name(name), found.depth + 1)


def _is_archive(head: bytes) -> bool:
    """Whether a stream begins as archives do. A tar header has NUL bytes; logs seldom do."""
    if not (head.startswith(b"PK") or b"\0" in head[:512]):
        return False
    from gpuhelp.reading.sources.archives import is_tar, is_zip

    return is_zip(head) or is_tar(head)


def _is_other_zip(found: _Found, head: bytes) -> bool:
    """Whether a zip file goes by another name, as the files of PyTorch and of offices do."""
    from gpuhelp.reading.sources.names import is_archive_name

    return head.startswith(b"PK") and found.name != STANDARD_INPUT_NAME and not is_archive_name(found.name)


def _seekable(found: _Found, head: bytes) -> IO[bytes]:
    """The bytes of a zip file in which one can go back: the file itself, or a copy without a name."""
    if isinstance(found.reader, LogFile) and found.reader.seekable():
        found.reader.seek(0)
        return found.reader
    from shutil import copyfileobj
    from tempfile import TemporaryFile

    stream = again(head, found.reader)
    first = beginning(stream, 32 << 20)
    if len(first) < 32 << 20:
        return BytesIO(first)
    try:
        copy = TemporaryFile()  # noqa: SIM115  goes with its last reference
        copy.write(first)
        copyfileobj(stream, copy, BLOCK_BYTES)
    except OSError as error:
        raise refusal_of(error, found.name) from None
    return copy


def _blocks_of_input(stdin: BinaryIO, on_fault: Callable[[str], None]) -> Iterator[bytes]:
    """Standard input as it arrives; it ends where it cannot be read further."""
    read = getattr(stdin, "read1", stdin.read)
    try:
        while block := read(BLOCK_BYTES):
            yield block
    except (OSError, ValueError) as error:
        on_fault(str(error))
