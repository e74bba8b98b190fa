"""Meta-evaluation: correlation with human scores, outliers, and the sweep of APT's weights."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.core.files import text_lines
from anaphora.metrics.meta import (
    FULL,
    TABLE_4,
    MetaEvaluation,
    Scores,
    Sweep,
    meta_evaluate,
    outliers,
    read_cases,
    read_human,
    read_scores,
    sweep,
)
from anaphora.stats.correlation import CorrelationSettings

FAST = CorrelationSettings(samples=200)
TABLE = """system\thuman\tapt\tter
a\t0.5\t0.4\t60
b\t0.6\t0.6\t55
c\t0.7\t0.5\t50
far\t0.0\t0.1\t90
d\t0.8\t0.8\t52
"""


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "scores.tsv"
    path.write_text(TABLE, encoding="utf-8")
    return path


def evaluated(scores: Scores, *without: str) -> MetaEvaluation:
    return meta_evaluate(scores, without=without, settings=FAST)


def of(human: list[float]) -> Scores:
    values = np.array(human)
    return Scores(tuple(f"s{k}" for k in range(len(human))), "human", values, {"m": values**2})


def test_the_columns_are_the_human_one_and_the_metrics(table: Path) -> None:
    scores = read_scores(table)
    assert scores.systems == ("a", "b", "c", "far", "d")
    assert list(scores.metrics) == ["apt", "ter"]
    assert scores.human_scores.tolist() == [0.5, 0.6, 0.7, 0.0, 0.8]
    assert scores.metrics["ter"].tolist() == [60, 55, 50, 90, 52]
    assert list(read_human(table).metrics) == []


def test_columns_can_be_chosen_and_turned_round(table: Path) -> None:
    scores = read_scores(table, human="apt", metrics=["ter"], minimize=["ter"])
    assert scores.human == "apt"
    assert list(scores.metrics) == ["ter"]
    assert scores.metrics["ter"].tolist() == [-60, -55, -50, -90, -52]
    plain = evaluated(read_scores(table, human="apt", metrics=["ter"]))
    turned = evaluated(scores)
    for name in ("pearson", "spearman", "kendall"):
        one, other = (getattr(actual.everything.metrics["ter"], name).value for actual in (plain, turned))
        assert one == pytest.approx(-other)
    assert turned.signature == "cor|n:5|human:apt|lower:ter|ci:bs200|seed:12345|v:" + plain.signature.split("v:")[1]


def test_a_column_that_is_not_wanted_need_not_be_numbers(tmp_path: Path) -> None:
    path = tmp_path / "scores.tsv"
    path.write_text("who\tnote\thuman\tapt\na\tgood\t1\t2\nb\t\t2\t3\nc\t-\t3\t1\n")
    assert list(read_scores(path, metrics=["apt", "apt"]).metrics) == ["apt"]
    with pytest.raises(BadInput, match=r"line 2: not a number: 'good' in the column 'note'"):
        read_scores(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("system\tapt\na\t1\nb\t2\nc\t3\n", r"no column 'human'.*--human"),
        ("human\tapt\n1\t1\n2\t2\n3\t3\n", "the first column, 'human', holds the names"),
        ("system\thuman\na\t1\nb\t2\nc\t3\n", "no column besides 'human'"),
        ("system\thuman\tapt\na\t1\t1\nb\t2\t2\n", "2 systems.*at least 3"),
        ("system\thuman\tapt\na\t1\t1\na\t2\t2\nc\t1\t1\n", "line 3: the system 'a' is also in line 2"),
        ("system\thuman\tapt\na\t1\t1\n\t2\t2\nc\t1\t1\n", "line 3: a system without a name"),
    ],
)
def test_tables_that_are_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "scores.tsv"
    path.write_text(text)
    with pytest.raises(BadInput, match=message):
        read_scores(path)


def test_unknown_columns_are_refused(table: Path) -> None:
    with pytest.raises(BadInput, match=r"no column 'trr'.*did you mean ter"):
        read_scores(table, minimize=["trr"])


def test_an_outlier_is_far_from_the_median_in_median_deviations() -> None:
    """Deviations from the median 5 are 4 3 2 1 0 1 2 3 x: their median is 2, and 2.5 × 1.483 × 2 is 7.415."""
    near, far = of([1, 2, 3, 4, 5, 6, 7, 8, 12.4]), of([1, 2, 3, 4, 5, 6, 7, 8, 12.5])
    assert outliers(near) == ()
    assert outliers(far) == ("s8",)
    assert outliers(of([9, 8, 7, 6, 5, 4, 3, 2, -2.5])) == ("s8",), "on either side"


def test_where_most_systems_share_a_score_none_is_an_outlier() -> None:
    assert outliers(of([5, 5, 5, 5, 9])) == ()


def test_with_and_without_a_system(table: Path) -> None:
    scores = read_scores(table)
    evaluation = evaluated(scores, "far")
    assert evaluation.removed == ("far",)
    assert evaluation.rest is not None
    assert evaluation.rest.systems == ("a", "b", "c", "d")
    keep = [0, 1, 2, 4]
    for name, values in scores.metrics.items():
        everything, rest = evaluation.everything.metrics[name], evaluation.rest.metrics[name]
        assert everything.pearson.value == pytest.approx(stats.pearsonr(scores.human_scores, values).statistic)
        assert rest.pearson.value == pytest.approx(stats.pearsonr(scores.human_scores[keep], values[keep]).statistic)
        assert rest.kendall.value == pytest.approx(stats.kendalltau(scores.human_scores[keep], values[keep]).statistic)
    assert evaluated(scores.without(["far"])).everything == evaluation.rest


def test_outliers_are_named_and_left_out_on_demand(table: Path) -> None:
    scores = read_scores(table)
    assert evaluated(scores).outliers == ("far",)
    assert evaluated(scores).rest is None
    assert evaluated(scores, "auto").removed == ("far",)
    assert evaluated(scores, "b", "auto").removed == ("b", "far")
    assert evaluated(of([1, 2, 3, 4]), "auto").rest is None, "there is none to leave out"


def test_systems_that_cannot_be_left_out(table: Path) -> None:
    scores = read_scores(table)
    with pytest.raises(AnaphoraError, match=r"no system 'fra' to leave out \(did you mean far\?\).*a, b, c, far, d"):
        evaluated(scores, "fra")
    with pytest.raises(AnaphoraError, match="2 systems are left, but 3 are needed"):
        evaluated(scores, "a", "b", "c")


def test_the_document_has_everything(table: Path) -> None:
    document = evaluated(read_scores(table), "auto").to_dict()
    keys = {"human", "systems", "metrics", "williams", "minimized", "outliers", "without", "signature"}
    assert set(document) == keys
    assert set(document["metrics"]["apt"]["pearson"]) == {"value", "interval", "undefined_samples"}
    assert document["without"]["removed"] == ["far"]
    assert set(document["without"]) == {"removed", "systems", "metrics", "williams"}
    (test,) = document["williams"]
    assert {key: test[key] for key in ("first", "second")} == {"first": "apt", "second": "ter"}
    assert evaluated(read_scores(table)).to_dict()["without"] is None


def test_the_settings_are_in_the_signature(table: Path) -> None:
    how = CorrelationSettings(interval="fisher", confidence=0.9)
    signature = meta_evaluate(read_scores(table), without=["far"], settings=how).signature
    assert signature.startswith("cor|n:5|human:human|without:far|ci:fisher|conf:0.9|v:")


def test_published_scores_of_five_systems(data: Callable[[str], Path], tmp_path: Path) -> None:
    """BLEU and APT as the authors of document-level systems published them, TED Spanish–English."""
    folder = data("han-apt") / "TED_es-en"
    lines = ["system\tapt\tbleu"]
    for file in sorted(folder.glob("*.bleu")):
        system = file.name.removesuffix(".bleu")
        (bleu,) = re.findall(r"BLEU = ([\d.]+)", "\n".join(text_lines(file)))
        (apt,) = re.findall(r"\b0\.\d+", "\n".join(text_lines(folder / f"{system}.apt.score")))[:1]
        lines.append(f"{system}\t{apt}\t{bleu}")
    assert len(lines) == 6
    path = tmp_path / "scores.tsv"
    path.write_text("\n".join(lines))
    scores = read_scores(path, human="apt")
    actual = evaluated(scores).everything.metrics["bleu"]
    x, y = scores.human_scores, scores.metrics["bleu"]
    expected = [stats.pearsonr(x, y), stats.spearmanr(x, y), stats.kendalltau(x, y)]
    assert [actual.pearson.value, actual.spearman.value, actual.kendall.value] == pytest.approx(
        [float(test.statistic) for test in expected]
    )


# The sweep of APT's weights: scores by hand, Table 4's rows, documents of one system or many.

FAST_SWEEP = CorrelationSettings(samples=200)
HUMAN = Scores(("a", "b", "c", "d"), "human", np.array([0.1, 0.3, 0.4, 0.9]), {})
CASES = {
    "a": (10, 10, 10, 10, 5, 5),
    "b": (20, 0, 10, 10, 5, 5),
    "c": (15, 20, 5, 5, 0, 5),
    "d": (40, 2, 3, 0, 0, 5),
}


def swept(**options: Any) -> Sweep:
    return sweep(HUMAN, {"basic": CASES}, settings=FAST_SWEEP, **options)


def test_the_rows_are_those_of_table_4_for_every_alignment() -> None:
    both = sweep(HUMAN, {"basic": CASES, "heuristics": CASES}, settings=FAST_SWEEP)
    weights = [(0, 0), (1, 0), (0.5, 0), (1, 1), (0.5, 0.5)]
    assert [(s.alignment, s.w2, s.w6) for s in both.settings] == [
        (alignment, *pair) for alignment in ("basic", "heuristics") for pair in weights
    ]
    assert len(FULL) == 9
    assert set(TABLE_4) < set(FULL)


@pytest.mark.parametrize(
    ("weights", "discarded", "expected"),
    [
        ((0, 0), (), [10 / 50, 20 / 50, 15 / 50, 40 / 50]),
        ((1, 0), (), [20 / 50, 20 / 50, 35 / 50, 42 / 50]),
        ((0.5, 0.5), (), [17.5 / 50, 22.5 / 50, 27.5 / 50, 43.5 / 50]),
        ((1, 1), (), [25 / 50, 25 / 50, 40 / 50, 47 / 50]),
        ((0.5, 0), (5, 6), [15 / 40, 20 / 40, 25 / 45, 41 / 45]),
        ((1, 1), (5,), [25 / 45, 25 / 45, 40 / 50, 47 / 50]),
    ],
)
def test_scores_and_correlations(
    weights: tuple[float, float], discarded: tuple[int, ...], expected: list[float]
) -> None:
    (setting,) = swept(weights=[weights], discard=[frozenset(discarded)]).settings
    assert list(setting.scores) == ["a", "b", "c", "d"]
    assert list(setting.scores.values()) == pytest.approx(expected)
    assert setting.discarded == discarded
    assert setting.correlation.pearson.value == pytest.approx(stats.pearsonr(HUMAN.human_scores, expected).statistic)
    assert setting.correlation.spearman.value == pytest.approx(stats.spearmanr(HUMAN.human_scores, expected).statistic)


def test_weights_of_discarded_cases_make_no_rows() -> None:
    result = swept(discard=[frozenset(), frozenset({5, 6}), frozenset({2})])
    rows = [(s.discarded, s.w2, s.w6) for s in result.settings]
    assert rows[5:8] == [((5, 6), 0, 0), ((5, 6), 1, 0), ((5, 6), 0.5, 0)]
    assert rows[8:] == [((2,), 0, 0), ((2,), 0, 1), ((2,), 0, 0.5)]


def test_systems_are_in_the_order_of_human_scores() -> None:
    turned = sweep(HUMAN, {"basic": dict(reversed(CASES.items()))}, settings=FAST_SWEEP)
    assert turned.to_dict() == swept().to_dict()


def test_without_a_system() -> None:
    result = swept(without=["d"], weights=[(0, 0)])
    (setting,) = result.settings
    assert result.removed == ("d",)
    assert setting.without is not None
    assert setting.without.pearson.value == pytest.approx(stats.pearsonr([0.1, 0.3, 0.4], [0.2, 0.4, 0.3]).statistic)
    assert swept().settings[0].without is None


def test_totals_are_those_of_all_systems() -> None:
    assert swept().totals() == {"basic": (85, 32, 28, 25, 10, 20)}


def test_the_document_has_everything_of_sweep() -> None:
    document = swept(weights=[(0.5, 0)], without=["d"]).to_dict()
    assert set(document) == {"systems", "human", "removed", "cases", "settings", "signature"}
    assert document["cases"]["basic"]["a"] == [10, 10, 10, 10, 5, 5]
    (setting,) = document["settings"]
    assert {k: setting[k] for k in ("alignment", "w2", "w6", "discarded")} == {
        "alignment": "basic",
        "w2": 0.5,
        "w6": 0,
        "discarded": [],
    }
    assert set(setting["without"]) == {"pearson", "spearman", "kendall"}
    assert document["signature"].startswith("sweep|n:4|human:human|without:d|")


def test_systems_must_be_the_same_on_both_sides() -> None:
    some = {name: CASES[name] for name in "abc"}
    with pytest.raises(AnaphoraError, match=r"basic: no case counts for d\. Use the same system names"):
        sweep(HUMAN, {"basic": some})
    with pytest.raises(AnaphoraError, match="basic: no human score for e"):
        sweep(HUMAN, {"basic": {**CASES, "e": CASES["a"]}})


def test_a_system_without_pronouns() -> None:
    with pytest.raises(AnaphoraError, match=r"basic: a has no pronoun that counts\. Discard fewer"):
        sweep(HUMAN, {"basic": {**CASES, "a": (0, 0, 0, 0, 3, 4)}}, discard=[frozenset({5, 6})])


def write(path: Path, document: object) -> Path:
    path.write_text(json.dumps(document))
    return path


def test_documents_of_many_systems_and_of_one(tmp_path: Path) -> None:
    many = {"systems": {name: {"apt": 0.5, "cases": list(CASES[name])} for name in "ab"}}
    one = {"apt": 0.4, "cases": list(CASES["c"]), "signature": "apt|…"}
    named = {"system": "d", "cases": list(CASES["d"])}
    files = [
        ("basic", write(tmp_path / "many.json", many)),
        ("basic", write(tmp_path / "c.json", one)),
        ("basic", write(tmp_path / "x.json", named)),
        ("other", write(tmp_path / "e.json", one)),
    ]
    assert read_cases(files) == {"basic": CASES, "other": {"e": CASES["c"]}}


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ([], "no case counts.*anaphora apt"),
        ({}, "no case counts"),
        ({"systems": {}}, "no case counts"),
        ({"systems": {"a": {"apt": 1}}}, "a: 'cases' must be six counts"),
        ({"systems": {"a": 3}}, "a: 'cases' must be six counts"),
        ({"cases": [1, 2, 3, 4, 5]}, "six counts"),
        ({"cases": [1, 2, 3, 4, 5, -6]}, "six counts"),
        ({"cases": [1, 2, 3, 4, 5, 6.5]}, "six counts"),
        ({"cases": [1, 2, 3, 4, 5, True]}, "six counts"),
        ({"cases": "123456"}, "six counts"),
    ],
)
def test_documents_that_are_refused(tmp_path: Path, document: object, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        read_cases([("basic", write(tmp_path / "x.json", document))])


def test_a_system_twice(tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", {"cases": [1, 2, 3, 4, 5, 6]})
    with pytest.raises(BadInput, match="the system 'a' occurs twice for the alignment 'basic'"):
        read_cases([("basic", path), ("basic", path)])
