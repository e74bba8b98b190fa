"""Charts of metrics."""

from __future__ import annotations

import itertools
import xml.etree.ElementTree as ET
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from anaphora.metrics.meta import MetaEvaluation, Scores, meta_evaluate
from anaphora.reports.metric_charts import (
    BARS_TITLE,
    COLUMNS,
    ORANGE,
    Attention,
    attention_chart,
    case_bars,
    regression,
    scatter,
)
from anaphora.stats.correlation import CorrelationSettings

# Small multiples: a panel per metric, points where their scores are, the line that least squares gives.

SVG = "{http://www.w3.org/2000/svg}"
HUMAN = np.array([0.1, 0.5, 0.6, 0.65, 0.7])
SYSTEMS = ("far", "b<c>", "c", "d", "e")


def evaluated(metrics: dict[str, np.ndarray], *without: str, minimized: tuple[str, ...] = ()) -> MetaEvaluation:
    scores = Scores(SYSTEMS, "human & co", HUMAN, metrics, minimized)
    return meta_evaluate(scores, without=without, settings=CorrelationSettings(samples=100))


def drawn(actual: MetaEvaluation) -> ElementTree.Element:
    return ElementTree.fromstring(scatter(actual))


def texts(root: ElementTree.Element) -> list[str]:
    return [element.text or "" for element in root.iter(f"{SVG}text")]


def points(root: ElementTree.Element) -> list[tuple[float, float, str]]:
    return [(float(c.attrib["cx"]), float(c.attrib["cy"]), c.attrib["fill"]) for c in root.iter(f"{SVG}circle")]


def test_points_are_where_their_scores_are() -> None:
    """The human score goes up the page; of equally spaced scores the places are equally spaced."""
    root = drawn(evaluated({"apt": np.array([1.0, 2.0, 3.0, 4.0, 5.0])}))
    actual = points(root)
    xs, ys = [x for x, _, _ in actual], [y for _, y, _ in actual]
    assert np.diff(xs) == pytest.approx(np.full(4, xs[1] - xs[0]), abs=0.11)
    assert ys == sorted(ys, reverse=True)
    heights = (ys[0] - np.array(ys)) / (ys[0] - ys[-1])
    assert heights == pytest.approx((HUMAN - 0.1) / 0.6, abs=0.002)
    assert [title.text for title in root.iter(f"{SVG}title")][1] == "b<c>: 2, 0.5"


def test_figures_are_in_panel_and_text_alternative() -> None:
    evaluation = evaluated({"apt": HUMAN**2, "bleu": -HUMAN})
    root = drawn(evaluation)
    message = f"r = {evaluation.everything.metrics['apt'].pearson.value:.3f}, ρ = 1.000"
    assert message in texts(root)
    assert "r = −1.000, ρ = −1.000" in texts(root)
    assert f"apt: {message}" in root.attrib["aria-label"]
    assert {"apt", "bleu", "human & co"} <= set(texts(root))


def test_the_line_is_that_of_least_squares() -> None:
    values = np.array([3.0, 1.0, 4.0, 1.5, 9.0])
    root = drawn(evaluated({"apt": values}))
    (fitted,) = [e for e in root.iter(f"{SVG}line") if e.attrib["stroke"] == ORANGE]
    box = {name: float(fitted.attrib[name]) for name in ("x1", "y1", "x2", "y2")}
    expected = stats.linregress(values, HUMAN)
    (left, low, _), (right, high, _) = points(root)[1], points(root)[4]  # scores (1, 0.5) and (9, 0.7)
    per_x, per_y = (right - left) / 8, (high - low) / 0.2
    slope = (box["y2"] - box["y1"]) / (box["x2"] - box["x1"]) * per_x / per_y
    assert slope == pytest.approx(expected.slope, rel=0.03)
    at_left = 0.5 + (box["y1"] - low) / per_y
    assert at_left == pytest.approx(expected.intercept + expected.slope * 1.0, abs=0.005)


