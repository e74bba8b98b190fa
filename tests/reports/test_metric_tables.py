"""Tables of metrics and their meta-evaluation."""

from __future__ import annotations

import numpy as np
import pytest

from anaphora.metrics.apt.result import AptResult, SystemResult, make_result
from anaphora.metrics.apt.task import Confusion, Outcome, Side, Triple, Weighting
from anaphora.metrics.autoprf import AutoPRFResult, Occurrence, autoprf
from anaphora.metrics.corpus import MetricResult, MetricsResult
from anaphora.metrics.discomt import Item, discomt
from anaphora.metrics.judgments import CaseJudgments, JudgmentCounts, Sample, learn_equivalents
from anaphora.metrics.meta import MetaEvaluation, Scores, meta_evaluate, sweep
from anaphora.reports.metric_tables import (
    apt_tables,
    autoprf_tables,
    confusion_table,
    correlation_table,
    discomt_tables,
    equivalence_table,
    judgment_table,
    metrics_tables,
    score_table,
    sweep_table,
)
from anaphora.stats.correlation import CorrelationSettings
from anaphora.stats.paired import PairedTest, SufficientStats, paired_tests
from anaphora.stats.resampling import Resampling
from anaphora.table import Table, decimal

# APT's tables say what the result says, rounded.

CONFUSION = Confusion(("il", "elle", "ce", "NONE"), ((3, 1, 0, 2), (0, 5, 0, 0), (0, 0, 0, 0), (0, 0, 0, 1)))


def outcome(name: str, cases: list[int], unaligned: int | None = None) -> Outcome:
    triples = [
        Triple(k, Side((0,), ("it",)), Side((0,), ("il",), k == 0), Side((0,), ("il",)), case)
        for k, case in enumerate(cases)
    ]
    return Outcome(name, triples, ["it"] * len(cases), CONFUSION, unaligned)


@pytest.fixture
def result() -> AptResult:
    outcomes = [outcome("a", [1, 2, 3, 3, 6]), outcome("b", [1, 1, 1, 1, 6], unaligned=7)]
    return make_result(
        outcomes,
        languages="en-fr",
        variant="paper",
        weighting=Weighting(discarded=(6,)),
        sampling=Resampling(samples=100, trials=100),
        signature="apt|x:y",
    )


def test_scores(result: AptResult) -> None:
    lines = score_table(result).render("table").splitlines()
    assert lines[0] == "APT en→fr · paper"
    assert lines[2].split()[:3] == ["a", "4", "0.3750"]
    assert lines[2].split()[-6:] == ["1", "1", "2", "0", "0", "1"]
    assert lines[3].split()[:3] == ["it", "4", "0.3750"]
    assert lines[-5:] == [
        "discarded: 6 (neither); n is without them",
        "a: rescued 1 in the reference, 0 in the candidate",
        "b: rescued 1 in the reference, 0 in the candidate",
        "b: 7 unaligned reference pronouns left out",
        "signature apt|x:y",
    ]


def test_several_systems_are_compared(result: AptResult) -> None:
    _, pairs = apt_tables(result)
    text = pairs.render("table")
    assert "a → b" in text
    assert "+0.6250" in text
    assert "3 pronouns better, 0 worse" in text
    assert len(apt_tables(result, confusion=True)) == 4


def test_confusion_leaves_out_unused_labels_and_sums_the_rest(result: AptResult) -> None:
    system: SystemResult = result.systems[0]
    rows = confusion_table(system).render("tsv").splitlines()
    assert rows[0] == "section\t\til\telle\tNONE\tsum"
    assert rows[1:] == ["\til\t3\t1\t2\t6", "\telle\t0\t5\t0\t5", "\tNONE\t0\t0\t1\t1", "\tsum\t3\t6\t3\t12"]
    short = confusion_table(system, longest=1).render("tsv").splitlines()
    assert short[1:] == ["\til\t3\t3\t6", "\t…\t0\t6\t6", "\tsum\t3\t9\t12"]


@pytest.mark.parametrize("format", ["table", "markdown", "latex", "tsv"])
def test_every_format(result: AptResult, format: str) -> None:
    assert all("0.3750" in table.render(format) for table in apt_tables(result))


def test_equivalences() -> None:
    judged = [Sample("ce", "il", True)] * 2 + [Sample("on", "il", False)] + [Sample("il", "il", True)]
    lines = equivalence_table(learn_equivalents(judged)).render("table").splitlines()
    assert lines[2].split() == ["ce", "for", "il", "2", "50.0%", "2", "1.00", "yes"]
    assert lines[3].split() == ["on", "for", "il", "1", "25.0%", "0", "0.00"]
    assert lines[4] == "kept: 5% of the 4 samples or more, p > 0.5"


# The tables of AutoPRF, the DiscoMT measures and surface metrics: what stands in which cell.

