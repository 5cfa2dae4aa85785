"""A bar on standard error while large files are read: not before a second has passed."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, TextIO

from gpuhelp.rendering.layout import printable

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

_PATIENCE_S = 1.0
_LONGEST_NAME = 40


class ReadingProgress:
    """Counts the bytes read, and shows them. To be used in a `with`, which takes the bar away at its end."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._clock = clock
        self._start_s = clock()
        self._name = ""
        self._total_bytes: int | None = None
        self._done_bytes = 0
        self._bar: tuple[Progress, TaskID] | None = None

    def begin(self, name: str, size_bytes: int | None) -> None:
        """The next source; its size may be unknown."""
        name = printable(name)
        self._name = name if len(name) <= _LONGEST_NAME else "…" + name[-_LONGEST_NAME:]
        self._total_bytes, self._done_bytes = size_bytes, 0
        self._show()

    def advance(self, done_bytes: int) -> None:
        """So much of the source was read."""
        self._done_bytes = done_bytes
        if self._bar is None and self._clock() - self._start_s > _PATIENCE_S:
            self._bar = self._start()
        self._show()

    def _start(self) -> tuple[Progress, TaskID]:
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            DownloadColumn(),
            TimeRemainingColumn(),
        )
        bar = Progress(*columns, console=Console(file=self._stream), transient=True)
        bar.start()
        return bar, bar.add_task(self._name, total=self._total_bytes)

    def _show(self) -> None:
        if self._bar is not None:
            bar, task = self._bar
            bar.update(task, description=self._name, completed=self._done_bytes, total=self._total_bytes)

    def __enter__(self) -> ReadingProgress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar[0].stop()
            self._bar = None
