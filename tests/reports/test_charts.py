"""Charts of a report and their files."""

from __future__ import annotations

import itertools
import re
import struct
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

import pytest

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.evaluation.compare import Difference, Pair
from anaphora.evaluation.result import Proportion, Settings
from anaphora.evaluation.robustness import Attack, Robustness
from anaphora.reports import charts
from anaphora.reports.charts import (
    SHAPES,
    Dot,
    Group,
    Point,
    Series,
    SystemStyle,
    assign_styles,
    curve,
    dots,
    mark,
    robustness_chart,
    write_chart,
)
from anaphora.reports.tables import attack_label, robustness_table
from anaphora.svg import document, text

# The chart of shares with intervals.

SVG = "{http://www.w3.org/2000/svg}"
STYLES = assign_styles(["one", "two"])
GROUPS = [
    Group("er", "n = 10", {"one": Dot(0.0, 0.0, 0.2, "one 0.000"), "two": Dot(1.0, 0.8, 1.0, "two 1.000", "*")}),
    Group("<sie>", "n = 4", {"one": Dot(0.5, 0.3, 0.7, "one 0.500")}),
]


def tree(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)


def test_every_dot_is_where_its_value_is() -> None:
    actual = tree(dots("By pronoun", GROUPS, STYLES))
    titles = {t.text: g for g in actual.iter(f"{SVG}g") for t in g.iter(f"{SVG}title")}
    assert set(titles) == {"one 0.000", "two 1.000", "one 0.500"}
    zero, half = (float(next(titles[name].iter(f"{SVG}circle")).get("cx", "")) for name in ("one 0.000", "one 0.500"))
    axis = {t.text: float(t.get("x", "")) for t in actual.iter(f"{SVG}text") if t.text in ("0", "100 %")}
    assert zero == axis["0"]
    assert half == pytest.approx((axis["0"] + axis["100 %"]) / 2, abs=0.1)
    whisker = next(titles["one 0.500"].iter(f"{SVG}line"))
    width = axis["100 %"] - axis["0"]
    assert float(whisker.get("x1", "")) == pytest.approx(axis["0"] + 0.3 * width, abs=0.1)
    assert float(whisker.get("x2", "")) == pytest.approx(axis["0"] + 0.7 * width, abs=0.1)
    values = [t.text for t in actual.iter(f"{SVG}text")]
    assert {"0.0", "100.0 *", "50.0"} <= set(values)  # in numbers, too: with the stars of the system that differs


def test_everything_is_inside_the_chart_and_its_text_alternative() -> None:
    actual = tree(dots("By pronoun", [replace(GROUPS[0], chance=1 / 3, heading="All"), GROUPS[1]], STYLES, "in words"))
    _, _, width, height = map(float, actual.get("viewBox", "").split())
    places = [(float(t.get("x", "")), float(t.get("y", ""))) for t in actual.iter(f"{SVG}text")]
    assert all(0 <= x <= width and 0 <= y <= height for x, y in places)
    assert actual.get("aria-label") == "By pronoun. er: one 0.000, two 1.000; <sie>: one 0.500"
    assert {"All", "in words"} <= {t.text for t in actual.iter(f"{SVG}text")}
    assert [e for e in actual.iter(f"{SVG}line") if e.get("stroke-dasharray")]


def test_one_system_needs_no_legend() -> None:
    def texts(groups: list[Group]) -> list[str | None]:
        return [t.text for t in tree(dots("By pronoun", groups, STYLES)).iter(f"{SVG}text")]

    assert {"one", "two"} <= set(texts(GROUPS))
    assert not {"one", "two"} & set(texts(GROUPS[1:]))


def test_every_shape_can_be_drawn() -> None:
    drawn = {
        mark(SystemStyle("x", "#000", shape), 10, 10, hollow=hollow) for shape in SHAPES for hollow in (True, False)
    }
    assert len(drawn) == 2 * len(SHAPES)
    for shape in drawn:
        ElementTree.fromstring(shape)


def test_grid_lines_do_not_cross_names() -> None:
    actual = tree(dots("By pronoun", GROUPS, STYLES))
    names = [float(t.get("y", "")) for t in actual.iter(f"{SVG}text") if t.text in ("er", "<sie>")]
    lines = [e for e in actual.iter(f"{SVG}line") if e.get("x1") == e.get("x2")]
    assert lines
    for baseline in names:
        assert not [e for e in lines if float(e.get("y1", "")) < baseline and float(e.get("y2", "")) > baseline - 12]


