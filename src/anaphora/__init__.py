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
    from anaphora.api_attack import attack_no_context as attack_no_context
    from anaphora.api_attack import attack_phrase as attack_phrase
    from anaphora.api_attack import attack_possessive as attack_possessive
    from anaphora.api_attack import attack_presets as attack_presets
    from anaphora.api_attack import attack_random_context as attack_random_context
    from anaphora.api_attack import attack_shuffled_context as attack_shuffled_context
    from anaphora.api_attack import attack_synonym as attack_synonym
    from anaphora.api_attack import attack_wrong_antecedent as attack_wrong_antecedent
    from anaphora.api_build import augment as augment
    from anaphora.api_build import build_templates as build_templates
    from anaphora.api_build import evaluate_mining as evaluate_mining
    from anaphora.api_build import mine as mine
    from anaphora.api_study import compare_cases as compare_cases
    from anaphora.api_study import correlate as correlate
    from anaphora.api_study import create_study as create_study
    from anaphora.api_study import discomt as discomt
    from anaphora.api_study import export_study as export_study
    from anaphora.api_study import learn_equivalences as learn_equivalences
    from anaphora.api_study import serve_study as serve_study
    from anaphora.api_study import study_agreement as study_agreement
    from anaphora.api_study import sweep_weights as sweep_weights
    from anaphora.api_suites import check_installation as check_installation
    from anaphora.api_suites import convert_suite as convert_suite
    from anaphora.api_suites import get_suite as get_suite
    from anaphora.api_suites import list_suites as list_suites
    from anaphora.api_suites import list_systems as list_systems
    from anaphora.api_suites import run_demo as run_demo
    from anaphora.api_suites import show_suite as show_suite
    from anaphora.api_suites import validate_suite as validate_suite
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
    "attack_no_context": "anaphora.api_attack",
    "attack_phrase": "anaphora.api_attack",
    "attack_possessive": "anaphora.api_attack",
    "attack_presets": "anaphora.api_attack",
    "attack_random_context": "anaphora.api_attack",
    "attack_shuffled_context": "anaphora.api_attack",
    "attack_synonym": "anaphora.api_attack",
    "attack_wrong_antecedent": "anaphora.api_attack",
    "augment": "anaphora.api_build",
    "build_templates": "anaphora.api_build",
    "evaluate_mining": "anaphora.api_build",
    "mine": "anaphora.api_build",
    "check_installation": "anaphora.api_suites",
    "convert_suite": "anaphora.api_suites",
    "get_suite": "anaphora.api_suites",
    "list_suites": "anaphora.api_suites",
    "list_systems": "anaphora.api_suites",
    "run_demo": "anaphora.api_suites",
    "show_suite": "anaphora.api_suites",
    "validate_suite": "anaphora.api_suites",
    "compare_cases": "anaphora.api_study",
    "correlate": "anaphora.api_study",
    "create_study": "anaphora.api_study",
    "discomt": "anaphora.api_study",
    "export_study": "anaphora.api_study",
    "learn_equivalences": "anaphora.api_study",
    "serve_study": "anaphora.api_study",
    "study_agreement": "anaphora.api_study",
    "sweep_weights": "anaphora.api_study",
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
    "attack_no_context",
    "attack_phrase",
    "attack_possessive",
    "attack_presets",
    "attack_random_context",
    "attack_shuffled_context",
    "attack_synonym",
    "attack_wrong_antecedent",
    "augment",
    "autoprf",
    "build_templates",
    "check_installation",
    "compare",
    "compare_cases",
    "compute_metrics",
    "context_usage",
    "convert_suite",
    "correlate",
    "create_study",
    "diagnose",
    "discomt",
    "evaluate",
    "evaluate_mining",
    "export_study",
    "generative",
    "get_suite",
    "learn_equivalences",
    "list_suites",
    "list_systems",
    "load_run",
    "load_suite",
    "load_system",
    "mine",
    "report",
    "robustness",
    "run_demo",
    "score",
    "serve_study",
    "show_suite",
    "study_agreement",
    "sweep_weights",
    "translate",
    "validate_suite",
]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        value = getattr(import_module(_PUBLIC[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'anaphora' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
