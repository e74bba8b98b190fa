"""Objects that are looked up by a short name and imported when they are used. Adding one is one file and one line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

from anaphora.core.errors import AnaphoraError, check_name


class Registry:
    """Names to lazy targets, ``"package.module:object"``.

    what: what the names are called in messages, for example "format"
    extras: for a name, the extra to install when its import fails
    instead: what can be done then without installing anything
    """

    def __init__(
        self, what: str, targets: Mapping[str, str], extras: Mapping[str, str] | None = None, instead: str = ""
    ) -> None:
        self.what = what
        self._targets = dict(targets)
        self._extras = dict(extras or {})
        self._instead = instead

    def __iter__(self) -> Iterator[str]:
        return iter(self._targets)

    def __contains__(self, name: object) -> bool:
        return name in self._targets

    def load(self, name: str) -> Any:
        """The object with a name; the error for an unknown name lists the known ones."""
        check_name(self.what, name, self._targets)
        module, _, attribute = self._targets[name].partition(":")
        try:
            return getattr(import_module(module), attribute)
        except ModuleNotFoundError as error:
            extra = self._extras.get(name)
            if extra is None or (error.name or "").startswith("anaphora"):
                raise
            raise AnaphoraError(
                f"{self.what} {name!r} needs {error.name}, which is not installed. "
                f'Install it with: pip install "anaphora[{extra}]"{self._instead}'
            ) from None