def test_before_and_after_have_the_color_of_their_system() -> None:
    group = Group("he said", "n = 4", {"two": Dot(0.2, 0.2, 0.2, "two", "***", before=0.8)})
    actual = tree(dots("Attacks", [group], STYLES))
    before, after = list(actual.iter(f"{SVG}rect"))[1:]
    assert (before.get("fill"), before.get("stroke")) == ("white", STYLES["two"].color)
    assert after.get("fill") == STYLES["two"].color
    assert "80.0 → 20.0 ***" in [t.text for t in actual.iter(f"{SVG}text")]


def test_long_names_stay_apart() -> None:
    names = [f"nllb-200-distilled-600M-finetuned-opensubtitles-context-concat-step{k}" for k in (100_000, 120_000)]
    group = Group("er", "n = 4", {name: Dot(0.5, 0.4, 0.6, name) for name in names})
    texts = [t.text for t in tree(dots("By pronoun", [group], assign_styles(names))).iter(f"{SVG}text")]
    assert {"…step100000", "…step120000"} <= set(texts)


# Curves: every point drawn where its value is, a round axis, names at the lines, well-formed XML.

SVG = "{http://www.w3.org/2000/svg}"
ONE, TWO = assign_styles(["one", "two"]).values()
POINTS = [Point("0", 0.44, 0.4, 0.47), Point("1", 0.6, 0.5, 0.67)]


def test_higher_values_are_higher() -> None:
    level = Point("random context", 0.45, 0.4, 0.5)
    root = ElementTree.fromstring(curve("a & b", "x", "y", [Series(ONE, POINTS, [level])]))
    low, high = (float(c.attrib["cy"]) for c in root.iter(f"{SVG}circle"))
    assert high < low  # in charts, down is positive
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
    assert [line.get("stroke") for line in root.iter(f"{SVG}polyline")] == [ONE.color, TWO.color]


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


# The robustness report: rows like those of ContraCAT's Tables 4 and 5, and a chart like its Figure 1.


def attack(name: str, total: int, before: float, after: float, p: float, **groups: tuple[float, float]) -> Attack:
    def difference(n: int, first: float, second: float) -> Difference:
        return Difference(n, first, second, (second - first - 0.01, second - first + 0.01), {}, p, p)

    parts = {group: difference(10, *values) for group, values in groups.items()}
    breakdowns = {"reference_pronoun": parts} if parts else {}
    return Attack(name, f"{name}@123456", Pair("a", "b", difference(total, before, after), breakdowns, (), ()))


@pytest.fixture
def paper_figures() -> Robustness:
    """The figures of the paper, with p-values made up."""
    attacks = (
        attack("phrase-addition/true_colon", 12_000, 0.754, 0.635, 0.0001, er=(0.64, 0.5), sie=(0.67, 0.6)),
        attack("phrase-addition/mine", 12_000, 0.754, 0.75, 0.4),
        attack("possessive-extension/maria", 3_838, 0.729, 0.583, 0.004),
        attack("no-context", 12_000, 0.754, 0.5, 0.02),
    )
    figure = Proportion(12_000, 9_048, (0.746, 0.762))
    return Robustness(
        "contrapro", "ab" * 32, "en-de", "nmt:<x>", "1+1", figure, attacks, "mcnemar", Settings(), "1.0.0"
    )


def test_table(paper_figures: Robustness) -> None:
    lines = robustness_table(paper_figures).render("table").splitlines()
    assert lines[0] == "contrapro en→de · nmt:<x>"
    assert lines[1].split() == ["n", "before", "after", "change", "95", "%", "interval", "p"]
    assert [re.split(r"\s{2,}", line.strip()) for line in lines[2:11]] == [
        ["not attacked", "12,000", "0.754"],
        ["phrase addition"],
        ["true_colon", "it is true: C", "12,000", "0.754", "0.635", "−0.119", "[−0.129, −0.109]", "<0.001***"],
        ["reference pronoun: er", "10", "0.640", "0.500", "−0.140", "[−0.150, −0.130]", "<0.001***"],
        ["reference pronoun: sie", "10", "0.670", "0.600", "−0.070", "[−0.080, −0.060]", "<0.001***"],
        ["mine", "12,000", "0.754", "0.750", "−0.004", "[−0.014, +0.006]", "0.400"],
        ["possessive extension"],
        ["maria", "Maria’s A", "3,838", "0.729", "0.583", "−0.146", "[−0.156, −0.136]", "0.004**"],
        ["no context", "12,000", "0.754", "0.500", "−0.254", "[−0.264, −0.244]", "0.020*"],
    ]
    assert lines[-1].startswith("signature rob|s:contrapro@ababab|")


