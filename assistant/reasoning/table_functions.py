"""The table look-ups that conditions and texts of entries call, read when the first one is called."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from gpuhelp.kb.evaluation import TABLE_FUNCTIONS

if TYPE_CHECKING:
    from gpuhelp.kb.load import KnowledgeBase


class TableFunctions(Mapping[str, Callable[..., object]]):
    """The table look-ups of expressions; tables are read when the first one is called for."""

    def __init__(self, knowledge: KnowledgeBase) -> None:
        self._knowledge = knowledge
        self._functions: dict[str, Callable[..., object]] | None = None

    def _all(self) -> dict[str, Callable[..., object]]:
        if self._functions is None:
            from gpuhelp.kb.lookups import ReadTables, Tables

            tables = ReadTables(self._knowledge.table, self._knowledge.table_names)
            self._functions = Tables.from_data(tables).functions()
        return self._functions

    def __getitem__(self, name: str) -> Callable[..., object]:
        return self._all()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(TABLE_FUNCTIONS)

    def __contains__(self, name: object) -> bool:
        return name in TABLE_FUNCTIONS

    def __len__(self) -> int:
        return len(TABLE_FUNCTIONS)
