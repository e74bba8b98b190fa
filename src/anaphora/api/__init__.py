"""The Python interface: a function for each command, with the command's words as parameters.

A module for each group of commands, as in `anaphora.cli`, whose options are made from these signatures. Functions
return typed values; they never print and never exit.
"""

from anaphora.api.attack import (
    attack_no_context,
    attack_phrase,
    attack_possessive,
    attack_presets,
    attack_random_context,
    attack_shuffled_context,
    attack_synonym,
    attack_wrong_antecedent,
)
from anaphora.api.build import augment, build_templates, evaluate_mining, list_presets, mine, train
from anaphora.api.explaining import attribute, context_usage, diagnose, generative, robustness
from anaphora.api.inputs import load_run, load_suite
from anaphora.api.measure import measure_adapt, measure_evaluate, measure_pairs, measure_score, measure_train
from anaphora.api.meta import compare_cases, correlate, discomt, learn_equivalences, sweep_weights
from anaphora.api.reference import align_texts, apt, autoprf, compute_metrics, run_apt_config
from anaphora.api.scoring import Reported, compare, evaluate, import_scores, report, score, translate
from anaphora.api.study import create_study, export_study, serve_study, study_agreement
from anaphora.api.suites import (
    convert_suite,
    get_suite,
    list_suites,
    list_systems,
    show_suite,
    suite_baselines,
    validate_suite,
)

__all__ = [
    "Reported",
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
    "attribute",
    "augment",
    "autoprf",
    "build_templates",
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
    "import_scores",
    "learn_equivalences",
    "list_presets",
    "list_suites",
    "list_systems",
    "load_run",
    "load_suite",
    "measure_adapt",
    "measure_evaluate",
    "measure_pairs",
    "measure_score",
    "measure_train",
    "mine",
    "report",
    "robustness",
    "run_apt_config",
    "score",
    "serve_study",
    "show_suite",
    "study_agreement",
    "suite_baselines",
    "sweep_weights",
    "train",
    "translate",
    "validate_suite",
]
