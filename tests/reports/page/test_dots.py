"""The picture of shares with intervals."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import pytest

from anaphora.reports.page.dots import Dot, Group, dots, mark
from anaphora.reports.page.systems import SHAPES, Look, looks

SVG = "{http://www.w3.org/2000/svg}"
LOOKS = looks(["one", "two"])
GROUPS = [
    Group("er", "n = 10", {"one": Dot(0.0, 0.0, 0.2, "one 0.000"), "two": Dot(1.0, 0.8, 1.0, "two 1.000", "*")}),
    Group("<sie>", "n = 4", {"one": Dot(0.5, 0.3, 0.7, "one 0.500")}),
]


def tree(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)


def test_every_dot_is_where_its_value_is() -> None:
    found = tree(dots("By pronoun", GROUPS, LOOKS))
    titles = {t.text: g for g in found.iter(f"{SVG}g") for t in g.iter(f"{SVG}title")}
    assert set(titles) == {"one 0.000", "two 1.000", "one 0.500"}
    zero, half = (float(next(titles[name].iter(f"{SVG}circle")).get("cx", "")) for name in ("one 0.000", "one 0.500"))
    axis = {t.text: float(t.get("x", "")) for t in found.iter(f"{SVG}text") if t.text in ("0", "100 %")}
    assert zero == axis["0"]
    assert half == pytest.approx((axis["0"] + axis["100 %"]) / 2, abs=0.1)
    whisker = next(titles["one 0.500"].iter(f"{SVG}line"))
    width = axis["100 %"] - axis["0"]
    assert float(whisker.get("x1", "")) == pytest.approx(axis["0"] + 0.3 * width, abs=0.1)
    assert float(whisker.get("x2", "")) == pytest.approx(axis["0"] + 0.7 * width, abs=0.1)
    values = [t.text for t in found.iter(f"{SVG}text")]
    assert {"0.0", "100.0 *", "50.0"} <= set(values)  # in numbers, too: with the stars of the system that differs


def test_all_is_inside_the_picture_and_said_in_words() -> None:
    found = tree(dots("By pronoun", [replace(GROUPS[0], chance=1 / 3, heading="All"), GROUPS[1]], LOOKS, "in words"))
    _, _, width, height = map(float, found.get("viewBox", "").split())
    places = [(float(t.get("x", "")), float(t.get("y", ""))) for t in found.iter(f"{SVG}text")]
    assert all(0 <= x <= width and 0 <= y <= height for x, y in places)
    assert found.get("aria-label") == "By pronoun. er: one 0.000, two 1.000; <sie>: one 0.500"
    assert {"All", "in words"} <= {t.text for t in found.iter(f"{SVG}text")}
    assert [e for e in found.iter(f"{SVG}line") if e.get("stroke-dasharray")]


def test_one_system_needs_no_legend() -> None:
    def texts(groups: list[Group]) -> list[str | None]:
        return [t.text for t in tree(dots("By pronoun", groups, LOOKS)).iter(f"{SVG}text")]

    assert {"one", "two"} <= set(texts(GROUPS))
    assert not {"one", "two"} & set(texts(GROUPS[1:]))


def test_every_shape_can_be_drawn() -> None:
    drawn = {mark(Look("x", "#000", shape), 10, 10, hollow=hollow) for shape in SHAPES for hollow in (True, False)}
    assert len(drawn) == 2 * len(SHAPES)
    for shape in drawn:
        ElementTree.fromstring(shape)


def test_grid_lines_do_not_cross_names() -> None:
    found = tree(dots("By pronoun", GROUPS, LOOKS))
    names = [float(t.get("y", "")) for t in found.iter(f"{SVG}text") if t.text in ("er", "<sie>")]
    lines = [e for e in found.iter(f"{SVG}line") if e.get("x1") == e.get("x2")]
    assert lines
    for baseline in names:
        assert not [e for e in lines if float(e.get("y1", "")) < baseline and float(e.get("y2", "")) > baseline - 12]


def test_before_and_after_have_the_color_of_their_system() -> None:
    group = Group("he said", "n = 4", {"two": Dot(0.2, 0.2, 0.2, "two", "***", before=0.8)})
    found = tree(dots("Attacks", [group], LOOKS))
    before, after = list(found.iter(f"{SVG}rect"))[1:]
    assert (before.get("fill"), before.get("stroke")) == ("white", LOOKS["two"].colour)
    assert after.get("fill") == LOOKS["two"].colour
    assert "80.0 → 20.0 ***" in [t.text for t in found.iter(f"{SVG}text")]


def test_long_names_stay_apart() -> None:
    names = [f"nllb-200-distilled-600M-finetuned-opensubtitles-context-concat-step{k}" for k in (100_000, 120_000)]
    group = Group("er", "n = 4", {name: Dot(0.5, 0.4, 0.6, name) for name in names})
    texts = [t.text for t in tree(dots("By pronoun", [group], looks(names))).iter(f"{SVG}text")]
    assert {"…step100000", "…step120000"} <= set(texts)