def test_other_formats(paper_figures: Robustness) -> None:
    table = robustness_table(paper_figures)
    assert "& 3,838 & 0.729 & 0.583 & $-$0.146 &" in table.render("latex")
    assert "possessive extension\tmaria Maria’s A\t3,838\t0.729" in table.render("tsv")
    assert "\n\tno context\t12,000" in table.render("tsv")  # no longer below the heading of the kind before
    assert "| &nbsp;&nbsp;mine | 12,000 |" in table.render("markdown")


def test_labels(paper_figures: Robustness) -> None:
    assert [attack_label(a) for a in paper_figures.attacks] == [
        "true_colon  it is true: C",
        "mine",
        "maria  Maria’s A",
        "no context",
    ]


def test_the_text_alternative_has_the_figures(paper_figures: Robustness) -> None:
    root = ElementTree.fromstring(robustness_chart([paper_figures]))
    assert "possessive-extension/maria: 72.9 to 58.3 %" in root.attrib["aria-label"]
    circles = [e for e in root.iter() if e.tag.endswith("circle")]
    assert len(circles) == 2 * len(paper_figures.attacks)
    for before, after in zip(circles[::2], circles[1::2], strict=True):
        assert before.attrib["fill"] == "white"
        assert before.attrib["cy"] == after.attrib["cy"]
        assert float(after.attrib["cx"]) < float(before.attrib["cx"])  # every attack costs accuracy here
    texts = [e.text for e in root.iter() if e.tag.endswith("text")]
    assert "Attacks on contrapro" in texts
    assert "it is true: C" in texts  # once, in the paper's words
    assert "75.4 → 63.5 ***" in texts
    headings = ["A phrase is added to the sentence before (C)", "The antecedent (A) gets an owner"]
    assert [text for text in texts if text in headings] == headings  # what was done to the text


def test_all_systems_and_attacks_share_one_axis(paper_figures: Robustness) -> None:
    other = replace(
        paper_figures, system="b", attacks=(attack("phrase-addition/true_colon", 12_000, 0.395, 0.395, 1.0),)
    )
    drawn = assign_styles(["nmt:<x>", "b"])
    root = ElementTree.fromstring(robustness_chart([paper_figures, other], drawn))
    texts = [e.text for e in root.iter() if e.tag.endswith("text")]
    assert [text for text in texts if text in ("0", "20", "40", "60", "80", "100 %")] == [
        "0",
        "20",
        "40",
        "60",
        "80",
        "100 %",
    ]
    fills = {e.attrib.get("fill") for e in root.iter() if e.tag.endswith(("circle", "rect"))}
    assert fills == {"white", *(style.color for style in drawn.values())}


# Pictures in files: SVG as it is, PNG where CairoSVG is installed, a line that helps where it is not.

DRAWING = document(60, 40, "a word", [text(5, 20, "ρ")])


def test_svg_is_written_as_it_is(tmp_path: Path) -> None:
    write_chart(tmp_path / "new" / "x.SVG", DRAWING)
    assert (tmp_path / "new" / "x.SVG").read_text(encoding="utf-8") == DRAWING


def test_png_has_two_pixels_for_each_unit(tmp_path: Path) -> None:
    try:
        import cairosvg  # noqa: F401
    except (ImportError, OSError):
        pytest.skip('CairoSVG is not installed: pip install "anaphora[png]"')
    write_chart(tmp_path / "x.png", DRAWING)
    content = (tmp_path / "x.png").read_bytes()
    assert content.startswith(b"\x89PNG\r\n")
    assert struct.unpack(">II", content[16:24]) == (120, 80)


def test_another_ending_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"x\.pdf: the name of a chart must end in \.svg or \.png"):
        write_chart(tmp_path / "x.pdf", DRAWING)
    assert not list(tmp_path.iterdir())


def test_without_the_package_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cairosvg", None)
    with pytest.raises(AnaphoraError, match=r'PNG needs cairosvg.*pip install "anaphora\[png\]", or write \.svg'):
        write_chart(tmp_path / "x.png", DRAWING)
    assert not list(tmp_path.iterdir())


def test_without_the_library_the_way_out_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise OSError("no library called cairo was found")

    monkeypatch.setattr(charts, "import_module", missing)
    with pytest.raises(AnaphoraError, match=r"PNG needs the library cairo.*libcairo2.*or write \.svg"):
        write_chart(tmp_path / "x.png", DRAWING)
