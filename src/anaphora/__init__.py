"""Anaphora: does a translation system understand what *it* refers to?

    >>> import anaphora
    >>> suite = anaphora.load_suite("contrapro.jsonl")          # doctest: +SKIP
    >>> result = anaphora.evaluate(suite, scores="my.scores")     # doctest: +SKIP
    >>> print(result)                                           # doctest: +SKIP

Importing this package imports nothing heavy: the names below, and those of `anaphora.api`, are found when they are
first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

if TYPE_CHECKING:
    from anaphora.api import *  # noqa: F403
    from anaphora.core.errors import AnaphoraError as AnaphoraError
    from anaphora.core.errors import BadInput as BadInput
    from anaphora.demo import run_demo as run_demo
    from anaphora.doctor import check_installation as check_installation
    from anaphora.suites.example import Example as Example
    from anaphora.suites.suite import Suite as Suite
    from anaphora.systems import load_system as load_system

_ELSEWHERE = {
    "AnaphoraError": "anaphora.core.errors",
    "BadInput": "anaphora.core.errors",
    "Example": "anaphora.suites.example",
    "Suite": "anaphora.suites.suite",
    "check_installation": "anaphora.doctor",
    "load_system": "anaphora.systems",
    "run_demo": "anaphora.demo",
}
_INTERNAL = ("Reported", "import_scores")  # of anaphora.api only


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return sorted({"__version__", *_ELSEWHERE, *import_module("anaphora.api").__all__} - {*_INTERNAL})
    if name in _ELSEWHERE:
        value = getattr(import_module(_ELSEWHERE[name]), name)
    elif name.startswith("_") or name in _INTERNAL or name not in (api := import_module("anaphora.api")).__all__:
        raise AttributeError(f"module 'anaphora' has no attribute {name!r}")
    else:
        value = getattr(api, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__getattr__("__all__"))