FEW = Resampling(100)


def autoprf_result(*translations: str) -> AutoPRFResult:
    """Systems that translate the two pronouns of two sentences, which the reference has as il and ils."""
    systems = {}
    for words in translations:
        first, second = words.split()
        actual = [Occurrence(0, "it", (first,), ("il",)), Occurrence(1, "they", (second,), ("ils",))]
        systems[words] = autoprf(actual, 2, resampling=FEW)
    pairs = paired_tests({name: system.sums for name, system in systems.items()}, FEW)
    return AutoPRFResult(systems, pairs, {}, FEW, "autoprf|…")


def test_autoprf() -> None:
    (table,) = autoprf_tables(autoprf_result("il elles"))
    assert table.columns[5:7] == ("precision", "95 % interval")
    assert [row.cells[:6] for row in table.rows] == [
        ("il elles", "2", "2", "2", "1", "0.5000"),
        ("it", "1", "1", "1", "1", "1.0000"),
        ("they", "1", "1", "1", "0", "0.0000"),
    ]
    assert table.rows[1].cells[6] == "[0.000, 1.000]"  # the sentence may not be drawn
    assert table.notes == ("signature autoprf|…",)


def test_autoprf_without_a_figure() -> None:
    actual = [Occurrence(0, "it", (), ("il",))]
    result = AutoPRFResult({"a": autoprf(actual, 1, resampling=FEW)}, {}, {}, FEW, "")
    (table,) = autoprf_tables(result)
    assert table.rows[0].cells[5:9] == ("–", "", "0.0000", "[0.000, 0.000]")


def test_systems_compared() -> None:
    _, table = autoprf_tables(autoprf_result("il elles", "il ils"))
    assert [row.cells[0] for row in table.rows] == ["il elles → il ils", "precision", "recall", "F"]
    assert table.rows[1].cells[1] == "+0.5000"
    assert table.notes[0].startswith("p: randomization, corrected (Holm)")
    _, table = autoprf_tables(autoprf_result("il ils", "il elles"))
    assert table.rows[1].cells[1] == "−0.5000"


def test_metrics() -> None:
    pair = PairedTest("a", "b", -1.5, (-3.0, 0.5), {"bootstrap": 0.004, "randomization": 0.2}, 0.004, 0.004)
    bleu = MetricResult("bleu", "BLEU|…", {"a": 31.5, "b": 30.0}, {"a": (30, 33), "b": (29, 31)}, (pair,), 2, False)
    ter = MetricResult("ter", "TER|…", {"a": 50.0, "b": 49.126}, {"a": (40, 60), "b": (45, 55)}, (pair,), 2, True)
    first, second = metrics_tables(MetricsResult("en-fr", 1200, ("a", "b"), (bleu, ter), Resampling(test="bootstrap")))
    assert first.title == "en→fr · 1,200 sentences"
    assert first.columns == ("", "bleu", "95 % interval", "ter (lower is better)", "95 % interval")
    assert first.rows[1].cells == ("b", "30.00", "[29.00, 31.00]", "49.13", "[45.00, 55.00]")
    assert first.notes == ("BLEU|…", "TER|…", "intervals ci:bs10000|seed:12345")
    assert second.rows[1].cells == ("bleu", "−1.50", "[−3.00, +0.50]", "0.004**")
    (alone,) = metrics_tables(MetricsResult("", 5, ("a",), (), FEW))
    assert alone.title == "5 sentences"


def test_discomt() -> None:
    items = [Item("1", "il", frozenset({"il"})), Item("2", "ce", frozenset()), Item("3", "other", frozenset({"il"}))]
    overall, classes = discomt_tables(discomt({"a": items}, FEW))
    cells = {row.cells[0]: row.cells[1] for row in overall.rows}
    assert (cells["items"], cells["of these bad translations"]) == ("3", "1")
    assert cells["accuracy"].startswith("0.333 [")
    assert list(cells)[2:] == [
        "accuracy",
        "accuracy without OTHER",
        "precision",
        "recall",
        "F",
        "macro-averaged recall",
    ]
    assert classes.rows[0].section
    assert [row.cells[0] for row in classes.rows[1:]] == ["ce", "il", "other"]
    ce = classes.rows[1].cells
    assert (ce[1:4], ce[5:]) == (("1", "0", "0"), ("–", "–", "–"))
    assert len(discomt_tables(discomt({"a": items, "b": items}, FEW))) == 3


def test_a_p_value_that_is_tiny() -> None:
    rows = np.column_stack([np.ones(40), np.ones(40)])
    zero = np.column_stack([np.zeros(40), np.ones(40)])
    sums = {
        name: SufficientStats(table, lambda totals: {"f": totals[:, 0] / totals[:, 1]})
        for name, table in (("a", zero), ("b", rows))
    }
    result = AutoPRFResult(
        autoprf_result("il ils").systems, paired_tests(sums, Resampling(2_000)), {}, Resampling(2_000), ""
    )
    assert autoprf_tables(result)[1].rows[1].cells[-1] == "<0.001***"