def test_excluded_systems_are_hollow_with_a_second_line() -> None:
    evaluation = evaluated({"apt": HUMAN**2}, "far")
    root = drawn(evaluation)
    assert [fill == "white" for _, _, fill in points(root)] == [True, False, False, False, False, True]  # and legend
    assert evaluation.rest is not None
    assert f"without: r = {evaluation.rest.metrics['apt'].pearson.value:.3f}, ρ = 1.000" in texts(root)
    assert "without far" in texts(root)
    dashed = [e for e in root.iter(f"{SVG}line") if "stroke-dasharray" in e.attrib]
    assert len(dashed) == 2  # in the panel and in the legend


def test_panels_do_not_overlap_and_stay_in_the_chart() -> None:
    metrics = {f"metric {k} with a long, long, long, long name": HUMAN * k + k for k in range(1, 8)}
    root = drawn(evaluated(metrics, "far"))
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    frames = [
        tuple(float(r.attrib[key]) for key in ("x", "y", "width", "height"))
        for r in root.iter(f"{SVG}rect")
        if "x" in r.attrib
    ]
    assert len(frames) == 7
    assert len({x for x, *_ in frames}) == COLUMNS
    for k, (x, y, w, h) in enumerate(frames):
        assert x > 50
        assert x + w <= width
        assert y + h + 50 <= height  # ticks and two lines of figures are below
        for other_x, other_y, _, _ in frames[:k]:
            assert abs(x - other_x) >= w + 40 or abs(y - other_y) >= h + 80
    for x, y, _ in points(root)[:-1]:
        assert any(left <= x <= left + w and top <= y <= top + h for left, top, w, h in frames)


def test_a_column_that_changed_its_sign_says_so() -> None:
    root = drawn(evaluated({"ter": HUMAN * -60, "apt": HUMAN}, minimized=("ter",)))
    assert "−ter" in texts(root)
    assert "apt" in texts(root)


def test_a_constant_metric_has_points_but_no_line() -> None:
    root = drawn(evaluated({"flat": np.full(5, 3.0)}))
    assert len(points(root)) == 5
    assert not [e for e in root.iter(f"{SVG}line") if e.attrib["stroke"] == ORANGE]
    assert "r = –, ρ = –" in texts(root)


@settings(derandomize=True)
@given(st.lists(st.tuples(st.integers(-50, 50), st.integers(-50, 50)), min_size=3, max_size=12))
def test_the_regression_is_that_of_scipy(pairs: list[tuple[int, int]]) -> None:
    x, y = np.array(pairs, float).T
    actual = regression(x, y)
    if len(set(x)) == 1:
        assert actual is None
    else:
        expected = stats.linregress(x, y)
        assert actual == pytest.approx((expected.slope, expected.intercept), abs=1e-9)


# Bars of the six cases: as high as their shares, side by side, told apart without color.

SVG = "{http://www.w3.org/2000/svg}"
COUNTS = {"basic": (50, 10, 20, 10, 6, 4), "heuristics & co": (110, 20, 40, 20, 6, 4)}


def bars(root: ElementTree.Element) -> list[dict[str, float | str]]:
    actual = []
    for rect in root.iter(f"{SVG}rect"):
        title = rect.find(f"{SVG}title")
        if title is not None:
            box = {key: float(rect.attrib[key]) for key in ("x", "y", "width", "height")}
            actual.append({**box, "said": title.text or "", "fill": rect.attrib["fill"]})
    return actual


def test_bars_are_as_high_as_their_shares() -> None:
    root = ElementTree.fromstring(case_bars(COUNTS))
    actual = bars(root)
    assert len(actual) == 12
    unit = float(actual[0]["height"]) / 50
    assert [float(bar["height"]) / unit for bar in actual[::2]] == pytest.approx([50, 10, 20, 10, 6, 4], abs=0.1)
    assert [float(bar["height"]) / unit for bar in actual[1::2]] == pytest.approx([55, 10, 20, 10, 3, 2], abs=0.1)
    assert actual[1]["said"] == "heuristics & co, case 1: 55.0 %"


