"""Results that print themselves: the function that makes their tables is imported only when they are shown."""

from __future__ import annotations

from importlib import import_module
from typing import Any, ClassVar


class Rendered:
    """Prints the tables that the command line prints, as text and in notebooks.

    TABLES: the function that makes a table, or a list of them, of a result, as "package.module:function"
    """

    __slots__ = ()
    TABLES: ClassVar[str]

    def __str__(self) -> str:
        """The tables, as on the command line."""
        return "\n\n".join(table.render("table") for table in self._tables())

    def _repr_html_(self) -> str:
        """The tables in a notebook."""
        return "".join(table.render("html") for table in self._tables())

    def _tables(self) -> list[Any]:
        module, _, function = self.TABLES.partition(":")
        tables = getattr(import_module(module), function)(self)
        return list(tables) if isinstance(tables, list | tuple) else [tables]
