"""What a person should hear about their files although it is no error: one line a kind."""

from __future__ import annotations

from gpuhelp.errors import Saying

_MOST_NAMES = 3


class Notes:
    """Collects notes while sources are read; many files of which the same is to be said share a line."""

    def __init__(self) -> None:
        self._names: dict[str, list[str]] = {}
        self.faults: list[str | Saying] = []

    def add(self, kind: str, name: str) -> None:
        """Notes `note.<kind>` of the file `name`; a name that was noted already is not noted again."""
        names = self._names.setdefault(kind, [])
        if name not in names[-_MOST_NAMES:]:
            names.append(name)

    def fault(self, *sayings: str | Saying) -> None:
        """Notes that a file could not be read, in the words of the error."""
        self.faults += sayings

    @property
    def sayings(self) -> tuple[str | Saying, ...]:
        """The lines to tell: files that could not be read, then the rest in the order of first mention."""
        lines = (Saying(f"note.{kind}", {"names": _listed(names)}) for kind, names in self._names.items())
        return (*self.faults, *lines)


def _listed(names: list[str]) -> str:
    """The first names, and how many more there are."""
    more = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f", … (+{more})" if more > 0 else "")
