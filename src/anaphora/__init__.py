"""Anaphora: does a translation system understand what *it* refers to?

    >>> import anaphora
    >>> suite = anaphora.load_suite("contrapro.jsonl")          # doctest: +SKIP
    >>> result = anaphora.evaluate(suite, scores="my.scores")     # doctest: +SKIP
    >>> print(result)                                           # doctest: +SKIP

Importing this package imports nothing heavy: the names below are found when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

if TYPE_CHECKING:
    from anaphora.api import compare as compare
    from anaphora.api import evaluate as evaluate
    from anaphora.api import load_suite as load_suite
    from anaphora.api import report as report
    from anaphora.api import score as score
    from anaphora.core.errors import AnaphoraError as AnaphoraError
    from anaphora.core.errors import BadInput as BadInput
    from anaphora.metrics.apt.metric import apt as apt
    from anaphora.suites.example import Example as Example
    from anaphora.suites.suite import Suite as Suite
    from anaphora.systems import load_system as load_system

_PUBLIC = {
    "AnaphoraError": "anaphora.core.errors",
    "BadInput": "anaphora.core.errors",
    "Example": "anaphora.suites.example",
    "Suite": "anaphora.suites.suite",
    "apt": "anaphora.metrics.apt.metric",
    "compare": "anaphora.api",
    "evaluate": "anaphora.api",
    "load_suite": "anaphora.api",
    "load_system": "anaphora.systems",
    "report": "anaphora.api",
    "score": "anaphora.api",
}
__all__ = [
    "AnaphoraError",
    "BadInput",
    "Example",
    "Suite",
    "__version__",
    "apt",
    "compare",
    "evaluate",
    "load_suite",
    "load_system",
    "report",
    "score",
]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        value = getattr(import_module(_PUBLIC[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'anaphora' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
