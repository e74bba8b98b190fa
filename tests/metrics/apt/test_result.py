"""A result of APT: scores in all and by pronoun, the JSON of the contract, systems against each other, details."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from anaphora.metrics.apt.cases import Weighting
from anaphora.metrics.apt.result import DETAILS, AptResult, make_result
from anaphora.metrics.apt.task import Confusion, Outcome, Side, Triple
from anaphora.stats.intervals import Resampling
from anaphora.stats.paired import holm

GROUPS = ("it", "it", "they", "it", "they", "it")
FOUND = {1: "il", 2: "ce", 3: "elle", 4: "", 5: "il", 6: ""}  # by case; the reference has il, or nothing in 5 and 6


def outcome(name: str, cases: Sequence[int]) -> Outcome:
    """Two pronouns per sentence."""
    triples = []
    for k, (case, group) in enumerate(zip(cases, GROUPS, strict=True)):
        reference = Side((k,), ("il",)) if case < 5 else Side()
        candidate = Side((k + 1,), (FOUND[case],), rescued=k == 0) if FOUND[case] else Side()
        triples.append(Triple(k // 2, Side((k,), (group,)), reference, candidate, case))
    return Outcome(name, triples, GROUPS, Confusion(("il",), ((1,),)))


def result(*outcomes: Outcome, weighting: Weighting | None = None, by_pronoun: bool = False) -> AptResult:
    return make_result(
        outcomes,
        languages="en-fr",
        variant="paper",
        weighting=weighting or Weighting(),
        sampling=Resampling(samples=200, trials=500),
        parts=("apt", "l:en-fr"),
        by_pronoun=by_pronoun,
    )


FIRST = outcome("a", [1, 2, 3, 4, 5, 6])
SECOND = outcome("b", [1, 1, 1, 4, 5, 1])


def test_scores_by_hand() -> None:
    (system,) = result(FIRST).systems
    assert system.score.cases == (1, 1, 1, 1, 1, 1)
    assert (system.score.apt, system.score.total) == (pytest.approx(1.5 / 6), 6)
    assert list(system.pronouns) == ["it", "they"]  # the more frequent first
    assert system.pronouns["it"].cases == (1, 1, 0, 1, 0, 1)
    assert system.pronouns["it"].apt == pytest.approx(1.5 / 4)
    assert system.pronouns["they"].apt == 0
    assert system.rescued == (0, 1)
    low, high = system.score.interval
    assert low < 0.25 < high


def test_discarded_cases_are_counted_but_not_scored() -> None:
    (system,) = result(FIRST, weighting=Weighting(discarded=(5, 6))).systems
    assert system.score.cases == (1, 1, 1, 1, 1, 1)
    assert (system.score.apt, system.score.total) == (pytest.approx(1.5 / 4), 4)


def test_one_system_is_the_document_and_is_listed() -> None:
    document = result(FIRST, weighting=Weighting(discarded=(6,))).to_dict()
    assert {key: document[key] for key in ("apt", "cases", "weights", "discarded", "signature")} == {
        "apt": pytest.approx(0.3),
        "cases": [1, 1, 1, 1, 1, 1],
        "weights": [1.0, 0.5, 0.0, 0.0, 0.0, 0.0],
        "discarded": [6],
        "signature": "apt|l:en-fr",
    }
    (listed,) = document["systems"].values()
    assert listed == {key: document[key] for key in listed}
    assert document["rescued"] == {"reference": 0, "candidate": 1}
    assert document["confusion"] == {"labels": ["il"], "counts": [[1]]}
    assert document["pronouns"]["they"]["cases"] == [0, 0, 1, 0, 1, 0]
    assert document["pairs"] == []
    json.dumps(document, allow_nan=False)


def test_several_systems_are_listed_and_compared() -> None:
    document = result(FIRST, SECOND).to_dict()
    assert (document["system"], document["apt"]) == ("a", pytest.approx(1.5 / 6))  # the first one
    assert list(document["systems"]) == ["a", "b"]
    assert document["systems"]["b"]["apt"] == pytest.approx(4 / 6)
    (pair,) = document["pairs"]
    assert pair["systems"] == ["a", "b"]
    assert pair["delta"] == pytest.approx(2.5 / 6)
    assert pair["gained"] == ["0:1", "1:2", "2:5"]
    assert pair["lost"] == []
    assert set(pair["tests"]) == {"randomisation", "bootstrap"}
    assert pair["breakdowns"] == {}


def test_p_values_are_corrected_over_pairs_and_over_pairs_and_pronouns() -> None:
    found = result(FIRST, SECOND, outcome("c", [3, 1, 1, 1, 3, 3]), by_pronoun=True)
    assert [(pair.first, pair.second) for pair in found.pairs] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert [pair.overall.p_adjusted for pair in found.pairs] == holm([pair.overall.p_value for pair in found.pairs])
    parts = [pair.breakdowns["pronoun"][group] for pair in found.pairs for group in ("it", "they")]
    assert [part.p_adjusted for part in parts] == holm([part.p_value for part in parts])
    assert parts[0].total == 4
    assert parts[0].delta == pytest.approx(3 / 4 - 1.5 / 4)


def test_one_row_per_pronoun() -> None:
    rows = list(result(FIRST, SECOND).details())
    assert len(rows) == 12
    first = dict(zip(DETAILS, rows[0], strict=True))
    assert first == {
        "system": "a",
        "sentence": "0",
        "position": "0",
        "source": "it",
        "reference_position": "0",
        "reference": "il",
        "reference_found": "aligned",
        "candidate_position": "1",
        "candidate": "il",
        "candidate_found": "rescued",
        "case": "1",
    }
    neither = dict(zip(DETAILS, rows[5], strict=True))
    assert (neither["reference"], neither["candidate_position"], neither["candidate_found"]) == ("", "", "")
    assert rows[6][0] == "b"


def test_without_pronouns_there_is_no_score() -> None:
    nothing = Outcome("a", [], [], Confusion((), ()))
    document = result(nothing).to_dict()
    assert (document["apt"], document["interval"], document["total"]) == (None, [0.0, 1.0], 0)


def test_it_prints_its_tables() -> None:
    assert "APT en→fr · paper" in str(result(FIRST, SECOND))
    assert "a → b" in str(result(FIRST, SECOND))
