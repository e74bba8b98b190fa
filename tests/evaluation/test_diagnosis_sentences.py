"""Sentences: the figures in the words of a rule."""

from __future__ import annotations

from dataclasses import replace

from anaphora.evaluation.diagnosis_evidence import Measured
from anaphora.evaluation.diagnosis_rules import Rule, load_rules
from anaphora.evaluation.diagnosis_sentences import Check, Statement, statement

LIMITS = load_rules().thresholds
TEXT = (
    "{figure}|{interval}|{percent}|{total}|{chance}|{signed}|{one}|{other}|{what}|{worst}|{p}|{suite}|{count}|{tried}"
)
RULE = Rule("r", "accuracy", "priors", "name", {"fails": ("failure", TEXT)})
SHARE = Measured(1234, 0.4821, (0.4, 0.5), "fails", ("a", "b"), ("es", "er"), chance=0.5)
DROP = Measured(1234, -0.12, (-0.15, 0.01), "fails", ("b", "c"), ("phrase",), (0.75, 0.63), p=0.0004)


def check(found: Measured) -> Check:
    return Check("r", "priors", "name", "set", found, found.verdict)


def test_a_share() -> None:
    said = statement(RULE, [check(SHARE)], LIMITS)
    assert said is not None
    assert said.text == (
        "0.482 [0.400, 0.500], n = 1,234|[0.400, 0.500]|48.2 %|1,234|0.50|0.482 [0.400, 0.500]|||es|er||set|1|1"
    )
    assert (said.rule, said.verdict, said.severity, said.items) == ("r", "fails", "failure", ("a", "b"))


def test_a_difference_has_signs_and_p() -> None:
    said = statement(
        RULE, [check(DROP), check(replace(DROP, verdict="robust")), check(replace(SHARE, verdict="too few"))], LIMITS
    )
    assert said is not None
    assert said.text.split("|")[5:] == [
        *("−0.120 [−0.150, +0.010]", "0.750", "0.630", "phrase", "", "< 0.001", "set", "1", "2")
    ]
    said = statement(RULE, [check(replace(DROP, p=0.0312))], LIMITS)
    assert said is not None
    assert "|= 0.031|" in said.text


def test_nothing_is_said_of_a_verdict_without_a_sentence() -> None:
    assert statement(RULE, [check(replace(SHARE, verdict="too few"))], LIMITS) is None
    assert statement(RULE, [check(replace(SHARE, verdict="known"))], LIMITS) is None
    assert statement(RULE, [], LIMITS) is None


def test_items_of_several_checks_are_listed_once() -> None:
    said = Statement("r", "fails", "failure", "text", (check(SHARE), check(DROP)))
    assert said.items == ("a", "b", "c")
    document = said.to_dict(items=2)
    assert (document["item_count"], document["items"]) == (3, ["a", "b"])
    assert said.to_dict(0)["items"] == []
    assert [figure["difference"] for figure in document["figures"]] == [False, True]
    assert document["figures"][1]["p_adjusted"] == 0.0004
