"""The evidence of a diagnosis: well-formed rules, which runs belong together, and figures with their verdicts."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from string import Formatter
from typing import Any

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import confint_proportions_2indep

from anaphora.build.templates.suite import pairs
from anaphora.build.templates.template import PAPER, read_templates
from anaphora.cli.app import app
from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.evaluation import diagnosis_evidence
from anaphora.evaluation import diagnosis_evidence as figures
from anaphora.evaluation.diagnosis import Check, statement
from anaphora.evaluation.diagnosis_evidence import (
    SEVERITIES,
    STEPS,
    Answer,
    Measured,
    Rule,
    Thresholds,
    gather,
    load_rules,
)
from anaphora.evaluation.result import Settings
from anaphora.runs import Run, RunHeader, ScoredExample, open_run, write_run
from anaphora.stats.intervals import wilson
from anaphora.suites.readers.contracat import TEMPLATES

SETTINGS = Settings(samples=100)
Make = Callable[..., Run]


@pytest.fixture
def run(tmp_path: Path) -> Make:
    def make(suite: str, *items: ScoredExample, place: str = "", **about: Any) -> Run:
        about = {"system": "hf:x", "target_language": "de", "context": "1+1", **about}
        sha256 = about.pop("sha256", f"{sum(map(ord, suite)):064x}")
        header = RunHeader(suite, sha256, "en", version="1.2.3", **about)
        return open_run(write_run(tmp_path / (place or suite), header, items))

    return make


def item(identifier: str, gold: int | None = 0, **tags: Any) -> ScoredExample:
    return ScoredExample(identifier, gold, tags, [-1.0, -2.0])


def attacked(original: str, attack: str = "a/x") -> ScoredExample:
    return item(f"{attack}/{original}", attack=attack, attacked=original)


def test_answers_are_sorted(run: Make) -> None:
    mixed = run("mixed", item("t1", template="gender"), item("t2", None, template="prior/verb"), item("0"))
    other = run("other", item("1"), item("2", None))
    attack = run("other-a", attacked("1"))
    (evidence,) = gather([attack, mixed, other], SETTINGS)
    assert {name: [a.id for a in answers] for name, answers in evidence.templates.items()} == {
        "gender": ["t1"],
        "prior/verb": ["t2"],
    }
    assert {name: [a.id for a in answers] for name, answers in evidence.tests.items()} == {
        "mixed": ["0"],
        "other": ["1"],
    }
    assert [(r.suite, [a.name for a in r.attacks]) for r in evidence.attacks] == [("other", ["a/x"])]
    assert [name.partition("@")[0] for name in evidence.suites] == ["other-a", "mixed", "other"]


def test_an_answer(run: Make) -> None:
    lower = Settings(minimize=True)
    tied = ScoredExample("b", 0, {}, [-1.0, -1.0])
    (evidence,) = gather([run("s", item("a"), tied)], SETTINGS)
    assert [(a.chosen, a.correct, a.candidates) for a in evidence.tests["s"]] == [(0, True, 2), (None, False, 2)]
    (evidence,) = gather([run("s", item("a"), place="again")], lower)
    assert [(a.chosen, a.correct) for a in evidence.tests["s"]] == [(1, False)]


def test_a_system_with_another_context_is_another_system(run: Make) -> None:
    runs = [
        run("s", item("a"), place="1"),
        run("s", item("a"), place="2", context="0+0"),
        run("s", item("a"), place="3", system="hf:y"),
        run("t", item("a"), place="4"),
    ]
    evidence = gather(runs, SETTINGS)
    assert [(e.system, e.context, len(e.suites)) for e in evidence] == [
        ("hf:x", "1+1", 2),
        ("hf:x", "0+0", 1),
        ("hf:y", "1+1", 1),
    ]


def test_score_files_are_joined_by_name(run: Make) -> None:
    runs = [run("s", item("a"), system="scores:1"), run("s-a", attacked("a"), system="scores:2")]
    with pytest.raises(BadInput, match=r"s-a.run.jsonl: an attack, but no run has the originals .* scores:2.*--name"):
        gather(runs, SETTINGS)
    (evidence,) = gather(runs, SETTINGS, "mine")
    assert (evidence.system, len(evidence.attacks)) == ("mine", 1)


def test_originals_of_an_attack_are_found_by_suite_name(run: Make) -> None:
    one, two = run("one", item("0"), item("1")), run("two", item("0"), item("1"))
    (evidence,) = gather([one, two, run("two-a-x", attacked("1"))], SETTINGS)
    assert [r.suite for r in evidence.attacks] == ["two"]
    with pytest.raises(BadInput, match="several runs have the originals"):
        gather([one, two, run("other", attacked("1"))], SETTINGS)


@pytest.mark.parametrize(
    ("about", "problem"),
    [
        ({"place": "again"}, r"again.run.jsonl: a second run of s by hf:x. The first is .*Name one of them"),
        ({"suite": "t"}, r"the template gender is in .*s.run.jsonl, too. Diagnose the two suites separately"),
        ({"suite": "t", "target_language": "fr"}, r"languages en-fr, but .* has en-de"),
    ],
)
def test_what_does_not_go_together(run: Make, about: dict[str, str], problem: str) -> None:
    first = run("s", item("a", template="gender"))
    second = run(about.pop("suite", "s"), item("a", template="gender"), **about)
    with pytest.raises(BadInput, match=problem):
        gather([first, second], SETTINGS)


def test_nothing(run: Make) -> None:
    with pytest.raises(AnaphoraError, match="name one or more runs"):
        gather([], SETTINGS)
    with pytest.raises(BadInput, match="the run has no examples"):
        gather([run("s")], SETTINGS)


# Figures and verdicts, each kind at its thresholds; intervals against statsmodels.

LIMITS = Thresholds(0.9, 0.5, 0.5, 0.1, 0.05, 0.02, 0.05, minimum=20)
TWO = Rule("r", "accuracy", "priors", "r", {}, chance="two nouns")
THREE = Rule("r", "accuracy", "priors", "r", {}, chance="candidates")
COUNTS = st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


def answers(right: int, total: int, **tags: Any) -> list[Answer]:
    return [Answer(f"{k}", "s", 0, 0 if k < right else 1, 3, tags) for k in range(total)]


@given(COUNTS, COUNTS)
def test_newcombe_is_that_of_statsmodels(one: tuple[int, int], other: tuple[int, int]) -> None:
    expected = confint_proportions_2indep(*one, *other, method="newcomb", compare="diff")
    assert figures.newcombe(one, other, 0.95) == pytest.approx(expected, abs=1e-9)


# accuracy: 0.9 is the threshold of the known, chance 0.5 or 1/3


@pytest.mark.parametrize(
    ("right", "total", "rule", "verdict"),
    [
        (1000, 1000, TWO, "known"),
        (930, 1000, TWO, "known"),
        (900, 1000, TWO, "unclear"),
        (800, 1000, TWO, "partial"),
        (540, 1000, TWO, "partial"),  # [0.509, 0.571]
        (520, 1000, TWO, "fails"),  # [0.489, 0.551]: chance is in it
        (100, 1000, TWO, "fails"),  # below chance
        (520, 1000, THREE, "partial"),  # chance is 1/3 here
        (340, 1000, THREE, "fails"),
        (19, 19, TWO, "too few"),
    ],
)
def test_verdicts_of_an_accuracy(right: int, total: int, rule: Rule, verdict: str) -> None:
    accuracy = figures.accuracy(answers(right, total), rule, LIMITS, 0.95)
    assert accuracy.verdict == verdict
    assert (accuracy.total, accuracy.value, accuracy.interval) == (total, right / total, wilson(right, total))
    assert accuracy.chance == pytest.approx(0.5 if rule is TWO else 1 / 3)
    assert len(accuracy.items) == (right if verdict == "known" else total - right)


@pytest.mark.parametrize(
    ("right", "total", "rule", "verdict"),
    [
        (10_844, 22_976, TWO, "fails"),  # overlap 47.2 %: "almost completely random"
        (1_392, 2_500, TWO, "partial"),  # world knowledge 55.7 %: "slightly above" a random entity
        (2_886, 3_000, THREE, "known"),  # event and pleonastic 96.2 %: "a high accuracy"
    ],
)
def test_the_figures_of_the_paper_lead_to_its_words(right: int, total: int, rule: Rule, verdict: str) -> None:
    """ContraCAT §6.2, with the counts of Table 8."""
    assert figures.accuracy(answers(right, total), rule, load_rules().thresholds, 0.95).verdict == verdict


def test_the_clauses_of_the_paper_differ() -> None:
    """§6.2, verb overlap: 64.1 % if the verb is in the first clause, 39.0 % if in the second."""
    rules = load_rules()
    clause = next(rule for rule in rules.rules if rule.id == "clause")
    items = answers(718, 1120, variant="eat_drink_eat") + answers(437, 1120, variant="eat_drink_drink")
    difference = figures.difference(items, clause, rules.thresholds, 0.95)
    assert difference is not None
    assert (difference.verdict, round(difference.value, 3)) == ("first", 0.251)


def test_a_wider_interval_is_less_sure() -> None:
    assert figures.accuracy(answers(925, 1000), TWO, LIMITS, 0.95).verdict == "known"
    assert figures.accuracy(answers(925, 1000), TWO, LIMITS, 0.9999).verdict == "unclear"


@given(st.integers(20, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_more_right_answers_never_make_a_worse_verdict(counts: tuple[int, int]) -> None:
    right, total = counts
    order = ("fails", "partial", "unclear", "known")
    ranks = [
        order.index(figures.accuracy(answers(r, total), TWO, LIMITS, 0.95).verdict)
        for r in (right, min(right + 1, total))
    ]
    assert ranks == sorted(ranks)


# the fallback: the gender that is chosen where it is wrong


def gendered(rows: str) -> list[Answer]:
    """`mn nn`: gold m, neuter chosen; gold n, neuter chosen."""
    tags = {"candidate_genders": ["m", "f", "n"]}
    return [Answer(str(k), "s", "mfn".index(g), "mfn".index(c), 3, tags) for k, (g, c) in enumerate(rows.split())]


def test_a_fallback_is_counted_where_it_is_wrong() -> None:
    choice = figures.fallback(gendered("mn " * 15 + "fn " * 15 + "mm " * 10 + "nn " * 50), TWO, LIMITS, 0.95)
    assert choice is not None
    assert (choice.verdict, choice.what) == ("prefers", ("neuter",))
    assert (choice.total, choice.value) == (40, 30 / 40)
    assert choice.items == tuple(map(str, range(30)))


def test_who_takes_the_wrong_noun_has_no_fallback() -> None:
    """An animal and a human, who is never neuter; the human is taken each time."""
    choice = figures.fallback(gendered("mf " * 40 + "fm " * 40 + "nm " * 20 + "nf " * 20), TWO, LIMITS, 0.95)
    assert choice is not None
    assert choice.value == 60 / 80  # masculine where it is wrong; but feminine no less
    assert choice.verdict == "none"


def test_a_fallback_needs_a_majority_items_and_genders() -> None:
    assert figures.fallback(gendered("mn " * 22 + "ff " * 20), TWO, LIMITS, 0.95).verdict == "none"
    assert figures.fallback(gendered("mn " * 19), TWO, LIMITS, 0.95).verdict == "too few"
    assert figures.fallback(answers(3, 9), TWO, LIMITS, 0.95) is None


# choices where none is right


def prior(chosen: str, choices: list[str], pairs: bool = False) -> list[Answer]:
    actual = []
    for k, c in enumerate(chosen):
        tags: dict[str, Any] = {"choices": choices, **({"pair": f"p{k // 2}"} if pairs else {})}
        actual.append(Answer(str(k), "s", None, int(c), 3, tags))
    return actual


@pytest.mark.parametrize(
    ("chosen", "verdict", "what", "share"),
    [
        ("1" * 18 + "0" * 7, "prefers", "object", 18 / 25),
        ("1" * 14 + "0" * 11, "none", "object", 14 / 25),  # [0.37, 0.73]
        ("2" * 20 + "0" * 5, "neither", "neither", 20 / 25),
        ("0" * 19, "too few", "subject", 1),
    ],
)
def test_choices(chosen: str, verdict: str, what: str, share: float) -> None:
    choice = figures.choice(prior(chosen, ["subject", "object", "neither"]), TWO, LIMITS, 0.95)
    assert choice is not None
    assert (choice.verdict, choice.what, choice.value) == (verdict, (what,), share)
    assert len(choice.items) == round(share * len(chosen))


def test_two_orders_count_as_one() -> None:
    names = ["first", "second", "neither"]
    choice = figures.choice(prior("01" * 25 + "00" * 5, names, pairs=True), TWO, LIMITS, 0.95)
    assert choice is not None
    assert (choice.verdict, choice.what) == ("same antecedent", ("same antecedent",))
    assert (choice.total, choice.value, len(choice.items)) == (30, 25 / 30, 50)
    alone = figures.choice(prior("0", names, pairs=True), TWO, LIMITS, 0.95)
    assert alone is None  # the other order is missing


# two groups


@pytest.mark.parametrize(
    ("first", "second", "verdict"),
    [(90, 40, "first"), (40, 90, "second"), (62, 48, "unclear"), (50, 50, "unclear")],
)
def test_differences(first: int, second: int, verdict: str) -> None:
    rule = Rule("r", "difference", "priors", "r", {}, tag="side", first=("a", "b"), second=("c",))
    items = answers(first, 100, side="a") + answers(second, 100, side="c") + answers(5, 5, side="d") + answers(1, 1)
    difference = figures.difference(items, rule, LIMITS, 0.95)
    assert difference is not None
    assert (difference.verdict, difference.total, difference.parts) == (verdict, 200, (first / 100, second / 100))
    assert difference.value == pytest.approx((first - second) / 100)
    assert len(difference.items) == (100 - first if verdict == "second" else 100 - second)


def test_a_clearly_small_difference_and_one_of_few_items() -> None:
    rule = Rule("r", "difference", "priors", "r", {}, tag="side", first=("a",), second=("c",))
    many = answers(5000, 10000, side="a") + answers(5100, 10000, side="c")
    few = answers(100, 100, side="a") + answers(0, 19, side="c")
    assert figures.difference(many, rule, LIMITS, 0.95).verdict == "none"
    assert figures.difference(few, rule, LIMITS, 0.95).verdict == "too few"
    assert figures.difference(answers(5, 50, side="a"), rule, LIMITS, 0.95) is None


def test_best_and_worst_of_the_groups_with_enough_items() -> None:
    rule = Rule("r", "extremes", "test sets", "r", {}, tags=("absent", "pronoun"))
    items = [
        *answers(90, 100, pronoun="es"),
        *answers(50, 100, pronoun="er"),
        *answers(60, 100, pronoun="sie"),
        *answers(0, 19, pronoun="das"),
    ]
    actual = figures.extremes(items, rule, LIMITS, 0.95)
    assert actual is not None
    assert (actual.verdict, actual.what, actual.parts, len(actual.items)) == ("uneven", ("es", "er"), (0.9, 0.5), 50)
    assert figures.extremes(answers(9, 99, pronoun="es"), rule, LIMITS, 0.95) is None
    even = answers(500, 1000, pronoun="es") + answers(500, 1000, pronoun="er")
    assert figures.extremes(even, rule, LIMITS, 0.95).verdict == "none"
    assert figures.extremes(answers(9, 99), rule, LIMITS, 0.95) is None


# attacks


@pytest.mark.parametrize(
    ("delta", "interval", "p", "total", "verdict"),
    [
        (-0.12, (-0.14, -0.1), 0.0001, 1000, "brittle"),
        (-0.05, (-0.07, -0.03), 0.001, 1000, "brittle"),
        (-0.04, (-0.06, -0.021), 0.001, 1000, "small loss"),
        (-0.01, (-0.015, -0.005), 0.001, 1000, "robust"),  # significant, and surely negligible
        (-0.12, (-0.25, 0.01), 0.06, 1000, "unclear"),
        (0.05, (-0.03, 0.13), 0.04, 1000, "unclear"),
        (0.0, (0.0, 0.0), 1.0, 1000, "robust"),
        (-0.5, (-0.7, -0.3), 0.001, 19, "too few"),
    ],
)
def test_attacks(delta: float, interval: tuple[float, float], p: float, total: int, verdict: str) -> None:
    assert figures.attack_verdict(delta, interval, p, total, LIMITS) == verdict
    floor = figures.attack_verdict(delta, interval, p, total, LIMITS, at_chance=True)
    assert floor == ("too few" if verdict == "too few" else "at chance")


# The rules are well formed, their sentences can be filled in, their commands exist, and the docs state them.

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
    actual = Measured(100, 0.5, (0.4, 0.6), "", what=("a", "b"), parts=(0.2, 0.7), chance=0.5, p=0.01)
    for verdict in rule.says:
        check = Check(rule.id, rule.step, rule.name, "suite", replace(actual, verdict=verdict), verdict)
        message = statement(rule, [check], RULES.thresholds)
        assert message is not None
        assert not re.search(r"[{}]|\(\)|  ", message.text)
        assert message.text.endswith(".")


def test_every_template_is_looked_at() -> None:
    looked_at = {template for rule in RULES.rules for template in rule.templates}
    assert looked_at == {template for template, _ in TEMPLATES.values()}


def test_the_groups_of_rules_are_those_of_the_templates() -> None:
    """The two clauses, and subject and object, in the templates of every language pair."""
    clause, role = (next(rule for rule in RULES.rules if rule.id == name) for name in ("clause", "role"))
    folder = Path(diagnosis_evidence.FILE).parents[1] / "build" / "templates" / "data"
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
        actual = command.get_command(click.Context(command), words.pop(0))
        assert actual is not None
        command = actual
    known = {option for parameter in command.params for option in parameter.opts}
    assert {word for word in words if word.startswith("-")} <= known


def test_the_docs_state_every_threshold_and_every_rule() -> None:
    text = DOCS.read_text(encoding="utf-8")
    stated = dict(re.findall(r"^\| `(\w+)` \| ([\d.]+) \|", text, re.MULTILINE))
    assert {name: float(value) for name, value in stated.items()} == asdict(RULES.thresholds)
    described = re.findall(r"^\| `([\w/-]+)` \| (?![\d.]+ \|)", text, re.MULTILINE)
    assert described == [*(rule.id for rule in RULES.rules), *RULES.conclusions]
