"""Curves: every point drawn where its value is, a round axis, names at the lines, well-formed XML."""

from __future__ import annotations

import itertools
import xml.etree.ElementTree as ElementTree

from anaphora.reports.curve import Point, Series, curve
from anaphora.reports.page.systems import looks

SVG = "{http://www.w3.org/2000/svg}"
ONE, TWO = looks(["one", "two"]).values()
POINTS = [Point("0", 0.44, 0.4, 0.47), Point("1", 0.6, 0.5, 0.67)]


def test_higher_values_are_higher() -> None:
    level = Point("random context", 0.45, 0.4, 0.5)
    root = ElementTree.fromstring(curve("a & b", "x", "y", [Series(ONE, POINTS, [level])]))
    low, high = (float(c.attrib["cy"]) for c in root.iter(f"{SVG}circle"))
    assert high < low  # in pictures, down is positive
    texts = [t.text for t in root.iter(f"{SVG}text")]
    assert {"a & b", "random context", "one"} <= set(texts)
    assert "one: 0: 44.0 %, 1: 60.0 %, random context: 45.0 %" in root.attrib["aria-label"]


def test_the_axis_has_round_numbers() -> None:
    def shown(points: list[Point]) -> list[str | None]:
        root = ElementTree.fromstring(curve("t", "x", "y", [Series(ONE, points)]))
        return [t.text for t in root.iter(f"{SVG}text") if t.get("text-anchor") == "end"]

    assert shown(POINTS) == ["40", "50", "60", "70"]
    assert shown([Point("0", 0.39, 0.36, 0.42), Point("1", 0.83, 0.8, 0.86)]) == ["20", "40", "60", "80", "100"]


def test_systems_share_the_axis_in_their_own_colors() -> None:
    root = ElementTree.fromstring(curve("t", "x", "y", [Series(ONE, POINTS), Series(TWO, POINTS[:1])]))
    assert [line.get("stroke") for line in root.iter(f"{SVG}polyline")] == [ONE.colour, TWO.colour]


def test_labels_do_not_cover_each_other() -> None:
    levels = [Point(f"{kind} context", 0.6, 0.5, 0.6) for kind in ("random", "shuffled")]
    root = ElementTree.fromstring(curve("t", "x", "y", [Series(ONE, POINTS, levels)]))
    heights = sorted(
        float(t.attrib["y"]) for t in root.iter(f"{SVG}text") if t.text in ("one", "random context", "shuffled context")
    )
    assert len(heights) == 3
    assert all(b - a >= 14 for a, b in itertools.pairwise(heights))


def test_one_point_is_enough() -> None:
    root = ElementTree.fromstring(curve("t", "x", "y", [Series(ONE, [Point("0", 1.0, 1.0, 1.0)])]))
    assert len(list(root.iter(f"{SVG}circle"))) == 1
