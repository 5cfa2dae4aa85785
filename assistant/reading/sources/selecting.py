"""Leaves out the beginning of a stream that a selection does not ask for, and counts the lines left out.

A file is read through once and then again from its place; of a pipe, what may still be wanted is kept
meanwhile, on disk where it is much.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from datetime import datetime
from io import RawIOBase
from itertools import chain
from typing import NamedTuple

from gpuhelp.reading.sources.selection import ALL, Selection, date_of, since_of
from gpuhelp.reading.sources.streams import BLOCK_BYTES, Chunks, LogFile, beginning, blocks
from gpuhelp.reading.sources.times import Clock

_LONGEST_LINE_BYTES = 1 << 16
_SLOT_BYTES = BLOCK_BYTES + _LONGEST_LINE_BYTES
_MOST_IN_MEMORY_BYTES = 32 << 20
_TIMELESS_SEGMENTS = 8
"""A log without a time in so many megabytes has none."""


class _Segment(NamedTuple):
    """Whole lines, about a block of them. `time` is the last one in it, or before it."""

    place: int
    size_bytes: int
    line_ends: int
    time: datetime | None


class _Store:
    """Keeps segments of a stream; freed room is used again, so that it never takes more than what is kept."""

    def __init__(self) -> None:
        from tempfile import SpooledTemporaryFile

        self._file = SpooledTemporaryFile(_MOST_IN_MEMORY_BYTES)  # noqa: SIM115  goes with its last reference
        self._free: list[int] = []
        self._count = 0

    def put(self, data: bytes) -> int:
        """Keeps the data; its slot."""
        slot = self._free.pop() if self._free else self._count
        self._count = max(self._count, slot + 1)
        self._file.seek(slot * _SLOT_BYTES)
        self._file.write(data)
        return slot

    def get(self, place: int, size: int) -> bytes:
        """The data in a slot."""
        self._file.seek(place * _SLOT_BYTES)
        return self._file.read(size)

    def free(self, place: int) -> None:
        """Forgets the data in a slot."""
        self._free.append(place)

    def close(self) -> None:
        """Gives the room back."""
        self._file.close()


class _FileStore:
    """The file itself: a segment's place is its offset."""

    def __init__(self, file: LogFile) -> None:
        self._file = file
        self._next = file.tell()

    def put(self, data: bytes) -> int:
        """The offset of the data in the file."""
        place, self._next = self._next, self._next + len(data)
        return place

    def get(self, place: int, size: int) -> bytes:
        """The data at an offset."""
        self._file.seek(place)
        return beginning(self._file, size)

    def free(self, place: int) -> None:
        """Nothing: the file keeps everything."""

    def close(self) -> None:
        """Nothing: the file is closed by whoever opened it."""


def selected(
    reader: RawIOBase, selection: Selection, on_note: Callable[[str], None]
) -> tuple[RawIOBase, int]:
    """The selected part of a stream, and how many lines stand before it.

    `on_note` is told "no_times" or "nothing_since" where --since finds nothing to go by. Raises OSError where
    there is no room to keep a part of a pipe.
    """
    if selection == ALL:
        return reader, 0
    file = reader if isinstance(reader, LogFile) and reader.seekable() else None
    cutter = _Cutter(selection, _FileStore(file) if file else _Store())
    start = file.tell() if file else 0
    segments = _segments(reader)
    for data in segments:
        cutter.add(data)
        if cutter.is_decided:
            break
    skipped_lines = cutter.finish()
    for note in cutter.notes:
        on_note(note)
    if file:
        file.seek(start + cutter.skipped_bytes)
        return file, skipped_lines
    return Chunks(chain(cutter.kept(), segments)), skipped_lines


def _segments(reader: RawIOBase) -> Iterator[bytes]:
    """Blocks that end with a line; a very long line is cut."""
    rest = b""
    for block in blocks(reader):
        data = rest + block
        cut = data.rfind(b"\n") + 1
        if not cut or len(data) - cut > _LONGEST_LINE_BYTES:
            cut = len(data)
        yield data[:cut]
        rest = data[cut:]
    if rest:
        yield rest


def _lines(data: bytes) -> Iterator[bytes]:
    """The lines of a segment with their ends; a carriage return ends none."""
    start = 0
    while end := data.find(b"\n", start) + 1:
        yield data[start:end]
        start = end
    if start < len(data):
        yield data[start:]


