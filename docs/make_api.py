"""Write docs/api.md from the docstrings of the public names: `python docs/make_api.py`. A test keeps it current."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import anaphora
from anaphora.api import Reported
from anaphora.evaluation.compare import Comparison, Difference, Pair
from anaphora.evaluation.result import Proportion, Result, Settings
from anaphora.metrics.apt.result import AptResult
from anaphora.runs import Run
from anaphora.stats.resampling import Resampling
from anaphora.suites.suite import Header
from anaphora.systems.context import Options

FUNCTIONS = (
    *("load_suite", "load_run", "load_system", "score", "translate", "evaluate", "compare", "report"),
    *("context_usage", "attribute", "generative", "robustness", "diagnose"),
    *("apt", "run_apt_config", "autoprf", "compute_metrics", "align_texts"),
    *("list_suites", "show_suite", "suite_baselines", "get_suite", "convert_suite", "validate_suite"),
    *("build_templates", "mine", "evaluate_mining", "augment"),
    *("attack_phrase", "attack_possessive", "attack_wrong_antecedent", "attack_synonym", "attack_random_context"),
    *("attack_shuffled_context", "attack_no_context", "attack_presets"),
    *("create_study", "serve_study", "study_agreement", "export_study"),
    *("correlate", "sweep_weights", "compare_cases", "learn_equivalences", "discomt"),
    *("train", "list_presets", "measure_pairs", "measure_train", "measure_adapt", "measure_score", "measure_evaluate"),
    *("list_systems", "check_installation", "run_demo"),
)
RETURNED = (
    Result,
    Proportion,
    Settings,
    Resampling,
    Comparison,
    Pair,
    Difference,
    AptResult,
    Run,
    Options,
    Reported,
    Header,
)
OTHERS = ("Example", "Suite", "AnaphoraError", "BadInput")


EXAMPLE = """\
import anaphora

rows = [{"source": ["The cup fell.", "It broke."], "candidates": ["Sie zerbrach.", "Er zerbrach."], "gold": 0}]
suite = anaphora.load_suite(rows, name="cups", languages="en-de")  # or a file, a catalog name, a data frame


def shorter(source, translation):  # a function of your own; a model is named: "hf:Helsinki-NLP/opus-mt-en-de"
    return -len(translation)


run = anaphora.score(suite, shorter, "runs/shorter", context=1)
result = anaphora.evaluate(run, normalize="sum")
print(result.accuracy, result.figure.interval, result.signature)
"""


def reference() -> str:
    """The whole page."""
    parts = [
        "# Python API",
        "",
        "Written by `python docs/make_api.py`. `import anaphora` imports nothing heavy; every name is found there,",
        "or is what its functions return. Functions take and return typed, frozen values, never print, and raise",
        "`AnaphoraError` with the next step in its message.",
        "",
        f"```python\n{EXAMPLE}```",
        "",
    ]
    for name in FUNCTIONS:
        parts += _entry(f"anaphora.{name}", getattr(anaphora, name))
    for found in (*(getattr(anaphora, name) for name in OTHERS), *RETURNED):
        parts += _class(found)
    return "\n".join(parts).rstrip() + "\n"


def _entry(name: str, function: Any) -> Iterator[str]:
    said = _said(function, inspect.signature(function).parameters)
    yield from (f"## `{name}`", "", "```text", _call(name, function), "```", "", said, "")


def _call(name: str, function: Any) -> str:
    """The signature, a line per argument; annotations are texts, as written."""
    found = inspect.signature(function)
    lines, keyword_only = [], False
    for argument in found.parameters.values():
        if argument.kind is argument.VAR_POSITIONAL:
            keyword_only = True
        if argument.kind is argument.KEYWORD_ONLY and not keyword_only:
            keyword_only = True
            lines.append("    *,")
        stars = {argument.VAR_POSITIONAL: "*", argument.VAR_KEYWORD: "**"}.get(argument.kind, "")
        default = "" if argument.default is argument.empty else f" = {argument.default!r}"
        lines.append(f"    {stars}{argument.name}: {argument.annotation}{default},")
    return "\n".join([f"{name}(", *lines, f") -> {found.return_annotation}"])


def _class(found: type) -> Iterator[str]:
    fields = dataclasses.fields(found) if dataclasses.is_dataclass(found) else ()
    yield from (f"## `{found.__name__}`", "", _said(found, [field.name for field in fields]), "")
    if fields:
        yield from ("```text", *_fields(found), "```", "")
    for name, member in vars(found).items():
        if name.startswith("_") or not (callable(member) or isinstance(member, property)):
            continue
        target = member.fget if isinstance(member, property) else member
        if target is None or not inspect.getdoc(target):
            continue
        call = "" if isinstance(member, property) else "()"
        yield f"- `.{name}{call}`: {_said(target).splitlines()[0]}"
    yield ""


def _fields(found: type) -> Iterator[str]:
    """The fields of a dataclass as they are written, with their defaults and comments."""
    source = textwrap.dedent(inspect.getsource(found))
    (definition,) = ast.parse(source).body
    assert isinstance(definition, ast.ClassDef)
    for node in definition.body:
        if isinstance(node, ast.AnnAssign):
            line = " ".join(line.strip() for line in source.splitlines()[node.lineno - 1 : node.end_lineno])
            yield re.sub(r"field\(default_factory=(\w+)\)", r"\1()", line).replace(" = field(repr=False)", "")


def _said(thing: Any, names: Iterable[str] = ()) -> str:
    """A docstring; the lines that explain arguments or fields become a list."""
    known, lines = set(names), []
    for line in (inspect.getdoc(thing) or "").splitlines():
        named = re.match(r"([\w, ]+): ", line)
        if named and set(re.findall(r"\w+", named[1])) <= known:
            line = f"- *{named[1]}*: {line[named.end() :]}"
        lines.append(line)
    return "\n".join(lines)


if __name__ == "__main__":
    Path(__file__).with_name("api.md").write_text(reference(), encoding="utf-8")
