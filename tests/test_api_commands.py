"""The API is the command line: a function for each command, with the command's words and defaults as parameters."""

from __future__ import annotations

import inspect

import click
import pytest

import anaphora
from tests.cli.test_app import BY_NAME as COMMANDS

FUNCTIONS = {
    "score": "score",
    "translate": "translate",
    "evaluate": "evaluate",
    "compare": "compare",
    "report": "report",
    "context-usage": "context_usage",
    "generative": "generative",
    "robustness": "robustness",
    "diagnose": "diagnose",
    "apt": "apt",
    "autoprf": "autoprf",
    "metrics": "compute_metrics",  # anaphora.metrics is a package
    "align": "align_texts",  # anaphora.align is a package
    "suites list": "list_suites",
    "suites show": "show_suite",
    "suites get": "get_suite",
    "suites convert": "convert_suite",
    "suites validate": "validate_suite",
    "systems": "list_systems",
    "doctor": "check_installation",
    "demo": "run_demo",
    "study create": "create_study",
    "study serve": "serve_study",
    "study agreement": "study_agreement",
    "study export": "export_study",
    "meta correlate": "correlate",
    "meta sweep": "sweep_weights",
    "meta cases": "compare_cases",
    "meta equivalences": "learn_equivalences",
    "meta discomt": "discomt",
    "build templates": "build_templates",
    "build attack phrase": "attack_phrase",
    "build attack possessive": "attack_possessive",
    "build attack wrong-antecedent": "attack_wrong_antecedent",
    "build attack synonym": "attack_synonym",
    "build attack random-context": "attack_random_context",
    "build attack shuffled-context": "attack_shuffled_context",
    "build attack no-context": "attack_no_context",
    "build attack presets": "attack_presets",
    "build mine": "mine",
    "build mine-evaluate": "evaluate_mining",
    "build augment": "augment",
}
# options that say what is printed or written besides the result, which a Python program does itself
PRINTED = {
    *("json", "format", "plot", "details", "fail_under", "long_signature", "items", "max_items", "confusion"),
    *("score_file", "matrix_length", "example", "config"),
}
# what is called otherwise: a flag that switches something off, or an option that may be repeated
WORDS = {
    "no_rescue": "rescue",
    "no_prefix_tree": "plain",
    "normalize_text": "normalize",
    "translation": "translations",
    "name": "names",
    "run": "runs",
    "result": "results",
    "suite": "suites",
    "metric": "metrics",
    "from": "format",  # a keyword of Python
    "suite_name": "name",
}
# defaults that say the same in the two languages
SAME = {
    "pronouns",
    "weights",
    "discard",
    "metrics",
    "languages",
    "pronoun_tags",
    "rescue",
    "names",
    "interval",
    "scores_are",
    "annotators",
    "options",
    "output",
    "option",
}


def parameters(command: str) -> dict[str, inspect.Parameter]:
    return dict(inspect.signature(getattr(anaphora, FUNCTIONS[command])).parameters)


def options(command: str) -> dict[str, click.Option]:
    found = {}
    for option in COMMANDS[f"anaphora {command}"].params:
        if isinstance(option, click.Option) and not option.hidden:
            word = max(option.opts, key=len).removeprefix("--").replace("-", "_")
            if word not in PRINTED or (command, word) == ("report", "format"):
                found[word] = option
    return found


@pytest.mark.parametrize("command", FUNCTIONS)
def test_options_are_parameters_of_the_same_name(command: str) -> None:
    known = parameters(command)
    missing = {word for word in options(command) if word not in known and WORDS.get(word, word) not in known}
    assert not missing


@pytest.mark.parametrize("command", FUNCTIONS)
def test_parameters_are_typed_and_have_the_same_defaults(command: str) -> None:
    known = parameters(command)
    for parameter in known.values():
        assert parameter.kind is not parameter.VAR_KEYWORD, f"{command}(**{parameter.name})"
        assert parameter.annotation is not parameter.empty
    for word, option in options(command).items():
        name = word if word in known else WORDS[word]
        default = known[name].default
        if name in SAME or option.multiple or option.required or option.is_flag or default is inspect.Parameter.empty:
            continue
        chosen = None if repr(option.default) == "Sentinel.UNSET" else option.default
        assert chosen == default or (default is None and command == "align"), (name, chosen, default)


def test_every_function_is_public_and_documented() -> None:
    for name in FUNCTIONS.values():
        assert name in anaphora.__all__
        assert getattr(anaphora, name).__doc__