def test_bars_stand_on_one_line_and_do_not_overlap() -> None:
    for alignments in (1, 2, 3, 4, 6):
        counts = {f"alignment {k} with a name that is long": COUNTS["basic"] for k in range(alignments)}
        root = ElementTree.fromstring(case_bars(counts))
        actual = sorted(bars(root), key=lambda bar: float(bar["x"]))
        feet = {round(float(bar["y"]) + float(bar["height"]), 1) for bar in actual}
        assert max(feet) - min(feet) <= 0.2
        for one, other in itertools.pairwise(actual):
            assert float(one["x"]) + float(one["width"]) <= float(other["x"])
        top = min(float(bar["y"]) for bar in actual)
        legend = [r for r in root.iter(f"{SVG}rect") if r.attrib.get("width") == "14"]
        assert len(legend) == alignments
        assert max(float(entry.attrib["y"]) + 14 for entry in legend) < top - 12, "room for the figure above a bar"


def test_alignments_differ_by_more_than_color() -> None:
    root = ElementTree.fromstring(case_bars({str(k): COUNTS["basic"] for k in range(4)}))
    fills = {str(bar["fill"]) for bar in bars(root)}
    assert len(fills) == 4
    patterns = {pattern.attrib["id"] for pattern in root.iter(f"{SVG}pattern")}
    assert {fill for fill in fills if fill.startswith("url")} == {f"url(#{name})" for name in patterns}
    strokes = {path.attrib["d"] for path in root.iter(f"{SVG}path")}
    assert len(strokes) == len(patterns) == 3


def test_the_text_alternative_and_the_names() -> None:
    root = ElementTree.fromstring(case_bars(COUNTS))
    assert root.attrib["aria-label"].startswith(f"{BARS_TITLE}. basic: 50.0 %, 10.0 %, 20.0 %, 10.0 %, 6.0 %, 4.0 %; h")
    words = [t.text for t in root.iter(f"{SVG}text")]
    assert {"case 1", "case 6", "same", "reference", "basic (100 pronouns)", "55", "3.0"} <= set(words)


def test_no_pronouns_at_all() -> None:
    root = ElementTree.fromstring(case_bars({"basic": (0,) * 6}))
    assert {bar["height"] for bar in bars(root)} == {0.0}


# The picture of attention: one row of words per pronoun, pronouns framed, valid SVG.

SVG = "{http://www.w3.org/2000/svg}"


def test_words_are_shaded_by_their_weight() -> None:
    words = ["the", "king", "<he>", "left"]
    picture = attention_chart([Attention("a & b", words, [2], [-0.5], [[0.0, 0.5, 0.25, 0.25]])])
    root = ET.fromstring(picture)
    cells = [rect for rect in root.iter(f"{SVG}rect") if rect.get("fill-opacity")]
    assert [rect.get("fill-opacity") for rect in cells] == ["0.000", "0.850", "0.425", "0.425"]
    assert [rect.get("stroke") is not None for rect in cells] == [False, False, True, False]
    texts = [element.text for element in root.iter(f"{SVG}text")]
    assert texts == ["a & b", "<he>  −0.500", *words]
    assert "a & b: <he>" in (root.get("aria-label") or "")


def test_long_passages_are_wrapped_with_a_row_per_pronoun() -> None:
    words = [f"word{n}" for n in range(60)]
    picture = attention_chart([Attention("x", words, [0, 5], [1.0, 2.0], [[1 / 60] * 60] * 2)])
    root = ET.fromstring(picture)
    cells = [rect for rect in root.iter(f"{SVG}rect") if rect.get("fill-opacity")]
    assert len(cells) == 120
    width = float((root.get("viewBox") or "").split()[2])
    assert all(float(c.get("x") or 0) + float(c.get("width") or 0) <= width for c in cells)
    height = float((root.get("viewBox") or "").split()[3])
    assert max(float(c.get("y") or 0) for c in cells) < height
    assert len({c.get("y") for c in cells}) > 2


def test_an_even_spread_is_half_a_shade() -> None:
    root = ET.fromstring(attention_chart([Attention("x", ["he", "left"], [0], [1.0], [[0.5, 0.5]])]))
    assert [r.get("fill-opacity") for r in root.iter(f"{SVG}rect") if r.get("fill-opacity")] == ["0.425", "0.425"]


def test_a_passage_without_pronouns_has_a_remark() -> None:
    assert "no pronoun: the score is 0" in attention_chart([Attention("x", ["nobody"], [], [], [])])
