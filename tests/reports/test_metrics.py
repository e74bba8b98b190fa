"""The tables of AutoPRF, the DiscoMT measures and surface metrics: what stands in which cell."""

from __future__ import annotations

import numpy as np

from anaphora.metrics.aligned_pronouns import Occurrence
from anaphora.metrics.autoprf.metric import AutoPRFResult, autoprf
from anaphora.metrics.discomt.measures import Item, discomt
from anaphora.metrics.measures import MetricResult, MetricsResult
from anaphora.reports.metrics import autoprf_tables, discomt_tables, metrics_tables
from anaphora.stats.intervals import Resampling
from anaphora.stats.paired import PairedTest, Sums, paired_tests

FEW = Resampling(100)


def autoprf_result(*translations: str) -> AutoPRFResult:
    """Systems that translate the two pronouns of two sentences, which the reference has as il and ils."""
    systems = {}
    for words in translations:
        first, second = words.split()
        found = [Occurrence(0, "it", (first,), ("il",)), Occurrence(1, "they", (second,), ("ils",))]
        systems[words] = autoprf(found, 2, resampling=FEW)
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
    found = [Occurrence(0, "it", (), ("il",))]
    result = AutoPRFResult({"a": autoprf(found, 1, resampling=FEW)}, {}, {}, FEW, "")
    (table,) = autoprf_tables(result)
    assert table.rows[0].cells[5:9] == ("–", "", "0.0000", "[0.000, 0.000]")


def test_systems_compared() -> None:
    _, table = autoprf_tables(autoprf_result("il elles", "il ils"))
    assert [row.cells[0] for row in table.rows] == ["il elles → il ils", "precision", "recall", "F"]
    assert table.rows[1].cells[1] == "+0.5000"
    assert table.notes[0].startswith("p: randomisation, corrected (Holm)")
    _, table = autoprf_tables(autoprf_result("il ils", "il elles"))
    assert table.rows[1].cells[1] == "−0.5000"


def test_metrics() -> None:
    pair = PairedTest("a", "b", -1.5, (-3.0, 0.5), {"bootstrap": 0.004, "randomisation": 0.2}, 0.004, 0.004)
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
        name: Sums(table, lambda totals: {"f": totals[:, 0] / totals[:, 1]})
        for name, table in (("a", zero), ("b", rows))
    }
    result = AutoPRFResult(
        autoprf_result("il ils").systems, paired_tests(sums, Resampling(2_000)), {}, Resampling(2_000), ""
    )
    assert autoprf_tables(result)[1].rows[1].cells[-1] == "<0.001***"
