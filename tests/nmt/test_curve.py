"""The curve of a training: a line for each suite, named where it ends, and no name over another."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from anaphora.nmt.curve import BOTTOM, HEIGHT, LINE, TOP, Series, apart, series_of, training_curve

SVG = "{http://www.w3.org/2000/svg}"


def test_the_lines_of_a_log() -> None:
    log = [
        {"kind": "training", "update": 5, "loss": 1.0},
        {"kind": "validation", "update": 10, "perplexity": 3.0, "accuracy": {"a": 0.5, "b": None}},
        {"kind": "validation", "update": 20, "accuracy": {"a": 0.75, "b": None}},
    ]
    assert series_of(log) == [Series("a", ((10, 0.5), (20, 0.75)))]
    assert series_of(log[:1]) == []


def test_higher_is_higher_and_later_is_further_right() -> None:
    series = [Series("runs/a & b.jsonl", ((10, 0.25), (20, 1.0))), Series("once", ((20, 0.5),))]
    root = ElementTree.fromstring(training_curve("my model", series))
    (drawn,) = root.iter(f"{SVG}polyline")
    (x1, y1), (x2, y2) = (map(float, point.split(",")) for point in drawn.attrib["points"].split())
    assert x1 < x2
    assert y1 > y2  # in pictures, down is positive
    (circle,) = root.iter(f"{SVG}circle")
    assert y2 < float(circle.attrib["cy"]) < y1
    texts = [t.text for t in root.iter(f"{SVG}text")]
    assert {"my model", "a & b 1.00", "once 0.50", "updates", "contrastive accuracy", "20"} <= set(texts)
    assert "runs/a & b.jsonl: 1.000 after 20 updates" in root.attrib["aria-label"]


@given(st.lists(st.floats(TOP, HEIGHT - BOTTOM), min_size=1, max_size=15))
def test_names_do_not_cover_each_other(heights: list[float]) -> None:
    found = apart(heights)
    for one, other in pairwise(sorted(found)):
        assert other - one > LINE - 1e-6
    assert min(found) > TOP - 1e-6
    assert max(found) < HEIGHT - BOTTOM + LINE + 1e-6
    for k in range(1, len(heights)):
        if heights[k - 1] < heights[k]:
            assert found[k - 1] < found[k]
