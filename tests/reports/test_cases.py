"""Bars of the six cases: as high as their shares, side by side, told apart without colour."""

from __future__ import annotations

import itertools
import xml.etree.ElementTree as ElementTree

import pytest

from anaphora.reports.cases import case_bars

SVG = "{http://www.w3.org/2000/svg}"
COUNTS = {"basic": (50, 10, 20, 10, 6, 4), "heuristics & co": (110, 20, 40, 20, 6, 4)}


def bars(root: ElementTree.Element) -> list[dict[str, float | str]]:
    found = []
    for rect in root.iter(f"{SVG}rect"):
        title = rect.find(f"{SVG}title")
        if title is not None:
            place = {key: float(rect.attrib[key]) for key in ("x", "y", "width", "height")}
            found.append({**place, "said": title.text or "", "fill": rect.attrib["fill"]})
    return found


def test_bars_are_as_high_as_their_shares() -> None:
    root = ElementTree.fromstring(case_bars(COUNTS))
    found = bars(root)
    assert len(found) == 12
    unit = float(found[0]["height"]) / 50
    assert [float(bar["height"]) / unit for bar in found[::2]] == pytest.approx([50, 10, 20, 10, 6, 4], abs=0.1)
    assert [float(bar["height"]) / unit for bar in found[1::2]] == pytest.approx([55, 10, 20, 10, 3, 2], abs=0.1)
    assert found[1]["said"] == "heuristics & co, case 1: 55.0 %"


def test_bars_stand_on_one_line_and_do_not_overlap() -> None:
    for alignments in (1, 2, 3, 4, 6):
        counts = {f"alignment {k} with a name that is long": COUNTS["basic"] for k in range(alignments)}
        root = ElementTree.fromstring(case_bars(counts))
        found = sorted(bars(root), key=lambda bar: float(bar["x"]))
        feet = {round(float(bar["y"]) + float(bar["height"]), 1) for bar in found}
        assert max(feet) - min(feet) <= 0.2
        for one, other in itertools.pairwise(found):
            assert float(one["x"]) + float(one["width"]) <= float(other["x"])
        top = min(float(bar["y"]) for bar in found)
        legend = [r for r in root.iter(f"{SVG}rect") if r.attrib.get("width") == "14"]
        assert len(legend) == alignments
        assert max(float(entry.attrib["y"]) + 14 for entry in legend) < top - 12, "room for the figure above a bar"


def test_alignments_differ_by_more_than_colour() -> None:
    root = ElementTree.fromstring(case_bars({str(k): COUNTS["basic"] for k in range(4)}))
    fills = {str(bar["fill"]) for bar in bars(root)}
    assert len(fills) == 4
    patterns = {pattern.attrib["id"] for pattern in root.iter(f"{SVG}pattern")}
    assert {fill for fill in fills if fill.startswith("url")} == {f"url(#{name})" for name in patterns}
    strokes = {path.attrib["d"] for path in root.iter(f"{SVG}path")}
    assert len(strokes) == len(patterns) == 3


def test_the_text_alternative_and_the_names() -> None:
    root = ElementTree.fromstring(case_bars(COUNTS, "A title"))
    assert root.attrib["aria-label"].startswith("A title. basic: 50.0 %, 10.0 %, 20.0 %, 10.0 %, 6.0 %, 4.0 %; heuri")
    words = [t.text for t in root.iter(f"{SVG}text")]
    assert {"case 1", "case 6", "same", "reference", "basic (100 pronouns)", "55", "3.0"} <= set(words)


def test_no_pronouns_at_all() -> None:
    root = ElementTree.fromstring(case_bars({"basic": (0,) * 6}))
    assert {bar["height"] for bar in bars(root)} == {0.0}