class _Cutter:
    """Holds the segments that may still be wanted, and says where the wanted part begins."""

    def __init__(self, selection: Selection, store: _Store | _FileStore) -> None:
        self._selection = selection
        self._store = store
        self._segments: deque[_Segment] = deque()
        self._since = since_of(selection.since) if selection.since else None
        self._date = date_of(selection.since)
        self._clock = Clock(self._date)
        self._last: datetime | None = None
        self._count = self._bytes = self._line_ends = self._cut = 0
        self._skipped_lines = 0
        self._ends_open = False
        self.skipped_bytes = 0
        self.notes: list[str] = []

    def add(self, data: bytes) -> None:
        """Takes the next segment, and drops those that can no longer be wanted."""
        self._count += 1
        if self._since and not self._is_timeless:
            times = map(self._clock.time_of, reversed(data.split(b"\n")))
            self._last = next(filter(None, times), self._last)
        segment = _Segment(self._store.put(data), len(data), data.count(b"\n"), self._last)
        self._segments.append(segment)
        self._bytes += segment.size_bytes
        self._line_ends += segment.line_ends
        self._ends_open = not data.endswith(b"\n")
        while self._segments and self._is_past():
            self._drop()

    @property
    def _is_timeless(self) -> bool:
        return self._last is None and self._count > _TIMELESS_SEGMENTS

    @property
    def is_decided(self) -> bool:
        """Whether nothing that follows can move the beginning any more."""
        if self._selection != Selection(since=self._selection.since):
            return False
        return self._is_timeless or bool(self._date and self._last and self._last >= self._date)

    def _is_past(self) -> bool:
        first = self._segments[0]
        last_bytes, last_lines, _ = self._selection
        if last_bytes is not None and self._bytes - first.size_bytes >= last_bytes:
            return True
        if last_lines is not None and self._line_ends - first.line_ends >= last_lines:
            return True
        if self._since is None or self._last is None:
            return False
        time = first.time or (self._segments[1].time if len(self._segments) > 1 else None)
        return time is not None and time < self._since(self._last)

    def _drop(self) -> None:
        first = self._segments.popleft()
        self._store.free(first.place)
        self._skipped_lines += first.line_ends
        self.skipped_bytes += first.size_bytes
        self._bytes -= first.size_bytes
        self._line_ends -= first.line_ends

    def finish(self) -> int:
        """Cuts the first segment where the wanted part begins; the number of lines before that."""
        if self._since and self._last is None and self._count:
            self.notes.append("no_times")
        if not self._segments:
            self.notes += ["nothing_since"] * bool(self._count)
            return self._skipped_lines
        first = self._segments[0]
        data = self._store.get(first.place, first.size_bytes)
        self._cut = max(self._cut_by_bytes(data), self._cut_by_lines(data), self._cut_by_time(data, first))
        self.skipped_bytes += self._cut
        return self._skipped_lines + data.count(b"\n", 0, self._cut)

    def _cut_by_bytes(self, data: bytes) -> int:
        wanted = self._selection.last_bytes
        excess = 0 if wanted is None else self._bytes - wanted
        if excess <= 0:
            return 0
        return data.find(b"\n", excess - 1) + 1 or excess  # within a line that is longer than what is wanted

    def _cut_by_lines(self, data: bytes) -> int:
        if self._selection.last_lines is None:
            return 0
        cut = 0
        for _ in range(self._line_ends + self._ends_open - self._selection.last_lines):
            cut = data.find(b"\n", cut) + 1 or len(data)
        return cut

    def _cut_by_time(self, data: bytes, first: _Segment) -> int:
        if self._since is None or self._last is None:
            return 0
        start, clock = self._since(self._last), Clock(first.time or self._last, self._clock.is_dated)
        cut, is_past = 0, self._skipped_lines > 0
        for line in _lines(data):
            time = clock.time_of(line)
            if time is not None and time >= start:
                return cut if is_past else 0  # lines before the first time of all belong to it
            is_past = is_past or time is not None
            cut += len(line)
        return 0

    def kept(self) -> Iterator[bytes]:
        """The bytes of the segments that are wanted; no more can be added afterwards."""
        try:
            for segment in self._segments:
                yield self._store.get(segment.place, segment.size_bytes)[self._cut :]
                self._cut = 0
        finally:
            self._store.close()
