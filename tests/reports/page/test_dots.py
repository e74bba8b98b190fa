"""The picture of shares with intervals."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest

from anaphora.reports.page.dots import Dot, Group, dots, mark
from anaphora.reports.page.systems import SHAPES, Look, looks

SVG = "{http://www.w3.org/2000/svg}"
LOOKS = looks(["one", "two"])
GROUPS = [
    Group("er", "n = 10 *", {"one": Dot(0.0, 0.0, 0.2, "one 0.000"), "two": Dot(1.0, 0.8, 1.0, "two 1.000")}),
    Group("<sie>", "n = 4", {"one": Dot(0.5, 0.3, 0.7, "one 0.500")}),
]


def tree(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)


def test_every_dot_is_where_its_value_is() -> None:
    found = tree(dots("By pronoun", GROUPS, LOOKS))
    titles = {t.text: g for g in found.iter(f"{SVG}g") for t in g.iter(f"{SVG}title")}
    assert set(titles) == {"one 0.000", "two 1.000", "one 0.500"}
    zero, half = (float(next(titles[name].iter(f"{SVG}circle")).get("cx", "")) for name in ("one 0.000", "one 0.500"))
    axis = {t.text: float(t.get("x", "")) for t in found.iter(f"{SVG}text") if t.text in ("0.0", "1.0")}
    assert zero == axis["0.0"]
    assert half == pytest.approx((axis["0.0"] + axis["1.0"]) / 2)
    whisker = next(titles["one 0.500"].iter(f"{SVG}line"))
    width = axis["1.0"] - axis["0.0"]
    assert float(whisker.get("x1", "")) == pytest.approx(axis["0.0"] + 0.3 * width, abs=0.1)
    assert float(whisker.get("x2", "")) == pytest.approx(axis["0.0"] + 0.7 * width, abs=0.1)


def test_all_is_inside_the_picture_and_said_in_words() -> None:
    found = tree(dots("By pronoun", GROUPS, LOOKS, chance=1 / 3))
    _, _, width, height = map(float, found.get("viewBox", "").split())
    places = [(float(t.get("x", "")), float(t.get("y", ""))) for t in found.iter(f"{SVG}text")]
    assert all(0 <= x <= width and 0 <= y <= height for x, y in places)
    assert found.get("aria-label") == "By pronoun. er: one 0.000, two 1.000; <sie>: one 0.500"
    assert "chance" in [t.text for t in found.iter(f"{SVG}text")]


def test_one_system_needs_no_legend() -> None:
    def texts(groups: list[Group]) -> list[str | None]:
        return [t.text for t in tree(dots("By pronoun", groups, LOOKS)).iter(f"{SVG}text")]

    assert {"one", "two"} <= set(texts(GROUPS))
    assert not {"one", "two"} & set(texts(GROUPS[1:]))


def test_every_shape_can_be_drawn() -> None:
    drawn = {mark(Look("x", "#000", shape), 10, 10) for shape in SHAPES}
    assert len(drawn) == len(SHAPES)
    for shape in drawn:
        ElementTree.fromstring(shape)
