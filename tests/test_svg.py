"""What the pictures share: round ticks, scales, text that is escaped and fits."""

from __future__ import annotations

import itertools
import math
import xml.etree.ElementTree as ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.core.finite import NotFinite
from anaphora.svg import (
    LETTER,
    Scale,
    distinct,
    document,
    line,
    range_of,
    round_range,
    shortened,
    text,
    ticks,
    upright,
)

FIXED = settings(derandomize=True)
RANGES = st.tuples(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6)).map(lambda pair: (pair[0], pair[0] + pair[1]))


@pytest.mark.parametrize(
    ("low", "high", "labels"),
    [
        (0, 1, ["0.0", "0.5", "1.0"]),
        (0.31, 0.69, ["0.4", "0.5", "0.6"]),
        (9, 38, ["10", "20", "30"]),
        (-0.5, 0.5, ["−0.5", "0.0", "0.5"]),
        (0, 44, ["0", "20", "40"]),
        (0.9612, 0.9659, ["0.962", "0.964"]),
        (0, 4000, ["0", "1000", "2000", "3000", "4000"]),
    ],
)
def test_ticks_are_round(low: float, high: float, labels: list[str]) -> None:
    assert [label for _, label in ticks(low, high)] == labels


@FIXED
@given(RANGES)
def test_ticks_are_within_the_range_and_evenly_spaced(bounds: tuple[float, float]) -> None:
    low, high = bounds
    actual = [value for value, _ in ticks(low, high)]
    assert 1 <= len(actual) <= 5
    room = 1e-6 * (high - low)
    assert all(low - room <= value <= high + room for value in actual)
    steps = {round((b - a) / (high - low), 6) for a, b in itertools.pairwise(actual)}
    assert len(steps) <= 1


@FIXED
@given(RANGES)
def test_labels_are_all_different_and_say_the_value(bounds: tuple[float, float]) -> None:
    labels = ticks(*bounds)
    assert len({label for _, label in labels}) == len(labels)
    for value, label in labels:
        assert float(label.replace("−", "-")) == pytest.approx(value, rel=1e-9, abs=1e-9)


def test_a_scale_leads_from_values_to_coordinates() -> None:
    up = Scale(0, 10, 200, 100)
    assert [up(0), up(5), up(10)] == [200, 150, 100]


@pytest.mark.parametrize("values", [[3.0], [0.0, 0.0], [-1.0, 1.0], [0.2, 0.9, 0.4]])
def test_a_range_has_room_around_the_values(values: list[float]) -> None:
    low, high = range_of(values)
    assert low < min(values) <= max(values) < high
    assert math.isfinite(high - low)


def test_texts_are_escaped_and_the_file_is_well_formed() -> None:
    parts = [text(1, 2, "a < b & c", bold=True), upright(3, 4, "<y>"), line(0, 0, 5, 5, dashed=True)]
    root = ElementTree.fromstring(document(10, 20, 'said "so" & <so>', parts))
    assert root.attrib["aria-label"] == 'said "so" & <so>'
    assert root.attrib["viewBox"] == "0 0 10 20"
    assert [element.text for element in root if element.tag.endswith("text")] == ["a < b & c", "<y>"]


def test_long_texts_are_shortened() -> None:
    assert shortened("short", 100) == "short"
    assert shortened("x" * 50, 100) == "x" * 13 + "…"
    assert shortened("xyz", 1) == "x…"


LONG = "nllb-200-distilled-600M-finetuned-opensubtitles-context-concat-step{}"


def test_long_names_lose_what_they_share() -> None:
    names = [LONG.format(step) for step in (100_000, 120_000)]
    assert distinct(names, 200) == ["…step100000", "…step120000"]
    assert distinct(["a-model.de", "b-model.de"], 200) == ["a-model.de", "b-model.de"]
    assert distinct([f"{letter * 30}-model.de" for letter in "ab"], 250) == ["a" * 30 + "…", "b" * 30 + "…"]


def test_one_long_name_keeps_its_end() -> None:
    (short,) = distinct([LONG.format(100_000)], 150)
    assert short.endswith("step100000")
    assert short.startswith("nllb")
    assert len(short) <= 150 / (12 * LETTER)


NAMES = st.lists(st.text("ab-", min_size=1, max_size=40), min_size=1, max_size=12, unique=True)


@FIXED
@given(NAMES, st.floats(60, 400))
def test_different_names_never_look_the_same(names: list[str], width: float) -> None:
    short = distinct(names, width)
    assert len(set(short)) == len(names)
    assert all(len(name) <= max(8, width / (12 * LETTER)) for name in short)


@pytest.mark.parametrize(
    ("values", "expected"),
    [([0.34, 0.44], (0.3, 0.5)), ([0.4, 0.6], (0.4, 0.6)), ([0.5], (0.5, 0.6)), ([1.0], (1, 1.1))],
)
def test_an_axis_begins_and_ends_at_a_round_number(values: list[float], expected: tuple[float, float]) -> None:
    assert round_range(values) == expected


def test_control_characters_do_not_damage_a_chart() -> None:
    chart = document(10, 10, "a\0b", [text(0, 0, "c\x1b[1md\ufffe"), upright(0, 0, "\te\x07")])
    parsed = ElementTree.fromstring(chart)
    assert parsed.get("aria-label") == "a\ufffdb"
    assert [part.text for part in parsed[1:]] == ["c\ufffd[1md\ufffd", "\te\ufffd"]


@pytest.mark.parametrize("values", [(5e-324, 1e-323), (0.0, 1e-320), (1e16, 1e16 + 2), (-1e307, 1e307)])
def test_axes_of_very_small_and_very_large_values(values: tuple[float, float]) -> None:
    assert 1 < len(ticks(*range_of(values))) < 12


def test_what_cannot_be_drawn_is_an_error() -> None:
    with pytest.raises(NotFinite, match=r"the step of an axis is inf, not a finite number\. Write the values on"):
        ticks(*range_of((-1.7e308, 1.7e308)))
    for coordinate in (math.nan, math.inf, -math.inf):
        with pytest.raises(NotFinite, match="a coordinate is not a finite number"):
            document(1, 1, "", [line(0, coordinate, 1, 1)])
    assert "nan inf" in document(1, 1, 'x="nan"', [text(0, 0, 'nan inf x="inf"')])
