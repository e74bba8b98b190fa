"""The rules are well formed, their sentences can be filled in, their commands exist, and the docs state them."""

from __future__ import annotations

import re
from dataclasses import asdict, replace
from pathlib import Path
from string import Formatter

import click
import pytest

from anaphora.build.templates.suite import pairs
from anaphora.build.templates.template import PAPER, read_templates
from anaphora.cli.app import app
from anaphora.evaluation import diagnosis_rules
from anaphora.evaluation.diagnosis_evidence import Measured
from anaphora.evaluation.diagnosis_rules import SEVERITIES, STEPS, Rule, load_rules
from anaphora.evaluation.diagnosis_sentences import Check, statement
from anaphora.suites.readers.contracat import TEMPLATES

RULES = load_rules()
DOCS = Path(__file__).resolve().parents[2] / "docs" / "diagnosis.md"
KINDS = {
    "accuracy": {"known", "partial", "fails", "unclear"},
    "fallback": {"prefers"},
    "choice": {"prefers", "none", "neither", "same antecedent"},
    "difference": {"first", "second"},
    "extremes": {"uneven"},
    "attack": {"brittle", "small loss", "robust", "unclear", "at chance"},
    "context": {"brittle", "small loss", "robust", "unclear", "at chance"},
}


@pytest.mark.parametrize("rule", RULES.rules, ids=lambda rule: rule.id)
def test_a_rule(rule: Rule) -> None:
    assert rule.step in STEPS
    assert set(rule.says) <= KINDS[rule.kind]
    assert {severity for severity, _ in rule.says.values()} <= set(SEVERITIES)
    assert set(rule.templates) <= {template for template, _ in TEMPLATES.values()}
    for verdict, names in rule.advice.items():
        assert verdict in rule.says or verdict.split()[0] in rule.says
        assert set(names) <= set(RULES.advice)
    found = Measured(100, 0.5, (0.4, 0.6), "", what=("a", "b"), parts=(0.2, 0.7), chance=0.5, p=0.01)
    for verdict in rule.says:
        check = Check(rule.id, rule.step, rule.name, "suite", replace(found, verdict=verdict), verdict)
        said = statement(rule, [check], RULES.thresholds)
        assert said is not None
        assert not re.search(r"[{}]|\(\)|  ", said.text)
        assert said.text.endswith(".")


def test_every_template_is_looked_at() -> None:
    looked_at = {template for rule in RULES.rules for template in rule.templates}
    assert looked_at == {template for template, _ in TEMPLATES.values()}


def test_the_groups_of_rules_are_those_of_the_templates() -> None:
    """The two clauses, and subject and object, in the templates of every language pair."""
    clause, role = (next(rule for rule in RULES.rules if rule.id == name) for name in ("clause", "role"))
    folder = Path(diagnosis_rules.FILE).parents[1] / "build" / "templates" / "data"
    for pair in pairs():
        for template in read_templates(folder / pair / "templates.toml", PAPER):
            for variant in template.variants:
                if template.id in clause.templates:
                    assert (variant.name in clause.first) is (variant.antecedent in ("first", "food"))
                    assert (variant.name in clause.second) is (variant.antecedent in ("second", "drink"))
                if template.id in role.templates:
                    assert variant.antecedent in (*role.first, *role.second)


def test_conclusions_can_be_filled_in() -> None:
    for says in RULES.conclusions.values():
        for severity, text in says.values():
            assert severity in SEVERITIES
            assert {name for _, name, _, _ in Formatter().parse(text) if name} <= {"names", "step", "what", "context"}


def test_templates_are_advised_for_the_pairs_that_have_some() -> None:
    assert list(RULES.advice["templates"][2:]) == pairs()


@pytest.mark.parametrize("name", RULES.advice)
def test_advice_names_a_command_and_options_that_exist(name: str) -> None:
    words = RULES.advice[name][0].split()
    assert words.pop(0) == "anaphora"
    command: click.Command = app
    while isinstance(command, click.Group):
        found = command.get_command(click.Context(command), words.pop(0))
        assert found is not None
        command = found
    known = {option for parameter in command.params for option in parameter.opts}
    assert {word for word in words if word.startswith("-")} <= known


def test_the_docs_state_every_threshold_and_every_rule() -> None:
    text = DOCS.read_text(encoding="utf-8")
    stated = dict(re.findall(r"^\| `(\w+)` \| ([\d.]+) \|", text, re.MULTILINE))
    assert {name: float(value) for name, value in stated.items()} == asdict(RULES.thresholds)
    described = re.findall(r"^\| `([\w/-]+)` \| (?![\d.]+ \|)", text, re.MULTILINE)
    assert described == [*(rule.id for rule in RULES.rules), *RULES.conclusions]
