"""The agreement of a study: Table 1's columns, with and without ties, and for each pair of pronouns."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from anaphora.study.agreement import Settings, study_agreement
from anaphora.study.answers import current_answers
from anaphora.study.model import Study
from anaphora.study.store import Answer
from anaphora.study.tables import agreement_table

Make = Callable[..., Study]
Said = Callable[..., Answer]

# two people; p0 p3 p6 … are he:it, p1 p4 … she:he, p2 p5 … they:it
TWO = {"p0": "rr", "p1": "rr", "p2": "rt", "p3": "rr", "p4": "rs", "p5": "tt", "p6": "rn"}


@pytest.fixture
def answered(make: Make, said: Said) -> tuple[Study, dict[tuple[str, str], Answer]]:
    study = make(7, annotators=("anna", "ben"))
    log = [said(study, ("anna", "ben")[k], item, what) for item, both in TWO.items() for k, what in enumerate(both)]
    return study, current_answers(study, log, "log")


def test_table_1(answered: tuple[Study, dict[tuple[str, str], Answer]]) -> None:
    found = study_agreement(*answered, Settings(samples=200))
    assert (found.annotators, found.answered, found.asked, found.left_out) == (("anna", "ben"), 14, 14, 1)
    # p6 is left out. anna: r r r r r t, ben: r r t r s t
    assert found.overall.counts == {"reference": 8, "system": 1, "tie": 3}
    assert found.overall.preferred == pytest.approx((5 / 6 + 3 / 6) / 2)
    with_ties = found.overall.with_ties
    assert with_ties.items == 6
    assert with_ties.values["percent"] == pytest.approx(4 / 6)
    # π = 8/12, 1/12, 3/12; Pe = (8·4 + 1·11 + 3·9) / 144 / 2
    expected = (8 * 4 + 1 * 11 + 3 * 9) / 288
    assert with_ties.values["ac1"] == pytest.approx((4 / 6 - expected) / (1 - expected))
    without = found.overall.without_ties
    assert without is not None
    assert without.items == 4  # p2 has one answer left, p5 none
    assert without.values["percent"] == pytest.approx(3 / 4)
    # p2's one answer counts for what is chosen: π_sys = (1/2) / 5
    expected = 2 * 0.1 * 0.9
    assert without.values["ac1"] == pytest.approx((3 / 4 - expected) / (1 - expected))


def test_by_pair(answered: tuple[Study, dict[tuple[str, str], Answer]]) -> None:
    found = study_agreement(*answered, Settings(samples=0))
    groups = {group.name: group for group in found.pairs}
    assert list(groups) == ["he:it", "she:he", "they:it"]
    assert groups["he:it"].with_ties.values["ac1"] == 1.0
    assert groups["she:he"].counts == {"reference": 3, "system": 1, "tie": 0}
    assert groups["they:it"].preferred == pytest.approx(0.25)
    assert groups["he:it"].with_ties.intervals == dict.fromkeys(("percent", "kappa", "alpha", "ac1"))


def test_the_document_and_the_table(answered: tuple[Study, dict[tuple[str, str], Answer]]) -> None:
    found = study_agreement(*answered, Settings(samples=200))
    document = found.to_dict()
    assert set(document["with_ties"]) == {"items", "answers", "percent", "kappa", "alpha", "ac1"}
    low, high = document["with_ties"]["ac1"]["interval"]
    assert low <= document["with_ties"]["ac1"]["value"] <= high
    assert set(document["pairs"]) == {"he:it", "she:he", "they:it"}
    text = agreement_table(found).render("table")
    assert "without ties" in text
    assert "14 of 14 answers · 1 items left out" in text
    row = next(line for line in text.splitlines() if line.strip().startswith("percent"))
    assert row.split()[1:5] == ["2", "6", "66.7", "0.667"]


def test_nobody_has_answered(make: Make) -> None:
    found = study_agreement(make(), {}, Settings(samples=100))
    assert found.overall.with_ties.values == dict.fromkeys(("percent", "kappa", "alpha", "ac1"))
    assert found.overall.preferred is None
    assert found.pairs == ()
    assert "0 of 18 answers" in agreement_table(found).render("table")


def test_gaps_have_no_ties(make_gaps: Make, said: Said) -> None:
    study = make_gaps()
    log = [said(study, name, item, "il") for name in ("anna", "ben") for item in ("a0", "a1", "b1")]
    found = study_agreement(study, current_answers(study, log, "log"), Settings(samples=100))
    assert found.overall.without_ties is None
    assert found.overall.counts == {"correct": 4, "incorrect": 2, "bad": 0}
    assert found.overall.preferred == pytest.approx(2 / 3)
    assert found.overall.with_ties.values["percent"] == 1.0
    assert "% correct" in agreement_table(found).render("table")
