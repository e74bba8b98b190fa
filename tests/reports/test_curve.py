"""A curve: every point drawn where its value is, text escaped, well-formed XML."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

from anaphora.reports.curve import Point, curve

SVG = "{http://www.w3.org/2000/svg}"


def test_higher_values_are_higher() -> None:
    points = [Point("0", 0.4, 0.35, 0.45), Point("1", 0.6, 0.5, 0.7)]
    root = ElementTree.fromstring(curve("a & b", "x", "y", points, [Point("chance", 0.33, 0.33, 0.33)]))
    low, high = (float(c.attrib["cy"]) for c in root.iter(f"{SVG}circle"))
    assert high < low  # in pictures, down is positive
    texts = [t.text for t in root.iter(f"{SVG}text")]
    assert "a & b" in texts
    assert "chance" in texts
    assert "0: 0.400, 1: 0.600" in root.attrib["aria-label"]


def test_one_point_is_enough() -> None:
    root = ElementTree.fromstring(curve("t", "x", "y", [Point("0", 1.0, 1.0, 1.0)]))
    assert len(list(root.iter(f"{SVG}circle"))) == 1
