"""What answers mean: the last one counts, A and B are turned back, pairs nobody can judge are left out."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.metrics.discomt import discomt, read_annotations
from anaphora.metrics.judgments import judge_cases, same_forms
from anaphora.metrics.meta import read_scores
from anaphora.reports.data_tables import agreement_table
from anaphora.stats.resampling import Resampling
from anaphora.study.analysis import Key, StudyAgreement, current_answers, meaning, option_of, ratings, study_agreement
from anaphora.study.export import (
    answer_rows,
    as_jsonl,
    as_tsv,
    gap_annotations,
    human_accuracy,
    judgments,
    pair_list,
    pair_list_text,
    scores_table,
)
from anaphora.study.model import Study
from anaphora.study.store import Answer

Make = Callable[..., Study]
AnswerOf = Callable[..., Answer]


def test_the_last_answer_counts(make: Make, answer_of: AnswerOf) -> None:
    study = make()
    log = [
        answer_of(study, "anna", "p0", "a"),
        answer_of(study, "anna", "p1", "equal"),
        answer_of(study, "anna", "p0", "b"),
        answer_of(study, "anna", "p2", "a"),
        answer_of(study, "anna", "p2"),
    ]
    current = current_answers(study, log, "log")
    assert {key: answer.choice for key, answer in current.items()} == {
        ("anna", "p1"): ("equal",),
        ("anna", "p0"): ("b",),
    }
    assert list(current) == [("anna", "p1"), ("anna", "p0")]  # in the order of the last answers


def test_a_and_b_depend_on_the_order_shown(make: Make) -> None:
    study = make(20)
    seen = set()
    for (annotator, name), order in study.orders.items():
        for choice, position in (("a", 0), ("b", 1)):
            expected = "reference" if order[position] == study.by_id[name].gold else "system"
            assert meaning(study, Answer(annotator, name, (choice,), order, "r")) == expected
            seen.add((order, choice, expected))
    assert len(seen) == 4
    order = study.orders["anna", "p0"]
    others = [meaning(study, Answer("anna", "p0", (c,), order, "r")) for c in ("equal", "neither", "invalid")]
    assert others == ["tie", "neither", "invalid"]


def test_a_gap_is_right_where_the_word_was_chosen(make_gaps: Make, answer_of: AnswerOf) -> None:
    study = make_gaps()
    assert meaning(study, answer_of(study, "anna", "a0", "il", "elle")) == "correct"
    assert meaning(study, answer_of(study, "anna", "a0", "il")) == "incorrect"
    assert meaning(study, answer_of(study, "anna", "a0", "bad")) == "bad"
    assert meaning(study, answer_of(study, "anna", "b0", "cela")) == "correct"  # Ça
    assert option_of(study, "lui") == "other"


def test_ratings(make: Make, answer_of: AnswerOf) -> None:
    study = make(4)
    log = [
        *(answer_of(study, name, "p0", "r") for name in ("anna", "ben", "carla")),
        answer_of(study, "anna", "p1", "t"),
        answer_of(study, "ben", "p1", "s"),
        answer_of(study, "anna", "p2", "r"),
        answer_of(study, "ben", "p2", "i"),
    ]
    current = current_answers(study, log, "log")
    actual = ratings(study, current)
    assert [item.id for item in actual.items] == ["p0", "p1", "p3"]
    assert actual.left_out == 1
    np.testing.assert_array_equal(actual.values, [[0, 0, 0], [2, 1, -1], [-1, -1, -1]])
    without = ratings(study, current, ties=False)
    assert without.categories == ("reference", "system")
    np.testing.assert_array_equal(without.values, [[0, 0, 0], [-1, 1, -1], [-1, -1, -1]])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"item": "p99"}, "answer 1: 'p99' was not assigned to anna"),
        ({"annotator": "eve"}, "answer 1: 'p0' was not assigned to eve"),
        ({"choice": ("c",)}, "answer 1: unknown choice 'c'"),
        ({"choice": ("a", "b")}, "answer 1: only one choice is possible"),
        ({"shown": (0,)}, "shown in another order"),
    ],
)
def test_answers_that_do_not_belong(make: Make, answer_of: AnswerOf, change: dict[str, object], message: str) -> None:
    study = make()
    answer = replace(answer_of(study, "anna", "p0", "a"), **change)  # type: ignore[arg-type]
    with pytest.raises(BadInput, match=message):
        current_answers(study, [answer], "log")


def test_choices_of_a_gap(make_gaps: Make) -> None:
    study = make_gaps()
    assert study.problem_with(("il", "other")) is None
    assert study.problem_with(()) is None
    assert study.problem_with(("il", "bad")) == "a bad translation has no other answer"
    assert study.problem_with(("il", "il")) == "a choice is given twice"
    assert study.problem_with(("ça",)) == "unknown choice 'ça'"


# The agreement of a study: Table 1's columns, with and without ties, and for each pair of pronouns.

# two people; p0 p3 p6 … are he:it, p1 p4 … she:he, p2 p5 … they:it
TWO = {"p0": "rr", "p1": "rr", "p2": "rt", "p3": "rr", "p4": "rs", "p5": "tt", "p6": "rn"}


@pytest.fixture
def answered(make: Make, answer_of: AnswerOf) -> tuple[Study, dict[tuple[str, str], Answer]]:
    study = make(7, annotators=("anna", "ben"))
    log = [
        answer_of(study, ("anna", "ben")[k], item, what) for item, both in TWO.items() for k, what in enumerate(both)
    ]
    return study, current_answers(study, log, "log")


def test_table_1(answered: tuple[Study, dict[tuple[str, str], Answer]]) -> None:
    agreement = study_agreement(*answered, Resampling(samples=200))
    assert (agreement.annotators, agreement.answered, agreement.asked, agreement.left_out) == (
        ("anna", "ben"),
        14,
        14,
        1,
    )
    # p6 is left out. anna: r r r r r t, ben: r r t r s t
    assert agreement.overall.counts == {"reference": 8, "system": 1, "tie": 3}
    assert agreement.overall.preferred == pytest.approx((5 / 6 + 3 / 6) / 2)
    with_ties = agreement.overall.with_ties
    assert with_ties.items == 6
    assert with_ties.values["percent"] == pytest.approx(4 / 6)
    # π = 8/12, 1/12, 3/12; Pe = (8·4 + 1·11 + 3·9) / 144 / 2
    expected = (8 * 4 + 1 * 11 + 3 * 9) / 288
    assert with_ties.values["ac1"] == pytest.approx((4 / 6 - expected) / (1 - expected))
    without = agreement.overall.without_ties
    assert without is not None
    assert without.items == 4  # p2 has one answer left, p5 none
    assert without.values["percent"] == pytest.approx(3 / 4)
    # p2's one answer counts for what is chosen: π_sys = (1/2) / 5
    expected = 2 * 0.1 * 0.9
    assert without.values["ac1"] == pytest.approx((3 / 4 - expected) / (1 - expected))


def test_by_pair(answered: tuple[Study, dict[tuple[str, str], Answer]]) -> None:
    agreement = study_agreement(*answered)
    groups = {group.name: group for group in agreement.pairs}
    assert list(groups) == ["he:it", "she:he", "they:it"]
    assert groups["he:it"].with_ties.values["ac1"] == 1.0
    assert groups["she:he"].counts == {"reference": 3, "system": 1, "tie": 0}
    assert groups["they:it"].preferred == pytest.approx(0.25)
    assert groups["he:it"].with_ties.intervals == dict.fromkeys(("percent", "kappa", "alpha", "ac1"))


def test_the_document_and_the_table(answered: tuple[Study, dict[tuple[str, str], Answer]]) -> None:
    agreement = study_agreement(*answered, Resampling(samples=200))
    document = agreement.to_dict()
    assert set(document["with_ties"]) == {"items", "answers", "percent", "kappa", "alpha", "ac1"}
    low, high = document["with_ties"]["ac1"]["interval"]
    assert low <= document["with_ties"]["ac1"]["value"] <= high
    assert set(document["pairs"]) == {"he:it", "she:he", "they:it"}
    text = agreement_table(agreement).render("table")
    assert "without ties" in text
    assert "14 of 14 answers · 1 items left out" in text
    row = next(line for line in text.splitlines() if line.strip().startswith("percent"))
    assert row.split()[1:5] == ["2", "6", "66.7", "0.667"]


def test_nobody_has_answered(make: Make) -> None:
    agreement = study_agreement(make(), {}, Resampling(samples=100))
    assert agreement.overall.with_ties.values == dict.fromkeys(("percent", "kappa", "alpha", "ac1"))
    assert agreement.overall.preferred is None
    assert agreement.pairs == ()
    assert "0 of 18 answers" in agreement_table(agreement).render("table")


def test_gaps_have_no_ties(make_gaps: Make, answer_of: AnswerOf) -> None:
    study = make_gaps()
    log = [answer_of(study, name, item, "il") for name in ("anna", "ben") for item in ("a0", "a1", "b1")]
    agreement = study_agreement(study, current_answers(study, log, "log"), Resampling(samples=100))
    assert agreement.overall.without_ties is None
    assert agreement.overall.counts == {"correct": 4, "incorrect": 2, "bad": 0}
    assert agreement.overall.preferred == pytest.approx(2 / 3)
    assert agreement.overall.with_ties.values["percent"] == 1.0
    assert "% correct" in agreement_table(agreement).render("table")


# What a study gives away: answers, the pair list of the filter, and judgments in the formats of other commands.


@pytest.fixture
def pairs_agreement(make: Make, answer_of: AnswerOf) -> StudyAgreement:
    """he:it is agreed on, she:he is not, they:it is agreed on the other way round."""
    study = make(9, annotators=("anna", "ben"))
    plan = {"p0": "rr", "p3": "rr", "p6": "rt", "p1": "rs", "p4": "rs", "p2": "ss", "p5": "ss"}
    log = [
        answer_of(study, ("anna", "ben")[k], item, what) for item, both in plan.items() for k, what in enumerate(both)
    ]
    log.append(answer_of(study, "anna", "p8", "r"))
    return study_agreement(study, current_answers(study, log, "log"))


def test_the_pair_list_has_agreement_and_counts(pairs_agreement: StudyAgreement) -> None:
    listed = pair_list(pairs_agreement)
    assert set(listed) == {"he:it", "she:he", "they:it"}
    assert listed["they:it"].counts == {"REF": 1, "SYS": 4, "Tie": 0}
    # 5 REF, 1 Tie over 3 items: Pa 2/3, Pe = (5·1 + 1·5) / 36 / 2
    chance = 10 / 72
    assert listed["he:it"].agreement == pytest.approx((2 / 3 - chance) / (1 - chance))
    assert listed["he:it"].counts == {"REF": 5, "SYS": 0, "Tie": 1}


def test_the_filter(pairs_agreement: StudyAgreement) -> None:
    # §5.1: not those with low agreement, nor those for which the system's pronoun was chosen more often
    assert set(pair_list(pairs_agreement, 0.6)) == {"he:it"}
    assert pair_list(pairs_agreement, 0.8) == {}


def test_the_published_list_is_of_this_form(data: Callable[[str], Path]) -> None:
    published = json.loads((data("eval-anaphora") / "pronoun_pair_list.json").read_text(encoding="utf-8"))
    for name, entries in published.items():
        assert len(name.split("_")) == 2
        for agreement, counts in entries:
            assert 0.8 <= agreement <= 1
            assert set(counts) <= {"REF", "SYS", "Tie"}
            assert counts["REF"] >= counts.get("SYS", 0)


def test_the_pair_list_as_text(pairs_agreement: StudyAgreement, make_gaps: Make) -> None:
    agreement = pair_list(pairs_agreement)["he:it"].agreement
    assert json.loads(pair_list_text(pairs_agreement, Path("pairs.json")))["he_it"] == [
        [round(agreement, 12), {"REF": 5, "Tie": 1}]  # the last digits depend on the processor
    ]
    first, *rows = pair_list_text(pairs_agreement, Path("pairs.tsv")).splitlines()
    assert first.split("\t") == ["reference", "system", "agreement", "REF", "SYS", "Tie"]
    assert rows[0].split("\t") == ["he", "it", f"{agreement:.6f}", "5", "0", "1"]
    gaps = study_agreement(make_gaps(), {})
    with pytest.raises(AnaphoraError, match="no pairs of pronouns"):
        pair_list_text(gaps, Path("pairs.json"))


def test_answers(make: Make, answer_of: AnswerOf) -> None:
    study = make()
    log = [replace(answer_of(study, "anna", "p0", "r"), seconds=2.5, elapsed=90.0), answer_of(study, "anna", "p0")]
    rows = list(answer_rows(study, log))
    assert [row["meaning"] for row in rows] == ["reference", None]
    assert rows[0]["pair"] == "he:it"
    assert [(row["seconds"], row["elapsed_seconds"]) for row in rows] == [(2.5, 90.0), (None, None)]
    assert [json.loads(line) for line in as_jsonl(rows).splitlines()] == rows
    header, first, _ = as_tsv(rows).splitlines()
    assert first.split("\t")[header.split("\t").index("meaning")] == "reference"


# ---------------------------------------------------------------------------------------------------------------- gaps


@pytest.fixture
def gaps(make_gaps: Make, answer_of: AnswerOf) -> tuple[Study, dict[Key, Answer]]:
    """a has Elle, Il, Ils; b has Ça, Il, Elles. anna and ben fill all gaps but the last, which anna alone fills."""
    study = make_gaps()
    plan = {
        "a0": [("elle",), ("elle", "il")],
        "a1": [("il",), ("cela",)],
        "a2": [("bad",), ("bad",)],
        "b0": [("cela", "ce"), ("elle",)],
        "b1": [("il",), ("il",)],
        "b2": [("ils", "other")],
    }
    log = [
        answer_of(study, ("anna", "ben")[k], item, *choice)
        for item, both in plan.items()
        for k, choice in enumerate(both)
    ]
    return study, current_answers(study, log, "log")


def test_human_accuracy(gaps: tuple[Study, dict[Key, Answer]], tmp_path: Path) -> None:
    accuracy = human_accuracy(*gaps)
    assert accuracy == {"a": 3 / 6, "b": 3 / 5}
    metrics = tmp_path / "metrics.tsv"
    metrics.write_text("system\tapt\tbleu\nb\t0.6\t30\nc\t0.1\t10\na\t0.5\t20\n", encoding="utf-8")
    table = tmp_path / "scores.tsv"
    table.write_text(scores_table({**accuracy, "c": 0.1}, metrics), encoding="utf-8")
    scores = read_scores(table)
    assert scores.systems == ("b", "c", "a")
    assert list(scores.human_scores) == [0.6, 0.1, 0.5]
    assert set(scores.metrics) == {"apt", "bleu"}
    assert scores_table(accuracy).splitlines()[1] == "a\t0.500000"
    with pytest.raises(BadInput, match="no row for the system 'd'"):
        scores_table({"d": 1.0}, metrics)


def test_judgments_join_apt(gaps: tuple[Study, dict[Key, Answer]], tmp_path: Path) -> None:
    table, details = tmp_path / "judgments.tsv", tmp_path / "details.tsv"
    table.write_text(judgments(*gaps), encoding="utf-8")
    rows = ["a 0 0 elle 1", "a 1 0 il 1", "a 2 0 ils 3", "b 0 0 ça 3", "b 1 0 il 1", "b 2 0 elles 3"]
    lines = ["system sentence position candidate case", *rows]
    details.write_text("".join("\t".join(line.split()) + "\n" for line in lines), encoding="utf-8")
    study = gaps[0]
    joined = judge_cases(details, table, options=study.options, form=same_forms("en-fr"))
    same, different = joined.cases[0], joined.cases[2]
    assert (same.correct, same.incorrect, same.bad) == (5, 1, 0)
    assert (different.correct, different.incorrect, different.bad) == (1, 2, 2)
    assert (joined.unjudged, joined.unmatched) == (0, 0)


def test_annotations_for_discomt(gaps: tuple[Study, dict[Key, Answer]], tmp_path: Path) -> None:
    path = tmp_path / "gaps.tsv"
    path.write_text(gap_annotations(*gaps), encoding="utf-8")
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()[1:]]
    accepted = {(system, item): set(options.split(",")) for system, item, _, options in rows}
    assert accepted["a", "0.0"] == {"elle", "il"}
    assert accepted["a", "2.0"] == {"bad"}
    assert accepted["b", "2.0"] == {"ils", "other"}
    result = discomt(read_annotations(path, "fr"))
    assert result.systems["a"].overall["accuracy"].value == pytest.approx(2 / 3)
    assert result.systems["b"].overall["accuracy"].value == pytest.approx(2 / 3)


def test_pairs_give_no_judgments(make: Make) -> None:
    study = make()
    for function in (judgments, gap_annotations, human_accuracy):
        with pytest.raises(AnaphoraError, match="needs a study of gaps, not of pairs"):
            function(study, {})
