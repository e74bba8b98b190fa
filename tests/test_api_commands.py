"""The API is the command line: a function for each command, with the command's words, types and defaults."""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

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
    "attribute": "attribute",
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
    "suites baselines": "suite_baselines",
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
    "train": "train",
    "measure pairs": "measure_pairs",
    "measure train": "measure_train",
    "measure adapt": "measure_adapt",
    "measure score": "measure_score",
    "measure evaluate": "measure_evaluate",
}
PROGRAM_ONLY = {"completion"}  # what only a shell needs
# options that say what is printed or written besides the result, which a Python program does itself
PRINTED = {
    *("as_json", "plot", "details", "fail_under", "long_signature", "items", "max_items", "confusion", "listing"),
    *("score_file", "matrix_length", "example", "config", "line", "more", "quiet", "verbose", "no_color"),
}
PYTHON_ONLY = {"scope", "focus"}  # earlier names, and settings of the learned measure
CALLBACKS = {"progress", "started", "watch", "announce", "say", "report"}
# what differs, because texts have lists in another way than Python: A,B or KEY=VALUE or one word per line
WRITTEN = {"metrics", "annotators", "settings", "option", "weights", "discard", "cases"}
# None in Python is "not given", which the command line finds out in another way
NOT_GIVEN = {("align", "aligner"), ("align", "tokenize"), ("align", "normalize")}
# `anaphora apt --config`, `study create --example` and others need less than the function
OPTIONAL = {
    *(("apt", name) for name in ("source", "reference", "translations", "languages")),
    *(("meta correlate", "scores"), ("study create", "pairs"), ("train", "config"), ("train", "output")),
    *(("report", "runs"), ("measure score", "sentences"), ("build mine", "target")),
}
NEEDED = {("score", "output")}  # a program may keep a run in memory


def parameters(command: str) -> dict[str, inspect.Parameter]:
    actual = inspect.signature(getattr(anaphora, FUNCTIONS[command])).parameters
    return {name: parameter for name, parameter in actual.items() if name not in CALLBACKS | PYTHON_ONLY}


def options(command: str) -> dict[str, click.Parameter]:
    actual = {str(option.name): option for option in COMMANDS[f"anaphora {command}"].params}
    hidden = {name for name, option in actual.items() if isinstance(option, click.Option) and option.hidden}
    left_out = (PRINTED | hidden) - parameters(command).keys()
    return {name: option for name, option in actual.items() if name not in left_out}


def members(annotation: str, command: str) -> set[Any]:
    """The types that an annotation is made of, in unions, sequences and tuples; Literals as they are."""
    pending, actual = [eval(annotation, inspect.unwrap(getattr(anaphora, FUNCTIONS[command])).__globals__)], set()
    while pending:
        kind = pending.pop()
        if typing.get_origin(kind) in (types.UnionType, typing.Union, Sequence, tuple):
            pending += typing.get_args(kind)
        else:
            actual.add(kind)
    return actual


def test_every_command_has_a_function() -> None:
    commands = {
        path.removeprefix("anaphora ") for path, command in COMMANDS.items() if not isinstance(command, click.Group)
    }
    assert commands == FUNCTIONS.keys() | PROGRAM_ONLY


@pytest.mark.parametrize("command", FUNCTIONS)
def test_command_and_function_have_the_same_parameters(command: str) -> None:
    known, shown = parameters(command), options(command)
    shown = {name: option for name, option in shown.items() if name in known or name != "format"}  # of tables
    assert shown.keys() == known.keys()


@pytest.mark.parametrize("command", FUNCTIONS)
def test_parameters_have_the_same_types(command: str) -> None:
    for name, parameter in parameters(command).items():
        assert parameter.kind is not parameter.VAR_KEYWORD, f"{command}(**{parameter.name})"
        option, kinds = options(command)[name], members(parameter.annotation, command)
        if name in WRITTEN:
            continue
        literal = next((kind for kind in kinds if typing.get_origin(kind) is Literal), None)
        if isinstance(option, click.Option) and (option.is_flag or option.secondary_opts):
            assert bool in kinds, name
        elif isinstance(option.type, click.IntRange):
            assert int in kinds, name
        elif isinstance(option.type, click.FloatRange) or option.type is click.FLOAT:
            assert float in kinds, name
        elif isinstance(option.type, click.Path):
            assert Path in kinds, name
        elif literal is not None:
            assert isinstance(option.type, click.Choice)
            assert tuple(option.type.choices) == typing.get_args(literal), name
        else:
            assert str in kinds, name


@pytest.mark.parametrize("command", FUNCTIONS)
def test_parameters_have_the_same_defaults(command: str) -> None:
    for name, parameter in parameters(command).items():
        option = options(command)[name]
        if parameter.kind is parameter.VAR_POSITIONAL:
            assert option.nargs == -1
            continue
        needed = parameter.default is parameter.empty and (command, name) not in OPTIONAL
        assert option.required == (needed or (command, name) in NEEDED), name
        if name in WRITTEN or (command, name) in NOT_GIVEN or parameter.default is parameter.empty:
            continue
        default = None if repr(option.default) == "Sentinel.UNSET" else option.default
        empty = default in (None, False) and parameter.default in (None, (), False)
        texts = isinstance(default, str) and isinstance(parameter.default, tuple)  # a list as it is written: it,they
        expected = ",".join(parameter.default) if texts else parameter.default
        assert empty or default == expected, (name, default, expected)


def names_called(function: Any, seen: set[str]) -> set[str]:
    """The attributes that a function and the functions of its module that it calls use."""
    names = set(function.__code__.co_names)
    for code in (constant for constant in function.__code__.co_consts if isinstance(constant, types.CodeType)):
        names |= set(code.co_names)
    for cell in function.__closure__ or ():
        names.add(getattr(cell.cell_contents, "__name__", ""))
    for name in names - seen:
        other = function.__globals__.get(name)
        if isinstance(other, types.FunctionType) and other.__module__ == function.__module__:
            names |= names_called(other, seen | names)
    return names


@pytest.mark.parametrize("command", FUNCTIONS)
def test_a_command_calls_its_function(command: str) -> None:
    callback = COMMANDS[f"anaphora {command}"].callback
    assert FUNCTIONS[command] in names_called(callback, set())


def test_every_function_is_public_and_documented() -> None:
    for name in FUNCTIONS.values():
        assert name in anaphora.__all__
        assert getattr(anaphora, name).__doc__
