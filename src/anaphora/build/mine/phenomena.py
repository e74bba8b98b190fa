"""The phenomena that can be mined, by name: those of this package, and those that other packages bring."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.metadata import entry_points
from typing import Any

from anaphora.build.mine import OURS
from anaphora.build.mine.pair import Phenomenon
from anaphora.core.errors import AnaphoraError
from anaphora.core.registry import Registry

GROUP = "anaphora.phenomena"  # entry points of other packages: NAME = "module:Class"


@cache
def phenomena() -> Registry:
    """All that are installed; a name of this package is not given away."""
    others = {point.name: point.value for point in entry_points(group=GROUP)}
    return Registry("phenomenon", others | OURS)


def load_phenomenon(name: str, languages: tuple[str, str], options: Mapping[str, Any]) -> Phenomenon:
    """A phenomenon for a language pair. It says itself if it does not know the languages or an option."""
    kind = phenomena().load(name)
    try:
        found: Phenomenon = kind(*languages, **options)
    except TypeError as error:
        if "argument" not in str(error):
            raise
        raise AnaphoraError(f"phenomenon {name!r}: {str(error).partition(') ')[2] or error}") from None
    return found
