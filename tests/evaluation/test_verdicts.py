"""Verdicts of annotators in place of the program's: the majority, ties, and who judged how many."""

from __future__ import annotations

import pytest

from anaphora.evaluation import own_antecedent as own
from anaphora.evaluation.generative import Outcome, count
from anaphora.evaluation.verdicts import Judged, judged, majority, overruled, overruled_agreement
from anaphora.suites.example import Example


@pytest.mark.parametrize(
    ("answers", "verdict"),
    [
        ((), ""),
        (("right",), "right"),
        (("right", "right", "wrong"), "right"),
        (("right", "wrong"), "unclear"),
        (("right", "wrong", "unclear"), "unclear"),
        (("wrong", "unclear"), "unclear"),
        (("wrong", "wrong", "unclear"), "wrong"),
        (("right", "right", "wrong", "wrong", "unclear"), "unclear"),
    ],
)
def test_the_majority_decides_and_a_tie_is_unclear(answers: tuple[str, ...], verdict: str) -> None:
    assert majority(answers) == verdict


def test_everything_is_judged_by_somebody_or_nobody() -> None:
    # decided by the program: asked and right, asked and unclear, not asked; not decided: right, unclear, not asked
    items = [(True, "right"), (True, "unclear"), (True, ""), (False, "wrong"), (False, "unclear"), (False, "")]
    verdicts = judged(items)
    assert verdicts == Judged(by_machine=1, by_annotators=2, not_judged=3)
    assert verdicts.to_dict() == {
        "judged_by_machine": 1,
        "judged_by_people": 2,
        "not_judged": 3,
        "share_judged_by_machine": pytest.approx(1 / 6),
        "share_judged_by_people": pytest.approx(2 / 6),
    }
    assert str(verdicts) == "judged by annotators 2 (33.3 %), by the program 1 (16.7 %), not judged 3 (50.0 %)"
    assert Judged(0, 0, 0).to_dict()["share_judged_by_people"] is None


def test_outcomes_with_the_annotators_verdicts() -> None:
    outcomes = [
        Outcome("1", "correct", "link"),
        Outcome("2", "wrong", "link"),
        Outcome("3", "not found", "rescue"),
        Outcome("4", "not found", "rescue"),
        Outcome("5", "wrong", "link"),
    ]
    changed, by_whom = overruled(outcomes, {"2": "right", "3": "wrong", "4": "", "5": "unclear"})
    assert [o.outcome for o in changed] == ["correct", "correct", "wrong", "not found", "unclear"]
    assert [o.how for o in changed] == ["link", "people", "people", "rescue", "people"]
    assert by_whom == Judged(by_machine=1, by_annotators=2, not_judged=2)
    examples = [Example(o.id, ("It.",), (("Es.",),), 0) for o in outcomes]
    counts, _ = count(list(zip(examples, changed, strict=True)), [], asked=True)
    assert (counts.total, counts.correct, counts.wrong, counts.not_found, counts.unclear) == (5, 2, 1, 1, 1)
    assert counts.accuracy == pytest.approx(2 / 5)
    assert counts.interval == pytest.approx((0.1176, 0.7693), abs=1e-4)  # Wilson's of 2 of 5
    assert counts.to_dict()["unclear"] == 1
    plain, _ = count(list(zip(examples, outcomes, strict=True)), [])
    assert "unclear" not in plain.to_dict()  # who did not ask sees what was always there


def test_agreement_with_the_annotators_verdicts() -> None:
    verdicts = [
        own.Verdict("1", own.AGREES),
        own.Verdict("2", own.UNCLEAR, own.NO_GENDER, noun="tür", pronoun="das"),
        own.Verdict("3", own.NOT_FOUND, own.NOT_WRITTEN),
        own.Verdict("4", own.DISAGREES),
    ]
    changed, by_whom = overruled_agreement(verdicts, {"2": "right", "3": "unclear", "4": "wrong"})
    assert [(v.verdict, v.reason) for v in changed] == [
        ("agrees", ""),
        ("agrees", ""),
        ("unclear", "unclear to annotators"),
        ("disagrees", ""),
    ]
    assert changed[1].noun == "tür"  # what the program found stays
    assert by_whom == Judged(by_machine=1, by_annotators=2, not_judged=1)
