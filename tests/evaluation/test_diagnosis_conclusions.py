"""What follows from several verdicts together."""

from __future__ import annotations

import pytest

from anaphora.evaluation.diagnosis_conclusions import conclusions
from anaphora.evaluation.diagnosis_evidence import Measured
from anaphora.evaluation.diagnosis_rules import load_rules
from anaphora.evaluation.diagnosis_sentences import Check, Statement

RULES = {rule.id: rule for rule in load_rules().rules}
SAYS = load_rules().conclusions
ALL_KNOWN = "markable:known overlap:known world-knowledge:known event:known pleonastic:known gender:known"


def concluded(
    verdicts: str, gold: str = "neuter", prefers: str = "neuter", context: str | None = None
) -> dict[str, tuple[str, list[str]]]:
    """From `gender:known overlap:fails` to the conclusions, their verdicts, and the rules that they rest on."""
    statements = []
    for word in verdicts.split():
        name, verdict = word.split(":")
        rule = RULES[name]
        found = Measured(100, 0.5, (0.4, 0.6), verdict, (f"{name}/1",), (prefers,), golds=(gold,))
        check = Check(name, rule.step, rule.name, "suite", found, verdict)
        statements.append(Statement(name, verdict, "note", "", (check,)))
    made = conclusions(statements, SAYS, context)
    return {said.rule: (said.verdict, [check.rule for check in said.checks]) for said in made}


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        ("markable:fails overlap:fails gender:known", ("fails", ["markable"])),
        ("markable:known overlap:fails world-knowledge:fails gender:fails", ("fails", ["overlap", "world-knowledge"])),
        ("markable:known overlap:partial gender:fails", ("fails", ["gender"])),
        ("markable:known overlap:partial event:unclear gender:known", ("weak", ["overlap", "event"])),
        ("overlap:fails", ("fails", ["overlap"])),
        ("markable:known overlap:known", None),  # one step was not tested
        ("gender:known score:fails", None),  # a test set is no step
    ],
)
def test_the_first_step_that_fails(verdicts: str, expected: tuple[str, list[str]] | None) -> None:
    assert concluded(verdicts).get("first-failure") == expected


def test_every_step_is_known() -> None:
    verdict, rules = concluded(ALL_KNOWN)["first-failure"]
    assert verdict == "sound"
    assert len(rules) == 6


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        ("markable:fails overlap:partial event:known gender:known", ("earlier", ["markable", "overlap"])),
        ("markable:fails gender:fails", ("gender", ["markable"])),
        ("markable:fails gender:partial", None),  # it may be either
        ("markable:fails", None),
        (ALL_KNOWN, None),
    ],
)
def test_where_mistakes_come_from(verdicts: str, expected: tuple[str, list[str]] | None) -> None:
    assert concluded(verdicts).get("mistakes") == expected


def test_right_by_default() -> None:
    expected = ("default", ["event", "pleonastic"])
    assert concluded("event:known pleonastic:known fallback:prefers")["by-default"] == expected
    assert concluded("event:known pleonastic:partial prior/verb:prefers")["by-default"] == ("default", ["event"])
    assert "by-default" not in concluded("event:known pleonastic:known prior/verb:none")
    assert "by-default" not in concluded("event:known prior/verb:prefers", prefers="masculine")
    assert "by-default" in concluded("event:known prior/verb:prefers", gold="masculine", prefers="masculine")
    assert "by-default" not in concluded("event:known prior/role:prefers")  # a role is no gender


def test_a_system_that_saw_no_context() -> None:
    assert "unseen" in concluded("gender:fails", context="0+0")
    assert "unseen" in concluded("gender:fails", context="0+1")  # what "it" stands for is in the source
    assert "unseen" not in concluded("gender:fails", context="1+0")
    assert "unseen" not in concluded("gender:fails")
    assert "unseen" not in concluded("score:fails", context="0+0")  # test sets have antecedents in the sentence, too