# The tables of meta-evaluation: figures in their columns, who is best, what to beware of.

FISHER = CorrelationSettings(interval="fisher")
HUMAN = np.array([0.0, 0.5, 0.6, 0.65, 0.7, 0.8])
GOOD = np.array([0.1, 0.5, 0.6, 0.7, 0.65, 0.8])
BAD = np.array([3.0, 1.0, 4.0, 1.0, 5.0, 2.0])


def evaluated(metrics: dict[str, np.ndarray], *without: str, how: CorrelationSettings = FISHER) -> MetaEvaluation:
    scores = Scores(tuple("abcdef"), "accuracy", HUMAN, metrics)
    return meta_evaluate(scores, without=without, settings=how)


def cells(table: Table, first: str) -> list[tuple[str, ...]]:
    return [row.cells for row in table.rows if row.cells[0] == first]


def test_a_row_for_each_metric_with_and_without_outliers() -> None:
    evaluation = evaluated({"good": GOOD, "bad": BAD}, "a")
    table = correlation_table(evaluation)
    assert [row.cells[0] for row in table.rows] == ["all 6 systems", "good", "bad", "without a", "good", "bad"]
    everything, rest = cells(table, "good")
    pearson = evaluation.everything.metrics["good"].pearson
    assert pearson.value is not None
    assert pearson.interval is not None
    low, high = pearson.interval
    assert everything[1:3] == (f"{pearson.value:.3f}", f"[{low:.3f}, {high:.3f}]")
    assert everything[3] == "0.943"
    assert evaluation.rest is not None
    assert rest[1] == f"{evaluation.rest.metrics['good'].pearson.value:.3f}"
    assert len(table.columns) == len(everything) == 8


def test_p_is_against_the_best_metric() -> None:
    evaluation = evaluated({"bad": BAD, "good": GOOD, "middle": GOOD + BAD / 10})
    table = correlation_table(evaluation)
    assert cells(table, "good")[0][-1] == "best"
    adjusted = {(t.first, t.second): t.p_adjusted for t in evaluation.everything.williams}
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


def test_few_systems_and_excluded_samples_have_notes() -> None:
    notes = correlation_table(evaluated({"m": GOOD}, "a", "b", "c", how=CorrelationSettings(samples=500))).notes
    assert any(note.startswith("with only 3 systems") for note in notes)
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
    evaluation = evaluated({"good": GOOD})
    assert str(evaluation) == correlation_table(evaluation).render("table")
    assert str(evaluation).splitlines()[0] == "Correlation with accuracy"
    assert str(evaluation).splitlines()[-1] == f"signature {evaluation.signature}"


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
    assert table.notes[0].startswith("with only 6 systems")
    assert table.rows[1].cells[3] == "1.000"  # Spearman: the first case grows with the human score


def test_discarded_cases_and_systems_are_named() -> None:
    human = Scores(tuple("abcdef"), "human", HUMAN, {})
    result = sweep(
        human,
        {"basic": CASES},
        weights=[(0.5, 0)],
        discard=[frozenset(), frozenset({5, 6})],
        without=["a"],
        settings=FISHER,
    )
    assert [row.cells[0] for row in sweep_table(result).rows] == [
        "alignment basic",
        "w2 = 0.5, w6 = 0, all cases",
        "without a",
        "w2 = 0.5, w6 = 0, without cases 5, 6",
        "without a",
    ]
    assert sweep_table(result).notes[0].startswith("with only 5 systems")


def test_judgments_are_table_5() -> None:
    cases = (JudgmentCounts(42, 6, 2), *[JudgmentCounts(0, 0, 0)] * 4, JudgmentCounts(0, 3, 1))
    table = judgment_table(CaseJudgments(cases, 5, 1))
    assert [row.cells for row in table.rows][::5] == [
        ("c1 (same)", "50", "84 %", "[71, 92]", "12 %", "4 %"),
        ("c6 (neither)", "4", "0 %", "[0, 49]", "75 %", "25 %"),
    ]
    assert table.rows[1].cells == ("c2 (equivalent)", "0", "–", "–", "–", "–")
    assert table.rows[-1].cells[:3] == ("total", "54", "78 %")
    assert table.notes == (
        "pronouns of APT without a judgment: 5",
        "judgments of pronouns that APT does not have: 1",
    )


@pytest.mark.parametrize(("value", "message"), [(None, "–"), (-0.25, "−0.250"), (1.0, "1.000"), (-0.0001, "−0.000")])
def test_figures(value: float | None, message: str) -> None:
    assert decimal(value) == message
