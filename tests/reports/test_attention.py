"""The picture of attention: one row of words per pronoun, pronouns framed, valid SVG."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from anaphora.reports.attention import Attention, attention_picture

SVG = "{http://www.w3.org/2000/svg}"


def test_words_are_shaded_by_their_weight() -> None:
    words = ["the", "king", "<he>", "left"]
    picture = attention_picture([Attention("a & b", words, [2], [-0.5], [[0.0, 0.5, 0.25, 0.25]])])
    root = ET.fromstring(picture)
    cells = [rect for rect in root.iter(f"{SVG}rect") if rect.get("fill-opacity")]
    assert [rect.get("fill-opacity") for rect in cells] == ["0.000", "0.850", "0.425", "0.425"]
    assert [rect.get("stroke") is not None for rect in cells] == [False, False, True, False]
    texts = [element.text for element in root.iter(f"{SVG}text")]
    assert texts == ["a & b", "<he>  −0.500", *words]
    assert "a & b: <he>" in (root.get("aria-label") or "")


def test_long_passages_are_wrapped_and_pronouns_have_rows_of_their_own() -> None:
    words = [f"word{n}" for n in range(60)]
    picture = attention_picture([Attention("x", words, [0, 5], [1.0, 2.0], [[1 / 60] * 60] * 2)])
    root = ET.fromstring(picture)
    cells = [rect for rect in root.iter(f"{SVG}rect") if rect.get("fill-opacity")]
    assert len(cells) == 120
    width = float((root.get("viewBox") or "").split()[2])
    assert all(float(c.get("x") or 0) + float(c.get("width") or 0) <= width for c in cells)
    height = float((root.get("viewBox") or "").split()[3])
    assert max(float(c.get("y") or 0) for c in cells) < height
    assert len({c.get("y") for c in cells}) > 2


def test_an_even_spread_is_half_a_shade() -> None:
    root = ET.fromstring(attention_picture([Attention("x", ["he", "left"], [0], [1.0], [[0.5, 0.5]])]))
    assert [r.get("fill-opacity") for r in root.iter(f"{SVG}rect") if r.get("fill-opacity")] == ["0.425", "0.425"]


def test_no_pronoun_is_said() -> None:
    assert "no pronoun: the score is 0" in attention_picture([Attention("x", ["nobody"], [], [], [])])
