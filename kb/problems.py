"""What can be wrong with an entry, told so that its author can mend it: file, line, key, what is right."""

from __future__ import annotations

from typing import NamedTuple


class Problem(NamedTuple):
    """One fault. `line` and `column` count from 1; 0 means the whole file."""

    path: str
    line: int
    column: int
    key: str
    message: str
    hint: str = ""

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}:{self.column}" if self.line else self.path
        key = f" {self.key}:" if self.key else ""
        hint = f" ({self.hint})" if self.hint else ""
        return f"{place}:{key} {self.message}{hint}"


class KnowledgeError(ValueError):
    """Entries or tables that cannot be used; `problems` holds every fault found, not only the first."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        super().__init__("; ".join(str(problem) for problem in problems))
        self.problems = problems
