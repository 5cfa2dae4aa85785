"""Looks at the GPU in the background, for the line under the prompt. Never in anybody's way."""

from __future__ import annotations

import threading
from collections.abc import Callable

from gpuhelp.chat.known import bar_text
from gpuhelp.probes.facts import Facts
from gpuhelp.words import Words


class Watch:
    """The last that was seen of the GPU. `look` is called on a thread of its own; None: nobody may look.

    `changed` is called, on that thread, whenever there is something new to show.
    """

    def __init__(self, look: Callable[[], Facts] | None, given: Facts) -> None:
        self._look = look
        self._seen: Facts | None = given if look is None else None
        self._thread: threading.Thread | None = None
        self.changed: Callable[[], None] = lambda: None

    def refresh(self) -> None:
        """Start a look, unless one is still under way."""
        if self._look is None or (self._thread is not None and self._thread.is_alive()):
            return
        self._thread = threading.Thread(target=self._run, name="watch", daemon=True)
        try:
            self._thread.start()
        except RuntimeError:  # this user's limit of threads is used up: the line stays as it is
            self._thread = None

    def join(self, timeout_s: float) -> bool:
        """Wait for the look under way; True if none is any more."""
        if self._thread is not None:
            self._thread.join(timeout_s)
        return self._thread is None or not self._thread.is_alive()

    def text(self, words: Words, width: int) -> str:
        """The line, in at most `width` columns."""
        if self._look is None and self._seen is not None and not self._seen:
            return words("chat.bar.not_asked")
        return bar_text(self._seen, words, width)

    def _run(self) -> None:
        try:
            self._seen = self._look() if self._look is not None else self._seen
        except Exception:  # noqa: BLE001 - a look that fails says so in the line; there is nobody to raise to
            self._seen = Facts()
        self.changed()
