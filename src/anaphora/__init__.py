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
    from anaphora.api import context_usage as context_usage
    from anaphora.api import diagnose as diagnose
    from anaphora.api import evaluate as evaluate
    from anaphora.api import load_run as load_run
    from anaphora.api import load_suite as load_suite
    from anaphora.api import report as report
    from anaphora.api import robustness as robustness
    from anaphora.api import score as score
    from anaphora.api_texts import align_texts as align_texts
    from anaphora.api_texts import apt as apt
    from anaphora.api_texts import autoprf as autoprf
    from anaphora.api_texts import compute_metrics as compute_metrics
    from anaphora.api_texts import generative as generative
    from anaphora.api_texts import translate as translate
    from anaphora.core.errors import AnaphoraError as AnaphoraError
    from anaphora.core.errors import BadInput as BadInput
    from anaphora.suites.example import Example as Example
    from anaphora.suites.suite import Suite as Suite
    from anaphora.systems import load_system as load_system

_PUBLIC = {
    "align_texts": "anaphora.api_texts",
    "apt": "anaphora.api_texts",
    "autoprf": "anaphora.api_texts",
    "generative": "anaphora.api_texts",
    "compute_metrics": "anaphora.api_texts",
    "translate": "anaphora.api_texts",
    "load_run": "anaphora.api",
    "context_usage": "anaphora.api",
    "robustness": "anaphora.api",
    "diagnose": "anaphora.api",
    "AnaphoraError": "anaphora.core.errors",
    "BadInput": "anaphora.core.errors",
    "Example": "anaphora.suites.example",
    "Suite": "anaphora.suites.suite",
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
    "align_texts",
    "apt",
    "autoprf",
    "compare",
    "compute_metrics",
    "context_usage",
    "diagnose",
    "evaluate",
    "generative",
    "load_run",
    "load_suite",
    "load_system",
    "report",
    "robustness",
    "score",
    "translate",
]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        value = getattr(import_module(_PUBLIC[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'anaphora' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
