"""The tables of meta-evaluation: figures in their columns, who is best, what to beware of."""

from __future__ import annotations

import numpy as np
import pytest

from anaphora.metrics.meta.evaluation import MetaEvaluation, Scores, meta_evaluate
from anaphora.metrics.meta.judgements import CaseJudgements, Judged
from anaphora.metrics.meta.sweep import sweep
from anaphora.reports.correlations import correlation_table, figure, judgement_table, sweep_table
from anaphora.stats.correlation import Settings
from anaphora.table import Table

FISHER = Settings(interval="fisher")
HUMAN = np.array([0.0, 0.5, 0.6, 0.65, 0.7, 0.8])
GOOD = np.array([0.1, 0.5, 0.6, 0.7, 0.65, 0.8])
BAD = np.array([3.0, 1.0, 4.0, 1.0, 5.0, 2.0])


def evaluated(metrics: dict[str, np.ndarray], *without: str, how: Settings = FISHER) -> MetaEvaluation:
    scores = Scores(tuple("abcdef"), "accuracy", HUMAN, metrics)
    return meta_evaluate(scores, without=without, settings=how)


def cells(table: Table, first: str) -> list[tuple[str, ...]]:
    return [row.cells for row in table.rows if row.cells[0] == first]


def test_a_row_for_each_metric_with_and_without_outliers() -> None:
    found = evaluated({"good": GOOD, "bad": BAD}, "a")
    table = correlation_table(found)
    assert [row.cells[0] for row in table.rows] == ["all 6 systems", "good", "bad", "without a", "good", "bad"]
    everything, rest = cells(table, "good")
    pearson = found.everything.metrics["good"].pearson
    assert pearson.value is not None
    assert pearson.interval is not None
    low, high = pearson.interval
    assert everything[1:3] == (f"{pearson.value:.3f}", f"[{low:.3f}, {high:.3f}]")
    assert everything[3] == "0.943"
    assert found.rest is not None
    assert rest[1] == f"{found.rest.metrics['good'].pearson.value:.3f}"
    assert len(table.columns) == len(everything) == 8


def test_p_is_against_the_best_metric() -> None:
    found = evaluated({"bad": BAD, "good": GOOD, "middle": GOOD + BAD / 10})
    table = correlation_table(found)
    assert cells(table, "good")[0][-1] == "best"
    adjusted = {(t.first, t.second): t.p_adjusted for t in found.everything.williams}
    assert cells(table, "middle")[0][-1].startswith(f"{adjusted['good', 'middle']:.3f}")
    assert cells(table, "bad")[0][-1].startswith(f"{adjusted['bad', 'good']:.3f}")
    assert any(note.startswith("p: Williams") for note in table.notes)


def test_one_metric_has_nobody_to_be_better_than() -> None:
    table = correlation_table(evaluated({"good": GOOD}))
    assert cells(table, "good")[0][-1] == "–"
    assert not any("Williams" in note for note in table.notes)


def test_outliers_are_hinted_at_until_they_are_left_out() -> None:
    assert any("a; see --without auto" in note for note in correlation_table(evaluated({"m": GOOD})).notes)
    assert not any("--without auto" in note for note in correlation_table(evaluated({"m": GOOD}, "auto")).notes)


def test_few_systems_and_samples_left_out_are_said() -> None:
    notes = correlation_table(evaluated({"m": GOOD}, "a", "b", "c", how=Settings(samples=500))).notes
    assert any(note.startswith("3 systems are few") for note in notes)
    assert any("of the bootstrap samples are left out" in note for note in notes)
    notes = correlation_table(evaluated({"m": GOOD})).notes
    assert not any("bootstrap samples" in note for note in notes)
    many = Scores(tuple(map(str, range(12))), "human", np.arange(12.0), {"m": np.arange(12.0) ** 2})
    assert not any("few" in note for note in correlation_table(meta_evaluate(many, settings=FISHER)).notes)


def test_a_constant_metric_has_dashes_and_is_not_the_best() -> None:
    table = correlation_table(evaluated({"flat": np.ones(6), "bad": -GOOD}))
    assert cells(table, "flat")[0][1:] == ("–",) * 7
    assert cells(table, "bad")[0][-1] == "best"
    assert cells(table, "bad")[0][3] == "−0.943"


def test_the_result_prints_itself() -> None:
    found = evaluated({"good": GOOD})
    assert str(found) == correlation_table(found).render("table")
    assert str(found).splitlines()[0] == "Correlation with accuracy"
    assert str(found).splitlines()[-1] == f"signature {found.signature}"


CASES = {name: (k, 2, 3, 4, 5, 6) for k, name in enumerate("abcdef")}


def test_the_sweep_is_table_4() -> None:
    human = Scores(tuple("abcdef"), "human", HUMAN, {})
    table = sweep_table(sweep(human, {"basic": CASES, "heuristics": CASES}, settings=FISHER))
    assert [row.cells[0] for row in table.rows[:4]] == [
        "alignment basic",
        "w2 = 0, w6 = 0",
        "w2 = 1, w6 = 0",
        "w2 = 0.5, w6 = 0",
    ]
    assert len(table.rows) == 12
    assert table.notes[0].startswith("6 systems are few")
    assert table.rows[1].cells[3] == "1.000"  # Spearman: the first case grows with the human score


def test_discarded_cases_and_systems_are_named() -> None:
    human = Scores(tuple("abcdef"), "human", HUMAN, {})
    found = sweep(
        human,
        {"basic": CASES},
        weights=[(0.5, 0)],
        discard=[frozenset(), frozenset({5, 6})],
        without=["a"],
        settings=FISHER,
    )
    assert [row.cells[0] for row in sweep_table(found).rows] == [
        "alignment basic",
        "w2 = 0.5, w6 = 0, all cases",
        "without a",
        "w2 = 0.5, w6 = 0, without cases 5, 6",
        "without a",
    ]
    assert sweep_table(found).notes[0].startswith("5 systems are few")


def test_judgements_are_table_5() -> None:
    cases = (Judged(42, 6, 2), *[Judged(0, 0, 0)] * 4, Judged(0, 3, 1))
    table = judgement_table(CaseJudgements(cases, 5, 1))
    assert [row.cells for row in table.rows][::5] == [
        ("c1 (same)", "50", "84 %", "[71, 92]", "12 %", "4 %"),
        ("c6 (neither)", "4", "0 %", "[0, 49]", "75 %", "25 %"),
    ]
    assert table.rows[1].cells == ("c2 (equivalent)", "0", "–", "–", "–", "–")
    assert table.rows[-1].cells[:3] == ("total", "54", "78 %")
    assert table.notes == (
        "pronouns of APT without a judgement: 5",
        "judgements of pronouns that APT does not have: 1",
    )


@pytest.mark.parametrize(("value", "said"), [(None, "–"), (-0.25, "−0.250"), (1.0, "1.000"), (-0.0001, "−0.000")])
def test_figures(value: float | None, said: str) -> None:
    assert figure(value) == said
